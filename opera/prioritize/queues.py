"""One queue per operator, and the merging of queues into one ranking."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from opera.prioritize.coverage import Coverage, GreedyOrder

BOOST = 2.0
"""Factor of the gain of a candidate that is known to fail elsewhere."""


@dataclass(frozen=True)
class Head:
    """The next candidate of a queue.

    Attributes:
        lap: 0 while instances cover something new, 1 for those that differ but cover nothing new, 2 for copies.
        gain: Share of new features and pairs, 0 to 1, times the boost of a candidate that has one; in later laps that boost alone.
        position: Position of the candidate.
    """

    lap: int
    gain: float
    position: int


class OperatorQueue:
    """The instances of one operator in the order in which they should be run.

    Args:
        coverage: Coverage of the distinct rows.
        copies: For each row the positions of the candidates that have it.
        boosted: Positions whose turn comes first among those that are otherwise equal.
    """

    def __init__(self, coverage: Coverage, copies: Sequence[Sequence[int]], boosted: AbstractSet[int] = frozenset()) -> None:
        self._boosted = boosted
        self._copies = [sorted(places, key=lambda place: (place not in boosted, place)) for places in copies]
        self._greedy: GreedyOrder | None = GreedyOrder(coverage, [places[0] for places in self._copies])
        self._largest = coverage.largest_gain
        self._tail: deque[Head] = deque()
        self._gone: set[int] = set()
        self._rows: dict[int, int] | None = None

    def head(self) -> Head | None:
        """The best candidate; None at the end."""
        if self._greedy is not None:
            best = self._greedy.head()
            if best is not None:
                return Head(0, best[1] / self._largest, self._copies[best[0]][0])
            self._tail = self._make_tail(self._greedy.rest())
            self._greedy = None
        while self._tail and self._tail[0].position in self._gone:
            self._tail.popleft()
        return self._tail[0] if self._tail else None

    def pop(self) -> None:
        """Takes what `head` gave."""
        if self._greedy is not None:
            self._greedy.pop()
        else:
            self._tail.popleft()

    def take(self, position: int) -> None:
        """Takes the candidate at *position*, wherever it stands; it must not have been taken before."""
        if self._rows is None:
            self._rows = {places[0]: row for row, places in enumerate(self._copies)}
        if self._greedy is not None and position in self._rows:
            self._greedy.take(self._rows[position])
        else:
            self._gone.add(position)

    def _make_tail(self, rest: Sequence[int]) -> deque[Head]:
        copies = sorted((turn, row, at) for row, places in enumerate(self._copies) for turn, at in enumerate(places) if turn)
        laps = [(1, self._copies[row][0]) for row in rest] + [(2, position) for _, _, position in copies]
        heads = (Head(lap, BOOST if position in self._boosted else 1.0, position) for lap, position in laps)
        return deque(sorted(heads, key=lambda head: (head.lap, -head.gain)))


class Merged:
    """All candidates of several queues, laps in turn and inside a lap by falling priority.

    Args:
        groups: The indices of the queues, in groups whose priorities rise and fall together.
        queue: Gives the queue of an index; asked for the first time when its turn may have come.
        priority: Priority of the head of a queue inside its group, by index. It may fall while others are taken, and is greatest for a head
            of lap 0 whose gain is that of *best*.
        factor: Multiplies the priorities of a group, by number. It may fall while others are taken; when it may have risen, `risen` has to
            be told.
        best: Largest gain that the head of a queue can have, by index.
    """

    def __init__(
        self,
        groups: Sequence[Sequence[int]],
        queue: Callable[[int], OperatorQueue],
        priority: Callable[[int, Head], float],
        factor: Callable[[int], float] = lambda _: 1.0,
        *,
        best: Callable[[int], float] = lambda _: 1.0,
    ) -> None:
        self._queue = queue
        self._priority = priority
        self._factor = factor
        self._inside = [[(0, -priority(index, Head(0, best(index), -1)), -1, index) for index in group] for group in groups]
        for each in self._inside:
            heapq.heapify(each)
        self._heap = [self._bound(group) for group, indices in enumerate(groups) if indices]
        heapq.heapify(self._heap)

    def next(self) -> tuple[int, int, float] | None:
        """Takes the best candidate: index of its queue, position, and priority (0 after the first lap); None at the end."""
        heap = self._heap
        while heap:
            group = heap[0][3]
            if not self._settle(group):
                heapq.heappop(heap)
                continue
            lap, negative, position, index = self._inside[group][0]
            current = (lap, negative * self._factor(group), position, group)
            if current != heap[0]:
                heapq.heapreplace(heap, current)
                continue
            self._queue(index).pop()
            heapq.heapreplace(self._inside[group], (lap, negative, -1, index))
            heapq.heapreplace(heap, (lap, current[1], -1, group))
            return index, position, 0.0 if lap else -current[1]
        return None

    def __iter__(self) -> Iterator[tuple[int, float]]:
        """Takes one candidate after the other: position and priority."""
        while (found := self.next()) is not None:
            yield found[1], found[2]

    def risen(self, group: int) -> None:
        """Says that the factor of the group with that number may be greater than it was."""
        if self._inside[group]:
            heapq.heappush(self._heap, self._bound(group))

    def _bound(self, group: int) -> tuple[int, float, int, int]:
        """An entry of *group* that none of its candidates can come before."""
        lap, negative, _, _ = self._inside[group][0]
        return lap, negative * self._factor(group), -1, group

    def _settle(self, group: int) -> bool:
        """Brings the best candidate of *group* to the top of its heap; False where none is left."""
        inside = self._inside[group]
        while inside:
            index = inside[0][3]
            head = self._queue(index).head()
            if head is None:
                heapq.heappop(inside)
                continue
            current = (head.lap, -self._priority(index, head), head.position, index)
            if current == inside[0]:
                return True
            heapq.heapreplace(inside, current)
        return False
