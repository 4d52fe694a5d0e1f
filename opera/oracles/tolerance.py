"""How far apart two correct results may be, by dtype.

An implementation may order sums differently, fuse, and approximate transcendental functions; it may not use another formula. The
relative parts leave about a thousand units in the last place for float32, which still separates GELU from its tanh approximation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from opera.arrays import Array, dtype_name


@dataclass(frozen=True)
class Tolerance:
    """An element may differ by `absolute + relative * |reference| + of_largest * max |reference| + reference_errors * own error`.

    The part of the largest element is for sums in which large terms cancel. The reference's own error is the distance between the
    library's result and its result in double precision: at that element, or the largest at those where it is within the tolerance.
    """

    absolute: float
    relative: float
    of_largest: float
    reference_errors: float = 8.0


_BY_DTYPE = {
    "float64": Tolerance(1e-9, 1e-7, 1e-12),
    "float32": Tolerance(1e-4, 5e-4, 1e-5),
    "float16": Tolerance(4e-3, 1e-2, 2e-3),
    "bfloat16": Tolerance(3e-2, 5e-2, 1e-2),
    "float8_e3m4": Tolerance(1e-2, 0.07, 0.0),
    "float8_e4m3": Tolerance(1e-2, 0.15, 0.0),
    "float8_e4m3b11fnuz": Tolerance(1e-2, 0.15, 0.0),
    "float8_e4m3fn": Tolerance(1e-2, 0.15, 0.0),
    "float8_e4m3fnuz": Tolerance(1e-2, 0.15, 0.0),
    "float8_e5m2": Tolerance(1e-2, 0.3, 0.0),
    "float8_e5m2fnuz": Tolerance(1e-2, 0.3, 0.0),
    "float8_e8m0fnu": Tolerance(0.0, 1.0, 0.0),
    "float4_e2m1fn": Tolerance(0.0, 0.0, 0.0),
}
_PARTS = {"complex64": "float32", "complex128": "float64"}


def tolerance_of(dtype: str, chebyshev: float | None = None) -> Tolerance | None:
    """The tolerance for *dtype*; None where only equality will do (integers, bools, strings).

    Args:
        dtype: Canonical name.
        chebyshev: The paper's policy: one absolute threshold for every floating-point dtype.
    """
    found = _BY_DTYPE.get(_PARTS.get(dtype, dtype))
    if found is not None and chebyshev is not None:
        return Tolerance(chebyshev, 0.0, 0.0, 0.0)
    return found


def differ(expected: Array, actual: Array) -> Array:
    """Where two outputs of one shape differ by more than the tolerance of the first one's dtype; NaN is the same as NaN."""
    tolerance = tolerance_of(dtype_name(expected.dtype))
    return np.asarray(expected != actual) if tolerance is None else apart(expected, actual, tolerance)


def apart(one: Array, other: Array, tolerance: Tolerance, scale: float = 1.0) -> Array:
    """Where two outputs of one shape differ by more than *scale* times a tolerance, taken of *one*."""
    with np.errstate(all="ignore"):
        wide = np.complex128 if one.dtype.kind == "c" or other.dtype.kind == "c" else np.float64
        first, second = one.astype(wide), other.astype(wide)
        size = np.abs(np.where(np.isfinite(first), first, 0))
        largest = float(size.max()) if size.size else 0.0
        allowed = scale * (tolerance.absolute + tolerance.relative * size + tolerance.of_largest * largest)
        same = (first == second) | (np.isnan(first) & np.isnan(second))
        return ~(same | (np.abs(first - second) <= allowed))
