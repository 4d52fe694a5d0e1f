"""Numbers that a dtype cannot hold, and almost singular matrices: each excused difference has a similar bug."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from instances import tensor
from reviewing import reviewed

AS_FLOAT32 = {"float64": "float32"}
LARGEST = float(np.finfo("float32").max)


def narrow(value: Any) -> Any:
    """What a compiler makes of doubles that computes them as float32, and takes what is too small for a normal number as zero."""
    rounded = np.asarray(value, "float32")
    return np.where(np.abs(rounded) < np.finfo("float32").tiny, np.float32(0), rounded)


@pytest.mark.parametrize(
    ("values", "divisors"), [([3e-310, 6], [1e-310, 3]), ([1e-40, 6], [1e-41, 3]), ([1e-60, 6], [2e-60, 3]), ([1e300, 6], [1e299, 3])]
)
def test_a_double_past_the_range_of_what_is_computed_in_is_none(values: list[float], divisors: list[float]) -> None:
    one, other = np.array(values), np.array(divisors)
    with np.errstate(all="ignore"):
        actual = narrow(one) / narrow(other)
    assert reviewed("ai.onnx.Div", [one, other], np.divide, actual, computes_as=AS_FLOAT32) is not None
    actual[1] = 3
    assert reviewed("ai.onnx.Div", [one, other], np.divide, actual, computes_as=AS_FLOAT32) is None, "6 / 3 is 2 in every dtype"


def test_a_compiler_that_computes_doubles_as_such_must_know_small_and_large_ones() -> None:
    one, other = np.array([1e-60, 1e300]), np.array([2e-60, 1e299])
    assert reviewed("ai.onnx.Div", [one, other], np.divide, [np.nan, 10]) is None
    assert reviewed("ai.onnx.Div", [one, other], np.divide, [0.5, 1]) is None
    assert reviewed("ai.onnx.Div", [one, other], np.divide, [np.nan, 1], computes_as=AS_FLOAT32) == "precision-policy"


def test_a_result_past_the_range_becomes_its_end_and_nothing_else() -> None:
    one, other = np.array([1e22, 2.0]), np.array([1e22, 3.0])
    for end in (LARGEST, np.inf):
        assert reviewed("ai.onnx.Mul", [one, other], np.multiply, [end, 6.0], computes_as=AS_FLOAT32) == "precision-policy"
        assert reviewed("ai.onnx.Mul", [one, other], np.multiply, [-end, 6.0], computes_as=AS_FLOAT32) is None, "the wrong sign"
        assert reviewed("ai.onnx.Mul", [one, other], np.multiply, [end, end], computes_as=AS_FLOAT32) is None, "2 * 3 is in range"
    assert reviewed("ai.onnx.Mul", [one, other], np.multiply, [1e38, 6.0], computes_as=AS_FLOAT32) is None


def test_one_tiny_number_among_others_excuses_no_sum() -> None:
    def logarithm(values: Any) -> Any:
        return np.log(values.sum())

    tiny, mixed = np.array([1e-60, 1e-61]), np.array([1e-60, 2.0])
    assert reviewed("ai.onnx.ReduceLogSum", [tiny], logarithm, -LARGEST, computes_as=AS_FLOAT32) == "precision-policy"
    assert reviewed("ai.onnx.ReduceLogSum", [mixed], logarithm, -LARGEST, computes_as=AS_FLOAT32) is None


def test_doubles_that_are_one_float_compare_as_equal() -> None:
    one, other = np.array([1.0, 1.0]), np.array([1 + 1e-12, 1.5])
    assert reviewed("ai.onnx.Equal", [one, other], np.equal, [True, False], computes_as=AS_FLOAT32) == "precision-policy"
    assert reviewed("ai.onnx.Equal", [one, other], np.equal, [True, True], computes_as=AS_FLOAT32) is None
    assert reviewed("ai.onnx.Equal", [one, other], np.equal, [True, False]) is None
    assert reviewed("ai.onnx.Equal", [one, one], np.equal, [True, False], computes_as=AS_FLOAT32) is None


def test_a_matrix_past_one_by_epsilon_has_any_inverse() -> None:
    near, well = np.array([[1, 2], [2, 4.0000005]]), np.array([[2, 1], [1, 2]])
    both = np.stack([near, well]).astype("float32")
    right = np.linalg.inv(both)
    for api in ("torch.linalg.inv", "keras.ops.inv", "tf.linalg.inv"):
        assert reviewed(api, [both], np.linalg.inv, right * np.array([15, 1])[:, None, None]) == "ill-conditioned"
        assert reviewed(api, [both], np.linalg.inv, right * np.array([1, 1.1])[:, None, None]) is None
    assert reviewed("torch.linalg.inv", [both.astype("float64")], np.linalg.inv, right * np.array([15, 1])[:, None, None]) is None
    vector = np.ones((2, 2, 1), "float32")
    solved = np.linalg.solve(both, vector)
    assert reviewed("tf.linalg.solve", [both, vector], np.linalg.solve, solved * np.array([-30, 1])[:, None, None]) == "ill-conditioned"
    assert reviewed("tf.linalg.solve", [both, vector], np.linalg.solve, solved * np.array([1, -1])[:, None, None]) is None


def test_integers_overflow_where_the_library_knows_no_wider_ones() -> None:
    """Keras makes int32 of int64 where its backend is PyTorch or JAX, so that it cannot be asked what the result would have been."""
    hundreds = np.array([[100] * 5, [2] * 5], "int32")

    def product(values: Any) -> Any:
        return np.prod(values.astype("int32"), axis=1, dtype="int32")

    assert reviewed("keras.ops.prod", [hundreds], product, [2**31 - 1, 32]) == "integer-overflow"
    assert reviewed("keras.ops.prod", [hundreds], product, [2**31 - 1, 31]) is None, "2 * 2 * 2 * 2 * 2 fits"
    assert reviewed("keras.ops.prod", [hundreds[1:]], product, [2**31 - 1]) is None

    def matmul(one: Any, other: Any) -> Any:
        return (one.astype("int32") @ other.astype("int32")).astype("int32")

    one, other = np.array([[65536], [3]], "int32"), np.array([[65536, 1]], "int32")
    assert reviewed("keras.ops.matmul", [one, other], matmul, [[2147483520, 65536], [196608, 3]]) == "integer-overflow"
    assert reviewed("keras.ops.matmul", [one, other], matmul, [[0, 65536], [196608, 4]]) is None
    assert reviewed("keras.ops.multiply", [one, one], lambda x, y: (x * y).astype("int32"), [[-1], [9]]) == "integer-overflow"
    assert reviewed("keras.ops.multiply", [one, one], lambda x, y: (x * y).astype("int32"), [[0], [10]]) is None


def test_overflow_of_int64_and_of_powers_is_seen_as_well() -> None:
    large, exponents = np.array([2**62, 5]), np.array([2, 2])
    assert reviewed("keras.ops.multiply", [large, large], np.multiply, [2**63 - 1, 25]) == "integer-overflow"
    assert reviewed("keras.ops.multiply", [large, large], np.multiply, [0, 2**63 - 1]) is None
    assert reviewed("torch.pow", [large, exponents], np.power, [2**63 - 1, 25]) == "integer-overflow"
    assert reviewed("torch.pow", [large, exponents], np.power, [0, 24]) is None
    assert reviewed("torch.cumsum", [large + large // 2], np.cumsum, [2**62 + 2**61, 2**63 - 1]) is None, "it is right, and the other wrong"
    assert reviewed("torch.sum", [np.array([2**62] * 3)], np.sum, 2**63 - 1) == "integer-overflow"


def test_a_number_among_the_arguments_overflows_like_a_tensor() -> None:
    values = [65536, 3]
    call = {"call": {"x1": tensor(values, "int32"), "x2": 65536}}

    def product(one: Any) -> Any:
        return (one.astype("int32") * np.int32(65536)).astype("int32")

    assert reviewed("keras.ops.multiply", [np.array(values, "int32")], product, [2**31 - 1, 196608], **call) == "integer-overflow"
    assert reviewed("keras.ops.multiply", [np.array(values, "int32")], product, [0, 2**31 - 1], **call) is None


def test_a_conversion_between_integers_keeps_the_low_bits() -> None:
    """ONNX's page of Cast says so, LLVM's `trunc` and C++20 do: there is nothing to overflow."""
    values, like = np.array([200, -56, 7], "int32"), np.array([0], "int8")

    def converted(one: Any, other: Any) -> Any:
        return one.astype(other.dtype)

    for api in ("ai.onnx.CastLike", "torch.Tensor.type_as"):
        assert reviewed(api, [values, like], converted, np.array([127, -56, 7], "int8")) is None
    assert reviewed("ai.onnx.Add", [values.astype("int8"), like], np.add, np.array([-56, 127, 7], "int8")) is None


def test_a_library_whose_own_result_is_the_end_of_its_type_has_overflowed_too() -> None:
    """Keras multiplies matrices of integers as floats where its backend is TensorFlow, and makes integers of the result."""
    one, other = np.array([[65536], [3]], "int32"), np.array([[65536]], "int32")

    def matmul(first: Any, second: Any) -> Any:
        product = first.astype("int64") @ second.astype("int64")
        return np.where(product > 2**31 - 1, -(2**31), product).astype("int32") if first.dtype == "int32" else product

    assert reviewed("keras.ops.matmul", [one, other], matmul, [[2**31 - 1], [196608]]) == "integer-overflow"
    assert reviewed("keras.ops.matmul", [one, other], matmul, [[2**31 - 1], [196609]]) is None

    def saturated(values: Any) -> Any:
        return np.clip(values, -128, 127).astype("int8")

    assert reviewed("keras.ops.saturate_cast", [np.array([300, 5], "int32")], saturated, [44, 5]) is None, "its page fixes the end"

    def largest(values: Any) -> Any:
        return np.array([values.max(), np.iinfo(values.dtype).min])

    assert reviewed("tf.math.unsorted_segment_max", [np.array([4, 7], "int32")], largest, [7, 0]) is None, (
        "the largest of none is the least"
    )


LARGE, SMALL = float(np.finfo("float64").max), 1e-300


@pytest.mark.parametrize(
    ("api", "inputs", "compute", "wrong"),
    [
        ("ai.onnx.Clip", [[-3, 0.5, 9], -LARGE], np.maximum, [77, -5, -123]),
        ("torch.maximum", [[1.0, 2, 3], SMALL], np.maximum, [5, 6, 7]),
        ("ai.onnx.Sign", [[1e300]], np.sign, [-1]),
        ("ai.onnx.Floor", [[1e300]], np.floor, [-7]),
    ],
)
def test_a_bound_past_the_range_does_not_excuse_any_result(api: str, inputs: list[Any], compute: Any, wrong: list[float]) -> None:
    arrays = [np.asarray(value, "float64") for value in inputs]
    assert reviewed(api, arrays, compute, wrong, computes_as=AS_FLOAT32) is None


@pytest.mark.parametrize(
    ("api", "compute", "of_equals"),
    [("ai.onnx.LessOrEqual", np.less_equal, True), ("torch.gt", np.greater, False), ("torch.logical_and", np.logical_and, None)],
)
def test_what_is_one_float_is_to_compare_as_equal(api: str, compute: Any, of_equals: bool | None) -> None:
    one, other = np.array([1.0, 1 + 1e-12]), np.array([1 + 1e-12, 1.0])
    expected = compute(one, other)
    for given in (True, False):
        wrong = np.where(expected == given, expected, given)
        reason = reviewed(api, [one, other], compute, wrong, computes_as=AS_FLOAT32)
        assert (reason == "precision-policy") == (given is of_equals), given


def test_scales_make_no_matrix_singular_and_a_condition_number_has_to_be_large() -> None:
    scaled = np.diag(np.float32([1e-4, 1e4]))
    assert reviewed("torch.linalg.inv", [scaled], np.linalg.inv, [[-3, 44], [5, 7]]) is None
    singular = np.float32([[1, 2], [2, 4]])
    assert reviewed("torch.linalg.cond", [singular], lambda _: np.float32(np.inf), 1.5) is None
    assert reviewed("torch.linalg.cond", [singular], lambda _: np.float32(np.inf), 4e8) == "ill-conditioned"


def test_a_quantised_result_stops_at_the_ends_of_its_type() -> None:
    def multiplied(one: Any, other: Any) -> Any:
        exact = one.astype("int64") @ other.astype("int64")
        return exact if one.dtype == np.int64 else np.clip(exact, -128, 127).astype("int8")

    operands = np.int8([[100, 2], [1, 1]]), np.int8([[100, 1], [1, 1]])
    assert reviewed("ai.onnx.QLinearMatMul", operands, multiplied, [[18, 102], [101, 2]]) is None


def test_interpolated_integers_may_be_rounded_after_each_axis_or_at_the_end() -> None:
    def halved(image: Any) -> Any:
        rows = (image[::2] + image[1::2].astype("float64")) / 2
        rows = rows if image.dtype == np.float64 else np.rint(rows)
        return ((rows[:, ::2] + rows[:, 1::2]) / 2 if image.dtype == np.float64 else np.rint((rows[:, ::2] + rows[:, 1::2]) / 2)).astype(
            image.dtype
        )

    image = np.uint8([[0, 8], [3, 3]])
    assert halved(image) == [[4]]
    assert halved(image.astype("float64")) == [[3.5]]
    names = ("torch.nn.functional.interpolate", "torch.ops.aten._upsample_bilinear2d_aa", "ai.onnx.Resize", "keras.layers.UpSampling2D")
    for name in (*names, "keras.layers.Resizing"):
        for given in (image, image.astype("int64")):
            assert reviewed(name, [given], halved, [[3]]) == "rounded-inside"
            assert reviewed(name, [given], halved, [[2]]) is None, "cut off where rounding was due"
    assert reviewed("torch.nn.functional.avg_pool2d", [image], halved, [[3]]) is None


def test_integers_that_no_double_holds_have_no_exact_result() -> None:
    large = np.array([[2**53 + 1]])
    assert reviewed("keras.layers.Resizing", [large], lambda x: x, [[2**53]]) is None


def test_interpolated_integers_may_be_off_by_one_now_up_and_now_down() -> None:
    image = np.arange(200, dtype="uint8").reshape(1, 200)
    off, api = np.zeros((1, 200)), "torch.nn.functional.interpolate"
    off[0, [3, 80]], off[0, [60, 90]] = 1, -1
    assert reviewed(api, [image], lambda x: x, image + off) == "rounded-inside"
    assert reviewed(api, [image], lambda x: x, image + 2 * off) is None
    assert reviewed(api, [image], lambda x: x, image - (image % 2)) is None, "always down"


def test_what_is_interpolated_beyond_the_range_is_cut_off_at_its_end() -> None:
    """PyTorch cuts off after each axis, which spoils the next one by much more than a rounding error."""

    def overshooting(image: Any) -> Any:
        steep = image * image.dtype.type(2) if image.dtype == np.float64 else np.uint8([[240]])
        return steep[:1, :1]

    image = np.uint8([[150]])
    assert reviewed("torch.nn.functional.interpolate", [image], overshooting, [[255]]) == "rounded-inside"
    assert reviewed("torch.nn.functional.interpolate", [image], overshooting, [[44]]) is None, "300 modulo 256"
    assert reviewed("torch.nn.functional.interpolate", [image], overshooting, [[0]]) is None


def test_what_is_quantised_beyond_int32_is_cut_off_at_the_right_end() -> None:
    """ONNX's evaluator makes the least number of everything past int32."""

    def evaluated(numbers: Any, scale: Any) -> Any:
        steps = np.rint(numbers.astype("float64") / scale)
        steps[np.abs(steps) >= 2.0**31] = -(2.0**31)
        return np.clip(steps, -128, 127).astype("int8")

    given = np.array([1e10, -1e10, 2.5, 300], "float32"), np.float32(1)
    assert evaluated(*given).tolist() == [-128, -128, 2, 127]
    assert reviewed("ai.onnx.QuantizeLinear", given, evaluated, [127, -128, 2, 127]) == "disputed-reference"
    for wrong in ([0, -128, 2, 127], [127, 127, 2, 127], [127, -128, 3, 127], [127, -128, 2, -128]):
        assert reviewed("ai.onnx.QuantizeLinear", given, evaluated, wrong) is None


