"""`opera issue`: text that can be pasted into a project's form, and that says when it is not ready for that."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import commands
import pytest
from fake.harness import Lab, instance

from opera.instance import Argument, Instance, Kind, Occurrence, Tensor
from opera.store import Campaigns, Corpus
from opera.store.database import open_workspace

EMPTY = Instance(
    "onnx", "ai.onnx.ReduceMax", Kind.NODE, init=(Argument("keepdims", 1),), context=(("opset", 20), ("outputs", [True])),
    call=(Argument("data", Tensor((2, 0, 4), "bool", b"")), Argument("axes", Tensor((1,), "int64", (1).to_bytes(8, "little")))),
    expected=(Tensor((2, 1, 4), "bool", bytes(8)),),
)  # fmt: skip
SIGNED = Instance(
    "onnx", "ai.onnx.BitShift", Kind.NODE, init=(Argument("direction", "LEFT"),), context=(("opset", 28), ("outputs", [True])),
    call=(Argument("X", Tensor((2,), "int8", bytes([64, 1]))), Argument("Y", Tensor((2,), "int8", bytes([1, 7])))),
    expected=(Tensor((2,), "int8", bytes([0x80, 0x80])),),
)  # fmt: skip
"""64 << 1 and 1 << 7 are -128 in int8; a bug of OpenVINO, which saturates. The maximum over no bools is False; ONNX Runtime refuses it."""


def opera(*arguments: str, cwd: Path) -> commands.Outcome:
    return commands.run(*arguments, folder=cwd)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workspace in which two small campaigns ran on real compilers."""
    folder = tmp_path_factory.mktemp("issues")
    with open_workspace(folder / ".opera", write=True) as space:
        Corpus(space).add(
            [(EMPTY, Occurrence("node-tests", "test_reduce_max_empty")), (SIGNED, Occurrence("node-tests", "test_shift_signed"))]
        )
    for compiler, keyword in (("onnxruntime", "ReduceMax"), ("openvino", "BitShift")):
        ran = opera("run", "--compiler", compiler, "--frontend", "onnx", "-k", keyword, "-q", "-j", "2", cwd=folder)
        assert ran.returncode == 1, ran.stderr
    return folder


def finding(place: Path, compiler: str) -> str:
    report = json.loads(opera("report", "--json", cwd=place).stdout)
    return str(next(each["id"] for each in report["findings"] if each["compiler"] == compiler))


def headings(text: str) -> list[str]:
    return [line.removeprefix("### ") for line in text.splitlines() if line.startswith("### ")]


def script_in(text: str) -> str:
    return text.partition("```python\n")[2].partition("\n```")[0]


@pytest.mark.slow
def test_a_crash_of_onnx_runtime_in_its_own_form(place: Path) -> None:
    written = opera("issue", finding(place, "onnxruntime"), "-o", "issue.md", cwd=place)
    assert written.returncode == 0, written.stderr
    text = (place / "issue.md").read_text(encoding="utf-8")
    assert headings(text) == [
        "Describe the issue", "To reproduce", "Urgency", "Platform", "OS Version", "ONNX Runtime Installation",
        "ONNX Runtime Version or Commit ID", "ONNX Runtime API", "Architecture", "Execution Provider", "Execution Provider Library Version",
    ]  # fmt: skip
    assert "Do not report" not in text
    assert "empty set with bool type" in text
    assert "test_reduce_max_empty" in text
    assert "fresh process" in text
    assert "import opera" not in script_in(text)
    assert str(place) not in text


@pytest.mark.slow
def test_a_wrong_result_of_openvino_in_its_own_form(place: Path) -> None:
    written = opera("issue", finding(place, "openvino"), cwd=place)
    assert written.returncode == 0, written.stderr
    assert headings(written.stdout) == [
        "OpenVINO Version", "Operating System", "Device used for inference", "Framework", "Model used", "Issue description",
        "Step-by-step reproduction", "Relevant log output", "Issue submission checklist",
    ]  # fmt: skip
    assert "`-128`" in written.stdout
    for ruled_out in ("Nondeterminism", "Ill-conditioning", "Precision"):
        assert f"- {ruled_out}" in written.stdout
    assert "exporter" not in written.stdout  # the test is an ONNX model itself


def test_the_script_of_an_issue_fails_on_its_own(place: Path, tmp_path: Path) -> None:
    text = opera("issue", finding(place, "openvino"), "--no-run", cwd=place).stdout
    assert "did not run yet" in text
    (tmp_path / "script.py").write_text(script_in(text), encoding="utf-8")
    ran = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 1
    assert "AssertionError" in ran.stderr


def test_an_issue_that_does_not_reproduce_says_so_at_its_top(place: Path) -> None:
    """The interpreter of the configuration has no such compiler any more: the script ends otherwise than the campaign did."""
    name = finding(place, "openvino")
    broken = place / "broken.py"
    broken.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    broken.chmod(0o755)
    (place / "opera.toml").write_text(f'[compiler.openvino]\npython = "{broken}"\n', encoding="utf-8")
    try:
        written = opera("issue", name, "--json", cwd=place)
    finally:
        (place / "opera.toml").unlink()
    document: dict[str, Any] = json.loads(written.stdout)
    assert written.returncode == 1
    assert document["schema"] == "issue/1"
    assert document["reproduced"] is False
    assert "does NOT reproduce" in "".join(document["text"].splitlines()[:4])


def test_a_compiler_without_a_form_of_its_own_gets_a_general_one(lab: Lab) -> None:
    """And where there is no template for a script, the text says that one is still to be written."""
    lab.add(instance("wrong", "raise"))
    assert lab.run().code == 1
    with open_workspace(lab.workspace, write=False) as space:
        name = next(each.fingerprint for each in Campaigns(space).results(failures=True))
    written = lab.opera("issue", str(name))
    assert written.code == 1
    assert headings(written.stdout) == ["What happens", "How to reproduce", "Versions", "What was ruled out"]
    assert "There is no stand-alone script" in written.stdout


def test_only_failures_have_issues(place: Path) -> None:
    with open_workspace(place / ".opera", write=False) as space:
        key = next(iter(Campaigns(space).results())).instance
    written = opera("issue", key[:16], cwd=place)
    assert written.returncode == 2
    assert "neither a finding nor a failing test" in written.stderr
