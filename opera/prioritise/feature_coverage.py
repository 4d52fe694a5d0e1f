"""The default strategy: coverage of features inside an operator, turns between families of operators."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Generator, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from opera.prioritise.coverage import Coverage, FeatureTable, feature_table
from opera.prioritise.encoding import (
    Codes,
    Encoded,
    Encoder,
    Feature,
    Features,
    Pair,
    choose_pairs,
    count_splits,
    distinct_columns,
    encode,
    merge_rows,
)
from opera.prioritise.familiarity import Familiarity, Vocabulary, aspect
from opera.prioritise.families import defaults_of, signature
from opera.prioritise.features import FeatureReader
from opera.prioritise.queues import BOOST, Head, OperatorQueue, merge
from opera.prioritise.relations import RelationReader
from opera.prioritise.strategy import Candidate, Context, Observation, Prepared, Ranked, Session, StrategyName, by_operator, draw_order

_PAIR_ENTRIES = 12_000_000
"""Entries (of four bytes) that the pairs of a whole corpus may take: instances times pairs per operator."""
_FEWEST_PAIRS = 64
_MOST_PAIRS = 400
_FOLLOWED = 20_000
"""Instances up to which the gains of all operators follow every test."""
_SINGLE = 8
"""Weight of a feature against that of a pair of features."""
_SAMPLE = 8
"""Instances of an operator that are read to tell how many aspects its tests have."""
_COUNTS = {Observation.NOTHING: 1, Observation.NEW: 0, Observation.KNOWN: 2}
"""Turns of its family that a test counts for."""
_ANY: Features = (("", "operator"),)
"""What every instance has: the first of an operator is always news."""


class OperaStrategy:
    """Greedy coverage of features and pairs of features per operator, shared fairly between families of operators.

    Inside an operator an instance gains the share of its features, and of their pairs, that no instance before had; each counts
    less the more classes of its key are covered already, and what the defaults would show counts as covered. That gain is multiplied by
    the mean weight of its classes, which falls with the number of tests of whatever operator that had them. Between operators it is
    multiplied by the number of aspects that the operator's tests have, and divided by one more than the number of tests that the
    operator's family had: operators with the same parameters usually share their conversion. Then come the instances that
    cover nothing new, then copies, families in turn. What failed on other compilers or on earlier versions counts double. Equipped
    counts are not used.
    """

    name = StrategyName.OPERA

    def __init__(self) -> None:
        self._rankers = Prepared(Ranker)

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        return self._rankers.of(candidates).rank(context)


class OperaAdaptiveStrategy(OperaStrategy):
    """The default strategy with feedback: a family whose tests fail as before waits longer, one that fails in a new way does not wait."""

    name = StrategyName.OPERA_ADAPTIVE

    def session(self, candidates: Sequence[Candidate], context: Context) -> Session:
        """Begins a ranking that learns from what is observed."""
        return OperaSession(self._rankers.of(candidates), context)


class Ranker:
    """A corpus that is read once and can be ranked many times, under other seeds or when it has grown."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._operators: dict[tuple[str, str], _Operator] = {}
        self._vocabulary = Vocabulary()
        self.add(candidates)

    def add(self, candidates: Sequence[Candidate]) -> None:
        """Adds candidates; what was read of the others is kept."""
        with _uncollected():
            for key, positions in by_operator(candidates).items():
                self._operators.setdefault(key, _Operator()).add([candidates[position] for position in positions])

    def rank(self, context: Context) -> Iterator[Ranked]:
        """Yields every candidate once, best first. An operator is read when its turn may have come."""
        session = OperaSession(self, context)
        while (ranked := session.next()) is not None:
            session.observe(ranked.id, Observation.NOTHING)
            yield ranked

    @property
    def operators(self) -> list[_Operator]:
        """In the order of library and API."""
        return [self._operators[key] for key in sorted(self._operators)]

    @property
    def vocabulary(self) -> Vocabulary:
        """The classes that operators share."""
        return self._vocabulary