def test_places_in_an_image_are_counted_by_column_where_the_model_asks_for_it() -> None:
    """ONNX's evaluator gives other indices than its specification."""
    image = np.arange(12, dtype="float32").reshape(1, 1, 3, 4)
    values = image[:, :, 1:, 1:]

    def evaluated(_: Any) -> Any:
        return values, np.array([[[[4, 5, 6], [8, 9, 10]]]])

    columns, by_column = [[[[4, 7, 10], [5, 8, 11]]]], {"storage_order": 1}
    assert reviewed("ai.onnx.MaxPool", [image], evaluated, (values, columns), init=by_column) == "disputed-reference"
    assert reviewed("ai.onnx.MaxPool", [image], evaluated, (values, columns)) is None
    for wrong in ([[[[5, 6, 7], [9, 10, 11]]]], [[[[4, 7, 10], [5, 8, 99]]]]):
        assert reviewed("ai.onnx.MaxPool", [image], evaluated, (values, wrong), init=by_column) is None
    assert reviewed("ai.onnx.MaxPool", [image], evaluated, (values + 1, columns), init=by_column) is None


def test_all_channels_are_normalised_and_not_as_many_as_there_are_samples() -> None:
    """ONNX's evaluator sums squares for as many channels as the batch has samples."""
    image, settings = np.arange(1, 7, dtype="float32").reshape(1, 6, 1, 1), {"size": 3, "alpha": 0.3, "beta": 0.5, "bias": 1.0}
    squares = np.array([1 + 4, 1 + 4 + 9, 4 + 9 + 16, 9 + 16 + 25, 16 + 25 + 36, 25 + 36]).reshape(1, 6, 1, 1)
    right = image / (1 + 0.1 * squares) ** 0.5

    def evaluated(numbers: Any) -> Any:
        seen = squares * (np.arange(6) < 1).reshape(1, 6, 1, 1)
        return (numbers / (1 + 0.1 * seen) ** 0.5).astype("float32")

    assert reviewed("ai.onnx.LRN", [image], evaluated, right.astype("float32"), init=settings) == "disputed-reference"
    for place in (0, 3, 5):
        wrong = right.astype("float32")
        wrong[0, place] *= 1.1
        assert reviewed("ai.onnx.LRN", [image], evaluated, wrong, init=settings) is None, "the twin is a bug"


