"""Statements of a real frontend, measured test by test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import pytest
import recordings
from real_campaigns import filled

from opera.extensions.research.recording import read_recorded


def opera(*arguments: str) -> Any:
    return commands.run(*arguments, folder=Path.cwd())


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory, node_tests: list[Any]) -> Path:
    return filled(tmp_path_factory.mktemp("coverage"), recordings.instances(node_tests, "*split*"))


def campaign(workspace: Path, compiler: str) -> str:
    """The id of a campaign of *compiler*, which runs now."""
    run = opera("run", "--compiler", compiler, "--frontend", "onnx", "-j", "2", "-q", "--exit-zero", "--workspace", str(workspace))
    assert run.returncode == 0, run.stderr
    listed = json.loads(opera("ls", "--json", "--workspace", str(workspace)).stdout)["campaigns"]
    return next(each["id"] for each in listed if each["compiler"] == compiler)


@pytest.mark.slow
def test_tests_of_one_operator_run_different_statements_of_tvms_frontend(workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "tvm.jsonl.gz"
    name = campaign(workspace, "tvm")
    done = opera("evaluate", "--campaign", name, "--record", str(file), "--coverage", "--workspace", str(workspace))
    assert done.returncode == 0, done.stderr
    found = [test.coverage for test in read_recorded(file).tests if test.coverage]
    assert len(found) > 3
    assert len(set(found)) > 1
    assert frozenset.intersection(*found), "all of them run the statements that every model runs"


@pytest.mark.slow
def test_a_frontend_in_cpp_is_refused(workspace: Path, tmp_path: Path) -> None:
    name = campaign(workspace, "onnxruntime")
    done = opera("evaluate", "--campaign", name, "--record", str(tmp_path / "x.gz"), "--coverage", "--workspace", str(workspace))
    assert done.returncode == 2
    assert "the frontend of onnxruntime is not written in Python" in done.stderr
