"""Canaries of PyTorch become a model of every kind, and each real compiler computes them in what its adapter declares."""

from __future__ import annotations

from pathlib import Path

import commands
import pytest
import torch

from opera.compilers.canary import PYTORCH
from opera.templates.pytorch.graph import graph_module
from opera.templates.pytorch.model import PyTorchTemplate


def test_a_function_is_a_node_of_the_traced_graph() -> None:
    for instance, function in zip(PYTORCH, (torch.matmul, torch.conv2d), strict=True):
        model = graph_module(PyTorchTemplate().build(instance, "key", 0))
        assert [each.target for each in model.graph.nodes if each.op == "call_function"] == [function]


@pytest.mark.slow
def test_doctor_says_in_what_products_are_computed(tmp_path: Path) -> None:
    told = commands.run("doctor", "--compiler", "onnxruntime", "--json", folder=tmp_path).json
    settings = {(each["frontend"], each["route"]): each["settings"] for each in told["adapters"]}
    assert settings["onnx", "onnx"]["products"] == settings["pytorch", "onnx"]["products"] == "float32"
