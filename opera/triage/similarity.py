"""Whether two raw failures say the same: their messages without what depends on the instance, and where they were raised."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opera.oracles.fingerprint import NO_NOISE, Noise, template

_CALL = re.compile(r"\b\w+(?:\.\w+)+\((?:[^()]|\([^()]*\))*\)")
"""A qualified call, with at most one pair of parentheses inside: what it holds is taken out first."""
_OBJECT = re.compile(r"\b[A-Z]\w*\(\w+=(?:[^()]|\([^()]*\))*\)")
"""An object as Python prints it: a class, and fields by name."""
_OBJECTS = re.compile(r"OBJECT(?:, OBJECT)+")
_DUMP = re.compile(r"(LLVM ERROR: .*?) (?:Type properties: |Please report issues to |Stack dump: ).*")
"""What LLVM prints of a type, of itself and of its stack after its message."""
_LOCATION = re.compile(r"<(?:stdin|unknown)>:N(?::N)?: ")
_OPERAND = re.compile(r"failed to legalize operation 'torch\.(?:DTYPE|constant\.\w+|vtensor\.literal|prim\.ListConstruct)'")
"""An operand that MLIR calls illegal because it could not legalise what uses it: which of them comes first is chance."""
_VAGUE = "failed to legalize OPERAND"
_TELLING = 20
"""Characters of a gist that says something on its own."""
_NOWHERE = ("<unknown>", "")


@dataclass(frozen=True)
class Origin:
    """Where a failure was raised.

    Attributes:
        gist: What the message says, whatever the dtypes and values.
        raised: File and line of the innermost frame that is known; empty where none is.
        entry: The innermost function of the compiler's importer on the way there; empty where none is known.
        callers: The importer's functions that led to *entry*, the outermost first.
        by_entry: Whether *entry* itself raised.
    """

    gist: str
    raised: str
    entry: str
    callers: tuple[str, ...] = field(default=(), compare=False)
    by_entry: bool = field(default=False, compare=False)

    @property
    def vague(self) -> bool:
        """Whether the message says what was in the way, and not what it was in the way of."""
        return _VAGUE in self.gist

    @property
    def tells(self) -> bool:
        """Whether another failure with the same origin is likely to be the same."""
        return bool(self.raised and self.entry) or len(self.gist) >= _TELLING


def origin_of(failure: Mapping[str, Any], project: Sequence[str], noise: Noise) -> Origin:
    """Where *failure*, as `opera.workers.failure.describe` makes it, comes from.

    Args:
        failure: An exception.
        project: Prefixes of modules and parts of paths that belong to the compiler.
        noise: What means nothing in the compiler's messages.
    """
    frames = [frame for frame in failure.get("frames") or () if len(frame) == 4 and not str(frame[0]).startswith("opera.")]
    known = [frame for frame in frames if str(frame[1]) not in _NOWHERE]
    raised = f"{str(known[-1][1]).rpartition('/')[2]}:{known[-1][2]}" if known else ""
    importer = _importer(frames, project)
    functions = [str(frame[3]) for frame in importer]
    return Origin(
        gist(str(failure.get("message", "")), noise), raised, functions[-1] if functions else "", tuple(functions[:-1]),
        bool(known and importer and importer[-1] is known[-1]),
    )  # fmt: skip


def gist(message: str, noise: Noise = NO_NOISE) -> str:
    """What *message* says, without the arguments of calls and the fields of objects that it quotes."""
    text = _OPERAND.sub(_VAGUE, _LOCATION.sub("", _DUMP.sub(r"\1", template(message, noise))))
    while (shorter := _OBJECT.sub("OBJECT", _CALL.sub("CALL", text))) != text:
        text = shorter
    return _OBJECTS.sub("OBJECT", text)


def _importer(frames: Sequence[Sequence[Any]], project: Sequence[str]) -> list[Sequence[Any]]:
    """The frames in the folder of the compiler's outermost one: the importer that was called."""
    theirs = [frame for frame in frames if any(str(frame[0]).startswith(each) or each in str(frame[1]) for each in project)]
    if not theirs:
        return []
    folder = str(theirs[0][0]).rpartition(".")[0]
    return [frame for frame in theirs if str(frame[0]).rpartition(".")[0] == folder]
