"""Tensor contents as every recorder writes them: dtype names, and whether values look written by a person."""

from __future__ import annotations

import base64
import math
import struct
from typing import Dict, FrozenSet, Optional

from .stream import Document, Loose

DTYPES: FrozenSet[str] = frozenset({
    "bool", "int2", "uint2", "int4", "uint4", "int8", "uint8",
    "int16", "uint16", "int32", "uint32", "int64", "uint64", "float4_e2m1fn",
    "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
    "bfloat16", "float16", "float32", "float64", "complex32", "complex64", "complex128",
    "qint8", "quint8", "qint32", "string",
})  # fmt: skip
"""The dtypes of the instance format."""

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
