"""Where the reference evaluator of ONNX or its test data contradict the specification."""

from __future__ import annotations

import numpy as np

from opera.arrays import Array, as_array, is_array
from opera.oracles.evidence import Evidence
from opera.oracles.filters.rows import excuses

_PAST_INT32 = 2.0**31


@excuses(
    "disputed-reference",
    r"max_?unpool",
    input=2,
    libraries=("onnx",),
    why=(
        "the test data of ONNX count indices in the shape without `output_shape`; the specification and implementations "
        "count them in the shape of the output"
    ),
)
def given(evidence: Evidence) -> Array:
    return evidence.everywhere(evidence.input is not None)


@excuses(
    "disputed-reference",
    r"quantize_?linear",
    libraries=("onnx",),
    why=(
        "the reference evaluator converts to int32 before it cuts off at the ends of the type, so numbers beyond int32 end at the wrong end"
    ),
)
def cut_off(evidence: Evidence) -> Array:
    """Where the compiler gives the end of its integers' range beyond which the input lies, divided by the second one, a scale.

    Only what no int32 can hold counts: so far, zero points and rounding do not matter.
    """
    actual, scales = evidence.actual, evidence.inputs[1] if len(evidence.inputs) > 1 else None
    if evidence.input is None or actual is None or actual.dtype.kind not in "iu" or not is_array(scales) or as_array(scales).size != 1:
        return evidence.nowhere()
    with np.errstate(all="ignore"):
        steps = evidence.input.astype(np.float64) / float(as_array(scales).astype(np.float64).reshape(()))
    limits = np.iinfo(actual.dtype)
    above, below = evidence.spread(steps >= _PAST_INT32), evidence.spread(steps <= -_PAST_INT32)
    return (above & (actual == limits.max)) | (below & (actual == limits.min))


@excuses(
    "disputed-reference",
    r"max_?pool",
    libraries=("onnx",),
    parameter="storage_order",
    equals=1,
    why="the reference evaluator does not count indices by column, as the specification asks",
)
def by_column(evidence: Evidence) -> Array:
    """Where the compiler's index in an image `(n, c, *lengths)`, counted by columns, is the place of the library's value."""
    image, values, actual = evidence.inputs[0] if evidence.inputs else None, evidence.outputs[0], evidence.actual
    if not is_array(image) or not is_array(values) or actual is None or actual.dtype.kind not in "iu":
        return evidence.nowhere()
    source = as_array(image)
    columns = source.transpose(0, 1, *range(source.ndim - 1, 1, -1)).reshape(-1)
    if as_array(values).shape != actual.shape or not ((actual >= 0) & (actual < columns.size)).all():
        return evidence.nowhere()
    return columns[actual] == as_array(values)


@excuses(
    "disputed-reference",
    "lrn",
    libraries=("onnx",),
    why="the reference evaluator sums the squares of as many channels as the batch has samples, and of no others",
)
def normalised(evidence: Evidence) -> Array:
    """Where the compiler's result is that of the specification's formula, in an image `(n, c, h, w)`."""
    image, actual = evidence.input, evidence.actual
    given = {each.name: each.value for each in evidence.instance.init if isinstance(each.value, (int, float))}
    alpha, beta, bias, size = (given.get(name, default) for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0), ("size", 0)))
    if image is None or image.ndim != 4 or actual is None or not isinstance(size, int) or size < 1:
        return evidence.nowhere()
    before, after = (size - 1) // 2, size // 2
    squares = np.pad(image.astype(np.float64) ** 2, ((0, 0), (before, after), (0, 0), (0, 0)))
    sums = np.sum([squares[:, index : index + image.shape[1]] for index in range(size)], axis=0)
    right: Array = image / (bias + alpha / size * sums) ** beta
    near: Array = np.isclose(actual.astype(np.float64), right, rtol=1e-3)
    near[:, : image.shape[0]] = False  # channels whose squares the evaluator sums
    return near
