"""Commands that are printed work when they are typed, `-` is standard output, and no message makes a report huge or markup."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parameters import quick
from reporting import fill, relu, result

from opera.cli import command
from opera.cli.options import guarded
from opera.console import quoted
from opera.instance import Occurrence
from opera.oracles.verdict import Stage, Verdict
from opera.report.words import code, fenced, inline
from opera.store import Campaigns, Corpus
from opera.store.database import open_workspace

NAMES = [
    "my ws $(touch x)",
    "it's",
    'a"b',
    "a`touch x`b",
    "a;touch x",
    "a\nb",
    "-x",
    "~",
    "$HOME",
    "ü",
    "a\tb\x1b[31m",
    "a&b|c>d",
    "two  spaces",
    "*",
]


def opera(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = guarded(command, list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def filled(name: str) -> None:
    with open_workspace(Path(name), write=True) as space:
        fill(space)


def typed(line: str) -> list[str]:
    """The arguments that a shell gives to `opera` for a typed *line*."""
    program = f"opera() {{ printf '%s\\0' \"$@\"; }}; {line}"
    return os.fsdecode(subprocess.run(["bash", "-c", program], capture_output=True, check=True).stdout).split("\0")[:-1]


@pytest.mark.parametrize("name", quick(NAMES, NAMES[0], NAMES[-1]))
def test_printed_commands_can_be_typed(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    filled(name)
    there = sorted(folder.iterdir())
    _, report, _ = opera(capsys, "report", "--workspace", name, "--compiler", "tvm")
    _, junit, _ = opera(capsys, "report", "--workspace", name, "--junit", "-")
    _, sarif, _ = opera(capsys, "report", "--workspace", name, "--sarif", "-")
    lines = [line[line.index("opera ") :] for line in report.splitlines() if "opera show" in line or "--html" in line]
    told = [line for each in ElementTree.fromstring(junit).iter("failure") for line in (each.text or "").splitlines()]
    lines += [line for line in told if line.startswith("opera show")][:1]
    shown = [line for each in json.loads(sarif)["runs"][0]["results"] for line in each["message"]["text"].splitlines()[1:]][:1]
    lines += [line.replace("opera reproduce", "opera show") for line in shown]
    assert len(lines) == 4
    for line in lines:
        code, _, error = opera(capsys, *typed(line))
        assert code == 0, (line, error)
    assert sorted(folder.iterdir()) == sorted([*there, folder / "report.html"])


@given(st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), min_size=1))
def test_a_quoted_word_is_that_word(text: str) -> None:
    word = quoted(text)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e]", word)
    assert subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True).stdout == os.fsencode(text)


FORMS = ["--html", "--junit", "--sarif", "--markdown"]


@pytest.mark.parametrize("form", FORMS)
def test_a_dash_is_standard_output(folder: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    filled("ws")
    there = sorted(folder.iterdir())
    _, printed, said = opera(capsys, "report", "--workspace", "ws", form, "-")
    assert "finding" in said
    assert sorted(folder.iterdir()) == there
    opera(capsys, "report", "--workspace", "ws", form, "file")
    assert printed == Path("file").read_text(encoding="utf-8")


def test_issues_tables_and_scripts_go_to_standard_output_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled("ws")
    there = sorted(folder.iterdir())
    finding = json.loads(opera(capsys, "report", "--workspace", "ws", "--json")[1])["findings"][0]["id"]
    assert opera(capsys, "issue", finding, "--no-run", "-o", "-", "--workspace", "ws")[1].startswith("# ")
    assert opera(capsys, "matrix", "--csv", "-", "--workspace", "ws")[1].startswith("operator,")
    assert sorted(folder.iterdir()) == there


@pytest.mark.parametrize(
    "arguments",
    [
        *(("report", form, "-", "--json") for form in FORMS), ("report", "--html", "-", "--junit", "-"), ("matrix", "--csv", "-", "--json"),
        ("issue", "abc", "-o", "-", "--json"), ("reproduce", "abc", "-o", "-", "--json"), ("export", "jsonl", "-", "--json"),
        ("export", "ranking", "-", "--compiler", "tvm", "--frontend", "onnx", "--json"), ("baseline", "update", "-"),
        ("evaluate", "--record", "-"), ("equipped", "--compiler", "tvm", "--frontend", "onnx", "--suite", ".", "--output", "-", "--json"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_two_documents_do_not_share_standard_output(folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    filled("ws")
    workspace = () if arguments[0] == "equipped" else ("--workspace", "ws")
    returned, out, err = opera(capsys, *arguments, *workspace)
    assert (returned, out) == (2, "")
    assert "name" in err
    assert not Path("-").exists()


@pytest.mark.slow
def test_five_megabytes_of_message_stay_small_everywhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled("ws")
    sizes = {form: len(opera(capsys, "report", "--workspace", "ws", form, "-")[1]) for form in FORMS}
    huge = "<&|`\x1b]52;c;\xff" * 500_000
    large = huge[:100_000]
    failure = {"type": large, "bases": [], "message": huge, "frames": [[large, large, 1, large]] * 3}
    detail = {"failure": {**failure, "cause": {**failure, "message": large}}, "log": large, "lost": {"cause": large, "detail": large}}
    wrong = {"difference": {"kind": "values", "output": 0, "expected": huge, "actual": large, "explained": large}}
    with open_workspace(Path("ws"), write=True) as space:
        Corpus(space).add([(relu(7), Occurrence(large, large))])
        found = [
            result("d1", relu(7), "tvm", Verdict.CRASH, Stage.RUN, converter=large, detail=detail),
            result("d2", relu(7), "tvm", Verdict.INCONSISTENT, Stage.COMPARE, converter=large, detail=wrong),
            result("d3", relu(7), "tvm", Verdict.UNSUPPORTED, Stage.LOAD, reason=large, detail={}),
        ]
        Campaigns(space).write("aaaaaaaaaaaa", ((100 + index, each) for index, each in enumerate(found)))
    for form in FORMS:
        text = opera(capsys, "report", "--workspace", "ws", form, "-")[1]
        assert len(text) - sizes[form] < 150_000, form
    for arguments in (
        ("report",),
        ("report", "--json"),
        ("show", "d1000"),
        ("show", "d2000"),
        ("show", "d3000"),
        ("ls", "--test", "*"),
        ("matrix",),
    ):
        returned, out, err = opera(capsys, *arguments, "--workspace", "ws")
        assert returned == 0, err
        assert len(out) < 100_000, arguments
    issue = opera(capsys, "issue", "d1000", "--no-run", "--workspace", "ws")[1]
    assert len(issue) < 100_000


# Markdown.

MARKUP = "@user #123 org/repo#4 GH-5 www.evil.example https://evil.example <!-- <b> ``` `x` [a](javascript:1) | ~~~ **b** \\"


def outside_code(text: str) -> str:
    """What of Markdown is no code, as CommonMark reads it: fences first, then spans."""
    kept: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = re.match(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})", line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(f" {fence[0]}"):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            kept.append(line)
    assert not fence
    return re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", "\n".join(kept))


@given(st.text("`a |\\@#\n\t~[]()<") | st.text())
def test_foreign_text_does_not_leave_its_code(text: str) -> None:
    assert "`" not in outside_code(f"before {code(text)} after")
    assert outside_code(f"before\n{fenced(text)}\nafter") == "before\nafter"
    assert not set(outside_code(inline(text))) & set("`@#<>[]|\\*~&!")


@pytest.mark.parametrize("text", ["InternalError: cannot convert value 17 of Relu", "2.0", "llvm", "tvm/onnx", "ai.onnx.Relu"])
def test_ordinary_text_is_no_code(text: str) -> None:
    assert inline(text) == text


@pytest.mark.parametrize("owner", quick(["tvm", "openvino", "onnxruntime", "inductor", "iree", "someone"]))
def test_an_issue_mentions_nobody_and_links_only_to_the_specification(folder: Path, capsys: pytest.CaptureFixture[str], owner: str) -> None:
    filled("ws")
    detail = {"failure": {"type": MARKUP, "bases": [], "message": f"{MARKUP}\n```\n{MARKUP}", "frames": []}, "log": f"```\n````\n{MARKUP}"}
    detail["lowest_level"] = {"name": MARKUP, "verdict": "crash", "vanishes": False}  # type: ignore[assignment]
    wrong = {"difference": {"kind": MARKUP, "output": 0, "expected": MARKUP, "actual": MARKUP}}
    versions = {"library": {MARKUP: MARKUP}, "compiler": {owner: MARKUP}, "route": "onnx"}
    with open_workspace(Path("ws"), write=True) as space:
        Corpus(space).add([(relu(7), Occurrence(MARKUP, MARKUP))])
        Campaigns(space).begin("cccccccccccc", owner, "onnx", {"forms": ["runtime"], "seed": 0}, versions)
        found = [
            result("d1", relu(7), owner, Verdict.CRASH, Stage.RUN, converter=MARKUP, detail=detail),
            result("d2", relu(7), owner, Verdict.INCONSISTENT, Stage.COMPARE, converter=MARKUP, detail=wrong),
        ]
        Campaigns(space).write("cccccccccccc", enumerate(found))
    specification = "Specification: <https://onnx.ai/onnx/operators/onnx__Relu.html>"
    for test in ("d1000", "d2000"):
        text = opera(capsys, "issue", test, "--no-run", "--workspace", "ws")[1]
        assert MARKUP.split()[0] in text
        for sign in ("@", "#1", "#4", "GH-", "www.", "https://", "<!--", "<b>", "](", "~~~"):
            rest = outside_code(text).replace(specification, "")
            assert sign not in rest, (sign, rest)
    sarif = json.loads(opera(capsys, "report", "--sarif", "-", "--workspace", "ws")[1])
    assert not any("](" in each["message"]["text"] for each in sarif["runs"][0]["results"])
    summary = opera(capsys, "report", "--markdown", "-", "--workspace", "ws")[1]
    rows = [line for line in summary.splitlines() if line.startswith("|")]
    for sign in ("@", "#1", "GH-", "www.", "https://", "<!--", "](", "~~~"):
        assert sign not in outside_code(summary)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows if row.startswith("| `")} == {6}
