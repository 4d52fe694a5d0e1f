"""Prioritisation as the paper describes it, to the letter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

from opera.instance import Instance
from opera.prioritize.coverage import Coverage, feature_table
from opera.prioritize.encoding import ABSENT, UNKNOWN, Features, encode, merge_rows
from opera.prioritize.queues import Head, Merged, OperatorQueue
from opera.prioritize.strategy import Candidate, Context, Ranked, by_operator, shuffled
from opera.prioritize.subspaces import subspace

_DIGITS = 14
"""Digits of a share: beyond these, equal shares of different operators may differ."""


class PaperStrategy:
    """Operator signature times parameter setting (section III-B of the paper).

    The score of an operator is its number of migrated tests divided by its number of equipped tests; an operator without equipped
    tests is divided by one. The diversity of an instance is the share of its parameters, and of their pairs, with value subspaces that
    instances of the same operator ranked before do not cover. Parameters with a known default count as well. An instance without
    parameters has one setting, new once. What ties, and what covers nothing new, follows in an order drawn from the seed.
    """

    name = "opera-paper"

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        return _rank(candidates, context, operator_score)


class ParameterOnlyStrategy:
    """The paper's ablation: diversity of parameter settings alone, all operators alike."""

    name = "parameter-only"

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        return _rank(candidates, context, lambda instances, context: 1.0)


class OperatorOnlyStrategy:
    """The paper's ablation: the score of the operator alone, its instances in an order drawn from the seed."""

    name = "operator-only"

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        ordered = shuffled(candidates, context.seed)
        scores = [0.0] * len(ordered)
        groups = by_operator(ordered)
        for positions in groups.values():
            score = operator_score([ordered[position].instance for position in positions], context)
            for position in positions:
                scores[position] = score
        for positions in sorted(groups.values(), key=lambda each: (-scores[each[0]], each[0])):
            for position in positions:
                yield Ranked(ordered[position].id, scores[position])


def operator_score(instances: Sequence[Instance], context: Context) -> float:
    """Number of migrated tests of an operator by its number of equipped tests; by one where there are none."""
    return len(instances) / max(1, context.equipped.get(instances[0].operator, 0))


def _rank(candidates: Sequence[Candidate], context: Context, weight: Callable[[Sequence[Instance], Context], float]) -> Iterator[Ranked]:
    ordered = shuffled(candidates, context.seed)
    queues: list[OperatorQueue] = []
    units: list[float] = []
    weights: list[float] = []
    for positions in by_operator(ordered).values():
        instances = [ordered[position].instance for position in positions]
        queue, unit = _queue(instances, positions)
        queues.append(queue)
        units.append(unit)
        weights.append(weight(instances, context))

    def priority(index: int, head: Head) -> float:
        return weights[index] * (1.0 if head.lap else round(head.gain / units[index], _DIGITS))

    for position, score in Merged([[index] for index in range(len(queues))], queues.__getitem__, priority, best=units.__getitem__):
        yield Ranked(ordered[position].id, score)


def _queue(instances: Sequence[Instance], positions: Sequence[int]) -> tuple[OperatorQueue, float]:
    """The instances of an operator, and the gain of one whose parameters and pairs are all new.

    Gains are whole numbers, so that equal shares of different numbers of parameters are equal.
    """
    encoded = encode((_settings(instance),) for instance in instances)
    rows, copies = merge_rows(encoded.codes)
    codes = np.where(encoded.codes[rows] == ABSENT, UNKNOWN, encoded.codes[rows])
    pairs = list(combinations(range(len(encoded.keys)), 2))
    parts: list[int] = [own * (own + 1) // 2 for own in (codes != UNKNOWN).sum(axis=1).tolist()]
    common = math.lcm(*set(parts))
    shares = np.array([float(common // own) for own in parts])
    coverage = Coverage(feature_table(codes, encoded.covered, pairs), discount=False, boosts=shares)
    queue = OperatorQueue(coverage, [[positions[copy] for copy in group] for group in copies])
    return queue, common / (len(encoded.keys) + len(pairs))


def _settings(instance: Instance) -> Features:
    """The subspace of every parameter; those of a parameter that is given several times (variadic) form one."""
    given: dict[str, str] = {name: subspace(value) for name, value in instance.defaults}
    found: dict[str, str] = {}
    for argument in instance.arguments():
        part = subspace(argument.value)
        found[argument.name] = f"{found[argument.name]},{part}" if argument.name in found else part
    return tuple({**given, **found}.items()) or (("", ""),)
