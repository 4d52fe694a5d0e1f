"""The tables of `data/findings`: their rows are valid and have scripts, pages quote their number, and what is written is read again."""

from __future__ import annotations

import ast
import re
import sys
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opera.compilers.registry import plugin
from opera.oracles.verdict import Stage, Verdict

sys.path += [str(Path(__file__).parents[2] / name) for name in ("scripts", "benchmarks")]

import collect_findings
import recorded_findings
from labelled import Judgement, judgements
from recorded_findings import FOLDER, Finding, Status, Table

ROOT = Path(__file__).parents[2]
TABLES = recorded_findings.tables()
ROWS = [(table, each) for table in TABLES for each in table.findings]
PARTS = st.sampled_from(["", "word", "'", '"', '"""', "\\", "x" * 99])
TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.lists(PARTS).map(" ".join)


@given(st.builds(
    Finding, name=st.just("a-1"), operators=st.lists(TEXT).map(tuple), fails=st.lists(TEXT).map(tuple), passes=st.dictionaries(TEXT, TEXT),
    id=TEXT, verdict=st.sampled_from(Verdict), stage=st.sampled_from(Stage), status=st.sampled_from(Status), route=TEXT, summary=TEXT,
    seen_with=TEXT, **dict.fromkeys(("converter", "trigger", "cause", "why", "versions"), st.none() | TEXT),
))  # fmt: skip
def test_a_row_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, finding: Finding) -> None:
    folder = tmp_path_factory.mktemp("findings")
    recorded_findings.write(Table(compiler="a", frontend="b", findings=[finding]), folder)
    assert recorded_findings.read(folder / "a-b.toml").findings == [finding]


def test_the_tables_are_written_as_the_writer_writes_them() -> None:
    for table in TABLES:
        assert (FOLDER / f"{table.subject}.toml").read_text(encoding="utf-8") == recorded_findings.text_of(table)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('compiler = "a"\nfrontend = "c"\n', "named by compiler and frontend"),
        ('compiler = "a"\nfrontend = "b"\n[[finding]]\nname = "x"\n', "required field"),
        ('compiler = "a"\nfrontend = "b"\nrows = 1\n', "unknown field"),
        ("compiler = ", "Invalid"),
    ],
)
def test_a_table_that_is_not_valid_is_refused_by_name(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "a-b.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"a-b.toml: .*{why}"):
        recorded_findings.tables(tmp_path)


def test_rows_are_in_the_order_of_their_names_and_no_two_have_one_name(tmp_path: Path) -> None:
    table = next(each for each in TABLES if len(each.findings) > 1)
    for rows in (table.findings[::-1], table.findings[:1] * 2):
        recorded_findings.write(Table(compiler=table.compiler, frontend=table.frontend, findings=rows), tmp_path)
        with pytest.raises(ValueError, match="ordered by their names"):
            recorded_findings.tables(tmp_path)


def test_each_finding_has_a_script_that_compiles_and_each_script_a_finding() -> None:
    scripts = {table.script(each) for table, each in ROWS}
    assert scripts == {path for path in FOLDER.rglob("*") if path.is_file() and path.parent not in (FOLDER, FOLDER / "families")}
    for path in scripts:
        text = path.read_text(encoding="utf-8")
        compile(text, str(path), "exec")
        assert recorded_findings.title_of(text)


def test_the_summary_of_a_finding_is_what_its_script_says() -> None:
    for table, each in ROWS:
        said = (ast.get_docstring(ast.parse(table.script(each).read_text(encoding="utf-8"))) or "").splitlines()
        expected, [actual] = ([" ".join(line.split()[1:]) for line in said if line.startswith(head)] for head in ("Expected:", "Actual:"))
        assert " ".join(each.summary.split()) in (actual, *(f"{line}; got {actual}" for line in expected)), f"{table.subject}/{each.name}"


def test_a_finding_names_a_cause_that_was_judged_a_bug_and_a_passing_call_for_parts_of_its_trigger() -> None:
    bugs = {each.cause for each in judgements() if each.label == "bug"}
    assert {each.cause for _, each in ROWS if each.status is Status.VERIFIED} <= bugs
    assert [each.name for _, each in ROWS if not all(part in (each.trigger or "") for part in each.passes)] == []


@pytest.mark.parametrize(
    ("page", "words"), [("README.md", r"keeps \[(\d+) such findings"), ("data/findings/README.md", r"has (\d+) findings")]
)
def test_a_page_quotes_the_number_of_findings(page: str, words: str) -> None:
    [number] = re.findall(words, (ROOT / page).read_text(encoding="utf-8"))
    assert int(number) == len(ROWS)


COLUMNS = {"onnx": "ONNX", "pytorch": "PyTorch", "keras": "Keras", "tensorflow": "TensorFlow", "tflite": "TensorFlow",
           "stablehlo": "StableHLO", "relax": "Relax"}  # fmt: skip
NAMES = {"tvm": "TVM", "tvm-stablehlo": "TVM", "openvino": "OpenVINO", "onnxruntime": "ONNX Runtime", "iree": "IREE", "xla": "XLA",
         "inductor": "Inductor", "inductor-cuda": "Inductor on a GPU",
         "litert": "LiteRT", "litert-int8": "LiteRT in 8 bits", "executorch": "ExecuTorch", "keras-openvino": "Keras' OpenVINO backend",
         "tensorrt": "TensorRT", "onnxruntime-ggml": "ggml, by ONNX Runtime", "tinygrad": "tinygrad"}  # fmt: skip
"""The rows of the README's table; all other projects are one row."""


def test_the_readme_counts_the_findings_of_each_compiler_and_library() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    _, found, table = text.partition("| compiler | ONNX")
    lines = [found + table.partition("\n\n")[0].splitlines()[0], *table.partition("\n\n")[0].splitlines()[2:]]
    (_, *columns), *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    shown = {(name, column): int(cell) for name, *cells in rows for column, cell in zip(columns, cells, strict=True) if cell}
    counted = Counter[tuple[str, str]]()
    for each in TABLES:
        counted[NAMES.get(each.compiler, rows[-1][0]), COLUMNS[each.frontend]] += len(each.findings)
    assert {key: count for key, count in shown.items() if count} == counted
    run = {(NAMES[name], COLUMNS[route.frontend]) for name in NAMES for route in plugin(name).load().routes if route.frontend in COLUMNS}
    assert run | {(rows[-1][0], column) for column in columns} >= shown.keys() >= run, "a cell for each route"


LIBRARIES = {"onnx": "ONNX", "pytorch": "PyTorch", "keras": "Keras", "tensorflow": "TensorFlow", "tflite": "TensorFlow Lite",
             "stablehlo": "StableHLO", "relax": "Relax"}  # fmt: skip
ON = " \u00d7 "
RELEASED = {"TVM": "tvm", "OpenVINO": "ov", "TensorRT": "trt", "PyTorch": "torch", "Keras": "keras", "ONNX": "onnx"}
"""Compilers and libraries as the data of the paper's authors name them."""


def title(compiler: str, frontend: str) -> str:
    return f"{NAMES.get(compiler, compiler)}{ON}{LIBRARIES[frontend]}"


def test_the_figures_count_the_bugs_of_each_subject_beside_those_of_the_paper() -> None:
    text = (ROOT / "docs" / "explanation" / "figures.md").read_text(encoding="utf-8")
    campaigns, _, section = text.partition("\n## The paper's three compilers\n")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if ON in line and line.startswith("|")]
    shown = {subject: cells for subject, *cells in rows}
    counted = {title(each.compiler, each.frontend): str(len(each.findings)) for each in TABLES}
    causes: dict[str, set[str]] = {}
    for each in judgements():
        if each.label == "bug":
            causes.setdefault(title(*each.subject.split("/")), set()).update((each.cause, *each.also))
    assert {subject: cells[2] for subject, cells in shown.items()} == {**dict.fromkeys(causes, "0"), **counted}
    assert {subject: cells[3] for subject, cells in shown.items()} == {subject: str(len(found)) for subject, found in causes.items()}
    for subject, (_, tests, *_) in shown.items():
        assert not tests or re.search(rf"^\| {re.escape(subject)}\b[^|]*\| {tests} \|", campaigns, re.MULTILINE), subject

    ranks = msgspec.json.decode((ROOT / "data" / "published" / "published_ranks.json").read_bytes())
    published = {subject: int(cells[0]) for subject, cells in shown.items() if cells[0]}
    for subject, bugs in published.items():
        compiler, library = (RELEASED[part] for part in subject.split(ON))
        assert len(ranks[compiler][f"{library}_random"]) == bugs
    assert (len(published), sum(published.values())) == (8, 170)


