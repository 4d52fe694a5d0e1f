"""The default strategy: coverage of features inside an operator, turns between families of operators."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Generator, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from opera.prioritize.coverage import Coverage
from opera.prioritize.encoding import Feature
from opera.prioritize.familiarity import Familiarity, Vocabulary
from opera.prioritize.operator_features import OperatorFeatures
from opera.prioritize.queues import BOOST, Head, Merged, OperatorQueue
from opera.prioritize.strategy import Candidate, Context, Observation, Prepared, Ranked, Session, by_operator, draw_order

_PAIR_ENTRIES = 12_000_000
"""Entries (of four bytes) that the pairs of a whole corpus may take: instances times pairs per operator."""
_FEWEST_PAIRS = 64
_MOST_PAIRS = 400
_FOLLOWED = 20_000
"""Instances up to which the gains of all operators follow every test."""
_SINGLE = 8
"""Weight of a feature; a pair of features has the weight 1."""
_COUNTS = {Observation.NOTHING: 1, Observation.NEW: 0, Observation.KNOWN: 2}
"""Turns of its family that a test counts for."""
_PROMISE = 100
"""Factor of the share of a family's tests that have failed in new ways; one and that many times is how much sooner its others come."""


class OperaStrategy:
    """Greedy coverage of features and pairs of features per operator, shared fairly between families of operators.

    Inside an operator an instance gains the share of its features, and of their pairs, that no instance before had. Each counts
    less the more classes of its key are covered already, and what the defaults would show counts as covered. That gain is multiplied by
    the mean weight of its classes. The weight falls with the number of tests of any operator that had the class, and rises with the
    version of the newest part that it uses. Between operators the gain is multiplied by a geometric mean: of the number of aspects that
    the operator's tests have, and of the size of its signature. It is divided by one more than the number of tests that the operator's
    family had: operators that declare the same usually share their conversion. Then come the instances that cover nothing new, then copies,
    families in turn. What failed on other compilers or on earlier versions counts double. Equipped counts are not used.
    """

    name = "opera"

    def __init__(self) -> None:
        self._rankers = Prepared(Ranker)

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        return self._rankers.of(candidates).rank(context)


class OperaAdaptiveStrategy(OperaStrategy):
    """The default strategy with feedback: families that have failed in new ways come sooner, the larger the share of such tests.

    A test that fails in a new way does not count as a turn of its family, one that fails as another did counts twice.
    """

    name = "opera-adaptive"

    def session(self, candidates: Sequence[Candidate], context: Context) -> Session:
        """Begins a ranking that learns from what is observed."""
        return OperaSession(self._rankers.of(candidates), context)


class Ranker:
    """A corpus that is read once and can be ranked many times, under other seeds or when it has grown."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._operators: dict[tuple[str, str], OperatorFeatures] = {}
        self._vocabulary = Vocabulary()
        self.add(candidates)

    def add(self, candidates: Sequence[Candidate]) -> None:
        """Adds candidates; what was read of the others is kept."""
        with uncollected():
            for key, positions in by_operator(candidates).items():
                self._operators.setdefault(key, OperatorFeatures()).add([candidates[position] for position in positions])

    def rank(self, context: Context) -> Iterator[Ranked]:
        """Yields every candidate once, best first. An operator is read when its turn may have come."""
        session = OperaSession(self, context)
        while (ranked := session.next()) is not None:
            session.observe(ranked.id, Observation.NOTHING)
            yield ranked

    @property
    def operators(self) -> list[OperatorFeatures]:
        """In the order of library and API."""
        return [self._operators[key] for key in self.keys]

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Library and API of each of `operators`."""
        return sorted(self._operators)

    @property
    def vocabulary(self) -> Vocabulary:
        """The classes that operators share."""
        return self._vocabulary


@dataclass(frozen=True)
class Reasons:
    """Why a test stands where it stands when nothing has failed.

    The score is the square root of aspects times size, times promise, times gain, divided by one more than the family's turns.

    Attributes:
        aspects: Keys that tell the tests of its operator apart.
        size: Parameters, inputs and outputs of its operator.
        turns: Tests that its family had before.
        family: APIs of the family.
        history: Number of other subjects, or earlier versions, on which it failed.
        promise: Factor of its family's gains: above 1 if the family failed in earlier campaigns.
        recency: 1 plus the version of the newest part that the test uses, by the newest version; 1 where versions are not known, and for a
            test that adds nothing.
        gain: Share of new features and pairs, times the mean weight of its classes, times recency, times 2 with a history; 0 when nothing
            was new.
        news: Features that no test of its operator had before.
        pairs: Pairs of features that no test of its operator had together.
    """

    aspects: int
    size: int
    turns: int
    family: tuple[str, ...]
    history: int
    promise: float
    recency: float
    gain: float
    news: tuple[Feature, ...]
    pairs: tuple[tuple[Feature, Feature], ...]


