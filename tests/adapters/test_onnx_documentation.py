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
