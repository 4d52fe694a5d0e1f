"""Pieces of a model: large weights exist once, and stand in the pieces as the model has them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from opera import bundle
from opera.extensions.models.templates.opened import opened
from opera.extensions.models.templates.surgeon import Surgeon
from opera.instance import Graph, decode_instance
from opera.workers.child import Stages

SIZE = 128


def network(folder: Path) -> dict[str, Any]:
    """Writes a product and a sum, whose weights are large and small; returns them."""
    random = np.random.default_rng(0)
    weights = {"w": random.standard_normal((SIZE, SIZE)).astype(np.float32), "b": np.arange(SIZE, dtype=np.float32)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Add", ["m", "b"], ["y"])]
    value = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, SIZE]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", value[:1], value[1:], [numpy_helper.from_array(each, name) for name, each in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), str(folder / "model.onnx"))
    return weights


def test_a_large_weight_is_no_part_of_the_model_that_is_copied_for_each_run(tmp_path: Path) -> None:
    weights = network(tmp_path)
    found = opened(tmp_path / "model.onnx", None, {}, 0)
    assert set(found.large) == {"w"}
    assert found.model.ByteSize() < weights["w"].nbytes / 8
    assert set(found.feeds) == {"x"}
    np.testing.assert_allclose(found.known["y"], found.feeds["x"] @ weights["w"] + weights["b"], rtol=1e-4)


def test_a_piece_has_the_weights_of_the_model(tmp_path: Path) -> None:
    weights = network(tmp_path)
    blobs = tmp_path / "blobs"
    blobs.mkdir()
    options = {"path": str(tmp_path / "model.onnx"), "inputs": None, "sizes": {}, "seed": 0, "blobs": str(blobs), "outputs": None}
    surgeon = Surgeon({**options, "fast": True})
    surgeon.ready()
    document = surgeon.handle({"nodes": [0, 1], "cut": []}, Stages(lambda _: None))["document"]
    instance = decode_instance(document, partial(bundle.fetch, blobs))
    graph = instance.context_value("graph")
    assert isinstance(graph, Graph)
    held = onnx.ModelProto.FromString(graph.data).graph.initializer
    for own, right in zip(held, weights.values(), strict=True):
        np.testing.assert_array_equal(numpy_helper.to_array(own), right)
