"""Prioritisation as the paper describes it, to the letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from opera.instance import Instance
from opera.prioritise.coverage import Coverage
from opera.prioritise.encoding import Feature, encode, merge_rows
from opera.prioritise.queues import Head, OperatorQueue, merge
from opera.prioritise.strategy import Candidate, Context, Ranked, StrategyName, by_operator, shuffled
from opera.prioritise.subspaces import subspace


class PaperStrategy:
    """Operator signature times parameter setting (section III-B of the paper).

    The score of an operator is its number of migrated tests divided by its number of equipped tests; an operator without equipped
    tests is divided by one. The diversity of an instance is the share of its parameters and pairs of parameters whose value
    subspaces are not covered by instances of the same operator ranked before; an operator without parameters has one setting, new
    once. What ties, and what covers nothing new, follows in an order drawn from the seed.
    """

    name = StrategyName.OPERA_PAPER

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        ordered = shuffled(candidates, context.seed)
        queues: list[OperatorQueue] = []
        weights: list[float] = []
        for positions in by_operator(ordered).values():
            instances = [ordered[position].instance for position in positions]
            queues.append(_queue(instances, positions))
            weights.append(len(instances) / max(1, context.equipped.get(instances[0].operator, 0)))

        def priority(index: int, head: Head) -> float:
            return weights[index] * head.gain

        for position, score in merge(queues, priority, lambda index: None):
            yield Ranked(ordered[position].id, score)


def _queue(instances: Sequence[Instance], positions: Sequence[int]) -> OperatorQueue:
    names = list(dict.fromkeys(argument.name for instance in instances for argument in instance.arguments()))
    encoded = encode([_settings(instance, names) for instance in instances])
    rows, copies = merge_rows(encoded.codes)
    pairs = list(combinations(range(len(encoded.keys)), 2))
    coverage = Coverage(encoded.codes[rows], encoded.covered, pairs, discount=False)
    return OperatorQueue(coverage, [[positions[copy] for copy in group] for group in copies])


def _settings(instance: Instance, names: Sequence[str]) -> list[Feature]:
    """The subspace of every parameter; those of a parameter that is given several times (variadic) form one."""
    given: dict[str, str] = {name: subspace(value) for name, value in instance.defaults}
    found: dict[str, str] = {}
    for argument in instance.arguments():
        part = subspace(argument.value)
        found[argument.name] = f"{found[argument.name]},{part}" if argument.name in found else part
    given.update(found)
    return [(name, given.get(name, "absent")) for name in names] or [("", "")]
