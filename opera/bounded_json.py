"""Reads JSON that is bounded in size and depth. The standard library is enough, because processes of compilers have little more."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Union, cast

MOST_VALUES = 2_000_000
"""In one JSON document."""
JsonValue = Union[None, bool, int, float, str, "Sequence[JsonValue]", "Mapping[str, JsonValue]"]
"""What JSON can say."""
JsonObject = dict[str, JsonValue]
"""A document that is written."""


class Malformed(ValueError):
    """Foreign data that are not of the specified form. The message says what is wrong, without the place."""


def parsed_json(text: str | bytes, *, unique: bool = False) -> object:
    """The JSON value that *text* is. NaN and infinite numbers are no JSON.

    Args:
        text: Content of a file.
        unique: Whether a key that stands twice in one object is refused, as in files that people write; else the last one holds.

    Raises:
        Malformed: it is not JSON, is nested too deep, or has more than `MOST_VALUES` values (a value takes up to 75 bytes of memory).
    """
    signs = ("[", "{", ",") if isinstance(text, str) else (b"[", b"{", b",")
    if len(text) > MOST_VALUES and sum(text.count(cast(Any, sign)) for sign in signs) > MOST_VALUES:
        raise Malformed(f"more than {MOST_VALUES:,} values")
    try:
        hook = _unique if unique else None
        return cast(object, json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=hook))
    except RecursionError as error:
        raise Malformed("nested too deep") from error
    except ValueError as error:
        raise Malformed(f"not JSON: {error}") from error


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:40]} is out of range")
    return number
