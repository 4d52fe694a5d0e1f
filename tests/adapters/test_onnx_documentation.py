"""What ONNX's documentation forbids is no test, though its checker and its evaluator take it."""

from __future__ import annotations

from typing import Any

import pytest
import recordings
from instances import counting, node, tensor

from opera.instance import Instance, Kind
from opera.models.template import Invalid
from opera.templates.onnx.model import OnnxTemplate

IMAGE = counting(1, 1, 3, 3)
KERNEL = counting(1, 1, 1, 1)
SCALAR = tensor(2)
ONES, TWOS = tensor([1, 1], "int64"), tensor([2, 2], "int64")


@pytest.mark.parametrize(
    ("instance", "sentence"),
    [
        (node("ArgMax", 18, {}, data=SCALAR), "Accepted range"),
        (node("Conv", 18, {"auto_pad": "SAME_UPPER", "pads": [1, 1, 1, 1]}, X=IMAGE, W=KERNEL), "auto_pad"),
        (node("Slice", 18, {}, data=IMAGE, starts=ONES, ends=TWOS, axes=tensor([2, -2], "int64")), "repeated"),
        (node("Mod", 13, {}, A=IMAGE, B=IMAGE), "integer"),
        (node("Range", 11, {}, start=SCALAR, limit=tensor([3]), delta=SCALAR), "Scalar"),
        (node("Clip", 13, {}, input=IMAGE, min=tensor([0])), "tensor of empty shape"),
        (node("MaxPool", 22, {"kernel_shape": [4, 1]}, X=IMAGE), "kernel"),
        (node("AveragePool", 22, {"kernel_shape": [2, 2], "dilations": [3, 1]}, X=IMAGE), "kernel"),
        (node("Conv", 11, {"auto_pad": "VALID"}, X=IMAGE, W=counting(1, 1, 5, 5)), "kernel"),
        (node("ConvTranspose", 11, {"pads": [2, 0, 1, 0]}, X=IMAGE, W=KERNEL), "output_shape"),
        (node("SpaceToDepth", 13, {"blocksize": 2}, input=IMAGE), "blocksize"),
        (node("DepthToSpace", 13, {"blocksize": 2}, input=counting(1, 6, 1, 1)), "blocksize"),
        (node("QuantizeLinear", 21, {"block_size": 2}, x=counting(4), y_scale=SCALAR), "blocked"),
        (node("LpNormalization", 22, {"p": 3}, input=IMAGE), "only 1 or 2"),
        (node("NegativeLogLikelihoodLoss", 22, {}, input=counting(2, 3), target=tensor([0, 3], "int64")), "range"),
        (node("ConvTranspose", 11, {"output_padding": [2, 0], "strides": [2, 2]}, X=IMAGE, W=KERNEL), "must be less"),
    ],
)
def test_a_model_that_breaks_a_sentence_is_invalid(instance: Instance, sentence: str) -> None:
    with pytest.raises(Invalid, match="documentation") as refused:
        OnnxTemplate().build(instance, "key", 0)
    assert sentence in str(refused.value.__cause__)


@pytest.mark.parametrize(
    "instance",
    [
        node("ArgMax", 18, {}, data=counting(2)),
        node("Conv", 18, {"auto_pad": "SAME_UPPER"}, X=IMAGE, W=KERNEL),
        node("Conv", 18, {"auto_pad": "NOTSET", "pads": [1, 1, 1, 1]}, X=IMAGE, W=KERNEL),
        node("Slice", 18, {}, data=IMAGE, starts=ONES, ends=TWOS, axes=tensor([2, -1], "int64")),
        node("Mod", 13, {"fmod": 1}, A=IMAGE, B=IMAGE),
        node("Mod", 13, {}, A=TWOS, B=TWOS),
        node("ReduceSum", 18, {}, data=SCALAR),
        node("QuantizeLinear", 18, {}, x=SCALAR, y_scale=SCALAR),
        node("Range", 11, {}, start=SCALAR, limit=SCALAR, delta=SCALAR),
        node("Clip", 13, {}, input=IMAGE, min=SCALAR),
        node("MaxPool", 22, {"kernel_shape": [4, 1], "pads": [1, 0, 0, 0]}, X=IMAGE),
        node("MaxPool", 22, {"kernel_shape": [4, 4], "auto_pad": "SAME_LOWER"}, X=IMAGE),
        node("Conv", 11, {"pads": [1, 1, 1, 1]}, X=IMAGE, W=counting(1, 1, 5, 5)),
        node("ConvTranspose", 11, {"pads": [1, 0, 1, 0]}, X=IMAGE, W=KERNEL),
        node("MaxUnpool", 11, {"kernel_shape": [4, 4], "strides": [4, 4]}, X=counting(1, 1, 1, 1), I=tensor([[[[0]]]], "int64")),
        node("SpaceToDepth", 13, {"blocksize": 3}, input=IMAGE),
        node("QuantizeLinear", 21, {"block_size": 2}, x=counting(4, 1), y_scale=counting(2, 1)),
        node("LpNormalization", 22, {"p": 1}, input=IMAGE),
        node("NegativeLogLikelihoodLoss", 22, {"ignore_index": -1}, input=counting(2, 3), target=tensor([0, -1], "int64")),
        node("ConvTranspose", 11, {"output_padding": [1, 0], "strides": [2, 2]}, X=IMAGE, W=KERNEL),
    ],
)
def test_a_model_that_breaks_none_is_a_test(instance: Instance) -> None:
    OnnxTemplate().build(instance, "key", 0)


def test_a_node_inside_of_a_graph_breaks_it_too(node_tests: list[Any]) -> None:
    """The body that ONNX gives AffineGrid hands one-element tensors to Range: ONNX Runtime refuses that once the sizes are constants."""
    (expanded, *_) = [each for each in recordings.instances(node_tests, "test_affine_grid_2d_expanded") if each.kind is Kind.GRAPH]
    with pytest.raises(Invalid, match="documentation") as refused:
        OnnxTemplate().build(expanded, "key", 0)
    assert "Scalar" in str(refused.value.__cause__)
    (sound, *_) = [each for each in recordings.instances(node_tests, "test_clip_example_expanded") if each.kind is Kind.GRAPH]
    OnnxTemplate().build(sound, "key", 0)
