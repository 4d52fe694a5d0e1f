"""One queue per operator, and the merging of queues into one ranking."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from opera.prioritise.coverage import Coverage, GreedyOrder

BOOST = 2
"""Factor of the gain of a candidate that is known to fail elsewhere."""


@dataclass(frozen=True)
class Head:
    """What a queue offers next.

    Attributes:
        lap: 0 while instances cover something new, 1 for those that differ but cover nothing new, 2 for copies.
        gain: Share of new features and pairs, 0 to 1, times the boost of a candidate that has one; in later laps that boost alone.
        position: Of the candidate.
    """

    lap: int
    gain: float
    position: int


class OperatorQueue:
    """The instances of one operator in the order in which they should be run.

    Args:
        coverage: Of the distinct rows.
        copies: For each row the positions of the candidates that have it.
        boosted: Positions whose turn comes first among those that are otherwise equal.
    """

    def __init__(self, coverage: Coverage, copies: Sequence[Sequence[int]], boosted: AbstractSet[int] = frozenset()) -> None:
        self._boosted = boosted
        self._copies = [sorted(places, key=lambda place: (place not in boosted, place)) for places in copies]
        self._greedy: GreedyOrder | None = GreedyOrder(coverage, [places[0] for places in self._copies])
        self._largest = coverage.largest_gain
        self._tail: deque[Head] = deque()

    def head(self) -> Head | None:
        """The best candidate; None at the end."""
        if self._greedy is not None:
            best = self._greedy.head()
            if best is not None:
                return Head(0, best[1] / self._largest, self._copies[best[0]][0])
            self._tail = self._make_tail(self._greedy.rest())
            self._greedy = None
        return self._tail[0] if self._tail else None

    def pop(self) -> None:
        """Takes what `head` gave."""
        if self._greedy is not None:
            self._greedy.pop()
        else:
            self._tail.popleft()

    def _make_tail(self, rest: Sequence[int]) -> deque[Head]:
        copies = sorted((turn, row, at) for row, places in enumerate(self._copies) for turn, at in enumerate(places) if turn)
        laps = [(1, self._copies[row][0]) for row in rest] + [(2, position) for _, _, position in copies]
        heads = (Head(lap, BOOST if position in self._boosted else 1.0, position) for lap, position in laps)
        return deque(sorted(heads, key=lambda head: (head.lap, -head.gain)))


def merge(
    count: int,
    queue: Callable[[int], OperatorQueue],
    priority: Callable[[int, Head], float],
    taken: Callable[[int], None],
    *,
    best: float = 1.0,
) -> Iterator[tuple[int, float]]:
    """Yields all candidates, laps in turn and inside a lap by falling priority: position, and priority (0 after the first lap).

    Args:
        count: How many queues there are, one per operator.
        queue: Gives the queue of an index; asked for the first time when its turn may have come.
        priority: Of a head of the queue with the given index. It may fall while others are taken, never rise; it is greatest for a
            head of lap 0 whose gain is *best*.
        taken: Called with the index of the queue from which a candidate was just taken, before it is yielded.
        best: The largest gain that a head can have.
    """

    def entry(index: int) -> tuple[int, float, int, int] | None:
        head = queue(index).head()
        return None if head is None else (head.lap, -priority(index, head), head.position, index)

    heap = [(0, -priority(index, Head(0, best, -1)), -1, index) for index in range(count)]
    heapq.heapify(heap)
    while heap:
        _, _, position, index = heap[0]
        current = entry(index)
        if current is None:
            heapq.heappop(heap)
        elif current != heap[0]:
            heapq.heapreplace(heap, current)
        else:
            queue(index).pop()
            taken(index)
            lap, best, _, _ = current
            heapq.heapreplace(heap, (lap, best, -1, index))
            yield position, 0.0 if lap else -best
