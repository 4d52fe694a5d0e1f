"""Steps and slopes: where the library itself may give what the compiler gave."""

from __future__ import annotations

from typing import Any

import numpy as np
from reviewing import reviewed


def quantized(value: Any) -> Any:
    return np.rint(value / (np.float32(0.1) if value.dtype == "float32" else np.float64(np.float32(0.1)))).astype("int8")


AS_FLOAT32 = {"float64": "float32"}


def test_a_step_is_excused_a_rounding_error_away_from_it() -> None:
    """0.35 / 0.1 is 3.5 within float32, and lies on neither side of it for sure."""
    near = np.array([0.35, 0.2], "float32")
    assert reviewed("ai.onnx.QuantizeLinear", [near], quantized, quantized(near) + np.array([-1, 0], "int8")) == "ill-conditioned"
    assert reviewed("ai.onnx.QuantizeLinear", [near], quantized, quantized(near) + np.array([0, 1], "int8")) is None


def test_a_compiler_that_declares_to_compute_as_less_gives_what_the_library_gives_of_rounded_inputs() -> None:
    """0.99999999 is 1 in float32, and 7.5 modulo 0.3 is next to 0.3 or to 0: another compiler may not round it."""
    near = np.array([1 - 1e-8, 0.5])
    assert reviewed("torch.floor", [near], np.floor, [1.0, 0.0], computes_as=AS_FLOAT32) == "precision-policy"
    assert reviewed("torch.floor", [near], np.floor, [1.0, 0.0]) is None
    assert reviewed("torch.floor", [near], np.floor, [1.0, 1.0], computes_as=AS_FLOAT32) is None
    assert reviewed("ai.onnx.Ceil", [np.array([6 + 4e-15])], np.ceil, [6], computes_as=AS_FLOAT32) == "precision-policy"
    assert reviewed("ai.onnx.Ceil", [np.array([6.0])], np.ceil, [7], computes_as=AS_FLOAT32) is None
    numbers, by = np.array([7.5, 7.5]), np.array([0.3, 2.5])
    assert reviewed("torch.remainder", [numbers, by], np.mod, [0.2999997, 0.0], computes_as=AS_FLOAT32) == "precision-policy"
    assert reviewed("torch.remainder", [numbers, by], np.mod, [0.2999997, 0.0]) is None
    assert reviewed("torch.remainder", [numbers, by], np.mod, [0.2999997, 2.5], computes_as=AS_FLOAT32) is None, "0.3 is odd, 2.5 is not"
    assert reviewed("torch.remainder", [numbers, by], np.mod, [0.15, 0.0], computes_as=AS_FLOAT32) is None


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


def test_a_slope_may_be_so_steep_that_the_last_bit_of_a_double_matters() -> None:
    """The remainder of a number with a hundred billion periods: nothing is left of it in single precision."""
    far, period = np.array([1e10], "float32"), np.array([0.3], "float32")
    assert reviewed("torch.remainder", [far, period], np.mod, [0.0]) == "ill-conditioned"
    near = np.array([7.0], "float32")
    assert reviewed("torch.remainder", [near, period], np.mod, [0.0]) is None


def test_a_number_that_is_surrounded_by_none_is_specified() -> None:
    base, exponents = np.array([-1.0, -2.0], "float32"), np.array([1.0, 2.0], "float32")
    assert reviewed("ai.onnx.Pow", [base, exponents], np.power, [np.nan, 4.0]) is None
    assert reviewed("torch.pow", [base, exponents], np.power, [np.nan, np.nan]) is None


def test_a_ratio_that_lies_exactly_on_a_step_is_specified() -> None:
    """3 / 2 is halfway; adding the zero point before rounding to even gives another number, and is a bug."""

    def quantise(value: Any, scale: Any) -> Any:
        return np.rint(value / scale).astype("int16") + 1

    values, scale = np.array([3.0, 8.0], "float32"), np.array(2.0, "float32")
    assert reviewed("ai.onnx.QuantizeLinear", [values, scale], quantise, [2, 5]) is None


def test_a_step_that_is_computed_is_never_met_exactly() -> None:
    """Dynamic quantisation divides by the range: 0.5 of 5 in 255 steps is 25.5, give or take a rounding error."""
    values = np.array([0.0, 2.0, -3.0, 0.5], "float32")

    def quantise(value: Any) -> Any:
        scale = (value.max() - value.min()) / value.dtype.type(255)
        return (np.rint(value / scale) + np.rint(-value.min() / scale)).astype("uint8")

    api, right = "ai.onnx.DynamicQuantizeLinear", quantise(values)
    assert reviewed(api, [values], quantise, right - np.array([0, 0, 0, 1], "uint8")) == "ill-conditioned"
    assert reviewed(api, [values], quantise, right - np.array([0, 0, 0, 2], "uint8")) is None
    assert reviewed(api, [values], quantise, right - np.array([1, 0, 0, 0], "uint8")) is None
