"""Seeded faults: every operator and every pair of operators of five models is made wrong, and `opera check` has to name it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import commands
import onnx
import pytest
import torch
from test_check import SITE, convolutional

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]
OF_SHAPES = {"Shape", "Gather", "Unsqueeze", "Concat", "Squeeze", "ConstantOfShape", "Constant"}
IN_CANARIES = {"MatMul", "Conv"}
"""Compilers that get these wrong start no campaign, and no check."""


def encoder(folder: Path) -> Path:
    """Three layers of a transformer, as PyTorch exports them: 117 nodes."""
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, activation="gelu")
    model = torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).eval()
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        torch.onnx.export(model, (torch.randn(1, 16, 64),), folder / "encoder.onnx", dynamo=True, external_data=False, verbose=False)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
    return folder / "encoder.onnx"


def shipped(name: str) -> Callable[[Path], Path]:
    """An architecture of 2012 to 2018 that the package onnx ships, with constant weights."""
    return lambda _: Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"


DRAWN = ("convolutional", "encoder")
MODELS = {
    "convolutional": convolutional, "encoder": encoder, **{name: shipped(name) for name in ("squeezenet", "shufflenet", "inception_v1")},
}  # fmt: skip


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return MODELS[request.param](tmp_path_factory.mktemp(request.param))


def checked(model: Path, fault: dict[str, Any]) -> tuple[dict[str, Any], list[str], set[int]]:
    """What is said of the faulty compiler, the operators by number, and the numbers of those that are called wrong."""
    with tempfile.TemporaryDirectory() as folder:
        done = commands.run(
            "check", str(model), "--compiler", "faulty", "--size", "batch=2", "--json", folder=Path(folder),
            variables={"PYTHONPATH": str(SITE), "OPERA_FAULT": json.dumps(fault)},
        )  # fmt: skip
    (found,) = done.json["compilers"]
    operators = [each["operator"].rpartition(".")[2] for each in done.json["nodes"]]
    return {**found, "made": done.json["nodes"]}, operators, {int(key) for key, each in found["nodes"].items() if each["state"] == "wrong"}


@pytest.mark.parametrize("factor", [1.1, 1.0003])
def test_a_wrong_operator_is_named_and_no_other(model: Path, factor: float) -> None:
    names = {node.op_type for node in onnx.load(model).graph.node} - OF_SHAPES - IN_CANARIES
    assert len(names) >= 5
    for name in sorted(names):
        found, operators, wrong = checked(model, {"operator": name, "factor": factor})
        assert wrong == {number for number, operator in enumerate(operators) if operator == name}, name
        assert found["compilations"] <= 8


@pytest.mark.parametrize("model", DRAWN, indirect=True)
def test_operators_that_are_wrong_together_are_named_by_their_edge(model: Path) -> None:
    """In the other models constant weights hide a wrong edge: all elements of a value are equal."""
    graph = onnx.load(model).graph
    made = {name: node.op_type for node in graph.node for name in node.output}
    outputs = {each.name for each in graph.output}
    pairs = {(made[node.input[0]], node.op_type) for node in graph.node if node.input and node.input[0] in made.keys() - outputs}
    visible = 0
    for pair in sorted(each for each in pairs if not OF_SHAPES & set(each)):
        found, _, wrong = checked(model, {"edge": pair, "factor": 1.1})
        assert wrong == set(), pair
        assert found["compilations"] <= 16
        if found["whole"]["state"] == "wrong":
            visible += 1
            ends = {made[edge] for edge in found["edges"]}
            assert pair[0] in ends, (pair, found["edges"])
    assert visible >= 5
