"""What a failing test left behind, ready to be read: a difference, exceptions with their frames, the end of a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from opera.console import block, one_line
from opera.report.text import tail

_DIFFERENCE = (
    ("kind", "what differs"), ("output", "output"), ("expected", "library"), ("actual", "compiler"), ("distance", "largest distance"),
    ("allowed", "allowed there"), ("share", "share of elements"), ("explained", "explained by"),
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A name and its value."""

    name: str
    value: str


@dataclass(frozen=True)
class Raised:
    """An exception. *frames* are lines of text, the innermost last; those of this tool's own worker are left out."""

    type: str
    message: str
    frames: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """What there is; parts that do not apply are empty.

    Attributes:
        difference: Expected and actual.
        exceptions: The one raised, then what caused it.
        ended: How the process was lost.
        log: The end of what it wrote.
    """

    difference: tuple[Row, ...] = ()
    exceptions: tuple[Raised, ...] = ()
    ended: str = ""
    log: str = ""


def evidence(detail: Mapping[str, Any]) -> Evidence:
    """Reads the detail of a result."""
    lost = _part(detail, "lost")
    return Evidence(
        _difference(_part(detail, "difference")),
        tuple(_exceptions(_part(detail, "failure"))),
        one_line(f"{lost.get('cause', '')}: {lost.get('detail', '')}") if lost else "",
        tail(str(detail.get("log") or "")).strip(),
    )


def lines(found: Evidence) -> list[str]:
    """*found* as lines for a terminal."""
    text: list[str] = []
    width = max((len(row.name) for row in found.difference), default=0)
    text += [f"  {row.name.ljust(width)}  {row.value}" for row in found.difference]
    for place, raised in enumerate(found.exceptions):
        text.append(f"  {'caused by ' if place else ''}{raised.type}")
        text += [f"    {line}" for line in raised.message.splitlines()]
        text += [f"      at {frame}" for frame in raised.frames]
    if found.ended:
        text.append(f"  the process was lost: {found.ended}")
    if found.log:
        text += ["  end of its log:", *(f"    {line}" for line in found.log.splitlines())]
    return text


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = document.get(name)
    return cast("Mapping[str, Any]", part) if isinstance(part, Mapping) else {}


def _difference(difference: Mapping[str, Any]) -> tuple[Row, ...]:
    return tuple(Row(title, _value(name, difference[name])) for name, title in _DIFFERENCE if name in difference)


def _value(name: str, value: Any) -> str:
    if name == "share" and isinstance(value, float):
        return f"{value:.1%}"
    return f"{value:.6g}" if isinstance(value, float) else one_line(str(value), 400)


def _exceptions(failure: Mapping[str, Any]) -> list[Raised]:
    found: list[Raised] = []
    while failure and len(found) < 4:
        message = block(str(failure.get("message", "")))
        found.append(Raised(one_line(str(failure.get("type", "")), 160), message, _frames(failure.get("frames") or ())))
        failure = _part(failure, "cause")
    return found


def _frames(frames: Sequence[Any]) -> tuple[str, ...]:
    theirs = [frame for frame in frames if len(frame) == 4 and not str(frame[0]).startswith("opera.")]
    return tuple(one_line(f"{file}:{line} in {function}", 200) for _, file, line, function in theirs)
