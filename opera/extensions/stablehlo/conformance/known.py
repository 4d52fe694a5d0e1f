"""Known failures of self-checking programs: a file with a row, and a reason, for each; strict."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Annotated

import msgspec

from opera.errors import UserError
from opera.extensions.stablehlo.messages import Which
from opera.untrusted import Line, Malformed, Name, parsed_toml, read_file, typed

_HEAD = re.compile(rb"\s*\[\[\s*known\s*\]\]\s*(?:#.*)?")
_OWN: Mapping[Which, str] = {"reference": "stablehlo_known.toml", "readable": "stablehlo_known_readable.toml"}


class _Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    file: Name
    function: Name
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=100_000)]
    program: Annotated[int, msgspec.Meta(ge=1)] | None = None
    state: str = ""


class _Rows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    known: list[_Row] = []
    note: Line = ""


@dataclass(frozen=True)
class Known:
    """A function that is known not to pass.

    Attributes:
        file: The end of the path of its file, in whole parts: `scatter.mlir`, or `interpret/scatter.mlir`.
        function: Its name.
        reason: Why it does not pass.
        program: The place of its program in the file, counted from 1, where several programs have such a function; None for all.
        state: The only state in which it is excused; empty for all that are not `passed`.
        place: Where its row stands: file and line.
    """

    file: str
    function: str
    reason: str
    program: int | None = None
    state: str = ""
    place: str = field(default="", compare=False)

    def names(self, file: str, program: int, function: str) -> bool:
        """Whether this row is about *function* of a program of *file*."""
        return self.function == function and self.program in (None, program) and self.is_in(file)

    def is_in(self, file: str) -> bool:
        """Whether this row is about a function of *file*."""
        own = self._parts
        return parts_of(file)[-len(own) :] == own

    def was_read(self, folders: Collection[tuple[str, ...]]) -> bool:
        """Whether *folders*, which were read as a whole, would hold its file: they have the name of one of its own folders.

        A row that names no folder is about every folder.
        """
        own = self._parts[:-1]
        return any(not own or any(each[-index:] == own[:index] for index in range(1, len(own) + 1)) for each in folders)

    @property
    def _parts(self) -> tuple[str, ...]:
        return PurePosixPath(self.file).parts


def parts_of(path: str) -> tuple[str, ...]:
    """The parts of *path* from the root of the file system."""
    return PurePosixPath(Path(os.path.abspath(path)).as_posix()).parts


OFFICIAL = "official"
"""The list of known failures of the programs of openxla/stablehlo, which OPERA has."""


def read_known(name: str, states: Sequence[str], interpreter: Which = "reference") -> tuple[Known, ...]:
    """The rows `[[known]]` of a TOML file, or of the list called `official`, which each interpreter has.

    Raises:
        UserError: it cannot be read, a row lacks its reason or has a state that does not exist, or two rows name one function.
    """
    try:
        data = resources.files("opera").joinpath("facts", _OWN[interpreter]).read_bytes() if name == OFFICIAL else read_file(Path(name))
        rows = typed(parsed_toml(data), _Rows).known
    except Malformed as error:
        raise UserError(f"{name}: {error}; write rows [[known]] with file, function and reason") from error
    except OSError as error:
        raise UserError(f"{name}: {error.strerror}; name a file with rows [[known]]") from error
    found: dict[tuple[str, str, int | None], Known] = {}
    for row, place in zip(rows, _places(_OWN[interpreter] if name == OFFICIAL else name, data, len(rows)), strict=True):
        if row.state and row.state not in states:
            raise UserError(f"{place}: the state {row.state[:40]!r} of {row.function} does not exist; choose one of: {', '.join(states)}")
        if (row.file, row.function, row.program) in found:
            raise UserError(f"{place}: a second row for {row.function} of {row.file}; remove one")
        found[row.file, row.function, row.program] = Known(row.file, row.function, row.reason, row.program, row.state, place)
    return tuple(found.values())


def _places(name: str, data: bytes, rows: int) -> list[str]:
    """Where each row begins; its number in place of a line where the rows are not written as `[[known]]`."""
    lines = [number for number, line in enumerate(data.splitlines(), 1) if _HEAD.fullmatch(line)]
    return [f"{name}:{line}" for line in lines] if len(lines) == rows else [f"{name}: row {number}" for number in range(1, rows + 1)]
