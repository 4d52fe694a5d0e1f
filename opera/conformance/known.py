"""Known failures of self-checking programs: a file with a row, and a reason, for each; strict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Annotated

import msgspec

from opera.errors import UserError
from opera.stablehlo.messages import Which
from opera.untrusted import Line, Malformed, Name, parsed_toml, read_file, typed

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
    """

    file: str
    function: str
    reason: str
    program: int | None = None
    state: str = ""

    def names(self, file: str, program: int, function: str) -> bool:
        """Whether this row is about *function* of a program of *file*."""
        return self.function == function and self.program in (None, program) and self.is_in(file)

    def is_in(self, file: str) -> bool:
        """Whether this row is about a function of *file*."""
        own = PurePosixPath(self.file).parts
        return PurePosixPath(Path(file).as_posix()).parts[-len(own) :] == own


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
    for row in rows:
        if row.state and row.state not in states:
            raise UserError(f"{name}: the state {row.state[:40]!r} of {row.function} does not exist; choose one of: {', '.join(states)}")
        if (row.file, row.function, row.program) in found:
            raise UserError(f"{name}: two rows for {row.function} of {row.file}; remove one")
        found[row.file, row.function, row.program] = Known(row.file, row.function, row.reason, row.program, row.state)
    return tuple(found.values())
