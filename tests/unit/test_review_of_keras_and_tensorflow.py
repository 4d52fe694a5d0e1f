"""The review of failures on Keras and TensorFlow: each excused difference has a similar bug that must be reported."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from reviewing import reviewed

from opera.instance import Kind

NAN, INFINITY = float("nan"), float("inf")


def test_a_seed_fixes_the_numbers_of_one_device_only() -> None:
    drawn = np.array([0.1, 0.7, 0.4], "float32")
    seed = {"call": {"seed": 3}}
    assert reviewed("keras.random.uniform", [], lambda: drawn, [0.5, 0.6, 0.2], **seed) == "random-numbers"
    assert reviewed("tf.random.stateless_uniform", [np.array([1, 2])], lambda s: drawn, [0.5, 0.6, 0.2], **seed) == "random-numbers"
    assert reviewed("keras.random.uniform", [], lambda: drawn, [0.5, NAN, 0.2], **seed) is None, "no number at all"
    assert reviewed("keras.random.uniform", [], lambda: drawn, [0.5, 0.6], **seed) is None, "too few of them"
    assert reviewed("keras.random.uniform", [], lambda: drawn, [0.5, 0.6, 0.2], call={"seed": None}) is None
    assert reviewed("keras.layers.Dropout", [drawn], lambda x: x, [0, 1.4, 0], kind=Kind.MODULE, **seed) is None, "it may be at rest"


def test_nan_is_neither_greater_nor_less_where_no_page_says_so() -> None:
    values = np.array([3.0, NAN, 1.0], "float32")
    assert reviewed("tf.math.argmax", [values], np.argmax, 0) == "order-of-nan"
    assert reviewed("tf.math.argmax", [values[::2]], np.argmax, 1) is None
    assert reviewed("keras.layers.MaxPooling1D", [values], lambda x: x[:1], [NAN]) == "order-of-nan"
    assert reviewed("tf.math.reduce_max", [values], np.max, 3.0) is None, "its page says that the largest is NaN"
    assert reviewed("keras.ops.max", [values], np.max, 3.0) is None, "another function, `nanmax`, ignores NaN"
    assert reviewed("tf.clip_by_value", [values], lambda x: np.clip(x, 0, 2), [2.0, 0.0, 1.0]) is None, "it is not outside of the interval"


def test_nan_that_is_scattered_is_greater_or_less_than_what_was_there() -> None:
    there, places = np.array([0.5, 1.0], "float32"), np.array([[1], [1]])

    def largest(values: Any, where: Any, updates: Any) -> Any:
        return np.array([values[0], max(values[1], updates[1])])

    api, updates = "tf.tensor_scatter_nd_max", np.array([NAN, 2.0], "float32")
    assert reviewed(api, [there, places, updates], largest, [0.5, NAN]) == "order-of-nan"
    assert reviewed(api, [there, places, updates[1:].repeat(2)], largest, [0.5, NAN]) is None
    assert reviewed("tf.tensor_scatter_nd_add", [there, places, updates], largest, [0.5, NAN]) is None


def test_the_greater_of_a_number_and_nan_is_either_and_only_there() -> None:
    one, other = np.array([NAN, 1.0], "float32"), np.array([1.0, 2.0], "float32")
    assert reviewed("tf.math.maximum", [one, other], np.maximum, [1.0, 2.0]) == "order-of-nan"
    assert reviewed("tf.math.maximum", [one, other], np.maximum, [1.0, 1.0]) is None
    assert reviewed("keras.ops.relu", [one], lambda x: np.maximum(x, 0), [0.0, 1.0]) == "order-of-nan"
    assert reviewed("keras.ops.relu", [one], lambda x: np.maximum(x, 0), [0.0, 0.0]) is None
    assert reviewed("keras.ops.add", [one, other], np.add, [1.0, 3.0]) is None


def test_nan_has_no_sign_and_no_bin() -> None:
    values = np.array([NAN, 1.5], "float32")
    assert reviewed("keras.ops.sign", [values], np.sign, [0.0, 1.0]) == "order-of-nan"
    assert reviewed("keras.ops.sign", [values], np.sign, [0.0, 0.0]) is None

    def binned(numbers: Any) -> Any:
        return np.digitize(numbers, [1.0, 2.0])

    assert reviewed("keras.layers.Discretization", [values], binned, [0, 1]) == "order-of-nan"
    assert reviewed("keras.layers.Discretization", [values], binned, [2, 0]) is None
    assert reviewed("tf.searchsorted", [np.array([1.0, 2.0]), values], np.searchsorted, [0, 1]) == "order-of-nan"
    assert reviewed("tf.searchsorted", [np.array([1.0, 2.0]), values], np.searchsorted, [2, 2]) is None


def test_nan_is_fake_quantised_to_anything() -> None:
    values = np.array([NAN, 2.0], "float32")
    assert reviewed("tf.quantization.fake_quant_with_min_max_args", [values], np.rint, [-6.0, 2.0]) == "cast-out-of-range"
    assert reviewed("tf.quantization.fake_quant_with_min_max_args", [values], np.rint, [-6.0, 3.0]) is None


def test_what_is_not_sorted_is_found_anywhere() -> None:
    def search(sequence: Any, values: Any) -> Any:
        return np.searchsorted(sequence, values)

    place = np.array([1.5])
    assert reviewed("keras.ops.searchsorted", [np.array([3.0, 1.0, 2.0]), place], search, [1]) == "not-sorted"
    assert reviewed("keras.ops.searchsorted", [np.array([1.0, 2.0, 2.0]), place], search, [2]) is None


def test_the_mean_of_integers_may_be_added_up_in_their_type() -> None:
    large = np.array([2**30] * 3, "int32")

    def mean(values: Any) -> Any:
        return (values.astype("int64").sum() // values.size).astype(values.dtype)

    assert reviewed("tf.math.reduce_mean", [large], mean, -357913941) == "integer-overflow"
    assert reviewed("tf.math.reduce_mean", [large // 4], mean, -357913941) is None
    assert reviewed("tf.math.reduce_mean", [np.array([200, 200], "uint8")], mean, 72) is None, "unsigned numbers do not overflow"


def test_the_least_number_by_minus_one_may_trap() -> None:
    least, small = np.array([-128, 7], "int8"), np.array([-127, 7], "int8")
    by = np.array([-1, 2], "int8")
    assert reviewed("tf.math.floordiv", [least, by], np.floor_divide, None, dead=True) == "integer-overflow"
    assert reviewed("tf.math.floordiv", [small, by], np.floor_divide, None, dead=True) is None
    assert reviewed("tf.math.floordiv", [least[::-1], by], np.floor_divide, None, dead=True) is None


def test_of_no_numbers_there_is_no_mean_but_no_garbage_either() -> None:
    nothing = np.zeros(0, "float32")
    for empty in (nothing, nothing.astype(ml_dtypes.bfloat16)):
        assert reviewed("tf.math.reduce_mean", [empty], lambda x: x.sum() / x.dtype.type(0), 0.0) == "reduction-of-nothing"
        assert reviewed("keras.losses.mean_squared_error", [empty], lambda x: x.sum() / x.dtype.type(0), 0.0) == "reduction-of-nothing"
        assert reviewed("keras.ops.moments", [empty], lambda x: x.sum() / x.dtype.type(0), 0.0) == "reduction-of-nothing"
        assert reviewed("keras.ops.moments", [empty], lambda x: x.sum() / x.dtype.type(0), 1.0) is None
        assert reviewed("tf.math.reduce_mean", [empty], lambda x: x.sum() / x.dtype.type(0), 1e-23) is None
        loss = "keras.metrics.binary_focal_crossentropy"
        assert reviewed(loss, [empty], lambda x: x.sum() / x.dtype.type(0), 0.0) == "reduction-of-nothing"
        assert reviewed(loss, [empty], lambda x: x.sum() / x.dtype.type(0), 1.0) is None
    assert reviewed("tf.math.reduce_mean", [np.array([NAN], "float32")], np.mean, 0.0) is None

    def largest(values: Any) -> Any:
        return values.max(initial=-INFINITY)

    assert reviewed("tf.math.reduce_max", [nothing], largest, np.finfo("float32").min) == "reduction-of-nothing"
    halves = nothing.astype(ml_dtypes.bfloat16)
    assert reviewed("tf.math.reduce_max", [halves], largest, float(ml_dtypes.finfo(halves.dtype).min)) == "reduction-of-nothing"
    assert reviewed("tf.math.reduce_max", [nothing], largest, 0.0) is None


def test_a_complex_power_of_zero_is_nan_or_a_limit() -> None:
    base = np.array([0, 4], "complex64")
    power = np.array([NAN, 16], "complex64")
    assert reviewed("tf.math.pow", [base], lambda x: power, [1, 16]) == "branch-cut"
    assert reviewed("tf.math.pow", [base], lambda x: power, [1, 2]) is None
    assert reviewed("tf.math.pow", [base[1:]], lambda x: power[:1], [1]) is None


def test_factors_with_the_values_first_are_judged_by_their_product() -> None:
    """TensorFlow gives singular values, left and right vectors, in this order."""
    matrix = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")

    def svd(value: Any) -> Any:
        u, s, v = np.linalg.svd(value, full_matrices=False)
        return s, u, v.T

    s, u, v = svd(matrix)
    flip = np.array([1, -1, 1], "float32")
    assert reviewed("tf.linalg.svd", [matrix], svd, (s, u * flip, v * flip)) == "not-unique"
    assert reviewed("tf.linalg.svd", [matrix], svd, (s, u * flip, v)) is None
    assert reviewed("tf.linalg.svd", [matrix], svd, (s[::-1], u, v)) is None


def test_a_place_that_is_no_number_has_no_pixel() -> None:
    image, places = np.arange(4, dtype="float32"), np.array([[1.0, NAN]], "float32")

    def mapped(pixels: Any, where: Any) -> Any:
        return pixels[np.nan_to_num(where[0]).astype(int)]

    assert reviewed("keras.ops.image.map_coordinates", [image, places], mapped, [1.0, 3.0]) == "cast-out-of-range"
    assert reviewed("keras.ops.image.map_coordinates", [image, np.nan_to_num(places)], mapped, [1.0, 3.0]) is None


def test_pixels_outside_of_the_declared_range_have_no_integer() -> None:
    """The layer makes uint8 of them: -14 becomes 0 on some processors, 242 on others."""
    image = np.array([10.0, 100.0], "float32")

    def posterized(pixels: Any) -> Any:
        return np.clip(pixels, 20, 200)

    layer, wrong = "keras.layers.RandomPosterization", [110.0, 100.0]
    declared: Any = {"kind": Kind.MODULE, "init": {"factor": 1, "value_range": (20, 200)}}
    assert reviewed(layer, [image], posterized, wrong, **declared) == "cast-out-of-range"
    assert reviewed(layer, [image + 10], posterized, wrong, **declared) is None
    assert reviewed(layer, [image], posterized, wrong, kind=Kind.MODULE, init={"factor": 1}) is None, "the range is 0 to 255"
    assert reviewed(layer, [image], posterized, [110.0, 50.0], **declared) is None, "the second pixel is in the range"
    assert reviewed("keras.layers.Equalization", [image], posterized, wrong, **declared) is None, "it makes int32, and cuts that off"
