"""The second look: what excuses a difference, and what must not.

Each false alarm below has a twin beside it that differs in the one thing that matters, and is a bug.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from opera.instance import Argument, Instance, Kind
from opera.models.sampling import nudged
from opera.oracles.filters import filters
from opera.oracles.review import Case, review

Compute = Callable[..., Any]


def reviewed(
    api: str, inputs: Sequence[Any], compute: Compute, actual: Any, *, init: dict[str, Any] | None = None, dead: bool = False
) -> str | None:
    """The reason that excuses *actual* where the library computes *compute*."""
    arrays = [np.asarray(value) for value in inputs]
    with np.errstate(all="ignore"):
        expected = np.asarray(compute(*arrays))

    def nearby(scale: float, draw: int) -> list[Any]:
        wide = [value.astype("float64") if value.dtype.kind == "f" else value for value in arrays]
        with np.errstate(all="ignore"):
            return [np.asarray(compute(*(nudged(value, scale, draw, place) for place, value in enumerate(wide))))]

    instance = Instance("pytorch", api, Kind.FUNCTION, init=tuple(Argument(name, value) for name, value in (init or {}).items()))
    found = review(Case(instance, arrays, [expected], None if dead else [np.asarray(actual, expected.dtype)], nearby))
    return None if found is None else found.reason


FLOATS = np.array([0.1, 1.0, -2.5, 7.25], "float32")


def test_division_by_an_integer_zero_is_excused_where_the_divisor_is_zero_and_nowhere_else() -> None:
    numbers, divisors = np.array([7, 8, 9], "int32"), np.array([2, 0, 3], "int32")
    assert reviewed("torch.floor_divide", [numbers, divisors], np.floor_divide, [3, -1, 3]) == "integer-division-by-zero"
    assert reviewed("torch.floor_divide", [numbers, divisors], np.floor_divide, [4, 0, 3]) is None
    assert reviewed("ai.onnx.Div", [numbers, divisors], np.floor_divide, None, dead=True) == "integer-division-by-zero"
    assert reviewed("ai.onnx.Add", [numbers, divisors], np.add, None, dead=True) is None


def test_dividing_floats_by_zero_is_specified() -> None:
    assert reviewed("torch.div", [FLOATS, np.zeros(4, "float32")], np.divide, [0, 0, 0, 0]) is None


def test_a_shift_past_the_width_is_excused() -> None:
    numbers, bits = np.array([1, 1, 1], "int8"), np.array([1, 8, -1], "int8")
    shift = np.left_shift
    assert reviewed("torch.bitwise_left_shift", [numbers, bits], shift, [2, 1, -128]) == "shift-past-width"
    assert reviewed("torch.bitwise_left_shift", [numbers, bits], shift, [4, 1, -128]) is None


def test_a_cast_is_excused_for_what_the_integer_type_cannot_hold() -> None:
    values = np.array([1.5, np.nan, 3e9, -np.inf], "float32")

    def to_int(value: Any) -> Any:
        return value.astype("int32")

    low = np.iinfo("int32").min
    assert reviewed("torch.Tensor.to", [values], to_int, [1, 0, 2**31 - 1, 0]) == "cast-out-of-range"
    assert reviewed("torch.Tensor.to", [values], to_int, [2, low, low, low]) is None


def test_uninitialised_memory_has_any_value_but_no_other_shape() -> None:
    assert reviewed("torch.empty_like", [FLOATS], np.zeros_like, [1, 2, 3, 4]) == "uninitialised-memory"
    assert reviewed("torch.empty_like", [FLOATS], np.zeros_like, [1, 2, 3]) is None
    assert reviewed("torch.zeros_like", [FLOATS], np.zeros_like, [1, 2, 3, 4]) is None


def test_an_order_is_excused_where_none_is_promised() -> None:
    def top(value: Any) -> Any:
        return np.sort(value)[::-1][:2].copy()

    assert reviewed("torch.topk", [FLOATS], top, [1.0, 7.25], init={"sorted": False}) == "unspecified-order"
    assert reviewed("torch.topk", [FLOATS], top, [1.0, 7.25], init={"sorted": True}) is None
    assert reviewed("torch.topk", [FLOATS], top, [0.1, 7.25], init={"sorted": False}) is None
    assert reviewed("keras.ops.argpartition", [FLOATS], lambda x: np.argsort(x), [1, 0, 2, 3]) == "unspecified-order"


def test_attention_over_nothing_is_excused_only_where_the_library_says_nan() -> None:
    def attend(value: Any) -> Any:
        return np.array([np.nan, 1.0])

    api = "torch.nn.functional.scaled_dot_product_attention"
    assert reviewed(api, [FLOATS], attend, [0.0, 1.0]) == "nothing-to-attend-to"
    assert reviewed(api, [FLOATS], attend, [0.0, 2.0]) is None
    assert reviewed(api, [FLOATS], lambda x: np.array([1.0, 2.0]), [np.nan, 2.0]) is None


def quantized(value: Any) -> Any:
    return np.rint(value / (np.float32(0.1) if value.dtype == "float32" else np.float64(np.float32(0.1)))).astype("int8")


def test_a_step_is_excused_a_rounding_error_away_from_it() -> None:
    """0.35 / 0.1 is 3.5 within float32, and lies on neither side of it for sure."""
    near = np.array([0.35, 0.2], "float32")
    assert reviewed("ai.onnx.QuantizeLinear", [near], quantized, quantized(near) + np.array([-1, 0], "int8")) == "ill-conditioned"
    assert reviewed("ai.onnx.QuantizeLinear", [near], quantized, quantized(near) + np.array([0, 1], "int8")) is None


def test_exactly_on_a_step_the_result_is_specified() -> None:
    """Rounding 0.5 and 2.5 up instead of to even is a bug, although any change of the input excuses it."""
    halves = np.array([0.5, 1.5, 2.5], "float32")
    assert reviewed("torch.round", [halves], np.round, [1.0, 2.0, 3.0]) is None
    assert reviewed("torch.floor", [np.array([1.0, 2.0], "float32")], np.floor, [0.0, 1.0]) is None


def test_a_steep_slope_is_excused_as_far_as_it_reaches() -> None:
    steep = np.array([1.0 + 1e-6], "float32")

    def inverse(value: Any) -> Any:
        return 1.0 / (value - 1.0)

    truth = float(inverse(steep.astype("float64"))[0])
    assert reviewed("torch.linalg.inv", [steep], inverse, [truth * 1.2]) == "ill-conditioned"
    assert reviewed("torch.linalg.inv", [steep], inverse, [-truth * 40]) is None


def test_a_smooth_function_has_no_excuse() -> None:
    assert reviewed("torch.sin", [FLOATS], np.sin, np.sin(FLOATS) + 0.01) is None
    assert reviewed("torch.nn.functional.gelu", [FLOATS], np.tanh, np.tanh(FLOATS) * 1.01) is None


def test_everything_that_is_wrong_must_be_excused() -> None:
    values = np.array([np.nan, 2.0], "float32")
    assert reviewed("torch.Tensor.int", [values], lambda x: x.astype("int32"), [5, 3]) is None


@pytest.mark.parametrize("each", filters(), ids=lambda each: f"{each.reason}:{each.condition}")
def test_every_filter_says_why(each: Any) -> None:
    assert len(each.why.split()) > 5
    assert each.reason == each.reason.lower()
