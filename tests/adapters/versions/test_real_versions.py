"""Releases of ONNX Runtime, installed by `opera env create`: what is too new for one, and since which one a bug is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import pytest
from instances import node, tensor
from real_campaigns import filled

pytestmark = pytest.mark.slow

OLD, LAST_GOOD, FIRST_BAD = "1.20.1", "1.28.0", "1.29.0"
FIRST = 1_700_000_000_123_456_789
RANGE = node("Range", 22, start=tensor(FIRST, "int64"), limit=tensor(FIRST + 3, "int64"), delta=tensor(1, "int64"))
COSH = node("Cosh", 22, input=tensor([0.0, 1.0]))
SCRIPT = Path(__file__).parents[3] / "data" / "findings" / "onnxruntime-onnx" / "range-faee9229.py"


def opera(project: Path, *arguments: str, code: int = 0) -> Any:
    done = commands.run(*arguments, "--json", folder=project)
    assert done.code == code, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with three releases."""
    folder = tmp_path_factory.mktemp("versions")
    made = opera(folder, "env", "create", *(f"onnxruntime=={each}" for each in (OLD, LAST_GOOD, FIRST_BAD)))
    assert [each["used"] for each in made["environments"]] == [True] * 3
    filled(folder / ".opera", [RANGE, COSH])
    return folder


def test_a_model_that_is_too_new_for_a_release_is_no_crash_of_it(project: Path) -> None:
    run = ("run", "--compiler", f"onnxruntime=={OLD}", "--frontend", "onnx", "--input-form", "runtime", "-k", "cosh", "-q")
    ran = opera(project, *run, code=4)
    assert ran["versions"]["compiler"]["onnxruntime"] == OLD
    assert ran["verdicts"] == {"unsupported": 1}
    assert opera(project, *run, "--opset", "13")["verdicts"] == {"pass": 1}


def test_a_finding_and_its_script_came_in_the_same_release(project: Path) -> None:
    told = opera(project, "bisect", str(SCRIPT), "--versions", f"{OLD},{LAST_GOOD},{FIRST_BAD}")
    assert [each["answer"] for each in told["findings"]] == [f"since {FIRST_BAD} (last good {LAST_GOOD})"]
    run = ("run", "--compiler", f"onnxruntime=={FIRST_BAD}", "--frontend", "onnx", "--input-form", "runtime", "-k", "range", "-q")
    assert opera(project, *run, "--exit-zero")["findings"] == 1
    (finding,) = opera(project, "report")["findings"]
    told = opera(project, "bisect", finding["id"], "--versions", f"{OLD},{LAST_GOOD},{FIRST_BAD}")
    (found,) = told["findings"]
    assert found["answer"] == f"since {FIRST_BAD} (last good {LAST_GOOD})"


def test_a_release_that_does_not_exist_is_said_and_the_others_are_made(project: Path) -> None:
    made = opera(project, "env", "create", "onnxruntime==1.29.99", "onnxruntime==1.27.0", code=3)
    assert [each["used"] for each in made["environments"]] == [False, True]
