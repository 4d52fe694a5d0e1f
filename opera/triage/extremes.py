"""What a wrong element says where infinities, NaNs and the ends of a dtype's range meet ordinary numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_LARGEST = {
    "float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38, "float64": 1.7976931348623157e308
}  # fmt: skip
"""The largest finite number of each dtype that holds ordinary numbers."""
_LARGEST_NARROW = {
    "float8_e4m3fn": 448.0, "float8_e4m3fnuz": 240.0, "float8_e4m3": 240.0, "float8_e5m2": 57344.0, "float8_e5m2fnuz": 57344.0,
    "float8_e3m4": 15.5, "float6_e3m2fn": 28.0, "float6_e2m3fn": 7.5, "float4_e2m1fn": 6.0,
}  # fmt: skip
"""The same of dtypes to which conversions may saturate."""
SPECIAL = frozenset(["inf", "nan"])
"""Elements that are no ordinary numbers, without their signs."""
_ORDINARY = 1000
"""Below that, multiples of a half are what many a wrong computation gives."""


def direction(difference: Mapping[str, Any]) -> str:
    """Whether an infinity or a NaN was `lost`, `gained` or `exchanged` for the other; empty where neither is there."""
    wanted, found = _magnitudes(difference)
    if wanted in SPECIAL:
        return "exchanged" if found in SPECIAL else "lost"
    return "gained" if found in SPECIAL else ""


def cut_off_at(difference: Mapping[str, Any], dtypes: Iterable[str] = ()) -> tuple[str, str] | None:
    """The dtype of an infinity that is missing, and the narrower one whose largest number is there instead.

    Where that number is the largest of the result's own dtype, *dtypes* say where the infinity came from: those that the failure needs.
    """
    dtype, (wanted, found) = str(difference.get("dtype")), _magnitudes(difference)
    if dtype not in _LARGEST or wanted != "inf":
        return None
    if found == repr(_LARGEST[dtype]):
        return next(((each, dtype) for each in dtypes if _LARGEST.get(each, 0.0) > _LARGEST[dtype]), None)
    return next(((dtype, name) for name, largest in _LARGEST.items() if found == repr(largest)), None)


def overflows(difference: Mapping[str, Any]) -> bool:
    """Whether the largest number of a narrow dtype is wanted, and an infinity or a NaN is there."""
    largest, (wanted, found) = _LARGEST_NARROW.get(str(difference.get("dtype"))), _magnitudes(difference)
    return largest is not None and wanted == repr(largest) and found in SPECIAL


def instead_of_nan(difference: Mapping[str, Any]) -> tuple[str, str] | None:
    """The dtype of a NaN that is missing, and the number that is there, where it is none that anything may come to."""
    wanted, found = _magnitudes(difference)
    if wanted != "nan" or found in SPECIAL:
        return None
    try:
        number = float(found)
    except ValueError:
        return None
    return None if number < _ORDINARY and (2 * number).is_integer() else (str(difference.get("dtype")), found)


def _magnitudes(difference: Mapping[str, Any]) -> tuple[str, str]:
    """The wanted element and the one that is there, as they are written, without signs."""
    wanted, found = (str(difference.get(name)).lstrip("-") for name in ("expected", "actual"))
    return wanted, found
