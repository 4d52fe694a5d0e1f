"""One queue per operator, and the merging of queues into one ranking."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from opera.prioritise.coverage import Coverage, GreedyOrder


@dataclass(frozen=True)
class Head:
    """What a queue offers next.

    Attributes:
        lap: 0 while instances cover something new, 1 for those that differ but cover nothing new, 2 for copies.
        gain: Share of new features and pairs, 0 to 1.
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
    """

    def __init__(self, coverage: Coverage, copies: Sequence[Sequence[int]]) -> None:
        self._greedy: GreedyOrder | None = GreedyOrder(coverage)
        self._largest = coverage.largest_gain
        self._copies = copies
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
        tail = deque(Head(1, 0.0, self._copies[row][0]) for row in rest)
        copies = sorted((turn, row, at) for row, places in enumerate(self._copies) for turn, at in enumerate(places) if turn)
        tail.extend(Head(2, 0.0, position) for _, _, position in copies)
        return tail


def merge(
    queues: Sequence[OperatorQueue], priority: Callable[[int, Head], float], taken: Callable[[int], None]
) -> Iterator[tuple[int, float]]:
    """Yields all candidates, laps in turn and inside a lap by falling priority: position, and priority (0 after the first lap).

    Args:
        queues: One per operator.
        priority: Of a head of the queue with the given index. It may fall while others are taken, never rise.
        taken: Called with the index of the queue from which a candidate was just taken, before it is yielded.
    """

    def entry(index: int) -> tuple[int, float, int, int] | None:
        head = queues[index].head()
        return None if head is None else (head.lap, -priority(index, head), head.position, index)

    heap = [found for index in range(len(queues)) if (found := entry(index)) is not None]
    heapq.heapify(heap)
    while heap:
        _, _, position, index = heap[0]
        current = entry(index)
        assert current is not None
        if current != heap[0]:
            heapq.heapreplace(heap, current)
            continue
        queues[index].pop()
        taken(index)
        following = entry(index)
        if following is None:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, following)
        yield position, 0.0 if current[0] else -current[1]
