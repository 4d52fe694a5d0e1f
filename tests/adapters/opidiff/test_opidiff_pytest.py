"""The plug-in that runs OpiDiff suites in pytest."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest

SUITE = """
presets:
  x: {type: tensor, shape: [2, 4], kind: float}
tests:
  - {id: add, op: aten::add, in: [{ref: x}, {ref: x}]}
  - {id: "relu of x", op: aten::relu, in: [{ref: x}]}
  - {id: bad, op: aten::mm, in: [{ref: x}]}
  - {id: mine, op: {type: module, path: "file:mine.py::Mine"}, in: [{ref: x}]}
  - id: pair
    op: {type: template_compare_pair, vars: {}, a: {impl: a, path: torch.nn.ReLU}, b: {impl: b, path: torch.nn.ReLU}}
    in: [{ref: x}]
"""
ONLY_FOREIGN = "tests: [{id: mine, op: {type: module, path: 'file:mine.py::Mine'}, in: []}]\n"
NET = "import torch\nclass Mine(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    cases: dict[str, str]
    seconds: float


def run(folder: Path, *arguments: str, suite: str = SUITE) -> Ran:
    (folder / "s.yaml").write_text(suite)
    (folder / "mine.py").write_text(NET)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "opera.extensions.opidiff.pytest_plugin",
        "s.yaml",
        "--junitxml",
        "r.xml",
        "-rs",
        *arguments,
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    cases: dict[str, str] = {}
    seconds = 0.0
    if (folder / "r.xml").exists():
        for case in xml.parse(folder / "r.xml").iter("testcase"):
            tags = [each.tag for each in case if each.tag in ("failure", "error", "skipped")]
            cases[str(case.get("name"))] = tags[0] if tags else "passed"
            seconds += float(case.get("time", "0"))
    return Ran(done.returncode, done.stdout + done.stderr, cases, seconds)


EXPECTED = {
    "add": "passed", "relu of x": "passed", "bad": "error", "mine": "skipped", "pair__a": "passed", "pair__b": "passed", "pair": "passed",
}  # fmt: skip


@pytest.mark.slow
def test_each_id_is_an_item_and_verdicts_are_outcomes(tmp_path: Path) -> None:
    found = run(tmp_path, "--opidiff-backend", "onnxruntime", "--opidiff-workspace", "ws")
    assert found.cases == EXPECTED, found.out
    assert found.code == 1
    assert "foreign-class" in found.out
    assert "bad on onnxruntime: invalid" in found.out
    assert "Traceback" not in found.out
    assert found.seconds > 0


@pytest.mark.slow
def test_what_failed_last_and_what_a_name_selects_is_run_alone(tmp_path: Path) -> None:
    run(tmp_path, "--opidiff-backend", "onnxruntime", "--opidiff-workspace", "ws")
    again = run(tmp_path, "--opidiff-backend", "onnxruntime", "--opidiff-workspace", "ws", "--lf")
    assert again.cases == {"bad": "error"}, again.out
    chosen = run(tmp_path, "--opidiff-backend", "onnxruntime", "--opidiff-workspace", "ws", "-k", "add or mine")
    assert (chosen.code, chosen.cases) == (0, {"add": "passed", "mine": "skipped"}), chosen.out


@pytest.mark.slow
def test_several_processes_share_one_campaign(tmp_path: Path) -> None:
    found = run(tmp_path, "--opidiff-backend", "onnxruntime", "-n", "2", "--opidiff-trust", ".")
    assert found.cases == {**EXPECTED, "mine": "passed"}, found.out


@pytest.mark.parametrize("more", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)], ids=["one process", "several"])
def test_a_backend_of_which_nothing_was_compared_is_no_success(tmp_path: Path, more: tuple[str, ...]) -> None:
    found = run(tmp_path, "--opidiff-backend", "onnxruntime", *more, suite=ONLY_FOREIGN)
    assert (found.code, found.cases) == (5, {"mine": "skipped"}), found.out
    assert "nothing was compared on onnxruntime: 1 unsupported (foreign-class)" in found.out


@pytest.mark.parametrize(
    ("arguments", "suite", "message"),
    [
        ((), SUITE, "name the backends of the suite"),
        pytest.param(("--opidiff-backend", "nothing"), SUITE, "nothing", marks=pytest.mark.slow),
        (("--opidiff-backend", "onnxruntime"), "tests: [{id: a}]\n", "s.yaml:1:9: test a: a test needs the field 'op'"),
    ],
)
def test_what_cannot_run_is_said_before_anything_runs(arguments: tuple[str, ...], suite: str, message: str, tmp_path: Path) -> None:
    found = run(tmp_path, *arguments, suite=suite)
    assert found.code not in (0, 1)
    assert message in found.out
    assert "Traceback" not in found.out


def test_other_yaml_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("no: suite\n")
    (tmp_path / "test_one.py").write_text("def test_one() -> None: ...\n")
    command = [sys.executable, "-m", "pytest", "-p", "opera.extensions.opidiff.pytest_plugin", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
