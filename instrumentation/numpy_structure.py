"""What is known of a numpy array of floats: bounds, NaN, infinities and structure that an operator may demand."""

from __future__ import annotations

import importlib
from typing import Any, List

from .stream import Document
from .wire import Json

np: Any = importlib.import_module("numpy")

MATRIX_LIMIT = 512
SORTED_FROM = 4
STRUCTURE_LIMIT = 1 << 22
"""Elements up to which structure is looked for."""


def constraint(array: Any) -> Document:
    """The constraint of a contiguous array; for a complex array, the constraint of its parts, without structure."""
    with np.errstate(all="ignore"):
        return _constraint(array)


def _constraint(array: Any) -> Document:
    real = array.view(array.real.dtype) if array.dtype.kind == "c" and array.ndim else array
    if real.dtype.kind == "c":
        real = np.array([real.real, real.imag])
    if real.dtype not in (np.float32, np.float64):
        real = real.astype(np.float32 if real.dtype.itemsize < 4 else np.float64)
    if not real.size:
        return {"low": None, "high": None}
    low, high = float(real.min()), float(real.max())
    if low - low != 0 or high - high != 0:
        return _special(real)
    content: Document = {"low": low, "high": high}
    if array.dtype.kind != "c" and real.size <= STRUCTURE_LIMIT:
        names: List[Json] = [*sorted(_structure(real, low, high))]
        if names:
            content["structure"] = names
    return content


def _special(real: Any) -> Document:
    """The constraint of values among which some are not finite."""
    content: Document = {"low": None, "high": None}
    finite = real[np.isfinite(real)]
    if finite.size:
        content.update(low=float(finite.min()), high=float(finite.max()))
    if bool(np.isnan(real).any()):
        content["nan"] = True
    if bool(np.isinf(real).any()):
        content["inf"] = True
    return content


def _structure(real: Any, low: float, high: float) -> List[str]:
    """The structures that *real* has, of those that are not accidents of a small size."""
    names = ["integral"] if low == int(low) and bool((real == np.round(real)).all()) else []
    if real.size < 2:
        return names
    if low == high:
        return [*names, "constant"]
    last = real.shape[-1]
    if low >= 0 and high <= 1 and last >= 2 and bool((np.abs(real.sum(-1) - 1) < 1e-3).all()):
        names.append("probabilities")
    if last >= SORTED_FROM and bool((real[..., 1:] >= real[..., :-1]).all()):
        names.append("sorted")
    if real.ndim >= 2 and 2 <= last <= MATRIX_LIMIT and real.shape[-2] == last:
        names.extend(_matrix(real))
    return names


def _matrix(real: Any) -> List[str]:
    """The structures of square matrices."""
    names: List[str] = []
    if not np.triu(real, 1).any():
        names.append("lower-triangular")
    if not np.tril(real, -1).any():
        names.append("upper-triangular")
    if bool((np.abs(real - np.swapaxes(real, -1, -2)) <= 1e-5 * np.abs(real).max()).all()):
        names.append("symmetric")
        if _positive_definite(real):
            names.append("positive-definite")
    return names


def _positive_definite(real: Any) -> bool:
    try:
        np.linalg.cholesky(real)
    except np.linalg.LinAlgError:
        return False
    return True
