"""Numbers that survive quantisation: inputs in whole steps of a scale, and scales of outputs that no result is near the middle of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

ZERO_POINTS = (("int8", 0), ("uint8", 128), ("uint8", 3))
"""Dtype and zero point of the ways to quantise."""
_STEPS = 60
"""Largest distance of a quantised input from its zero point: two products added up fit into 16 bits, in which some processors add."""
_RANGE = 100
"""The same for an output, with room for a result that rounds up."""
_SCALES = 64
"""Scales that are tried for an output."""


def is_quantisable(value: Any) -> bool:
    """Whether *value* is a tensor of float32 with an element that is not 0, and with finite ones only."""
    return value is not None and value.dtype == np.float32 and value.size > 0 and bool(np.isfinite(value).all() and np.abs(value).max() > 0)


def clear_scale(value: Any) -> float:
    """A scale for an output of which no element is near the middle of two steps, where another kernel may round to the other one."""
    smallest = _scale(value, _RANGE)
    return max((smallest * (1 + step / (4 * _SCALES)) for step in range(1, _SCALES + 1)), key=lambda scale: clearance(value, scale))


def clearance(value: Any, scale: float) -> float:
    """How far the elements of *value* are from the middle of two steps, in steps."""
    steps = value.astype("float64") / scale
    return float(np.abs(steps - np.floor(steps) - 0.5).min())


def on_grid(value: Any, zero: int) -> tuple[Any, float]:
    """*value* in whole steps of a scale, and the scale; without negative numbers where the zero point leaves none."""
    scale = _scale(value, _STEPS)
    steps = np.rint(value / np.float32(scale))
    return (np.abs(steps) if 0 < zero < _STEPS else steps).astype(np.float32) * np.float32(scale), scale


def on_grids(value: Any, axis: int) -> tuple[Any, Any]:
    """*value* in whole steps of a scale for each place along *axis*, and the scales: those of three neighbours differ.

    Places get larger for it, so that whole numbers stay whole.
    """
    exact, scale = on_grid(value, 0)
    factors = (2.0 ** (np.arange(value.shape[axis]) % 3)).astype(np.float32)
    return exact * factors.reshape([-1 if place == axis % value.ndim else 1 for place in range(value.ndim)]), factors * np.float32(scale)


def channel_axes(value: Any) -> tuple[int, ...]:
    """The axes of *value* along which scales differ: the first, the second, and the last, counted from the end."""
    return (0, *((1,) if value.ndim > 2 else ()), -1) if value.ndim > 1 else ()


def _scale(value: Any, steps: int) -> float:
    """The power of two of which the largest element of *value* is at most that many steps."""
    return float(2.0 ** math.ceil(math.log2(float(np.abs(value).max()) / steps)))
