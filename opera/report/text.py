"""Texts that several reports share."""

from __future__ import annotations

import re
from typing import Any, cast

from opera.console import block, clean, cut, one_line
from opera.models.forms import form_parts

_HARMLESS = re.compile(r"(?!.*(?:www\.|GH-|://|__))[A-Za-z0-9(][A-Za-z0-9 .,:;()'\"=+/_%-]*", re.IGNORECASE)
_SIGNATURE = re.compile(
    r"(?:\b[\w:]{1,200}[*& ]{1,4})?\b(?:\w{1,200}::){1,12}(~?\w{1,200})\([^()]{0,2000}(?:\)|\Z)(?: const\b)?(?: \[with [^\]]{0,2000}\])?"
)


def without_signatures(text: str) -> str:
    """*text* with `name(…)` in place of C++ functions that are spelled out with their namespaces and types."""
    return _SIGNATURE.sub(r"\1(…)", text[:8_000])


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


def code(text: str, limit: int = 240) -> str:
    """*text* as code in Markdown: nothing in it is markup, a link or a mention."""
    line = text if len(text) <= limit and clean(text) == text and not re.search(r"[\n\t]", text) else one_line(text, limit)
    fence = "`" * (_longest_run(line) + 1)
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{room}{line}{room}{fence}" if line else ""


def fenced(text: str, language: str = "text") -> str:
    """*text* as a block of code in Markdown."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{clean(text)}\n{fence}"


def inline(text: str, limit: int = 240) -> str:
    """*text* in a sentence of Markdown: as it is where nothing in it can be markup, a link or a mention, else as code."""
    line = one_line(text, limit)
    return line if not line or _HARMLESS.fullmatch(line) else code(line, limit)


def _longest_run(text: str) -> int:
    """Length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def form_text(form: str) -> str:
    """The form of a test: `baked`, `baked at opset 21`."""
    inputs, opset = form_parts(form)
    return one_line(inputs) if opset is None else f"{inputs} at opset {opset}"
