"""Wrong elements at the end of a dtype's range: infinities and largest numbers that become something else.

Conversions between dtypes share code, so such an element tells more about its cause than the operator does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
_SPECIAL = frozenset(["inf", "nan"])
"""Elements that are not ordinary numbers, without their signs."""


@dataclass(frozen=True)
class Limit:
    """What went wrong at the end of a dtype's range.

    Attributes:
        kind: In general.
        dtypes: In detail; the same for all operators that share the conversion.
    """

    kind: str
    dtypes: str


def direction(difference: Mapping[str, Any]) -> str:
    """Whether an infinity or a NaN was `lost`, `gained` or `exchanged` for the other; empty for ordinary numbers."""
    wanted, found = _magnitudes(difference)
    if wanted in _SPECIAL:
        return "exchanged" if found in _SPECIAL else "lost"
    return "gained" if found in _SPECIAL else ""


def limit_of(difference: Mapping[str, Any], dtypes: Iterable[str]) -> Limit | None:
    """The limit at which *difference* lies; None for other wrong elements.

    Args:
        difference: The expected and the actual element, and the dtype of the result.
        dtypes: Dtypes that the failure needs: an infinity may come from any of them.
    """
    dtype, (wanted, found) = str(difference.get("dtype")), _magnitudes(difference)
    if found in _SPECIAL and dtype in _LARGEST_NARROW and wanted == repr(_LARGEST_NARROW[dtype]):
        return Limit("no saturation", "narrow dtypes")
    if wanted == "inf" and dtype in _LARGEST:
        pair = _cut_off(dtype, found, dtypes)
        return None if pair is None else Limit("infinities cut off", f"{pair[0]} to {pair[1]}")
    return None


def _cut_off(dtype: str, found: str, dtypes: Iterable[str]) -> tuple[str, str] | None:
    """The dtype of a missing infinity, and the narrower dtype whose largest number is there instead."""
    if found == repr(_LARGEST[dtype]):
        return next(((each, dtype) for each in dtypes if _LARGEST.get(each, 0.0) > _LARGEST[dtype]), None)
    return next(((dtype, name) for name, largest in _LARGEST.items() if found == repr(largest)), None)


def _magnitudes(difference: Mapping[str, Any]) -> tuple[str, str]:
    """The wanted element and the actual one, as they are written, without signs."""
    wanted, found = (str(difference.get(name)).lstrip("-") for name in ("expected", "actual"))
    return wanted, found
