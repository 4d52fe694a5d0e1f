"""What ONNX's documentation forbids is no test, though its checker and its evaluator take it."""

from __future__ import annotations

import pytest
from instances import counting, node, tensor

from opera.instance import Instance
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
    ],
)
def test_a_model_that_breaks_none_is_a_test(instance: Instance) -> None:
    OnnxTemplate().build(instance, "key", 0)
