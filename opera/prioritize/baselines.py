"""Strategies that look at no parameter: what any other has to beat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opera.prioritize.strategy import Candidate, Context, Ranked, StrategyName, by_operator, shuffled


class RandomStrategy:
    """Every order is equally likely."""

    name = StrategyName.RANDOM

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        for candidate in shuffled(candidates, context.seed):
            yield Ranked(candidate.id, 0.0)


class RoundRobinStrategy:
    """Operators take turns, in random order; inside an operator the order is random too."""

    name = StrategyName.ROUND_ROBIN

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        ordered = shuffled(candidates, context.seed)
        turns = [enumerate(positions) for positions in by_operator(ordered).values()]
        for _, _, position in sorted((turn, place, at) for place, group in enumerate(turns) for turn, at in group):
            yield Ranked(ordered[position].id, 0.0)
