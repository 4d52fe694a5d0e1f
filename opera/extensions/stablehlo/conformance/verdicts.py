"""Judges the outcomes of a run by a list of known failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opera.extensions.stablehlo.conformance.known import Known, parts_of
from opera.extensions.stablehlo.conformance.runner import Outcome, State

FAILING = frozenset({State.FAILED, State.ABORTED, State.HANG, State.OOM, State.INVALID})
"""The states that make a run fail. What the interpreter or the machine cannot do is counted, and is no failure."""


@dataclass(frozen=True)
class Judged:
    """An outcome, and the row that knew it, if one did."""

    outcome: Outcome
    known: Known | None


@dataclass(frozen=True)
class Stale:
    """A row about something that is not there: *missing* is `function`, or `file`."""

    row: Known
    missing: str


@dataclass(frozen=True)
class Verdicts:
    """The outcomes of a run, compared with the list of known failures.

    Attributes:
        judged: Every outcome, in the order of files and lines.
        failures: Outcomes that fail, and that no row excuses.
        passes: Outcomes that passed, although a row says that they fail.
        stale: Rows about functions that their files do not have, and about files that their folders do not have.
        unread: Rows about files that were not read.
    """

    judged: tuple[Judged, ...]
    failures: tuple[Judged, ...]
    passes: tuple[Judged, ...]
    stale: tuple[Stale, ...]
    unread: tuple[Known, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether nothing failed, and the list is true."""
        return not (self.failures or self.passes or self.stale)


def judge(outcomes: Sequence[Outcome], rows: Sequence[Known], files: Sequence[str] = (), folders: Sequence[str] = ()) -> Verdicts:
    """Judges *outcomes* by a list of known failures.

    Args:
        outcomes: Outcomes of all functions that were evaluated.
        rows: The list.
        files: All that were read, also those without a function.
        folders: Those whose files were all read.
    """
    judged = [Judged(each, _row(each, rows)) for each in sorted(outcomes, key=lambda each: (each.file, each.line, each.function))]
    failures = [each for each in judged if each.known is None and each.outcome.state in FAILING]
    passes = [each for each in judged if each.known is not None and each.outcome.state is State.PASSED]
    read = {*files, *(each.file for each in outcomes)}
    whole = _with_inner([parts_of(each) for each in folders], [parts_of(each) for each in read])
    found = [(each.file, each.program, each.function) for each in outcomes]
    stale: list[Stale] = []
    unread: list[Known] = []
    for row in rows:
        if not any(map(row.is_in, read)):
            if row.was_read(whole):
                stale.append(Stale(row, "file"))
            else:
                unread.append(row)
        elif not any(row.names(*each) for each in found):
            stale.append(Stale(row, "function"))
    return Verdicts(tuple(judged), tuple(failures), tuple(passes), tuple(stale), tuple(unread))


def _with_inner(folders: Sequence[tuple[str, ...]], files: Sequence[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """*folders*, and the folders in them that have files."""
    inner = {file[:end] for file in files for folder in folders if file[: len(folder)] == folder for end in range(len(folder), len(file))}
    return {*folders, *inner}


def _row(outcome: Outcome, rows: Sequence[Known]) -> Known | None:
    """The row about *outcome*, if it excuses its state, or if the function passed."""
    named = next((row for row in rows if row.names(outcome.file, outcome.program, outcome.function)), None)
    if named is None or outcome.state is State.PASSED or named.state in ("", outcome.state.value):
        return named
    return None