def test_a_normalisation_in_single_precision_is_what_its_model_asks_for() -> None:
    def evaluated(_: Any) -> Any:
        return np.array([0.25, -0.212038972030832])

    for name in ("LayerNormalization", "GroupNormalization"):
        assert reviewed(f"ai.onnx.{name}", [np.zeros(2)], evaluated, [0.25, -0.21203899607978371]) == "precision-policy"
        assert reviewed(f"ai.onnx.{name}", [np.zeros(2)], evaluated, [0.25, -0.2130]) is None
        in_doubles = reviewed(f"ai.onnx.{name}", [np.zeros(2)], evaluated, [0.25, -0.21203899607978371], init={"stash_type": 11})
        assert in_doubles is None
    assert reviewed("ai.onnx.InstanceNormalization", [np.zeros(2)], evaluated, [0.25, -0.21203899607978371]) is None


@pytest.mark.parametrize("name", ["BlackmanWindow", "HammingWindow", "HannWindow"])
def test_a_window_in_single_precision_is_what_its_function_computes(name: str) -> None:
    def evaluated(_: Any) -> Any:
        return np.array([0.0, 0.34, 1.0])

    assert reviewed(f"ai.onnx.{name}", [np.array(4)], evaluated, [1.49011612e-08, 0.340000018, 1.00000001]) == "precision-policy"
    assert reviewed(f"ai.onnx.{name}", [np.array(4)], evaluated, [1.49011612e-08, 0.35, 1.00000001]) is None


