"""The default strategy: coverage of features inside an operator, turns between families of operators."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import chain
from typing import Any

from opera.instance import Instance
from opera.prioritise.coverage import Coverage
from opera.prioritise.encoding import Encoded, Feature, choose_pairs, distinct_columns, encode, merge_rows
from opera.prioritise.features import FeatureReader
from opera.prioritise.queues import Head, OperatorQueue, merge
from opera.prioritise.relations import RelationReader
from opera.prioritise.strategy import Candidate, Context, Ranked, StrategyName, by_operator, shuffled

_PAIR_ENTRIES = 40_000_000
"""Entries (of four bytes) that the pairs of a whole corpus may take: instances times pairs per operator."""
_FEWEST_PAIRS = 64
_MOST_PAIRS = 400
_ANY: Feature = ("", "operator")
"""What every instance has: the first of an operator is always news."""


class OperaStrategy:
    """Greedy coverage of features and pairs of features per operator, shared fairly between families of operators.

    Inside an operator an instance gains the share of its features, and of their pairs, that no instance before had; each counts
    less the more classes of its key are covered already, and what the defaults would show counts as covered. Between operators that
    gain is multiplied by log2(2 + number of parameters), and divided by one more than the number of tests that the operator's
    family had: operators with the same parameters usually share their conversion. Then come the instances that cover nothing new,
    then copies, families in turn. Equipped counts are not used.
    """

    name = StrategyName.OPERA

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        ordered = shuffled(candidates, context.seed)
        most_pairs = max(_FEWEST_PAIRS, min(_MOST_PAIRS, _PAIR_ENTRIES // max(1, len(ordered))))
        queues: list[OperatorQueue] = []
        families: list[Hashable] = []
        complexities: list[float] = []
        for positions in by_operator(ordered).values():
            instances = [ordered[position].instance for position in positions]
            defaults = _defaults(instances)
            arguments, relations = FeatureReader(), RelationReader()
            encoded = distinct_columns(
                encode(
                    (chain((_ANY,), arguments.arguments(each), relations.relations(each)) for each in instances),
                    [tuple(arguments.defaults(defaults, given)) for given in ("absent", "default")],
                )
            )
            queues.append(_queue(encoded, positions, most_pairs))
            signature = _signature(instances)
            families.append(signature)
            complexities.append(round(math.log2(2 + len(signature[2])), 6))
        run: Counter[Hashable] = Counter()

        def priority(index: int, head: Head) -> float:
            return complexities[index] * (1.0 if head.lap else head.gain) / (1 + run[families[index]])

        def taken(index: int) -> None:
            run[families[index]] += 1

        for position, score in merge(queues, priority, taken):
            yield Ranked(ordered[position].id, score)


def _queue(encoded: Encoded, positions: Sequence[int], most_pairs: int) -> OperatorQueue:
    rows, copies = merge_rows(encoded.codes)
    coverage = Coverage(encoded.codes[rows], encoded.covered, choose_pairs(encoded, most_pairs), discount=True)
    return OperatorQueue(coverage, [[positions[copy] for copy in group] for group in copies])


def _defaults(instances: Sequence[Instance]) -> list[tuple[str, Any]]:
    """The known defaults of an operator; those of the instance met first where they disagree."""
    found: dict[str, Any] = {}
    for instance in instances:
        for name, value in instance.defaults:
            found.setdefault(name, value)
    return list(found.items())


def _signature(instances: Sequence[Instance]) -> tuple[str, str, tuple[tuple[str, bool, bool], ...], int]:
    """Library, kind, parameters (name, whether it can be left out, whether it repeats), largest number of outputs."""
    present: Counter[str] = Counter()
    repeated: set[str] = set()
    outputs = 0
    for instance in instances:
        names = [argument.name for argument in instance.arguments()]
        distinct = list(dict.fromkeys(names))
        present.update(distinct)
        if len(distinct) < len(names):
            repeated.update(name for name, count in Counter(names).items() if count > 1)
        outputs = max(outputs, len(instance.expected or ()))
    defaults = {name for name, _ in _defaults(instances)}
    parameters = tuple(
        (name, name in defaults or present[name] < len(instances), name in repeated) for name in sorted({*present, *defaults})
    )
    return instances[0].library, instances[0].kind.value, parameters, outputs