class OperaSession:
    """One ranking of a corpus. What is observed decides how soon a family of operators has its next turn.

    Scores fall from one test to the next as long as nothing fails in a new way.
    """

    def __init__(self, ranker: Ranker, context: Context) -> None:
        self._operators = operators = ranker.operators
        self._vocabulary = ranker.vocabulary
        self._ids = ids = [name for operator in operators for name in operator.ids]
        self._order = draw_order(ids, context.seed)
        self._places = np.empty(len(ids), np.intp)
        self._places[self._order] = np.arange(len(ids))
        self._starts = np.cumsum([0, *(len(operator.ids) for operator in operators)])
        self._most_pairs = max(_FEWEST_PAIRS, min(_MOST_PAIRS, _PAIR_ENTRIES // max(1, len(ids))))
        history = context.history.about(ranker.keys)
        failures = history.failures()
        self._boosts = {int(self._places[at]): failures[name] for at, name in enumerate(ids) if name in failures}
        self._familiarity = Familiarity(follow=len(ids) <= _FOLLOWED)
        self._queues: dict[int, OperatorQueue] = {}
        self._coverages: dict[int, Coverage] = {}
        self._score, self._history_last = 0.0, 0
        self._run: Counter[Hashable] = Counter()
        self._observed: Counter[Hashable] = Counter()
        self._failures: Counter[Hashable] = Counter()
        self._under_way: dict[str, list[int]] = {}
        with uncollected():
            for operator in operators:
                operator.weigh()
        of_family: dict[Hashable, list[int]] = {}
        for index, operator in enumerate(operators):
            of_family.setdefault(operator.family, []).append(index)
        self._families = list(of_family)
        self._numbers = {family: number for number, family in enumerate(self._families)}
        groups = list(of_family.values())
        keys = ranker.keys
        self._earlier = [history.mean([keys[index] for index in group]) for group in groups]
        self._merged = Merged(groups, self._queue, self._priority, self._turn, best=self._best)

    def next(self) -> Ranked | None:
        """The best of what is left; None at the end."""
        found = self._merged.next()
        if found is None:
            return None
        self._last, position, score = found
        self._score, self._history_last = score, self._boosts.get(position, 0)
        name = self._ids[self._order[position]]
        self._under_way.setdefault(name, []).append(self._last)
        return Ranked(name, score)

    def take(self, test: str) -> None:
        """Counts *test* as given by `next` now, wherever it stood.

        Raises:
            KeyError: there is no *test*, or it was taken before.
        """
        position = self._waiting.pop(test)
        index = int(np.searchsorted(self._starts, position, side="right")) - 1
        self._queue(index).take(int(self._places[position]))
        self._under_way.setdefault(test, []).append(index)

    def observe(self, test: str, observation: Observation) -> None:
        """Counts a test of its family: twice where it failed as one before has, and as a promise where it failed in a new way.

        Raises:
            KeyError: *test* is not under way.
        """
        places = self._under_way[test]
        family = self._operators[places.pop()].family
        self._run[family] += _COUNTS[observation]
        self._observed[family] += 1
        if observation is Observation.NEW:
            self._failures[family] += 1
            self._merged.risen(self._numbers[family])
        if not places:
            del self._under_way[test]

    def reasons(self) -> Reasons:
        """Why the test that `next` gave last stands where it stands; to be asked before its `observe`."""
        operator, coverage = self._operators[self._last], self._coverages[self._last]
        turns = self._run[operator.family]
        promise = self._promise(self._numbers[operator.family])
        gain = self._score * (1 + turns) / (operator.weight * promise)
        family = sorted(each.api for each in self._operators if each.family == operator.family)
        news: list[Feature] = []
        pairs: list[tuple[Feature, Feature]] = []
        recency = 1.0
        if self._score > 0 and coverage.last is not None:
            news, pairs = operator.news(*coverage.last)
            recency = float(operator.recency[coverage.last[0]])
        return Reasons(
            aspects=operator.aspects,
            size=operator.size,
            turns=turns,
            family=tuple(family),
            history=self._history_last,
            promise=promise,
            recency=recency,
            gain=gain,
            news=tuple(news),
            pairs=tuple(pairs),
        )

    @cached_property
    def _waiting(self) -> dict[str, int]:
        """Positions of the tests, by their ids, for `take`."""
        return {name: position for position, name in enumerate(self._ids)}

    def _queue(self, index: int) -> OperatorQueue:
        found = self._queues.get(index)
        if found is None:
            found = self._queues[index] = self._open(index)
        return found

    def _open(self, index: int) -> OperatorQueue:
        """Reads an operator, and makes its queue."""
        with uncollected():
            table, copies = self._operators[index].table(self._vocabulary, self._most_pairs)
            self._familiarity.reach(len(self._vocabulary))
            positions = self._places[self._starts[index] : self._starts[index + 1]]
            groups: list[list[int]] = [positions[group].tolist() for group in copies]
            boosts = self._operators[index].recency
            if self._boosts:
                boosts = boosts * np.array([BOOST if any(place in self._boosts for place in group) else 1.0 for group in groups])
            coverage = self._coverages[index] = Coverage(table, single=_SINGLE, discount=True, boosts=boosts, familiarity=self._familiarity)
            return OperatorQueue(coverage, groups, self._boosts.keys())

    def _priority(self, index: int, head: Head) -> float:
        return self._operators[index].weight * head.gain

    def _best(self, index: int) -> float:
        """The largest gain of an instance of an operator, which need not be read for this."""
        return self._operators[index].most_recent * (BOOST if self._boosts else 1.0)

    def _turn(self, group: int) -> float:
        """How soon a family has its next turn: the more it has failed in new ways, and the fewer of its tests were run."""
        return self._promise(group) / (1 + self._run[self._families[group]])

    def _promise(self, group: int) -> float:
        """1 plus the share of the family's tests that failed in new ways, times a factor.

        The tests of an average earlier campaign count too.
        """
        family = self._families[group]
        faults, tests = self._earlier[group]
        return 1 + _PROMISE * (self._failures[family] + faults) / (1 + self._observed[family] + tests)


@contextmanager
def uncollected() -> Generator[None]:
    """Puts off the collection of cycles: reading makes many small objects and no cycles, and a large corpus is slow to look through."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