def test_doubles_that_the_library_computed_in_single_precision_have_its_rounding_errors() -> None:
    computed = np.array([0.3360544443130493, 1.0, 0.5504122972488403])

    def normalised(values: Any) -> Any:
        return values

    close, far = [0.33605438470840454, 1.0, 0.55041224], [0.3361, 1.0, 0.5504122972488403]
    assert reviewed("keras.layers.LayerNormalization", [computed], normalised, close) == "precision-policy"
    assert reviewed("keras.layers.LayerNormalization", [computed], normalised, far) is None
    doubles = computed + np.array([0, 0, 1e-9])
    assert reviewed("keras.layers.LayerNormalization", [doubles], normalised, close) is None, "one needs all digits of a double"
    whole = np.array([3.0, 5050.0, 0.5])
    assert reviewed("torch.sum", [whole], normalised, whole * (1 + 1e-7)) is None, "such numbers need no rounding"


def test_the_mean_of_nothing_is_anything_where_the_page_says_so() -> None:
    empty = np.zeros(0, "float32")

    def mean(values: Any) -> Any:
        return values.sum() / values.dtype.type(values.size)

    assert reviewed("ai.onnx.ReduceMean", [empty], mean, np.inf) == "reduction-of-nothing"
    assert reviewed("ai.onnx.ReduceMean", [np.float32([1, 3])], mean, 0) is None
    assert reviewed("torch.mean", [empty], mean, 0) is None, "PyTorch's page gives an example"
    assert reviewed("ai.onnx.ReduceMax", [empty], lambda x: np.float32(-np.inf), np.nan) is None, "this page says what comes out"
    large = np.array([2**30] * 3, "int32")
    assert reviewed("ai.onnx.ReduceMean", [large], lambda x: np.int32(-357913941), 2**30) == "integer-overflow"


