"""Foreign text made safe to show: messages of compilers may be huge, binary, or full of terminal escapes."""

from __future__ import annotations

import re
from typing import Any, cast

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\ufffb\ufffe\uffff]"
)


def block(text: str, limit: int = 6_000) -> str:
    """*text* with its lines, at most about *limit* characters: beginning and end, where messages say what matters."""
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"
    return clean(text)


def clean(text: str) -> str:
    """*text* without terminal escapes, control characters, and what cannot be written as UTF-8."""
    return _UNPRINTABLE.sub("\ufffd", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def tail(text: str, limit: int = 3_000) -> str:
    """The end of *text*, where a log says what happened last."""
    return block(text if len(text) <= limit else f"… {len(text) - limit:,} characters left out …\n{text[-limit:]}", 2 * limit)


def one_line(text: str, limit: int = 240) -> str:
    """*text* on one line of at most *limit* characters."""
    line = " ".join(block(text[: 8 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def scrub(value: Any) -> Any:
    """A JSON value whose strings can be written in any encoding and are cut to a readable size."""
    if isinstance(value, str):
        return block(value, 40_000)
    if isinstance(value, list):
        return [scrub(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {one_line(str(key)): scrub(item) for key, item in cast("dict[Any, Any]", value).items()}
    return value


def plural(count: int, noun: str) -> str:
    """`1 test`, `1,234 tests`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def option(workspace: str) -> str:
    """What commands that are printed need to find *workspace* again."""
    return "" if workspace == ".opera" else f" --workspace {workspace}"
