"""Greedy coverage of the settings of one operator: features and pairs of features, in integer arithmetic.

A feature is a key (an aspect of a parameter) with a class of values. Covered features only ever lower a row's gain, so a gain
computed earlier is an upper bound, and a heap of such stale gains gives the exact greedy order at a fraction of the work. Gains
are integers: sums of floats would make the order depend on the machine.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
"""Classes by row (an instance) and column (a key), numbered from 1 in each column; 0 where nothing is known of the key."""

Pair = tuple[int, int]
"""Two columns."""

NEWS = 720_720
"""Gain of the first class of a key: divisible by every number up to 16, so that discounts stay exact."""
_CHUNK_ENTRIES = 1 << 20
_LARGEST_BATCH = 256
_DENSEST = 2
"""Pairs of classes per row up to which a pair of columns has a number for each, and not only for those that occur."""


class Coverage:
    """Which features of one operator are covered, and what each row would add.

    Args:
        codes: The rows to choose from.
        covered: Rows that count as covered from the start (same columns as *codes*); may be empty.
        pairs: The pairs of columns that count too.
        discount: Whether a new class counts less the more classes of its key are covered: 1, 1, 1/2, 1/3 ...
    """

    def __init__(self, codes: Codes, covered: Codes, pairs: Sequence[Pair], *, discount: bool) -> None:
        sizes = np.maximum(codes.max(axis=0, initial=0), covered.max(axis=0, initial=0)).astype(np.int64) + 1
        first, second = np.array(pairs, np.intp).reshape(-1, 2).T
        spaces = sizes[first] * sizes[second]
        sparse = np.flatnonzero(spaces > _DENSEST * (len(codes) + 16))
        compact = {int(pair): _present(codes, covered, int(first[pair]), int(second[pair])) for pair in sparse}
        spaces[sparse] = [len(present) for present in compact.values()]
        spans = np.concatenate([spaces, sizes])
        starts = np.cumsum(spans) - spans

        def number(rows: Codes) -> Codes:
            features = np.empty((len(rows), len(spans)), np.int32)
            left, right = rows[:, first], rows[:, second]
            features[:, : len(pairs)] = np.where((left > 0) & (right > 0), left * sizes[second].astype(np.int32) + right, 0)
            for pair, present in compact.items():
                features[:, pair] = np.searchsorted(present, _combine(rows, int(first[pair]), int(second[pair])))
            features[:, len(pairs) :] = rows
            features += starts.astype(np.int32)
            return features

        self._features = np.empty((len(codes), len(spans)), np.int32)
        step = max(1, _CHUNK_ENTRIES // max(1, len(spans)))
        for start in range(0, len(codes), step):
            self._features[start : start + step] = number(codes[start : start + step])
        self._uncovered = np.ones(int(spans.sum()), np.uint8)
        self._uncovered[starts] = 0
        self._weights = np.full(len(spans), NEWS, np.int64)
        self._seen = np.zeros(len(spans), np.int64)
        self._discount = discount
        for features in number(covered):
            self._cover(features)

    @property
    def largest_gain(self) -> int:
        """The gain of a row all of whose features and pairs are the first of their key."""
        return NEWS * self._features.shape[1]

    def gains(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
        """What each of *rows* would add now, between 0 and `largest_gain`."""
        return self._uncovered[self._features[rows]].astype(np.int64) @ self._weights

    def all_gains(self) -> npt.NDArray[np.int64]:
        """`gains` of every row, in bounded memory."""
        total, width = self._features.shape
        step = max(1, _CHUNK_ENTRIES // max(1, width))
        chunks = [self.gains(np.arange(start, min(start + step, total))) for start in range(0, total, step)]
        return np.concatenate(chunks) if chunks else np.zeros(0, np.int64)

    def cover(self, row: int) -> None:
        """Counts the features of *row* as covered."""
        self._cover(self._features[row])

    def _cover(self, features: npt.NDArray[np.int32]) -> None:
        self._seen += self._uncovered[features]
        self._uncovered[features] = 0
        if self._discount:
            self._weights = NEWS // np.maximum(self._seen, 1)


def _combine(rows: Codes, first: int, second: int) -> npt.NDArray[np.int64]:
    """One number for the codes of two columns; 0 where either is unknown."""
    left, right = rows[:, first].astype(np.int64), rows[:, second].astype(np.int64)
    return np.where((left > 0) & (right > 0), (left << 32) + right, 0)


def _present(codes: Codes, covered: Codes, first: int, second: int) -> npt.NDArray[np.int64]:
    """The combinations of two columns that occur, 0 first."""
    return np.unique(np.concatenate([np.zeros(1, np.int64), _combine(codes, first, second), _combine(covered, first, second)]))


class GreedyOrder:
    """The rows of a `Coverage` by falling gain; earlier rows first among equals. Ends with the last row that adds something."""

    def __init__(self, coverage: Coverage) -> None:
        gains = coverage.all_gains()
        self._coverage = coverage
        self._heap = [(-gain, row) for row, gain in enumerate(gains.tolist()) if gain > 0]
        heapq.heapify(self._heap)
        self._picks = 0
        self._computed_at = [0] * len(gains)
        self._useless = [row for row, gain in enumerate(gains.tolist()) if gain == 0]

    def head(self) -> tuple[int, int] | None:
        """Row and gain of the best row; None when no row adds anything."""
        batch = 4
        while self._heap and self._computed_at[self._heap[0][1]] != self._picks:
            rows = [heapq.heappop(self._heap)[1] for _ in range(min(batch, len(self._heap)))]
            for row, gain in zip(rows, self._coverage.gains(np.array(rows, np.intp)).tolist(), strict=True):
                self._computed_at[row] = self._picks
                if gain > 0:
                    heapq.heappush(self._heap, (-gain, row))
                else:
                    self._useless.append(row)
            batch = min(2 * batch, _LARGEST_BATCH)
        return (self._heap[0][1], -self._heap[0][0]) if self._heap else None

    def pop(self) -> None:
        """Takes the row that `head` gave."""
        _, row = heapq.heappop(self._heap)
        self._coverage.cover(row)
        self._picks += 1

    def rest(self) -> list[int]:
        """The rows that add nothing, once `head` gives None."""
        return sorted(self._useless)
