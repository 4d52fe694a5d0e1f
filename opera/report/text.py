"""Wording that reports share."""

from __future__ import annotations

from typing import Any, cast

from opera.console import block, cut


def tail(text: str, limit: int = 3_000) -> str:
    """The end of *text*, where a log says what happened last."""
    return block(text if len(text) <= limit else f"… {len(text) - limit:,} characters left out …\n{text[-limit:]}", 2 * limit)


def scrub(value: Any) -> Any:
    """A JSON value whose strings are cut to a readable size."""
    if isinstance(value, str):
        return cut(value, 40_000)
    if isinstance(value, list):
        return [scrub(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {cut(str(key), 400): scrub(item) for key, item in cast("dict[Any, Any]", value).items()}
    return value


def plural(count: int, noun: str) -> str:
    """`1 test`, `1,234 tests`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
