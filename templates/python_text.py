"""Values as Python source text, for scripts that a maintainer reads and runs."""

from __future__ import annotations

import base64
import math
import textwrap
import zlib
from typing import Any, cast

import numpy as np

from opera.models.arrays import Array, dtype_name, to_bytes

_LITERAL_ELEMENTS = 256
_UNIFORM_ELEMENTS = 3
"""From so many equal elements on, an array is written as one number and a shape."""
_WIDTH = 120


def array_text(array: Array) -> str:
    """An expression that makes *array* with numpy (`np`) and, for dtypes that numpy lacks, `ml_dtypes`."""
    name = dtype_name(array.dtype)
    dtype = "object" if name == "string" else f"np.{name}" if name in _NUMPY else f"ml_dtypes.{name}"
    if array.size <= _LITERAL_ELEMENTS or name == "string":
        numbers = array if name in _NUMPY or name == "string" else array.astype(np.float64)
        if array.size == 0:
            return f"np.zeros({array.shape}, {dtype})"
        if array.size >= _UNIFORM_ELEMENTS and name in _NUMPY and len(np.unique(array)) == 1:
            return _uniform(array, dtype)
        return wrapped(f"np.array({_nested(numbers.tolist())}, {dtype})")
    packed = base64.b64encode(zlib.compress(to_bytes(array), 9)).decode("ascii")
    lines = "\n".join(f'    "{packed[start : start + _WIDTH - 8]}"' for start in range(0, len(packed), _WIDTH - 8))
    return f"np.frombuffer(zlib.decompress(base64.b64decode(\n{lines}\n)), {dtype}).reshape({array.shape})"


def _uniform(array: Array, dtype: str) -> str:
    """An array of equal elements, as one number and a shape."""
    shape = f"{array.shape[0]}" if array.ndim == 1 else f"{array.shape}"
    number: float | int | bool | complex = array.reshape(-1)[:1].tolist()[0]
    if number == 1:
        return f"np.ones({shape}, {dtype})"
    if number == 0 and not np.signbit(np.real(array)).any():
        return f"np.zeros({shape}, {dtype})"
    return f"np.full({shape}, {number_text(number)}, {dtype})"


_NUMPY = frozenset(
    ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
     "float16", "float32", "float64", "complex64", "complex128"]
)  # fmt: skip


def value_text(value: Any) -> str:
    """A nested structure of arrays and None as an expression."""
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(value_text(item) for item in cast("list[Any]", value)) + "]"
    return "None" if value is None else array_text(value)


def number_text(value: float | int | bool | complex) -> str:
    """A scalar as an expression, infinities and NaN included."""
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_nested(item) for item in cast("list[Any]", value)) + "]"
    return number_text(value) if isinstance(value, (float, int, bool)) else repr(value)


def wrapped(text: str) -> str:
    """*text*, an expression in brackets, broken after commas where it is too long for a line."""
    if len(text) <= _WIDTH:
        return text
    return "\n    ".join(textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False))


def imports_of(text: str) -> list[str]:
    """The imports that expressions of this module need."""
    lines: list[str] = []
    if "base64." in text:
        lines += ["import base64"]
    if "zlib." in text:
        lines += ["import zlib"]
    if "ml_dtypes." in text:
        lines += ["import ml_dtypes"]
    return lines
