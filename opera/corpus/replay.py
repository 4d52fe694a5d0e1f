"""How many recorded instances do again what was recorded, and why the others do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from opera.corpus.calls import Called
from opera.instance import Outcome
from opera.models.template import LIBRARY_RAISED
from opera.oracles.normalise import template

RETURNED_INSTEAD = "returned"
OTHER_EXCEPTION = "other-exception"
_MESSAGE = 160


@dataclass(frozen=True)
class Share:
    """Instances of one *recorded* outcome, and of one *source* unless that is None.

    Attributes:
        source: Its name.
        recorded: The outcome.
        instances: How many were called.
        as_recorded: How many of them returned; of those recorded as `raised`, how many raised again.
        same_exception: Of those recorded as `raised`, how many raised an exception of the same type.
    """

    source: str | None
    recorded: str
    instances: int
    as_recorded: int
    same_exception: int

    @property
    def share(self) -> float:
        """Of *as_recorded* among *instances*, 0 to 1."""
        return self.as_recorded / self.instances


@dataclass(frozen=True)
class Cause:
    """Why *count* instances of one recorded outcome did something else; *example* is the hash of one of them."""

    recorded: str
    reason: str
    exception: str
    message: str
    count: int
    example: str
    api: str


class Replay:
    """Counts what calls came to."""

    def __init__(self, sources: Mapping[str, tuple[str, ...]], exceptions: Mapping[str, str]) -> None:
        """Takes the sources of every instance, and the recorded exception types of those that raised, by hash."""
        self._sources = sources
        self._exceptions = exceptions
        self._counts: Counter[tuple[str | None, str, str]] = Counter()
        self._causes: dict[tuple[str, str, str, str], list[Called]] = {}

    def add(self, calls: Iterable[Called]) -> None:
        """Counts *calls*."""
        for called in calls:
            same = self._is_same(called)
            for source in (None, *self._sources.get(called.chosen.id, ())):
                self._counts[source, called.chosen.outcome, "instances"] += 1
                self._counts[source, called.chosen.outcome, "as-recorded"] += called.as_recorded
                self._counts[source, called.chosen.outcome, "same"] += same
            if not called.as_recorded or (called.reason is not None and not same):
                key = (called.chosen.outcome, *self._why(called))
                self._causes.setdefault(key, []).append(called)

    def shares(self) -> list[Share]:
        """Per recorded outcome, first of all sources together, then of each."""
        groups = sorted({(outcome, source or "") for source, outcome, _ in self._counts})
        return [
            Share(source or None, outcome, *(self._counts[source or None, outcome, what] for what in ("instances", "as-recorded", "same")))
            for outcome, source in groups
        ]

    def causes(self) -> list[Cause]:
        """The most frequent first."""
        rows = [
            Cause(*key, count=len(calls), example=first.chosen.id, api=first.chosen.api)
            for key, calls in self._causes.items()
            for first in [min(calls, key=lambda each: each.chosen.id)]
        ]
        return sorted(rows, key=lambda row: (-row.count, row.recorded, row.reason, row.exception, row.message))

    def _is_same(self, called: Called) -> bool:
        return called.reason == LIBRARY_RAISED and called.exception == self._exceptions.get(called.chosen.id)

    def _why(self, called: Called) -> tuple[str, str, str]:
        if called.reason is None:
            return RETURNED_INSTEAD, self._exceptions.get(called.chosen.id, ""), ""
        reason = called.reason
        if called.as_recorded and called.chosen.outcome == Outcome.RAISED.value:
            reason = OTHER_EXCEPTION
        return reason, called.exception, template(called.message, limit=_MESSAGE)
