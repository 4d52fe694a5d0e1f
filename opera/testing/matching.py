"""Compares a compiler's outputs with expected ones; dtypes have tolerances.

This module needs numpy only: a suite may copy the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

TOLERANCES = {
    "float64": (1e-9, 1e-7, 1e-12),
    "float32": (1e-4, 5e-4, 1e-5),
    "float16": (4e-3, 1e-2, 2e-3),
    "bfloat16": (3e-2, 5e-2, 1e-2),
    "float8_e3m4": (1e-2, 0.07, 0.0),
    "float8_e4m3": (1e-2, 0.15, 0.0),
    "float8_e4m3b11fnuz": (1e-2, 0.15, 0.0),
    "float8_e4m3fn": (1e-2, 0.15, 0.0),
    "float8_e4m3fnuz": (1e-2, 0.15, 0.0),
    "float8_e5m2": (1e-2, 0.3, 0.0),
    "float8_e5m2fnuz": (1e-2, 0.3, 0.0),
    "float8_e8m0fnu": (0.0, 1.0, 0.0),
    "float4_e2m1fn": (0.0, 0.0, 0.0),
}
"""By dtype: absolute, relative, and relative to the largest element."""
REFERENCE_ERRORS = 8.0
"""How many times the error of the expected values an element may be off."""
PARTS = {"complex64": "float32", "complex128": "float64"}


def assert_matches(
    actual: Any,
    expected: Any,
    *,
    own_error: float = 0.0,
    tolerances: Mapping[str, tuple[float, float, float]] = TOLERANCES,
) -> None:
    """Raises AssertionError unless *actual* is *expected*, up to rounding.

    Count, structure, shapes and dtypes have to be equal, and so do the places
    of NaN and of each infinity. Integers, bools and strings have to be equal.
    Other elements may differ by a tolerance of their dtype.

    Args:
        actual: An array, or a list of outputs: arrays, lists, or None.
        expected: The same, as a trusted library computes it.
        own_error: The largest rounding error of the expected values, if known.
        tolerances: By dtype, see TOLERANCES.
    """
    __tracebackhide__ = True
    _compare("output", actual, expected, own_error, tolerances)


def _compare(
    name: str,
    actual: Any,
    expected: Any,
    own_error: float,
    tolerances: Mapping[str, tuple[float, float, float]],
) -> None:
    __tracebackhide__ = True
    if isinstance(expected, (list, tuple)):
        is_list = isinstance(actual, (list, tuple))
        _check(is_list, f"{name}: expected a list, got {_kind(actual)}")
        wanted, given = _items(expected), _items(actual)
        sizes = f"expected {len(wanted)} values, got {len(given)}"
        _check(len(wanted) == len(given), f"{name}: {sizes}")
        for index, (one, other) in enumerate(zip(given, wanted, strict=True)):
            _compare(f"{name}[{index}]", one, other, own_error, tolerances)
    elif expected is None or not _is_array(actual):
        kinds = f"expected {_kind(expected)}, got {_kind(actual)}"
        _check(actual is None and expected is None, f"{name}: {kinds}")
    else:
        one, other = np.asarray(actual), np.asarray(expected)
        shapes = f"expected shape {other.shape}, got {one.shape}"
        _check(one.shape == other.shape, f"{name}: {shapes}")
        dtypes = f"expected dtype {other.dtype}, got {one.dtype}"
        _check(_dtype(one) == _dtype(other), f"{name}: {dtypes}")
        _compare_arrays(name, one, other, own_error, tolerances)


def _check(holds: bool, message: str) -> None:
    __tracebackhide__ = True
    if not holds:
        raise AssertionError(message)


def _items(values: Any) -> list[Any]:
    return list(values)


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _kind(value: Any) -> str:
    if value is None or _is_array(value):
        return "nothing" if value is None else "an array"
    return f"a {type(value).__name__}"


def _dtype(array: Any) -> str:
    return "string" if array.dtype.kind in "OSU" else array.dtype.name


def _compare_arrays(
    name: str,
    actual: Any,
    expected: Any,
    own_error: float,
    tolerances: Mapping[str, tuple[float, float, float]],
) -> None:
    __tracebackhide__ = True
    kind = _dtype(expected)
    tolerance = tolerances.get(PARTS.get(kind, kind))
    if expected.size == 0:
        return
    if tolerance is None:
        _raise(name, _texts(actual) != _texts(expected), actual, expected)
        return
    wide = np.complex128 if kind in PARTS else np.float64
    one, other = actual.astype(wide), expected.astype(wide)
    _raise(name, np.isnan(one) != np.isnan(other), actual, expected)
    with np.errstate(all="ignore"):
        scale = np.abs(other)
        finite = np.isfinite(one) & np.isfinite(other)
        absolute, relative, of_largest = tolerance
        largest = scale.max(initial=0.0, where=finite)
        sizes = np.where(np.isfinite(scale), scale, 0.0)
        allowed = absolute + relative * sizes + of_largest * largest
        allowed = allowed + REFERENCE_ERRORS * own_error
        parts = [(one, other)]
        if kind in PARTS:
            parts = [(one.real, other.real), (one.imag, other.imag)]
        for left, right in parts:
            same = (left == right) | np.isnan(one)
            near = np.isfinite(left) & np.isfinite(right)
            near = near & (np.abs(left - right) <= allowed)
            _raise(name, ~(same | near), actual, expected, allowed)


def _texts(array: Any) -> Any:
    if array.dtype.kind not in "OSU":
        return array
    flat: Any = np.empty(array.size, dtype=object)
    for index, item in enumerate(array.reshape(-1).tolist()):
        flat[index] = item.decode() if isinstance(item, bytes) else str(item)
    return flat.reshape(array.shape)


def _raise(
    name: str,
    wrong: Any,
    actual: Any,
    expected: Any,
    allowed: Any = None,
) -> None:
    __tracebackhide__ = True
    wrong = np.asarray(wrong)
    if wrong.size == 0 or not wrong.any():
        return
    place = int(np.argmax(wrong.reshape(-1)))
    index = tuple(int(each) for each in np.unravel_index(place, wrong.shape))
    values = expected.reshape(-1)[place], actual.reshape(-1)[place]
    text = f"expected {values[0]}, got {values[1]} at {index}"
    if allowed is not None:
        text = f"{text}; {allowed.reshape(-1)[place]:.3g} is allowed"
    share = f"{int(wrong.sum())} of {wrong.size} elements differ"
    raise AssertionError(f"{name}: {text} ({share})")
