"""The tests of a campaign that a strategy orders while the campaign runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from opera.difftest.settings import Shard
from opera.difftest.test import Test
from opera.instance import Instance
from opera.prioritize import Adaptive, Candidate, Context, Observation, Session
from opera.run.plan import Plan
from opera.store import Step, StoredResult


def all_alike(_: str) -> int:
    """One part that has every instance."""
    return 0


@dataclass(frozen=True)
class Adaptation:
    """The strategy that chooses the tests of a campaign while it runs.

    Attributes:
        strategy: Gives each next instance, and learns the outcomes of its tests.
        context: Context of its ranking.
        part: Part of an instance: those of a lower part are all run before those of a higher one.
    """

    strategy: Adaptive
    context: Context
    part: Callable[[str], int] = all_alike


class Draws:
    """The tests of a plan as an adaptive strategy draws them: all tests of an instance, then the next instance.

    An instance is observed once each of its tests under the first seed has its result. Tests under further seeds come last, in the order
    in which their instances were drawn.

    Args:
        adaptation: Who chooses.
        plan: All tests that may be drawn; their own places do not count.
        instances: The instances of the plan.
        seed: The first seed.
        limit: Most tests, of all shards together.
        shard: The part of the campaign that the plan is.
        result: What the store knows of a test by its identity.
        adopted: Is told of a test that was drawn and has a result already, in place of running it.
    """

    def __init__(
        self,
        adaptation: Adaptation,
        plan: Plan,
        instances: Mapping[str, Instance],
        seed: int,
        limit: int | None,
        shard: Shard | None,
        result: Callable[[str], StoredResult | None],
        adopted: Callable[[Test, StoredResult], None],
    ) -> None:
        self._plan = plan
        self._of = plan.by_instance()
        self._seed = seed
        self._result = result
        self._adopted = adopted
        self._part = adaptation.part
        parts: dict[int, list[Candidate]] = {}
        for key in self._of:
            parts.setdefault(self._part(key), []).append(Candidate(key, instances[key]))
        self._sessions: dict[int, Session] = {part: adaptation.strategy.session(parts[part], adaptation.context) for part in sorted(parts)}
        self._shard = shard or Shard(1, 1)
        share = len(plan) if limit is None else limit // self._shard.count + (self._shard.number <= limit % self._shard.count)
        self.planned = min(len(plan), share)
        """How many tests there will be."""
        self._left = self.planned
        self._next_place = self._shard.number - 1
        self._drawn: list[str] = []
        self._done: set[str] = set()
        self._waiting: dict[str, int] = {}
        self._worst: dict[str, Observation] = {}
        self._seen: set[str] = set()

    def replay(self, course: Sequence[Step]) -> None:
        """Brings the strategy to where it was when the tests of *course*, which is in the order of places, had run."""
        known = [step for step in course if step.instance in self._of]
        if len(known) >= self.planned:  # there is nothing left to choose
            self._left = 0
            return
        for step in known:
            if step.instance not in self._waiting:
                self._sessions[self._part(step.instance)].take(step.instance)
                self._draw(step.instance)
        of_first_seed = {test.id for key in self._drawn for test in self._first(key)}
        for step in sorted(known, key=lambda each: (each.finished, each.place)):
            if step.test in of_first_seed:
                self._observe(step.instance, step.fingerprint)
        self._done = {step.test for step in known}
        self._left -= len(known)
        if course:
            self._next_place += self._shard.count * (1 + course[-1].place // self._shard.count)

    def observe(self, test: Test, fingerprint: str | None) -> None:
        """Tells the outcome of *test*, with the *fingerprint* of a failure."""
        if test.seed == self._seed:
            self._observe(test.instance, fingerprint)

    def __iter__(self) -> Iterator[Test]:
        """The tests that have no result yet. What follows a test depends on what was observed by the time that it is asked for."""
        if self._left <= 0:
            return
        for test in self._chosen():
            if test.id in self._done:
                continue
            if self._left <= 0:
                return
            self._left -= 1
            placed = replace(test, place=self._next_place)
            self._next_place += self._shard.count
            result = self._result(test.id)
            if result is None:
                yield placed
            else:
                self._adopted(placed, result)
                self.observe(placed, result.fingerprint)

    def _chosen(self) -> Iterator[Test]:
        for key in list(self._drawn):
            yield from self._first(key)
        for session in self._sessions.values():
            while (ranked := session.next()) is not None:
                self._draw(ranked.id)
                yield from self._first(ranked.id)
        further = [test for key in self._drawn for test in self._tests(key) if test.seed != self._seed]
        yield from sorted(further, key=lambda test: test.seed)

    def _draw(self, instance: str) -> None:
        self._drawn.append(instance)
        self._waiting[instance] = sum(1 for _ in self._first(instance))

    def _tests(self, instance: str) -> Iterable[Test]:
        return (self._plan[index] for index in self._of[instance])

    def _first(self, instance: str) -> Iterable[Test]:
        """The tests of *instance* under the first seed."""
        return (test for test in self._tests(instance) if test.seed == self._seed)

    def _observe(self, instance: str, fingerprint: str | None) -> None:
        came_to = Observation.NOTHING if fingerprint is None else Observation.KNOWN if fingerprint in self._seen else Observation.NEW
        if fingerprint is not None:
            self._seen.add(fingerprint)
        if self._worst.get(instance, Observation.NOTHING) is Observation.NOTHING or came_to is Observation.NEW:
            self._worst[instance] = came_to
        self._waiting[instance] -= 1
        if self._waiting[instance] == 0:
            self._sessions[self._part(instance)].observe(instance, self._worst.pop(instance))
