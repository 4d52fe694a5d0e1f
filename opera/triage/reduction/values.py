"""Plainer dtypes and plainer values of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from opera.arrays import Array
from opera.instance import DType, Tensor
from opera.triage.reduction.contents import array_of, edit, with_dtype

SIMPLE_DTYPES = ("float32", "int64", "int32", "bool", "float64")
_FEW_ELEMENTS = 32


def retyped(value: Any, old: str, new: str) -> Any:
    """*value* in dtype *new* where it is a tensor of dtype *old*, or that dtype itself; else as it is."""
    if isinstance(value, DType) and value.name == old:
        return DType(new)
    if isinstance(value, Tensor) and value.dtype == old:
        return with_dtype(value, new) or value
    return value


def changed(value: Any, change: Callable[[Array], Array]) -> Any:
    """*value* with its elements changed where it is a tensor that has some; else as it is."""
    return (edit(value, change) or value) if isinstance(value, Tensor) else value


def _zeros(array: Array) -> Array:
    return np.zeros_like(array)


def _ones(array: Array) -> Array:
    return np.ones_like(array)


def _counting(array: Array) -> Array:
    return np.arange(array.size, dtype=np.float64).reshape(array.shape)


def _counting_a_little(array: Array) -> Array:
    return (np.arange(array.size, dtype=np.float64) % 3).reshape(array.shape)


def _constant(array: Array) -> Array:
    return np.full_like(array, array.reshape(-1)[0]) if array.size else array


def _small_integers(array: Array) -> Array:
    return np.clip(np.rint(np.nan_to_num(np.real(array).astype(np.float64))), -4, 4)


def _signs(array: Array) -> Array:
    return np.sign(np.nan_to_num(np.real(array).astype(np.float64)))


def _rounded(array: Array) -> Array:
    return np.rint(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))


def _one_digit(array: Array) -> Array:
    return np.round(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64), 1)


def _positive(array: Array) -> Array:
    return np.abs(array)


def _finite(array: Array) -> Array:
    return np.where(np.isfinite(array), array, np.zeros_like(array)) if array.dtype.kind in "fc" else array


PLAIN: tuple[Callable[[Array], Array], ...] = (
    _ones, _zeros, _constant, _counting_a_little, _counting, _signs, _small_integers, _rounded, _one_digit, _positive, _finite,
)  # fmt: skip
"""Ways to make values plain, the most radical first."""


def element_by_element(tensor: Tensor) -> Iterator[Tensor]:
    """*tensor* with parts of its elements set to 1 or 0, down to single ones, which are also set to 2 and -1."""
    array = array_of(tensor)
    if array is None or not 1 < array.size <= _FEW_ELEMENTS or array.dtype.kind == "O":
        return
    indices = np.arange(array.size)
    size = (array.size + 1) // 2
    while size:
        for start in range(0, array.size, size):
            yield from _set(tensor, indices[start : start + size], 1)
            yield from _set(tensor, indices[start : start + size], 0)
        size = 0 if size == 1 else (size + 1) // 2
    for index in indices:
        for number in (1, 0, 2, -1):
            yield from _set(tensor, indices[index : index + 1], number)


def _set(tensor: Tensor, where: Array, number: int) -> Iterator[Tensor]:
    def change(array: Array) -> Array:
        flat = array.reshape(-1).copy()
        flat[where] = np.asarray(number).astype(array.dtype)
        return flat.reshape(array.shape)

    found = edit(tensor, change)
    if found is not None:
        yield found