def replies(script: str) -> Any:
    """Stands for the commands of OPERA on one finding whose script is *script*."""

    def run(command: str, *arguments: str, **_: object) -> dict[str, Any]:
        if command == "reproduce":
            Path(arguments[-1]).write_text(script, encoding="utf-8")
            return {"reproduced": True}
        return {"call": "f( x,\n y)", "reduction": {"passes": {"a": "f(1)"}, "fails": ["t1"]}}

    return run


def test_a_finding_is_collected_once_and_its_row_is_renewed_while_its_trigger_names_no_condition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = '"""tvm/onnx: Pow: wrong values\n\nSeen with tvm 1,\nonnx 2.\nActual: TypeError: \\\\w is no "type"\n"""\n\nimport tvm\n'
    monkeypatch.setattr(collect_findings, "opera", replies(script))
    options = Namespace(output=tmp_path, workspace="w", most_lines=40, renew=False)
    found = {"id": "0123456789abcdef", "compiler": "tvm", "frontend": "onnx", "route": "onnx", "operators": ["ai.onnx.Pow"],
             "verdict": "crash", "stage": "load", "converter": None, "trigger": "any call"}  # fmt: skip
    label = Judgement(subject="tvm/onnx", cause="tvm-pow", label="bug", reason="wrong", checked="run", tests=())
    assert collect_findings.collect(found, found["id"], None, options) == "written"
    assert collect_findings.collect(found, found["id"], None, options) == "there"
    [row] = recorded_findings.table_of("tvm", "onnx", tmp_path).findings
    assert (row.name, row.seen_with, row.summary) == ("ai-onnx-pow-01234567", "tvm 1, onnx 2", 'TypeError: \\w is no "type"')
    assert (row.fails, row.passes, row.status) == (("f( x, y)",), {"a": "f(1)"}, Status.REPRODUCED)
    assert (tmp_path / "tvm-onnx" / f"{row.name}.py").read_text(encoding="utf-8") == script

    assert collect_findings.collect({**found, "id": "f" * 16}, "x", label, options) == "written"
    assert collect_findings.collect({**found, "id": "e" * 16}, "x", label, options) == "same cause"
    options.renew = True
    assert collect_findings.collect({**found, "id": "e" * 16, "trigger": "a"}, "x", label, options) == "renewed"
    assert collect_findings.collect({**found, "id": "d" * 16, "trigger": "a"}, "x", label, options) == "same cause"
    [_, renewed] = recorded_findings.table_of("tvm", "onnx", tmp_path).findings
    assert (renewed.id, renewed.trigger, renewed.status, renewed.why) == ("f" * 16, "a", Status.VERIFIED, "wrong")
    assert collect_findings.collect(found, "x", msgspec.structs.replace(label, label="false-alarm"), options) == "no bug"
