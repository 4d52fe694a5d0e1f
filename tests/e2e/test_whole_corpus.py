"""Whole-corpus campaigns against the real compilers: every node test has a verdict, and none of them is our own fault."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from opera.oracles.verdict import Verdict
from opera.store import Campaigns
from opera.store.database import open_workspace


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "workspace"
    subprocess.run([sys.executable, "-m", "opera.extract", "--lib", "onnx", "--quiet", "--workspace", folder], check=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["onnxruntime", "openvino", "tvm"])
def test_every_node_test_gets_a_verdict_and_no_failure_is_the_harness(workspace: Path, compiler: str) -> None:
    command = [sys.executable, "-m", "opera.run", "--compiler", compiler, "--frontend", "onnx", "--exit-zero", "--quiet", "--json"]
    run = subprocess.run([*command, "--workspace", workspace], capture_output=True, text=True, check=True)
    summary = json.loads(run.stdout)
    assert summary["complete"] is True
    assert summary["executed"] == summary["planned"] > 2000
    with open_workspace(workspace, write=False) as space:
        results = list(Campaigns(space).results(summary["campaign"]))
    assert [result.detail for result in results if result.reason in ("harness-error", "template-error")] == []
    flaky = sum(result.verdict is Verdict.FLAKY for result in results)
    assert flaky < len(results) / 100
