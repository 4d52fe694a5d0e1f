"""What TVM's worker imports, and its levels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from instances import node, tensor
from real_campaigns import filled, run

from opera.compilers.tvm import TvmAdapter
from opera.report.reproducer import driving_code

ADD = node("Add", 13, A=tensor([1.0, 2.0]), B=tensor([3.0, 4.0]))
READY = """
import sys
from opera.difftest.compiler_worker import CompilerWorker

CompilerWorker({"adapter": "opera.compilers.tvm:TvmAdapter", "cache": sys.argv[1], "decomposes": len(sys.argv) > 2, "builds": []}).ready()
print("tvm" in sys.modules, "torch" in sys.modules)
import torch
print(torch.ones(1).sum().item())
"""


@pytest.mark.parametrize(("routes", "torch"), [((), False), pytest.param(("PyTorch's",), True, marks=pytest.mark.slow)])
def test_torch_is_imported_for_routes_from_it_alone(routes: tuple[str, ...], torch: bool, tmp_path: Path) -> None:
    """TVM imports torch wherever it is installed, which takes longer than all else."""
    command = [sys.executable, "-W", "ignore", "-c", READY, str(tmp_path), *routes]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", str(torch), "1.0"]


@pytest.mark.slow
@pytest.mark.parametrize("level", TvmAdapter.levels)
def test_each_level_builds_a_whole_module(level: str, tmp_path: Path) -> None:
    found = run(filled(tmp_path, [ADD]), "tvm", "onnx", [], "--level", level)
    assert found.summary["verdicts"] == {"pass": 2}, "inputs at run time, and in the model"


def test_weights_may_stay_inputs_of_the_module(tmp_path: Path) -> None:
    parts = node("SplitToSequence", 11, {"axis": 0}, input=tensor([1.0, 2.0]))
    found = run(filled(tmp_path, [ADD, parts]), "tvm", "onnx", [], "--route", "unbound", "--input-form", "constant")
    assert found.summary["verdicts"] == {"pass": 2}, "a sum, and a result that is a list"
    text = driving_code(TvmAdapter, "onnx", {"route": "unbound", "absent": False, "compares": True, "nested": False, "stage": "run"}).text
    assert "detach_params(from_onnx(model, keep_params_in_input=True))" in text
    assert 'for entry in model.graph.input] + [each.numpy() for each in weights.get("main", ())]\n' in text
