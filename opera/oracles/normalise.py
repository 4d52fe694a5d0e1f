"""A failure's message without what changes from run to run: addresses, numbers, dtypes, paths, names of values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

_STEPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"0x[0-9a-fA-F]+"), "ADDR"),
    (re.compile(r"(?s)(failed to legalize operation '[\w.]+'(?: that was explicitly marked illegal)?): .*"), r"\1"),
    (re.compile(r"\(args = [^\n]*?, kwargs = \{[^{}\n]*\}\)"), "(ARGS)"),
    (re.compile(r"(?:/[\w.+-]+)+/([\w.+-]+)"), r"\1"),
    (re.compile(r"\b[0-9a-f]{12,}\b"), "HASH"),
    (re.compile(r"-[0-9a-f]{6}(?=\.\w)"), ""),  # LLVM's temporary files
    (re.compile(r"\b(v?tensor|memref|vector)<(?:(?:[?\d]++x)*+|\[[^\]]*+\],)(\w+)>"), r"\1<\2>"),
    (
        re.compile(r"\b(?:[A-Za-z]+\.)?(?:(?:b?float|bf|f|u?int|[su]?i|ui|complex|bool|double|half|long|pred)\d+|bool|double|half)\b"),
        "DTYPE",
    ),
    (re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])"), "N"),
    (re.compile(r"(\b[A-Za-z]+)_?\d+\b"), r"\1N"),
    (re.compile(r"[(\[{]\s*(?:N|True|False|None)(?:\s*,\s*(?:N|True|False|None))*\s*,?\s*[)\]}]"), "LIST"),
    (re.compile(r"\s+"), " "),
)
_LINES = (
    r"Traceback \(most recent call last\):", r"File \".*\", line \d+.*", r"Failed to convert the exported program.*", r"- If there is .*",
    r"- Create an error report .*", r"## Exception summary", r"Set TORCH.*", r"You can suppress.*", r"This is usually a bug.*",
    r"%\d+(?::\d+)? = .*", r"\^", r"\S+:\d+(?::\d+)?: (?:warning|remark): .*", r">>> .*",
)  # fmt: skip
"""Lines of Python, PyTorch, MLIR and linkers that say where a failure was noticed, and nothing of the failure."""
_PREFIXES = (r"\S+\.(?:cc|cpp|h):\d+ ", r"<(?:stdin|unknown)>:\d+(?::\d+)?: error: ")
"""How C++ and MLIR begin a message with a place."""
_LIMIT = 2000
_READ = 65_536
"""Characters of a message that are looked at; a failure that is kept is shorter."""


@dataclass(frozen=True)
class Noise:
    """What means nothing in the messages of one compiler, besides what means nothing in any.

    Attributes:
        lines: Regular expressions; a line that one of them matches as a whole is dropped.
        prefixes: Regular expressions; what one of them matches at the beginning of a summary is left out.
    """

    lines: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()

    @cached_property
    def dropped(self) -> re.Pattern[str]:
        """Matches whole lines, with their end; raises re.error where one of *lines* is no regular expression."""
        return re.compile(rf"(?m)^[^\S\n]*(?:{_any_of((*self.lines, *_LINES))})$\n?")

    @cached_property
    def left_out(self) -> re.Pattern[str]:
        """Matches at the beginning of a summary; raises re.error where one of *prefixes* is no regular expression."""
        return re.compile(rf"^(?:{_any_of((*self.prefixes, *_PREFIXES))})")


NO_NOISE = Noise()
"""Of a message that no compiler wrote."""


def _any_of(patterns: Iterable[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def template(message: str, noise: Noise = NO_NOISE, limit: int = _LIMIT) -> str:
    """What *message* says, whatever the instance: at most *limit* characters on one line.

    A list of names is sorted, because compilers print sets in varying order. Lines that are *noise* are dropped, unless nothing else is
    there.
    """
    message = message[:_READ]
    kept = noise.dropped.sub("", message).strip() or message
    kept = re.sub(r"\[('[\w.:]+'(?:, '[\w.:]+')+)\]", _sorted_names, kept[: 16 * limit])
    kept = re.sub(r"\{('[\w.:]+'(?:, '[\w.:]+')+)\}", _sorted_names, kept)
    for pattern, replacement in _STEPS:
        kept = pattern.sub(replacement, kept)
    return kept.strip()[:limit]


def summary(message: str, noise: Noise = NO_NOISE) -> str:
    """The one line of *message* that a person should read first."""
    message = message[:_READ]
    lines = [line.strip() for line in (noise.dropped.sub("", message).strip() or message).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Check '")] or lines or [""]
    best = next((line for line in lines if len(line) > 8), lines[0])
    while (shorter := noise.left_out.sub("", best)) != best and shorter:
        best = shorter
    return best[:240]


def _sorted_names(match: re.Match[str]) -> str:
    return "[" + ", ".join(sorted(match[1].split(", "))) + "]"
