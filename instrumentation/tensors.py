"""Tensor contents as every recorder writes them: dtype names, and whether values look written by a person."""

from __future__ import annotations

import base64
import math
import struct
from typing import Dict, Optional

from .stream import Document, Loose

DTYPE_BITS: Dict[str, int] = {
    "bool": 8, "int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "int8": 8, "uint8": 8, "int16": 16, "uint16": 16,
    "int32": 32, "uint32": 32, "int64": 64, "uint64": 64, "float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6,
    "float8_e3m4": 8, "float8_e4m3": 8, "float8_e4m3b11fnuz": 8,
    "float8_e4m3fn": 8, "float8_e4m3fnuz": 8, "float8_e5m2": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8,
    "bfloat16": 16, "float16": 16, "float32": 32, "float64": 64, "complex32": 32, "complex64": 64, "complex128": 128,
    "qint8": 8, "quint8": 8, "qint32": 32, "string": 0,
}  # fmt: skip
"""Width of one element of every dtype that a tensor may have. Data are kept one element per byte (or more), never bit-packed."""

KEEP_INTEGERS = 4096
KEEP_FLOATS = 64
KEEP_WRITTEN = 256
"""Also the bound under which identity takes written floats by value."""
SHORT_DIGITS = 4
LARGEST_SHORT = 10**SHORT_DIGITS
"""Integers below have that few digits."""
_FORMATS: Dict[str, str] = {"float16": "e", "float32": "f", "float64": "d"}


def written(data: bytes, dtype: str, size: int) -> bool:
    """Whether these values look written by a person: few, and each has a short decimal form in this dtype."""
    code = _FORMATS.get(dtype)
    if code is None or size > KEEP_WRITTEN:
        return False
    return all(_short(number, code) for number in struct.unpack(f"<{size}{code}", data))


def _short(number: float, code: str) -> bool:
    if not math.isfinite(number) or (-LARGEST_SHORT < number < LARGEST_SHORT and number == int(number)):
        return True
    try:
        (rounded,) = struct.unpack(f"<{code}", struct.pack(f"<{code}", float(f"{number:.{SHORT_DIGITS - 1}e}")))
    except OverflowError:
        return False
    return rounded == number


def encode_bytes(data: bytes) -> str:
    """Base64 text of *data*."""
    return base64.b64encode(data).decode("ascii")


def loosen(content: Document) -> Optional[Loose]:
    """What tells a tensor of random values apart from others: all but its data, its bounds by sign only."""
    constraint = content.get("constraint")
    if not isinstance(constraint, dict):
        return None
    part = {name: value for name, value in content.items() if name != "data"}
    part["constraint"] = {**constraint, "low": _sign(constraint.get("low")), "high": _sign(constraint.get("high"))}
    return content, part


def _sign(bound: object) -> Optional[int]:
    return (bound > 0) - (bound < 0) if isinstance(bound, (int, float)) else None
