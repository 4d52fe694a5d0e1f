"""Conditions on interpolated images: which pixel is nearest, and how a result is rounded."""

from __future__ import annotations

import numpy as np

from opera.arrays import Array, as_array, is_array
from opera.oracles.evidence import Evidence
from opera.oracles.filters.rows import excuses

_HALF = 0.5 + 2.0**-6
"""Half of the distance of integers, and what single precision adds to weights and places of a large image."""
_BALANCED = 0.02
"""How far off the mean of an image may be where its pixels are rounded up as often as down."""


@excuses(
    "half-pixel",
    r"grid_?sample(r(_[23]d)?)?",
    input=1,
    why="no documentation says which of two pixels is nearest to a point halfway between them",
)
def half_pixel(evidence: Evidence) -> Array:
    """Where a point of a sampling grid lies halfway between two pixels: image `(n, c, *lengths)`, grid `(n, *points, dimensions)`."""
    image, grid = evidence.inputs[0] if evidence.inputs else None, evidence.input
    if not is_array(image) or grid is None or grid.ndim < 3 or as_array(image).ndim != grid.shape[-1] + 2:
        return evidence.nowhere()
    lengths = np.asarray(as_array(image).shape[:1:-1], np.float64)
    wide = grid.astype(np.float64)
    aligned = any(each.name == "align_corners" and each.value in (True, 1) for each in evidence.instance.arguments())
    places = (wide + 1) / 2 * (lengths - 1) if aligned else ((wide + 1) * lengths - 1) / 2
    halves = (np.abs(places - np.floor(places) - 0.5) < 1e-5).any(axis=-1)
    return evidence.spread(np.expand_dims(halves, 1))


@excuses(
    "disputed-reference",
    r"resize|upsample",
    libraries=("onnx",),
    parameter="coordinate_transformation_mode",
    equals="align_corners",
    why=(
        "the reference evaluator divides by the unrounded length; the specification's formula and PyTorch divide by the "
        "length of the output"
    ),
)
def fractional_length(evidence: Evidence) -> Array:
    """Everywhere, where the lengths of the first input times the factors among the others are no whole numbers."""
    shape = as_array(evidence.inputs[0]).shape if evidence.inputs and is_array(evidence.inputs[0]) else ()
    factors = [as_array(value).reshape(-1) for value in evidence.inputs[1:] if is_array(value)]
    products = [shape[-each.size :] * each.astype(np.float64) for each in factors if each.dtype.kind == "f" and 0 < each.size <= len(shape)]
    return evidence.everywhere(any(bool((np.abs(each - np.rint(each)) > 1e-4).any()) for each in products))


@excuses(
    "rounded-inside",
    r"_?(interpolate|resiz|upsampl)\w*",
    why=(
        "no documentation says when interpolated integers are rounded, and libraries round after each axis: the integer "
        "nearest to the exact result is right"
    ),
)
def to_the_nearest(evidence: Evidence) -> Array:
    """Where the compiler's integer is nearest to what the library gives for the same numbers as doubles, cut off at the type's ends.

    Off by one from the library's own, here up and there down, will do as well: both round after each axis, from weights of their own. What
    is cut off in place of rounded is always off in one direction.
    """
    expected, actual = evidence.expected, evidence.actual
    real = evidence.exact("float64") if actual is not None and actual.dtype.kind in "iu" else None
    if actual is None or real is None or real.dtype.kind != "f" or not real.size:
        return evidence.nowhere()
    limits, wide = np.iinfo(actual.dtype), actual.astype(np.float64)
    nearest = np.abs(wide - np.clip(real, float(limits.min), float(limits.max))) <= _HALF
    off = wide - expected.astype(np.float64)
    return nearest | ((np.abs(off) <= 1) & (abs(float(off.mean())) <= _BALANCED))
