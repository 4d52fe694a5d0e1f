"""Shapes that differ: PyTorch has some outputs on one kind of device only, and that is no fault of a compiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from instances import counting, tensor, torch_call
from reviewing import reviewed

from opera.arrays import as_array
from opera.instance import Instance
from opera.models.variants import with_single_parameters
from opera.oracles.review import Case, review
from opera.templates.pytorch.model import PyTorchTemplate

ONES = tensor([1, 1, 1])


def normalised(*, training: bool) -> Instance:
    parameters = {"training": training, "momentum": 0.1, "eps": 1e-5}
    return torch_call("torch.native_batch_norm", counting(2, 3, 4), ONES, ONES, ONES, ONES, **parameters)


def reason(instance: Instance, *shapes: Sequence[int] | None, scale: float = 1.0, dtype: str = "float32") -> str | None:
    """What excuses a compiler whose outputs are the library's times *scale*, or zeros of another shape."""
    model = PyTorchTemplate().build(instance, "k", 0)
    expected = model.reference().outputs
    actual = [
        as_array(own) * np.float32(scale) if shape is None else np.zeros(shape, dtype) for own, shape in zip(expected, shapes, strict=True)
    ]
    inputs = [value for _, value in model.inputs]

    def rounded() -> list[tuple[int, ...]]:
        return [as_array(each).shape for each in PyTorchTemplate().build(with_single_parameters(instance), "k", 0).reference().outputs]

    found = review(Case(instance, inputs, expected, actual, model.nearby, model.exact, model.shapes_elsewhere, rounded))
    return None if found is None else found.reason


def test_outputs_that_the_library_leaves_empty_on_the_processor_alone_may_be_there() -> None:
    assert reason(normalised(training=False), None, [3], [3]) == "device-dependent"


@pytest.mark.parametrize("shape", [[4], [2], [1, 3], []])
def test_another_shape_than_the_librarys_anywhere_is_wrong(shape: list[int]) -> None:
    assert reason(normalised(training=False), None, shape, [3]) is None


def test_what_else_is_wrong_with_such_a_result_stays_wrong() -> None:
    assert reason(normalised(training=False), None, [3], [3], scale=1.5) is None
    assert reason(normalised(training=False), None, [3], [3], dtype="float64") is None


def test_outputs_that_are_alike_on_all_devices_have_one_shape() -> None:
    assert reason(normalised(training=True), None, [0], [0]) is None
    assert reason(torch_call("torch.neg", counting(2)), [3]) is None


def counted(start: Any, limit: Any, step: Any) -> Any:
    return np.arange(start.item(), limit.item(), step.item(), dtype=start.dtype)


def test_a_length_next_to_a_whole_number_may_be_either() -> None:
    ends = [np.float32(0), np.float32(0.3), np.float32(0.1)]
    assert counted(*ends).shape == (4,)
    assert reviewed("ai.onnx.Range", ends, counted, np.float32([0, 0.1, 0.2])) == "ill-conditioned"
    assert reviewed("ai.onnx.Range", ends, counted, np.float32([0, 0.1])) is None
    assert reviewed("ai.onnx.Range", [np.float32(0), np.float32(0.5), np.float32(0.125)], counted, np.zeros(5, "float32")) is None, "exact"


def test_a_length_may_be_computed_from_parameters_in_single_precision() -> None:
    """2.2 - 1 is four times 0.3 and a little more in double precision, and a little less than that in single."""
    assert reason(torch_call("torch.arange", start=1.0, end=2.2, step=0.3), [4]) == "ill-conditioned"
    assert reason(torch_call("torch.arange", start=1.0, end=2.2, step=0.3), [6]) is None
    assert reason(torch_call("torch.arange", start=1.0, end=2.25, step=0.25), [4]) is None, "these are the same in any precision"
    assert reason(torch_call("torch.linspace", start=1.0, end=2.2, steps=5), [4]) is None


def test_how_many_elements_are_left_is_no_accident_of_rounding() -> None:
    assert reviewed("ai.onnx.Unique", [np.float32([2, 1, 1])], np.unique, np.float32([1, 1, 2])) is None

    def above(values: Any, threshold: Any) -> Any:
        return values[values.astype("float32") > threshold.astype("float32")]

    operands = np.float32([1 / 7, 1]), np.float32(1 / 7)
    assert above(*operands).shape == (1,)
    assert reviewed("ai.onnx.NonMaxSuppression", operands, above, np.float32([1 / 7, 1])) is None, "greater is not greater or equal"


def test_a_shape_that_depends_on_values_is_no_excuse() -> None:
    assert reason(torch_call("torch.nonzero", tensor([0, 1, 2])), [3, 1]) is None


@pytest.mark.parametrize(
    ("api", "integers", "varies"),
    [
        ("torch.tensor_split", 3, True),
        ("torch.tensor_split", [2, 4], False),
        ("torch.take", 3, False),
    ],
)
def test_an_operator_is_no_graph_where_values_decide_how_many_outputs_it_has(api: str, integers: object, *, varies: bool) -> None:
    model = PyTorchTemplate().build(torch_call(api, counting(6), tensor(integers, "int64")), "k", 0)
    assert model.number_of_outputs_varies() is varies
