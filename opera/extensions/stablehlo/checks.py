"""The checks of self-checking programs: what they compare, and how close two tensors have to be."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from opera.arrays import Array
from opera.extensions.stablehlo.printing import element_text
from opera.extensions.stablehlo.types import ElementType, Value, parts_of

TOLERANCE = 1e-4
"""Tolerance of `expect_almost_eq`, where the program names none."""
CALL_TOLERANCE = 1e-3
"""Tolerance of `custom_call @check.expect_almost_eq`, as the released tool has it."""
ULPS = 1
"""Distance of `expect_close` in units in the last place, where a program in generic form names none."""
CALL_ULPS = 3
"""Distance of `custom_call @check.expect_close`, as the released tool has it."""
_FAR = np.iinfo(np.uint64).max


class Closeness(enum.Enum):
    """When two elements agree."""

    BITWISE = "bitwise"
    """All bits are equal: 0.0 is not -0.0, and a NaN equals a NaN of the same bits."""
    ABSOLUTE = "absolute"
    """They are equal, or both are NaN, or both are finite and differ by at most the tolerance."""
    ULPS = "ulps"
    """The number of representable values from one to the other is within the limits."""


@dataclass(frozen=True)
class Check:
    """What a check demands.

    Attributes:
        name: `check.expect_eq` ...
        closeness: How elements are compared.
        tolerance: The largest difference, of `ABSOLUTE`.
        least, most: The limits, of `ULPS`.
    """

    name: str
    closeness: Closeness
    tolerance: float = TOLERANCE
    least: int = 0
    most: int = 0

    def __str__(self) -> str:
        if self.closeness is Closeness.ABSOLUTE:
            return f"{self.name} (tolerance {self.tolerance:g})"
        if self.closeness is Closeness.ULPS:
            return f"{self.name} ({self.least} to {self.most} ULP)" if self.least else f"{self.name} (at most {self.most} ULP)"
        return self.name


@dataclass(frozen=True)
class Mismatch:
    """A check that failed.

    Attributes:
        index: The first element that differs; empty for a scalar.
        actual, expected: Both elements, or both types, as MLIR writes them.
        count: How many elements differ.
        size: How many elements there are.
        note: What else there is to say: the distance in ULP.
    """

    index: tuple[int, ...]
    actual: str
    expected: str
    count: int
    size: int
    note: str = ""

    def __str__(self) -> str:
        where = f"element {list(self.index)}: " if self.index else ""
        share = f"; {self.count} of {self.size} elements differ" if self.count > 1 else ""
        note = f" ({self.note})" if self.note else ""
        return f"{where}{self.actual} (actual) and {self.expected} (expected){note}{share}"


def holds(check: Check, actual: Value, expected: Value) -> Mismatch | None:
    """Compares two tensors as *check* demands; None where the check holds."""
    if actual.type != expected.type:
        return Mismatch((), str(actual.type), str(expected.type), actual.type.size, actual.type.size)
    element = actual.type.element
    distances: Array | None = None
    if check.closeness is Closeness.BITWISE:
        wrong = _bits(actual.array) != _bits(expected.array)
        wrong = wrong.any(axis=-1) if element.is_complex else wrong
    elif check.closeness is Closeness.ABSOLUTE:
        wrong = ~_all_parts(_almost, actual, expected, check.tolerance)
    else:
        distances = _distances(actual, expected)
        wrong = (distances > np.uint64(check.most)) | (distances < np.uint64(check.least))
    if not wrong.any():
        return None
    index = tuple(int(place) for place in np.argwhere(wrong)[0])
    note = "" if distances is None else _in_words(int(distances[index]))
    texts = [element_text(value.array[index], element) for value in (actual, expected)]
    return Mismatch(index, texts[0], texts[1], int(wrong.sum()), actual.type.size, note)


def _in_words(distance: int) -> str:
    return "infinitely far" if distance == _FAR else f"{distance} ULP apart"


def _bits(array: Array) -> npt.NDArray[Any]:
    """The elements as unsigned integers; complex ones have another axis, for both parts."""
    if array.dtype.kind == "c":
        return _bits(np.stack(parts_of(array), axis=-1))
    return np.ascontiguousarray(array).reshape(array.shape).view(f"u{array.dtype.itemsize}")


def _parts(value: Value) -> tuple[list[Array], ElementType]:
    array = value.array
    return (list(parts_of(array)) if value.type.element.is_complex else [array]), value.type.element.part


def _all_parts(close: Any, actual: Value, expected: Value, limit: float) -> Array:
    (ours, _), (theirs, _) = _parts(actual), _parts(expected)
    return np.logical_and.reduce([close(one, other, limit) for one, other in zip(ours, theirs, strict=True)])


def _almost(actual: Array, expected: Array, tolerance: float) -> Array:
    one, other = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(one) & np.isfinite(other)
    with np.errstate(invalid="ignore", over="ignore"):
        near = finite & (np.abs(one - other) <= tolerance)
    return (one == other) | (np.isnan(one) & np.isnan(other)) | near


def _distances(actual: Value, expected: Value) -> npt.NDArray[np.uint64]:
    """The distances in ULP, of complex numbers the greater one of both parts."""
    (ours, element), (theirs, _) = _parts(actual), _parts(expected)
    return np.maximum.reduce([_ulps(one, other, element) for one, other in zip(ours, theirs, strict=True)])


def _ulps(actual: Array, expected: Array, element: ElementType) -> npt.NDArray[np.uint64]:
    one, other = (_bits(each).astype(np.uint64) for each in (actual, expected))
    sign = np.uint64(0 if element.name == "f8E8M0FNU" else 1 << (element.bits - 1))
    ours, theirs = one & ~sign, other & ~sign
    distance = np.where((one & sign) != (other & sign), ours + theirs, np.maximum(ours, theirs) - np.minimum(ours, theirs))
    wide = actual.astype(np.float64), expected.astype(np.float64)
    distance = np.where(np.isfinite(wide[0]) & np.isfinite(wide[1]), distance, _FAR)
    same = (one == other) | (np.isnan(wide[0]) & np.isnan(wide[1]))
    return np.where(same, np.uint64(0), distance)
