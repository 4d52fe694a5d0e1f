"""Values as Python source text, for scripts that a maintainer reads and runs."""

from __future__ import annotations

import base64
import lzma
import math
import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from opera.arrays import Array, dtype_name, to_bytes
from opera.models.operators import is_name

_LITERAL_CHARACTERS = 2400
"""Most characters of elements that are written out; longer ones are packed."""
_UNIFORM_ELEMENTS = 3
"""Number of equal elements from which on an array is written as one number and a shape."""
WIDTH = 120
_PARTS = re.compile(r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"])*(?:, *|$|,)""", re.DOTALL)
"""The parts of an expression that commas outside of its strings end."""


def array_text(array: Array) -> str:
    """An expression that makes *array* with numpy (`np`) and, for dtypes that numpy lacks, `ml_dtypes`."""
    name = dtype_name(array.dtype)
    dtype = "object" if name == "string" else f"np.{name}" if name in _NUMPY else f"ml_dtypes.{name}"
    if array.size == 0:
        return f"np.zeros({array.shape}, {dtype})"
    if name in _NUMPY and is_uniform(array):
        return _uniform(array, dtype)
    elements = elements_text(array)
    if elements is not None:
        return wrapped(f"np.array({elements}, {dtype})")
    return f"np.frombuffer({packed(to_bytes(array))}, {dtype}).reshape({array.shape})"


def packed(data: bytes) -> str:
    """An expression that gives *data*."""
    text = base64.b85encode(lzma.compress(data, format=lzma.FORMAT_ALONE, preset=9)).decode("ascii")
    lines = "\n".join(f'    "{text[start : start + WIDTH]}"' for start in range(0, len(text), WIDTH))
    return f"lzma.decompress(base64.b85decode(\n{lines}\n))"


def elements_text(array: Array) -> str | None:
    """The elements of *array* as nested lists, each with as few digits as tell it; None where that is too long to be read."""
    name = dtype_name(array.dtype)
    if array.size > _LITERAL_CHARACTERS and name != "string":
        return None
    numbers = array if name in _NUMPY or name == "string" else array.astype(np.float64)
    text = _nested(_shortened(numbers).tolist())
    return text if len(text) <= _LITERAL_CHARACTERS or name == "string" else None


def _shortened(array: Array) -> Array:
    """*array* in float64 such that printing an element gives the fewest digits that tell it in its own dtype."""
    if array.dtype.kind != "f":
        return array
    return np.array([float(str(each)) for each in array.reshape(-1)]).reshape(array.shape)


def is_uniform(array: Array) -> bool:
    """Whether *array* is better written as one number and a shape: all elements are the same bits, since 0 equals -0."""
    if array.size < _UNIFORM_ELEMENTS or dtype_name(array.dtype) == "string":
        return False
    return array.tobytes() == array.reshape(-1)[:1].tobytes() * array.size


def _uniform(array: Array, dtype: str) -> str:
    """An array of equal elements, as one number and a shape."""
    shape = f"{array.shape[0]}" if array.ndim == 1 else f"{array.shape}"
    name, number = uniform_text(array)
    return f"np.{name}({shape}, {number}{dtype})"


def uniform_text(array: Array) -> tuple[str, str]:
    """`ones`, `zeros` or `full`, and in the last case the number with a comma after it, for an array of equal elements."""
    first = array.reshape(-1)[:1]
    number: float | int | bool | complex = first.tolist()[0]
    if number == 1:
        return "ones", ""
    if number == 0 and not np.signbit(np.real(array)).any():
        return "zeros", ""
    return "full", f"{_nested(_shortened(first).tolist()[0])}, "


_NUMPY = frozenset([
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64",
    "complex128",
])  # fmt: skip


def quoted(text: str) -> str:
    """*text* as a literal: in double quotes where it needs no escape, else as Python writes it."""
    return f'"{text}"' if text.isprintable() and not set(text) & set('"\\') else repr(text)


def dotted(path: str) -> str:
    """*path* where every component of it is a name; raises ValueError where it would be read as anything else."""
    if not all(is_name(part) for part in path.split(".")):
        raise ValueError(f"{path!r} is no dotted name")
    return path


def keyword_argument(name: str, text: str) -> str:
    """The argument *text* given as *name*, which need not be a word that Python's grammar takes as a name."""
    return f"{name}={text}" if is_name(name) else f"**{{{name!r}: {text}}}"


def value_text(value: Any) -> str:
    """A nested structure of arrays and None as an expression."""
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(value_text(item) for item in cast("list[Any]", value)) + "]"
    return "None" if value is None else array_text(value)


def number_text(value: float | int | bool | complex) -> str:
    """A scalar as an expression, infinities, NaN and negative zeros included."""
    if isinstance(value, complex):
        parts = value.real, value.imag
        is_exact = all(math.isfinite(part) and (part != 0.0 or math.copysign(1.0, part) > 0.0) for part in parts)
        return repr(value) if is_exact else f"complex({number_text(parts[0])}, {number_text(parts[1])})"
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_nested(item) for item in cast("list[Any]", value)) + "]"
    return number_text(value) if isinstance(value, (float, int, bool, complex)) else repr(value)


def wrapped(text: str) -> str:
    """*text*, an expression in brackets, broken after commas where it is too long for a line; never inside a string."""
    if len(text) <= WIDTH:
        return text
    parts: list[str] = _PARTS.findall(text)
    if "".join(parts) != text:
        return text
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > WIDTH:
            lines.append("")
        lines[-1] += part
    return "\n    ".join(line.rstrip() for line in lines)


def listed(name: str, items: Sequence[str], brackets: str = "[]") -> str:
    """The assignment of a list, dictionary or tuple, on one line or with as many items a line as fit."""
    line = f"{name} = {brackets[0]}{', '.join(items)}{',' if brackets == '()' and len(items) == 1 else ''}{brackets[1]}"
    if len(line) <= WIDTH:
        return line
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 6 <= WIDTH:
            lines[-1] += f" {item},"
        else:
            lines.append(f"{item},")
    body = "".join(f"    {each}\n" for each in lines)
    return f"{name} = {brackets[0]}\n{body}{brackets[1]}"


def imports_of(text: str) -> list[str]:
    """The imports that expressions of this module need."""
    lines: list[str] = []
    if "base64." in text:
        lines += ["import base64"]
    if "lzma." in text:
        lines += ["import lzma"]
    if "ml_dtypes." in text:
        lines += ["import ml_dtypes"]
    return lines