def test_a_sum_of_squares_past_the_range_is_anything() -> None:
    def squares(values: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.sum(values * values, dtype=values.dtype)

    large, small = np.array([2**53 + 1, 2], "int64"), np.array([3, 2], "int64")
    assert reviewed("ai.onnx.ReduceSumSquare", [large], squares, 2**63 - 1) == "integer-overflow"
    assert reviewed("ai.onnx.ReduceSumSquare", [small], squares, 12) is None


def test_a_running_result_past_the_end_need_not_come_back() -> None:
    def product(values: Any) -> Any:
        with np.errstate(over="ignore"):
            return np.cumprod(values.astype("float64")).astype(values.dtype)

    large = np.float32([1e20, 1e20, 1e-20])
    assert reviewed("torch.cumprod", [large], product, [1e20, np.inf, np.inf]) == "overflow-on-the-way"
    assert reviewed("torch.cumprod", [large], product, [1e20, np.inf, 3]) is None
    assert reviewed("torch.cumprod", [np.float32([1e20, 1e10, 1e-20])], product, [1e20, 1e30, np.inf]) is None, "nothing is past the end"
    halves = np.float16([60000, 60000, -60000])
    for name in ("torch.sum", "torch.mean"):
        assert reviewed(name, [halves], lambda x: np.float16(x.astype("float64").sum()), np.inf) is None, "one number is to be right"


def test_an_integer_may_overflow_on_the_way_to_a_floating_point_result() -> None:
    """The squares of a loss are of the dtype of the labels."""
    labels, small = np.array([16777217, 3], "int32"), np.array([1025, 3], "int32")

    def loss(values: Any) -> Any:
        return np.square(values - 1).astype("float32")

    assert reviewed("keras.losses.mean_squared_error", [labels], loss, [-(2.0**31), 4.0]) == "integer-overflow"
    assert reviewed("keras.losses.mean_squared_error", [labels], loss, [-(2.0**31), 5.0]) is None
    assert reviewed("keras.losses.mean_squared_error", [small], loss, [-(2.0**31), 4.0]) is None