@dataclass(frozen=True)
class Reasons:
    """Why a test stands where it stands: its score is aspects times gain, divided by one more than the turns of its family.

    Attributes:
        aspects: Keys that tell the tests of its operator apart.
        turns: Tests that its family had before.
        family: APIs of the family.
        history: Whether it failed on another compiler or on an earlier version.
        gain: Share of new features and pairs, times the mean weight of its classes, times 2 with a history; 0 when nothing was new.
        news: Features that no test of its operator had before.
        pairs: Pairs of features that no test of its operator had together.
    """

    aspects: int
    turns: int
    family: tuple[str, ...]
    history: bool
    gain: float
    news: tuple[Feature, ...]
    pairs: tuple[tuple[Feature, Feature], ...]


class OperaSession:
    """One ranking of a corpus. What is observed decides how soon a family of operators has its next turn."""

    def __init__(self, ranker: Ranker, context: Context) -> None:
        self._operators = operators = ranker.operators
        self._vocabulary = ranker.vocabulary
        self._ids = ids = [candidate.id for operator in operators for candidate in operator.candidates]
        self._order = draw_order(ids, context.seed)
        self._places = np.empty(len(ids), np.intp)
        self._places[self._order] = np.arange(len(ids))
        self._starts = np.cumsum([0, *(len(operator.candidates) for operator in operators)])
        self._most_pairs = max(_FEWEST_PAIRS, min(_MOST_PAIRS, _PAIR_ENTRIES // max(1, len(ids))))
        self._boosted = {place for place, position in enumerate(self._order) if ids[position] in context.history}
        self._familiarity = Familiarity(follow=len(ids) <= _FOLLOWED)
        self._queues: dict[int, OperatorQueue] = {}
        self._coverages: dict[int, Coverage] = {}
        self._score, self._boosts_last = 0.0, False
        self._run: Counter[Hashable] = Counter()
        self._under_way: dict[str, list[int]] = {}
        with _uncollected():
            for operator in operators:
                operator.weigh()
        self._merged = merge(len(operators), self._queue, self._priority, self._taken, best=float(BOOST if self._boosted else 1))

    def next(self) -> Ranked | None:
        """The best of what is left; None at the end."""
        found = next(self._merged, None)
        if found is None:
            return None
        position, score = found
        self._score, self._boosts_last = score, position in self._boosted
        name = self._ids[self._order[position]]
        self._under_way.setdefault(name, []).append(self._last)
        return Ranked(name, score)

    def observe(self, test: str, observation: Observation) -> None:
        """Counts a test of its family: twice where it failed as one before has, not at all where it failed in a new way.

        Raises:
            KeyError: *test* is not under way.
        """
        places = self._under_way[test]
        self._run[self._operators[places.pop()].family] += _COUNTS[observation]
        if not places:
            del self._under_way[test]

    def reasons(self) -> Reasons:
        """Why the test that `next` gave last stands where it stands; to be asked before its `observe`."""
        operator, coverage = self._operators[self._last], self._coverages[self._last]
        turns = self._run[operator.family]
        gain = self._score * (1 + turns) / operator.aspects
        family = sorted(each.candidates[0].instance.api for each in self._operators if each.family == operator.family)
        news: list[Feature] = []
        pairs: list[tuple[Feature, Feature]] = []
        if self._score > 0 and coverage.last is not None:
            news, pairs = operator.news(*coverage.last)
        return Reasons(operator.aspects, turns, tuple(family), self._boosts_last, gain, tuple(news), tuple(pairs))

    def _queue(self, index: int) -> OperatorQueue:
        found = self._queues.get(index)
        if found is None:
            found = self._queues[index] = self._open(index)
        return found

    def _open(self, index: int) -> OperatorQueue:
        """Reads an operator, and makes its queue."""
        with _uncollected():
            table, copies = self._operators[index].table(self._vocabulary, self._most_pairs)
            self._familiarity.reach(len(self._vocabulary))
            positions = self._places[self._starts[index] : self._starts[index + 1]]
            groups: list[list[int]] = [positions[group].tolist() for group in copies]
            boosts = None
            if self._boosted:
                boosts = np.array([1 + (BOOST - 1) * any(place in self._boosted for place in group) for group in groups], np.float64)
            coverage = self._coverages[index] = Coverage(table, single=_SINGLE, discount=True, boosts=boosts, familiarity=self._familiarity)
            return OperatorQueue(coverage, groups, self._boosted)

    def _priority(self, index: int, head: Head) -> float:
        operator = self._operators[index]
        return operator.aspects * head.gain / (1 + self._run[operator.family])

    def _taken(self, index: int) -> None:
        self._last = index


class _Operator:
    """The candidates of one operator, by their ids, and what was read of them."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self._unread: list[Candidate] = []
        self._rows: list[str] = []
        self._encoder = Encoder()
        self._table: tuple[int, FeatureTable, list[list[int]]] | None = None
        self._pairs: list[Pair] = []
        self._labels: tuple[tuple[str, ...], tuple[tuple[str, ...], ...], Codes] = (), (), np.zeros((0, 0), np.int32)

    def add(self, candidates: Sequence[Candidate]) -> None:
        self.candidates = sorted([*self.candidates, *candidates], key=lambda each: each.id)
        self._unread.extend(candidates)
        self._table = None
        for name in ("family", "aspects", "_defaults"):
            self.__dict__.pop(name, None)

    @cached_property
    def _defaults(self) -> list[tuple[str, Any]]:
        return defaults_of([each.instance for each in self.candidates])

    @cached_property
    def family(self) -> Hashable:
        """The same for operators that usually share their conversion."""
        return signature([each.instance for each in self.candidates], self._defaults)

    @cached_property
    def aspects(self) -> int:
        """How many keys the features of the first instances have that tell them apart in different ways."""
        return count_splits(encode(_read(self.candidates[:_SAMPLE])))

    def weigh(self) -> None:
        """Finds out what decides its turns; after this, `family` and `aspects` cost nothing."""
        _ = self.family, self.aspects

    def table(self, vocabulary: Vocabulary, most_pairs: int) -> tuple[FeatureTable, list[list[int]]]:
        """The features of the distinct rows, and the positions of the candidates that have each."""
        if self._table is None or self._table[0] != most_pairs:
            self._encoder.add(_read(self._unread))
            self._rows.extend(each.id for each in self._unread)
            self._unread = []
            order = np.array(sorted(range(len(self._rows)), key=self._rows.__getitem__), np.intp)
            reader = FeatureReader()
            covered = [tuple(reader.defaults(self._defaults, given)) for given in ("absent", "default")]
            encoded = distinct_columns(self._encoder.encoded(order, covered))
            rows, copies = merge_rows(encoded.codes)
            codes = encoded.codes[rows]
            self._pairs = choose_pairs(encoded, most_pairs)
            self._labels = encoded.keys, encoded.classes, codes
            table = feature_table(codes, encoded.covered, self._pairs, _classes(encoded, codes, vocabulary))
            self._table = most_pairs, table, copies
        return self._table[1], self._table[2]

    def news(self, row: int, flags: npt.NDArray[np.float64]) -> tuple[list[Feature], list[tuple[Feature, Feature]]]:
        """The features of *row*, and the pairs of them, whose columns of the table *flags* names; one that is absent has the class "-"."""
        keys, classes, codes = self._labels
        row_codes: list[int] = codes[row].tolist()
        fresh: list[float] = flags.tolist()
        features: list[Feature] = []
        for key, names, code in zip(keys, classes, row_codes, strict=True):
            features.append((key, names[code - 2] if code > 1 else "-"))
        pairs = [(features[first], features[second]) for (first, second), new in zip(self._pairs, fresh, strict=False) if new]
        return [feature for feature, new in zip(features, fresh[len(self._pairs) :], strict=True) if new], pairs


@contextmanager
def _uncollected() -> Generator[None]:
    """Puts off the collection of cycles: reading makes many small objects and no cycles, and a large corpus is slow to look through."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _read(candidates: Sequence[Candidate]) -> Iterator[Iterator[Features]]:
    """The features of each of *candidates*."""
    arguments, relations = FeatureReader(), RelationReader()
    for each in candidates:
        yield chain((_ANY,), arguments.arguments(each.instance), (relations.relations(each.instance),))


def _classes(encoded: Encoded, codes: npt.NDArray[np.int32], vocabulary: Vocabulary) -> npt.NDArray[np.int32]:
    """The classes of rows as numbers of *vocabulary*."""
    numbers = np.empty(codes.shape, np.int32)
    for column, key in enumerate(encoded.keys):
        about = aspect(key)
        known = [vocabulary.number(about, value) for value in (None, *encoded.classes[column])]
        numbers[:, column] = np.array(known, np.int32)[codes[:, column] - 1]
    return numbers
