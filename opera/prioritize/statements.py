"""Strategies on the statements of a frontend that tests run: the classic baselines of test prioritisation."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

from opera.errors import UserError
from opera.prioritize.strategy import Candidate, Context, Ranked, StrategyName, shuffled


class TotalStrategy:
    """Tests that run more statements come first."""

    name = StrategyName.TOTAL

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        ordered = shuffled(candidates, context.seed)
        statements = _statements(context)
        for candidate in sorted(ordered, key=lambda each: -len(statements.get(each.id, ()))):
            yield Ranked(candidate.id, float(len(statements.get(candidate.id, ()))))


class AdditionalStrategy:
    """Greedy: next comes the test that runs most statements that no test before has run.

    When none adds any, all statements count as not run again, and so on until no test is left that runs any.
    """

    name = StrategyName.ADDITIONAL

    def __init__(self) -> None:
        self._masks: tuple[Mapping[str, frozenset[int]], dict[str, int]] | None = None

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        ordered = shuffled(candidates, context.seed)
        masks = self._masks_of(_statements(context))
        statements = [masks.get(each.id, 0) for each in ordered]
        left = list(range(len(ordered)))
        first = True
        while left:
            missed = -1
            heap = [(-statements[place].bit_count(), place) for place in left]
            heapq.heapify(heap)
            left = list[int]()
            while heap:
                stale, place = heap[0]
                news = (statements[place] & missed).bit_count()
                if news == 0:
                    left.append(heapq.heappop(heap)[1])
                elif -news != stale:
                    heapq.heapreplace(heap, (-news, place))
                else:
                    heapq.heappop(heap)
                    missed &= ~statements[place]
                    yield Ranked(ordered[place].id, float(news) if first else 0.0)
            first = False
            if missed == -1:
                break
        for place in sorted(left):
            yield Ranked(ordered[place].id, 0.0)

    def _masks_of(self, statements: Mapping[str, frozenset[int]]) -> dict[str, int]:
        """One bit for each statement; made once for the same *statements*."""
        if self._masks is None or self._masks[0] is not statements:
            self._masks = statements, {name: _mask(numbers) for name, numbers in statements.items()}
        return self._masks[1]


def _mask(numbers: frozenset[int]) -> int:
    bits = bytearray(max(numbers, default=0) // 8 + 1)
    for number in numbers:
        bits[number // 8] |= 1 << number % 8
    return int.from_bytes(bits, "little")


def _statements(context: Context) -> Mapping[str, frozenset[int]]:
    if context.coverage is None:
        raise UserError(
            "this strategy needs to know which statements of the frontend each test runs: a frontend in Python, and a campaign that"
            " was recorded with --coverage; a frontend in C++ has none that could be measured"
        )
    return context.coverage
