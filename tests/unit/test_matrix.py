"""What `opera matrix` promises: the worst of each operator on each subject, from the newest results."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from opera.cli import command
from opera.instance import Argument, Instance, Kind, Occurrence, Tensor, digest
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, Corpus, StoredResult
from opera.store.corpus import Extraction
from opera.store.database import open_workspace


def instance(name: str, size: int) -> Instance:
    return Instance("onnx", f"ai.onnx.{name}", Kind.NODE, call=(Argument("X", Tensor((size,), "float32")),))


def result(
    of: Instance, compiler: str, verdict: Verdict, form: str = "runtime", version: int = 1, exporter: str | None = None
) -> StoredResult:
    test = f"{digest(of)[:20]}{compiler}{form}{version}"
    fingerprint = "f" * 16 if verdict.is_failure else None
    return StoredResult(
        test, digest(of), compiler, "onnx", "onnx", form, 0, verdict, Stage.LOAD, None, None, fingerprint, {}, {"load": 0.1}, None, exporter
    )  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("matrix")
    small, large, add, invalid, never = *(instance("Relu", size) for size in (1, 2)), *(instance(name, 1) for name in ("Add", "Sub", "Mul"))
    other = Instance("pytorch", "torch.abs", Kind.FUNCTION)
    with open_workspace(folder, write=True) as space:
        corpus = Corpus(space)
        corpus.add((each, Occurrence("node-tests", "test")) for each in (small, large, add, invalid, never, other))
        drops = {
            ("ai.onnx.Scan", "too-large"): 2,
            ("ai.onnx.Scan", "excluded"): 1,
            ("ai.onnx.Relu", "too-large"): 1,
            ("onnx.load", "odd"): 1,
        }
        corpus.record_extraction(Extraction("onnx", "node-tests", "1", 9, 5, 4, {"too-large": 3, "excluded": 1, "odd": 1}, 0.1), drops)
        campaigns = Campaigns(space)
        campaigns.begin("a" * 12, "tvm", "onnx", {}, {})
        campaigns.write(
            "a" * 12,
            enumerate(
                [
                    result(small, "tvm", Verdict.PASS), result(small, "tvm", Verdict.CRASH, form="baked"),
                    result(large, "tvm", Verdict.PASS), result(add, "tvm", Verdict.UNSUPPORTED),
                    result(small, "openvino", Verdict.INCONSISTENT), result(large, "openvino", Verdict.UNDEFINED),
                    result(add, "openvino", Verdict.CRASH, exporter="torch.onnx"),
                    result(invalid, "tvm", Verdict.INVALID), result(invalid, "openvino", Verdict.UNDEFINED),
                ]
            ),
        )  # fmt: skip
        campaigns.write("a" * 12, [(9, result(small, "openvino", Verdict.PASS, version=2))])
        with space.transaction() as database:
            database.execute("UPDATE results SET finished = '2999-01-01' WHERE test LIKE '%openvinoruntime2'")
    return folder


def run(workspace: Path, *arguments: str) -> str:
    outcome = CliRunner().invoke(command, ["matrix", *arguments, "--workspace", str(workspace)], catch_exceptions=False)
    assert outcome.exit_code in (0, None)
    return outcome.stdout


def test_a_cell_is_the_worst_of_its_instances_and_forms(workspace: Path) -> None:
    cells = {(each["operator"], each["compiler"]): each for each in json.loads(run(workspace, "--json"))["cells"]}
    relu = cells["ai.onnx.Relu", "tvm"]
    assert (relu["support"], relu["instances"], relu["counts"]) == ("crash", 2, {"crash": 1, "pass": 1})
    assert cells["ai.onnx.Add", "tvm"]["support"] == "unsupported"


def test_what_is_declined_is_no_pass(tmp_path: Path) -> None:
    sizes = [instance("Relu", size) for size in range(1, 29)]
    with open_workspace(tmp_path, write=True) as space:
        Corpus(space).add((each, Occurrence("node-tests", "test")) for each in sizes)
        campaigns = Campaigns(space)
        campaigns.begin("a" * 12, "tvm", "onnx", {}, {})
        verdicts = [Verdict.PASS] * 6 + [Verdict.UNSUPPORTED] * 22
        campaigns.write("a" * 12, enumerate(result(each, "tvm", verdict) for each, verdict in zip(sizes, verdicts, strict=True)))
    text = run(tmp_path)
    assert re.search(r"(?m)^ai.onnx.Relu +partly 6/28$", text)
    assert "tvm: 1 partly" in text
    assert "6 instances pass, of 6 (100.0%) that it takes, and of all 28 (21.4%)" in " ".join(text.split())
    document = json.loads(run(tmp_path, "--json"))
    assert (document["cells"][0]["support"], document["subjects"][0]["operators"]) == ("partly", {"partly": 1})
    assert document["subjects"][0]["instances"] == {"pass": 6, "unsupported": 22}


def test_the_newest_result_counts_and_what_says_nothing_of_the_compiler_does_not(workspace: Path) -> None:
    cells = {(each["operator"], each["compiler"]): each for each in json.loads(run(workspace, "--json"))["cells"]}
    assert cells["ai.onnx.Relu", "openvino"]["counts"] == {"pass": 1}


def test_the_failure_of_an_exporter_is_not_the_compilers(workspace: Path) -> None:
    cells = {(each["operator"], each["compiler"]): each for each in json.loads(run(workspace, "--json"))["cells"]}
    assert cells["ai.onnx.Add", "openvino"]["support"] == "export"


def test_the_table_names_operators_subjects_and_counts(workspace: Path) -> None:
    text = run(workspace)
    assert re.search(r"(?m)^operator +openvino +tvm$", text)
    assert re.search(r"(?m)^ai.onnx.Relu +pass +crash 1/2$", text)
    assert "tvm: 1 crash, 1 unsupported, 1 invalid, 1 untested, 1 dropped" in text
    assert run(workspace, "--failing").count("ai.onnx.") == 1


def test_no_operator_is_lost(workspace: Path) -> None:
    text = run(workspace)
    assert re.search(r"(?m)^ai.onnx.Sub +undefined +invalid$", text)
    assert re.search(r"(?m)^ai.onnx.Mul +untested +untested$", text)
    assert re.search(r"(?m)^ai.onnx.Scan +dropped +dropped$", text)
    assert "onnx.load" not in text  # not an operator
    assert "pytorch: 1 operator\n  never tested" in text
    document = json.loads(run(workspace, "--json"))
    states = {each["operator"].rpartition(".")[2]: each["state"] for each in document["operators"]}
    assert states == {
        "Add": "export", "Mul": "untested", "Relu": "crash", "Scan": "dropped", "Sub": "undefined", "abs": "untested",
    }  # fmt: skip
    assert [(each["operator"], each["compiler"], each["counts"]) for each in document["inconclusive"]] == [
        ("ai.onnx.Sub", "openvino", {"undefined": 1}), ("ai.onnx.Sub", "tvm", {"invalid": 1}),
    ]  # fmt: skip


def test_cells_of_the_document_have_a_result(workspace: Path) -> None:
    supports = {each["support"] for each in json.loads(run(workspace, "--json"))["cells"]}
    assert supports <= {"crash", "inconsistent", "export", "partly", "pass", "unsupported"}


def test_the_table_fits_the_terminal_and_says_what_does_not(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = run(workspace, "--lib", "onnx", "-k", "Relu or Scan").splitlines()
    assert max(map(len, lines[:-4])) <= 60  # the hint is one line, to be read and copied
    assert max(map(len, lines[:5])) <= 40
    assert "tvm" not in lines[1]
    assert lines[5:7] == ["too wide for this terminal, left out:", "  tvm/onnx"]
    assert "show one with --compiler tvm, or write all with --csv FILE" in lines


def test_the_table_as_csv(workspace: Path) -> None:
    lines = run(workspace, "--csv", "-").splitlines()
    assert lines[0] == (
        "operator,library,state,openvino/onnx,openvino/onnx passed,openvino/onnx tested,tvm/onnx,tvm/onnx passed,tvm/onnx tested"
    )
    assert "ai.onnx.Add,onnx,export,export,0,1,unsupported,0,1" in lines
    assert "ai.onnx.Relu,onnx,crash,pass,1,1,crash,1,2" in lines
    assert "torch.abs,pytorch,untested,,,,,," in lines
