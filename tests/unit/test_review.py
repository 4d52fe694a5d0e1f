"""The second look: what excuses a difference, and what must not.

Each false alarm below has a twin that differs in the one decisive property, and is a bug.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from reviewing import reviewed

from opera.instance import Argument, Instance, Kind
from opera.oracles.filters import filters, order_is_specified

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "verdicts-and-oracles.md"
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


def test_a_shift_past_the_width_is_no_excuse_where_the_operator_says_what_it_gives() -> None:
    """ONNX says so from opset 28 on: nothing but copies of the sign is left."""
    numbers, bits = np.array([-8, 4], "int8"), np.array([8, 9], "int8")

    def shift(values: Any, by: Any) -> Any:
        return np.right_shift(values.astype("int64"), np.minimum(by, 63).astype("int64")).astype("int8")

    right = {"direction": "RIGHT"}
    assert reviewed("ai.onnx.BitShift", [numbers, bits], shift, [0, 0], init=right, opset=28) is None
    assert reviewed("ai.onnx.BitShift", [numbers, bits], shift, [0, 0], init=right, opset=11) == "shift-past-width"


def test_an_integer_to_a_negative_power_is_excused_and_to_any_other_is_not() -> None:
    base, exponent = np.array([2, 3], "int64"), np.array([-1, 2], "int64")

    def power(one: Any, other: Any) -> Any:
        return np.where(other < 0, 0, one ** np.abs(other))

    assert reviewed("torch.pow", [base, exponent], power, [1, 9]) == "negative-integer-exponent"
    assert reviewed("torch.pow", [base, exponent], power, [0, 6]) is None


def test_what_a_signed_type_cannot_hold_is_its_end_as_well_as_modulo_its_range() -> None:
    small = np.array([-128, 5], "int8")
    assert reviewed("torch.abs", [small], np.abs, [127, 5]) == "integer-overflow"
    assert reviewed("torch.abs", [small], np.abs, [-128, 6]) is None
    unsigned = np.array([200], "uint8")
    assert reviewed("torch.add", [unsigned, unsigned], lambda x, y: x + y, [255]) is None, "unsigned numbers are taken modulo their range"

    def shifted(one: Any, bits: Any) -> Any:
        return (one.astype("int64") << bits).astype(one.dtype)

    assert reviewed("ai.onnx.BitShift", [small, np.array([0, 5], "int8")], shifted, [-128, 127], opset=28) is None, "bits are lost"

    def least(value: Any) -> Any:
        return np.array([np.iinfo(value.dtype).min])

    assert reviewed("ai.onnx.ReduceMax", [np.zeros(0, "int32")], least, [0]) is None, "the least number of a type is no overflow"


def test_an_infinity_next_to_the_largest_number_is_a_rounding_error() -> None:
    high = np.array([88.72, 88.0], "float32")
    assert reviewed("torch.exp", [high], np.exp, [np.inf, np.exp(np.float32(88))]) == "end-of-range"
    assert reviewed("torch.exp", [high], np.exp, [np.exp(np.float32(88.72)), np.inf]) is None
    assert reviewed("torch.exp", [high], np.exp, [-np.inf, np.exp(np.float32(88))]) is None
    infinite = np.array([np.inf], "float32")
    largest = [np.finfo("float32").max]
    assert reviewed("ai.onnx.ReduceMax", [infinite], lambda x: x, largest) is None, "an infinity that is cut off is wrong"


def test_an_index_past_the_end_is_an_error_that_a_library_need_not_raise() -> None:
    data = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")

    def gather(values: Any, indices: Any) -> Any:
        return np.take_along_axis(values, np.clip(indices, -2, 1), 0)

    for indices, reason in (([[9, 0]], "index-out-of-range"), ([[1, -2]], None)):
        given = [data, np.array(indices, "int64")]
        assert reviewed("ai.onnx.GatherElements", given, gather, [[7.0, 2.0]], init={"axis": 0}) == reason
        assert reviewed("ai.onnx.GatherElements", given, gather, [[7.0, 2.0]], init={"axis": 0}, dead=True) == reason


def test_an_index_without_an_axis_counts_all_elements() -> None:
    def take(values: Any, places: Any) -> Any:
        return np.take(values, places, mode="wrap")

    square = np.arange(9, dtype="float32").reshape(3, 3)
    assert reviewed("torch.take", [square, np.array([-4])], take, [1]) is None
    assert reviewed("torch.take", [square, np.array([9])], take, [1]) == "index-out-of-range"


def test_nan_is_quantised_to_anything() -> None:
    values, scale = np.array([np.nan, 2.0], "float32"), np.array(1.0, "float32")

    def quantised(value: Any, step: Any) -> Any:
        return np.nan_to_num(np.rint(value / step)).astype("uint8")

    assert reviewed("ai.onnx.QuantizeLinear", [values, scale], quantised, [255, 2]) == "cast-out-of-range"
    assert reviewed("ai.onnx.QuantizeLinear", [values, scale], quantised, [0, 3]) is None


def test_a_reflected_operator_is_excused_for_its_first_input_and_not_for_its_second() -> None:
    """`Tensor.__rpow__(self, other)` is `other ** self`."""
    small, other = np.array([-1, 0, 2], "int64"), np.array([0, 3, 2], "int64")

    def power(exponent: Any, base: Any) -> Any:
        return np.where(exponent < 0, 0, base ** np.abs(exponent))

    assert reviewed("torch.Tensor.__rpow__", [small, other], power, [7, 1, 4]) == "negative-integer-exponent"
    assert reviewed("torch.Tensor.__rpow__", [small, other], power, [0, 1, 5]) is None
    assert reviewed("torch.Tensor.__rmod__", [small, other], lambda by, of: np.fmod(of, by), [0, 7, 0]) == "integer-division-by-zero"
    assert reviewed("torch.Tensor.__rmod__", [small, other], lambda by, of: np.fmod(of, by), [7, 0, 0]) is None
    assert reviewed("torch.Tensor.__rlshift__", [small, other], lambda by, of: np.left_shift(of, by), [7, 3, 8]) == "shift-past-width"
    assert reviewed("torch.Tensor.__rlshift__", [small, other], lambda by, of: np.left_shift(of, by), [0, 3, 9]) is None


def test_a_cast_is_excused_for_what_the_integer_type_cannot_hold() -> None:
    values = np.array([1.5, np.nan, 3e9, -np.inf], "float32")

    def to_int(value: Any) -> Any:
        return value.astype("int32")

    low = np.iinfo("int32").min
    assert reviewed("torch.Tensor.to", [values], to_int, [1, 0, 2**31 - 1, 0]) == "cast-out-of-range"
    assert reviewed("torch.Tensor.to", [values], to_int, [2, low, low, low]) is None


def test_a_cast_to_four_bits_is_excused_in_the_same_way() -> None:
    values = np.array([1, -1, 20, 3], "float32")

    def to_four_bits(value: Any) -> Any:
        return value.astype("int32").astype(ml_dtypes.uint4)

    assert reviewed("ai.onnx.Cast", [values], to_four_bits, np.array([1, 0, 15, 3], ml_dtypes.uint4)) == "cast-out-of-range"
    assert reviewed("ai.onnx.Cast", [values], to_four_bits, np.array([1, 15, 4, 2], ml_dtypes.uint4)) is None
    whole = values.astype("int32")
    assert reviewed("ai.onnx.Cast", [whole], to_four_bits, np.array([1, 0, 15, 3], ml_dtypes.uint4)) is None


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


def test_attention_over_nothing_is_nan_or_zero_whichever_of_them_the_library_gives() -> None:
    def attend(value: Any) -> Any:
        return np.array([np.nan, 1.0])

    api = "torch.nn.functional.scaled_dot_product_attention"
    assert reviewed(api, [FLOATS], attend, [0.0, 1.0]) == "nothing-to-attend-to"
    assert reviewed(api, [FLOATS], attend, [0.0, 2.0]) is None
    assert reviewed(api, [FLOATS], lambda x: np.array([0.0, 2.0]), [np.nan, 2.0]) == "nothing-to-attend-to"
    assert reviewed(api, [FLOATS], lambda x: np.array([1.0, 2.0]), [np.nan, 2.0]) is None
    assert reviewed(api, [FLOATS], lambda x: np.array([0.0, 2.0]), [1.0, 2.0]) is None
    assert reviewed("torch.softmax", [FLOATS], lambda x: np.array([0.0, 2.0]), [np.nan, 2.0]) is None
    assert reviewed("ai.onnx.Attention", [FLOATS], lambda x: np.array([0.0, 2.0]), [np.nan, 2.0]) is None, "ONNX says zero"
    assert reviewed("ai.onnx.Attention", [FLOATS], attend, [0.0, 1.0]) == "nothing-to-attend-to"


def test_no_excuse_of_values_covers_another_dtype() -> None:
    small = np.array([100], "int8")
    assert reviewed("torch.matmul", [small, small], np.multiply, np.array([127], "int8")) == "integer-overflow"
    assert reviewed("torch.matmul", [small, small], np.multiply, np.array([10000], "float32"), as_given=True) is None
    double = np.array([1 - 1e-12])
    for narrow, reason in (({"float64": "float32"}, "precision-policy"), ({}, None)):
        given = np.array([1.0], "float32")
        assert reviewed("torch.floor", [double], np.floor, given, as_given=True, computes_as=narrow) == reason


def test_a_smooth_function_has_no_excuse() -> None:
    assert reviewed("torch.sin", [FLOATS], np.sin, np.sin(FLOATS) + 0.01) is None
    assert reviewed("torch.nn.functional.gelu", [FLOATS], np.tanh, np.tanh(FLOATS) * 1.01) is None


def test_everything_that_is_wrong_must_be_excused() -> None:
    values = np.array([np.nan, 2.0], "float32")
    assert reviewed("torch.Tensor.int", [values], lambda x: x.astype("int32"), [5, 3]) is None


def test_nan_in_four_bits_has_no_code_but_numbers_have() -> None:
    import ml_dtypes

    values = np.array([np.nan, 7.0, -0.0], "float32")

    def cast(value: Any) -> Any:
        return np.nan_to_num(value, nan=0.0).astype(ml_dtypes.float4_e2m1fn)

    assert reviewed("ai.onnx.Cast", [values], cast, [6.0, 6.0, 0.0]) == "no-such-code"
    assert reviewed("ai.onnx.Cast", [values], cast, [0.0, 4.0, 0.0]) is None


def test_numbers_below_the_normal_ones_may_be_taken_for_zero() -> None:
    values = np.array([1e-42, 1e-30], "float32")
    right = np.log(values)
    assert reviewed("torch.log", [values], np.log, [-np.inf, right[1]]) == "subnormal-input"
    assert reviewed("torch.log", [values], np.log, [right[0], -np.inf]) is None


def test_nan_has_no_place_in_an_order_that_does_not_mention_it() -> None:
    values = np.array([1.0, np.nan, 3.0], "float32")
    assert reviewed("ai.onnx.ArgMax", [values], np.argmax, 2) == "order-of-nan"
    assert reviewed("ai.onnx.ArgMax", [values[::2]], np.argmax, 0) is None
    assert reviewed("torch.argmax", [values], np.argmax, 2) is None
    assert reviewed("ai.onnx.ReduceMax", [values], np.max, 3.0) == "order-of-nan"
    assert reviewed("ai.onnx.ReduceMax", [values], np.max, -np.inf) is None, "-infinity is not one of the numbers"
    assert reviewed("ai.onnx.Clip", [values], lambda x: np.clip(x, 0, 2), [1.0, 0.0, 2.0]) == "order-of-nan"
    assert reviewed("ai.onnx.Clip", [values], lambda x: np.clip(x, 0, 2), [1.0, 0.0, 3.0]) is None, "an element next to the NaN"


def test_boxes_of_the_same_score_come_in_any_order() -> None:
    boxes, scores = np.zeros((1, 2, 4), "float32"), np.array([[[0.9, 0.9]]], "float32")

    def select(box: Any, score: Any) -> Any:
        return np.array([[0, 0, 0], [0, 0, 1]])

    swapped = [[0, 0, 1], [0, 0, 0]]
    assert reviewed("ai.onnx.NonMaxSuppression", [boxes, scores], select, swapped) == "unspecified-order"
    assert reviewed("ai.onnx.NonMaxSuppression", [boxes, np.array([[[0.9, 0.8]]], "float32")], select, swapped) is None
    assert reviewed("ai.onnx.NonMaxSuppression", [boxes, scores], select, [[0, 0, 1], [0, 0, 1]]) is None


def test_of_two_values_written_to_one_place_either_may_stay() -> None:
    data, places, values = np.zeros(4, "float32"), np.array([1, 1, 2]), np.array([5.0, 6.0, 7.0], "float32")

    def put(into: Any, at: Any, these: Any) -> Any:
        found = into.copy()
        found[at] = these
        return found

    assert reviewed("torch.index_put", [data, places, values], put, [0, 5, 7, 0]) == "written-twice"
    assert reviewed("torch.index_put", [data, places, values], put, [0, 11, 7, 0]) is None
    assert reviewed("torch.index_put", [data, np.array([0, 1, 2]), values], put, [6, 5, 7, 0]) is None


def test_factors_of_a_matrix_are_judged_by_their_product() -> None:
    matrix = np.random.default_rng(0).normal(size=(3, 3)).astype("float32")

    def svd(value: Any) -> Any:
        return tuple(np.linalg.svd(value))

    u, s, v = svd(matrix)
    flip = np.array([1, -1, 1], "float32")
    assert reviewed("torch.linalg.svd", [matrix], svd, (u * flip, s, v * flip[:, None])) == "not-unique"
    assert reviewed("torch.linalg.svd", [matrix], svd, (u * flip, s, v)) is None
    assert reviewed("torch.linalg.svd", [matrix], svd, (u, s[::-1], v)) is None
    q, r = np.linalg.qr(matrix)
    assert reviewed("torch.linalg.qr", [matrix], lambda x: tuple(np.linalg.qr(x)), (-q, -r)) == "not-unique"
    assert reviewed("torch.linalg.qr", [matrix], lambda x: tuple(np.linalg.qr(x)), (-q, r)) is None
    values, vectors = np.linalg.eigh(matrix + matrix.T)
    assert reviewed("torch.linalg.eigh", [matrix + matrix.T], lambda x: tuple(np.linalg.eigh(x)), (values, vectors * flip)) == "not-unique"
    assert reviewed("torch.linalg.eigh", [matrix + matrix.T], lambda x: tuple(np.linalg.eigh(x)), (values, vectors[:, ::-1])) is None


def test_on_a_branch_cut_either_side_will_do() -> None:
    values = np.array([complex(-4, 0), complex(-4, 1)], "complex64")
    right = np.sqrt(values)
    assert reviewed("torch.sqrt", [values], np.sqrt, [np.conj(right[0]), right[1]]) == "branch-cut"
    assert reviewed("torch.sqrt", [values], np.sqrt, [right[0], np.conj(right[1])]) is None


def test_the_sign_of_a_zero_decides_an_angle() -> None:
    zero, back = np.array([-0.0, 0.5], "float32"), np.array([-1.0, -1.0], "float32")
    right = np.arctan2(zero, back)
    assert reviewed("torch.atan2", [zero, back], np.arctan2, [np.pi, right[1]]) == "branch-cut"
    assert reviewed("torch.atan2", [zero, back], np.arctan2, [right[0], -right[1]]) is None
    assert reviewed("torch.atan2", [zero, back], np.arctan2, [0.0, right[1]]) is None
    assert reviewed("torch.atan2", [zero, np.array([-0.0, -1.0], "float32")], np.arctan2, [0.0, right[1]]) == "branch-cut"
    assert reviewed("torch.atan2", [zero, np.array([-0.0, -1.0], "float32")], np.arctan2, [np.nan, right[1]]) is None


def test_a_coordinate_that_is_no_number_has_no_pixel() -> None:
    image, grid = np.ones((1, 1, 2, 2), "float32"), np.zeros((1, 1, 2, 2), "float32")
    grid[0, 0, 0, 0] = np.nan

    def sampled(pixels: Any, points: Any) -> Any:
        return pixels[:, :, :1] * points[:, :, :, 0][:, None]

    assert reviewed("torch.nn.functional.grid_sample", [image, grid], sampled, np.zeros((1, 1, 1, 2))) == "cast-out-of-range"
    assert reviewed("torch.nn.functional.grid_sample", [image, np.full_like(grid, 0.25)], sampled, np.zeros((1, 1, 1, 2))) is None


def test_many_small_numbers_may_be_added_in_their_own_precision() -> None:
    """Half precision stands still at 2048; to lose one of eight is another matter."""
    assert (
        reviewed("torch.sum", [np.ones(4096, "float16")], lambda x: x.astype("float64").sum().astype(x.dtype), 2048) == "order-of-summation"
    )
    assert reviewed("ai.onnx.ReduceSum", [np.ones((2, 0), "float32")], lambda x: x.sum(-1), [5.0, 0.0]) is None
    few = np.ones(8, "float16")
    assert reviewed("torch.sum", [few], lambda x: x.astype("float64").sum().astype(x.dtype), 7) is None
    assert reviewed("torch.amax", [np.ones(4096, "float16")], lambda x: x.max(), 0.5) is None


def test_halfway_between_two_pixels_both_are_the_nearest() -> None:
    image = np.arange(6, dtype="float32").reshape(1, 1, 3, 2)
    grid = np.array([[[[-1.0, -0.5], [-1.0, -0.9]]]], "float32")  # rows 0.5 and 0.1

    def sample(pixels: Any, points: Any) -> Any:
        return pixels[:, :, np.rint(points[0, 0, :, 1] + 1).astype(int), 0][:, :, None]

    corners = {"align_corners": 1}
    assert reviewed("ai.onnx.GridSample", [image, grid], sample, [[[[2.0, 0.0]]]], init=corners) == "half-pixel"
    assert reviewed("ai.onnx.GridSample", [image, grid], sample, [[[[0.0, 2.0]]]], init=corners) is None


def test_where_the_reference_itself_is_disputed_nobody_is_wrong() -> None:
    """The scale of 0.6 makes 2.4 of 4 elements, and the output has 2."""
    image, linear = np.arange(8, dtype="float32").reshape(1, 1, 2, 4), np.array([1, 1, 0.6, 0.6], "float32")
    whole = np.array([1, 1, 0.5, 0.5], "float32")

    def resize(values: Any, factors: Any) -> Any:
        return np.array([[[[1.0, 3.14]]]])

    corners = {"coordinate_transformation_mode": "align_corners"}
    assert reviewed("ai.onnx.Resize", [image, linear], resize, [[[[1.0, 4.0]]]], init=corners) == "disputed-reference"
    assert reviewed("ai.onnx.Resize", [image, whole], resize, [[[[1.0, 4.0]]]], init=corners) is None
    assert reviewed("ai.onnx.Resize", [image, linear], resize, [[[[1.0, 4.0]]]]) is None


@pytest.mark.parametrize(
    ("library", "api", "init", "specified"),
    [
        ("onnx", "ai.onnx.TopK", {}, True),
        ("onnx", "ai.onnx.MaxPool", {}, False),
        ("pytorch", "torch.argmax", {}, True),
        ("pytorch", "torch.sort", {"stable": True}, True),
        ("pytorch", "torch.sort", {}, False),
        ("pytorch", "torch.topk", {}, False),
        ("tensorflow", "tf.math.top_k", {}, True),
        ("tensorflow", "tf.math.argmax", {}, False),
    ],
)
def test_which_of_equal_elements_is_named_matters_where_the_library_says_so(
    library: str, api: str, init: dict[str, Any], specified: bool
) -> None:
    arguments = tuple(Argument(name, value) for name, value in init.items())
    assert order_is_specified(Instance(library, api, Kind.FUNCTION, init=arguments)) is specified


@pytest.mark.parametrize("each", filters(), ids=lambda each: f"{each.reason}:{each.condition}")
def test_every_filter_says_why_and_its_condition_is_explained(each: Any) -> None:
    assert f"| `{each.condition}` |" in PAGE.read_text(encoding="utf-8")
    assert len(each.scope.why.split()) > 5
    assert each.reason == each.reason.lower()
