"""Which versions to try for a failure, and what their outcomes say."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

CHEAP = 5.0
"""Seconds of a step below which every version is tried: halving misses a failure that was mended and came back."""


class State(enum.Enum):
    """What one version shows."""

    BAD = "bad"
    """The failure, in the same symptom class."""
    OTHER = "other"
    """Another failure, which may hide it."""
    GOOD = "good"
    """The result of the library, or what the script expects."""
    UNRUNNABLE = "unrunnable"
    """Nothing: the version does not start, declines the model, or contradicts itself."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one step.

    Attributes:
        state: What the version shows.
        said: The message, for a person.
        seconds: The duration of the step.
    """

    state: State
    said: str = ""
    seconds: float = 0.0


@dataclass
class Search:
    """The versions that are tried for one failure.

    Attributes:
        versions: The versions, the oldest first.
        every: Whether to try all of them; None means where a step costs less than `CHEAP`.
        outcomes: What the versions that were tried show.
    """

    versions: Sequence[str]
    every: bool | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])

    def wanted(self) -> list[str]:
        """The versions to try next, in any order; none when the search is at its end."""
        left = [each for each in self.versions if each not in self.outcomes]
        if not left:
            return []
        ends = [each for each in dict.fromkeys((self.versions[-1], self.versions[0])) if each in left]
        if ends and not self.every:
            return ends
        if self._tries_all():
            return left
        return [each for each in self.versions if each in {*self._middles(), *self._neighbours()}]

    def _tries_all(self) -> bool:
        if self.every is not None:
            return self.every
        return sum(each.seconds for each in self.outcomes.values()) < CHEAP * len(self.outcomes)

    def _middles(self) -> Iterator[str]:
        """The middle of each gap between two versions that show different things, or nothing; of every gap until one version is bad."""
        tried = [index for index, each in enumerate(self.versions) if each in self.outcomes]
        found = any(outcome.state is State.BAD for outcome in self.outcomes.values())
        for one, other in pairwise(tried):
            sure = self._at(one) is self._at(other) and self._at(one) in (State.BAD, State.GOOD)
            if other - one > 1 and not (found and sure):
                yield self.versions[(one + other) // 2]

    def _neighbours(self) -> Iterator[str]:
        """The versions beside each change that was found: another change may be near."""
        for index in range(len(self.versions) - 1):
            one, other = self._at(index), self._at(index + 1)
            if one is not None and other is not None and one is not other:
                yield from (
                    self.versions[each] for each in (index - 1, index + 2) if 0 <= each < len(self.versions) and self._at(each) is None
                )

    def _at(self, index: int) -> State | None:
        outcome = self.outcomes.get(self.versions[index])
        return None if outcome is None else outcome.state

    @property
    def answer(self) -> Answer:
        """What the outcomes say so far."""
        return Answer(tuple((each, self.outcomes[each]) for each in self.versions if each in self.outcomes))


@dataclass(frozen=True)
class Change:
    """A change between bad and good.

    Attributes:
        state: What is shown from then on.
        last: The last version before that shows the contrary; None if *first* is the oldest version that shows anything.
        first: The first version that shows it.
    """

    state: State
    last: str | None
    first: str


@dataclass(frozen=True)
class Answer:
    """Versions that were tried, the oldest first, with their outcomes."""

    tried: tuple[tuple[str, Outcome], ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """When the failure came and went, the oldest change first. Only versions that are bad or good count."""
        found: list[Change] = []
        last = None
        for version, outcome in self.tried:
            if outcome.state in (State.BAD, State.GOOD):
                if not found or found[-1].state is not outcome.state:
                    found.append(Change(outcome.state, last, version))
                last = version
        return tuple(found)

    @property
    def text(self) -> str:
        """The answer in words: `since 1.26.0 (last good 1.25.1), fixed in 1.32.0 (last bad 1.31.1)`."""
        changes = [change for change in self.changes if change.last is not None or change.state is State.BAD]
        if not any(change.state is State.BAD for change in changes):
            good = sum(outcome.state is State.GOOD for _, outcome in self.tried)
            return f"no version shows it: {good:,} of {len(self.tried):,} are good"
        words = list[str]()
        for number, change in enumerate(changes):
            if change.state is State.GOOD:
                words.append(f"fixed in {change.first} (last bad {change.last})")
            elif change.last is None:
                words.append(f"in {change.first} {self._before(change.first)}")
            else:
                words.append(f"{'came back in' if number else 'since'} {change.first} (last good {change.last})")
        return ", ".join(words)

    def _before(self, first: str) -> str:
        """What is said of the versions before *first*, none of which is good or bad."""
        states = {outcome.state for version, outcome in self.tried[: [version for version, _ in self.tried].index(first)]}
        if not states:
            return "or earlier"
        return "(older ones fail otherwise)" if State.OTHER in states else "or earlier (older ones cannot run it)"

    @property
    def runs(self) -> str:
        """All outcomes in short: `good 1.24.1 to 1.25.1, bad 1.26.0 to 1.31.1, good 1.32.0`."""
        parts = list[str]()
        for state, group in groupby(self.tried, key=lambda each: each[1].state):
            names = [version for version, _ in group]
            parts.append(f"{state.value} {names[0]}" + (f" to {names[-1]}" if len(names) > 1 else ""))
        return ", ".join(parts)
