"""Greedy coverage of the settings of one operator: features and pairs of features, in integer arithmetic.

A feature is a key (an aspect of a parameter) with a class of values. Covered features only ever lower a row's gain, so a gain
computed earlier is an upper bound, and a heap of such stale gains gives the exact greedy order at a fraction of the work. Gains
are whole numbers below 2**53, so that sums of floats are exact and the order does not depend on the machine.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from opera.prioritize.encoding import Codes, Pair
from opera.prioritize.familiarity import FRESH, Familiarity

NEWS = 720_720
"""Gain of the first class of a key: divisible by every number up to 16, so that discounts stay exact."""
_CHUNK_ENTRIES = 1 << 20
_LARGEST_BATCH = 256
_DENSEST = 2
"""Pairs of classes per row up to which a pair of columns has a number for each, and not only for those that occur."""


@dataclass(frozen=True)
class FeatureTable:
    """The features of one operator's rows as numbers, the same for every ranking.

    Attributes:
        features: By row; pairs of columns first, then columns.
        covered: The same of rows that count as covered from the start.
        starts: By column of *features*, the number that stands for nothing.
        size: How many numbers there are.
        pairs: How many columns of *features* are pairs.
        classes: By row, its classes in a vocabulary that all operators share; None where that does not count.
    """

    features: npt.NDArray[np.int32]
    covered: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    size: int
    pairs: int
    classes: npt.NDArray[np.int32] | None = None

    @property
    def width(self) -> int:
        """Features of a row, pairs among them."""
        return self.features.shape[1]


def feature_table(codes: Codes, covered: Codes, pairs: Sequence[Pair], classes: npt.NDArray[np.int32] | None = None) -> FeatureTable:
    """Numbers the features of *codes* and of *covered* (same columns), each of *pairs* among them."""
    sizes = np.maximum(codes.max(axis=0, initial=0), covered.max(axis=0, initial=0)).astype(np.int64) + 1
    first, second = np.array(pairs, np.intp).reshape(-1, 2).T
    spaces = sizes[first] * sizes[second]
    sparse = np.flatnonzero(spaces > _DENSEST * (len(codes) + 16))
    compact = {int(pair): _present(codes, covered, int(first[pair]), int(second[pair])) for pair in sparse}
    spaces[sparse] = [len(present) for present in compact.values()]
    spans = np.concatenate([spaces, sizes])
    starts = np.cumsum(spans) - spans

    def number(rows: Codes) -> npt.NDArray[np.int32]:
        features = np.empty((len(rows), len(spans)), np.int32)
        left, right = rows[:, first], rows[:, second]
        features[:, : len(pairs)] = np.where((left > 0) & (right > 0), left * sizes[second].astype(np.int32) + right, 0)
        for pair, present in compact.items():
            features[:, pair] = np.searchsorted(present, _combine(rows, int(first[pair]), int(second[pair])))
        features[:, len(pairs) :] = rows
        features += starts.astype(np.int32)
        return features

    numbered = np.empty((len(codes), len(spans)), np.int32)
    step = max(1, _CHUNK_ENTRIES // max(1, len(spans)))
    for start in range(0, len(codes), step):
        numbered[start : start + step] = number(codes[start : start + step])
    return FeatureTable(numbered, number(covered), starts, int(spans.sum()), len(pairs), classes)


def _combine(rows: Codes, first: int, second: int) -> npt.NDArray[np.int64]:
    """One number for the codes of two columns; 0 where either is unknown."""
    left, right = rows[:, first].astype(np.int64), rows[:, second].astype(np.int64)
    return np.where((left > 0) & (right > 0), (left << 32) + right, 0)


def _present(codes: Codes, covered: Codes, first: int, second: int) -> npt.NDArray[np.int64]:
    """The combinations of two columns that occur, 0 first."""
    return np.unique(np.concatenate([np.zeros(1, np.int64), _combine(codes, first, second), _combine(covered, first, second)]))


class Coverage:
    """Which features of one operator are covered so far, and what each row would add.

    Args:
        table: The features.
        single: How many times the weight of a pair a feature of its own has.
        discount: Whether a new class counts less the more classes of its key are covered: 1, 1, 1/2, 1/3 ...
        boosts: By row, a factor of its gain; None for 1.
        familiarity: Makes a row count less the more tests had its classes, of whatever operator; None where that does not count.
    """

    def __init__(
        self,
        table: FeatureTable,
        *,
        single: int = 1,
        discount: bool,
        boosts: npt.NDArray[np.float64] | None = None,
        familiarity: Familiarity | None = None,
    ) -> None:
        self._table = table
        self._uncovered = np.ones(table.size)
        self._uncovered[table.starts] = 0.0
        self._full = np.full(table.width, float(NEWS))
        self._full[table.pairs :] *= single
        self._weights = self._full
        self._seen = np.zeros(table.width)
        self._discount = discount
        self._familiarity = familiarity if table.classes is not None else None
        self._boosts = boosts
        self.last: tuple[int, npt.NDArray[np.float64]] | None = None
        """The row that was covered last, and by column of the table, 1 where it was news."""
        self._picks = 0
        for features in table.covered:
            self._cover(features)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self._table.features)

    @property
    def largest_gain(self) -> int:
        """The gain of a row all of whose features and pairs are the first of their key, of classes that no test had; without boost."""
        classes = self._table.classes
        return int(self._full.sum()) * (FRESH * classes.shape[1] if classes is not None and self._familiarity else 1)

    @property
    def version(self) -> int:
        """Rises whenever gains may have fallen."""
        return self._picks + (self._familiarity.epoch if self._familiarity else 0)

    def gains(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """The gain of each of *rows* now: 0 for nothing, `largest_gain` times its boost at most."""
        news = self._uncovered.take(self._table.features.take(rows, axis=0)) @ self._weights
        if self._familiarity and self._table.classes is not None:
            news *= self._familiarity.weights.take(self._table.classes.take(rows, axis=0)).sum(axis=1)
        return news if self._boosts is None else news * self._boosts[rows]

    def all_gains(self) -> npt.NDArray[np.float64]:
        """`gains` of every row, in bounded memory."""
        step = max(1, _CHUNK_ENTRIES // max(1, self._table.width))
        chunks = [self.gains(np.arange(start, min(start + step, self.rows))) for start in range(0, self.rows, step)]
        return np.concatenate(chunks) if chunks else np.zeros(0)

    def cover(self, row: int) -> None:
        """Counts the features of *row* as covered."""
        self._picks += 1
        self.last = row, self._uncovered.take(self._table.features[row])
        self._cover(self._table.features[row])
        if self._familiarity and self._table.classes is not None:
            self._familiarity.meet(self._table.classes[row])

    def _cover(self, features: npt.NDArray[np.int32]) -> None:
        self._seen += self._uncovered.take(features)
        self._uncovered[features] = 0.0
        if self._discount:
            self._weights = np.floor(self._full / np.maximum(self._seen, 1.0))


class GreedyOrder:
    """The rows of a `Coverage` by falling gain. Ends with the last row that adds something.

    Args:
        coverage: Coverage of the rows.
        ties: By row; of rows with equal gains, the one with the smaller number comes first.
    """

    def __init__(self, coverage: Coverage, ties: Sequence[int]) -> None:
        gains: list[float] = coverage.all_gains().tolist()
        self._coverage = coverage
        self._ties = ties
        self._heap = [(-gain, ties[row], row) for row, gain in enumerate(gains) if gain > 0]
        heapq.heapify(self._heap)
        self._computed_at = [coverage.version] * len(gains)
        self._useless = [row for row, gain in enumerate(gains) if gain == 0]
        self._taken: set[int] = set()

    def head(self) -> tuple[int, float] | None:
        """Row and gain of the best row; None when no row adds anything."""
        batch, version = 4, self._coverage.version
        while self._heap and self._computed_at[self._heap[0][2]] != version:
            rows = [heapq.heappop(self._heap)[2] for _ in range(min(batch, len(self._heap)))]
            for row, gain in zip(rows, self._coverage.gains(np.array(rows, np.intp)).tolist(), strict=True):
                if row in self._taken:
                    continue
                self._computed_at[row] = version
                if gain > 0:
                    heapq.heappush(self._heap, (-gain, self._ties[row], row))
                else:
                    self._useless.append(row)
            batch = min(2 * batch, _LARGEST_BATCH)
        return (self._heap[0][2], -self._heap[0][0]) if self._heap else None

    def pop(self) -> None:
        """Takes the row that `head` gave."""
        self._coverage.cover(heapq.heappop(self._heap)[2])

    def take(self, row: int) -> None:
        """Takes *row* wherever it stands; it must not have been taken before."""
        self._taken.add(row)
        self._computed_at[row] = -1
        if self._coverage.gains(np.array([row], np.intp))[0] > 0:
            self._coverage.cover(row)

    def rest(self) -> list[int]:
        """The rows that add nothing, once `head` gives None."""
        return sorted((row for row in self._useless if row not in self._taken), key=lambda row: self._ties[row])
