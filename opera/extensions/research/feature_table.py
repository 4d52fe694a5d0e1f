"""Prioritisation as in the paper's released code, which differs from the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import cast

import numpy as np
import numpy.typing as npt

from opera.instance import Instance, Tensor
from opera.instance.values import Value
from opera.prioritize.coverage import NEWS, Coverage, feature_table
from opera.prioritize.encoding import Feature, encode, merge_rows
from opera.prioritize.queues import Head, Merged, OperatorQueue
from opera.prioritize.strategy import Candidate, Context, Ranked, by_operator, shuffled
from opera.prioritize.subspaces import integer_subspace, subspace


class ArtifactStrategy:
    """Novelty of values and of pairs of values, whichever is greater; defaults and equipped tests count as covered.

    A new value counts less the more values of its parameter are covered: 1, 1, 1/2, 1/3 ... Dtype and shape of a tensor are two
    parameters. Lists are compared element by element, at their exact length. Of floating numbers only the sign counts. Booleans are
    integers. All operators weigh the same: the factor that the code has for them is about 1 for nearly all, and is left out. What adds
    nothing follows in an order drawn from the seed.
    """

    name = "opera-artifact"

    def rank(self, candidates: Sequence[Candidate], context: Context) -> Iterator[Ranked]:
        ordered = shuffled(candidates, context.seed)
        equipped: dict[str, list[Instance]] = {}
        for test in context.equipped_tests:
            equipped.setdefault(test.operator, []).append(test)
        queues: list[OperatorQueue] = []
        for positions in by_operator(ordered).values():
            instances = [ordered[position].instance for position in positions]
            queues.append(_queue(instances, equipped.get(instances[0].operator, ()), positions))

        def priority(index: int, head: Head) -> float:
            return head.gain

        left = dict.fromkeys(range(len(ordered)))
        for position, score in Merged([[index] for index in range(len(queues))], queues.__getitem__, priority):
            if score == 0:
                break
            del left[position]
            yield Ranked(ordered[position].id, score)
        for position in left:
            yield Ranked(ordered[position].id, 0.0)


class _Novelty(Coverage):
    """Gains are the greater of the share of new values and the share of new pairs."""

    @property
    def largest_gain(self) -> int:
        return NEWS * max(1, self._table.pairs) * (self._table.width - self._table.pairs)

    def gains(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        pairs = self._table.pairs
        news = self._uncovered[self._table.features[rows]] * self._weights
        return np.maximum(news[:, :pairs].sum(axis=1) * (self._table.width - pairs), news[:, pairs:].sum(axis=1) * max(1, pairs))


def _queue(instances: Sequence[Instance], equipped: Sequence[Instance], positions: Sequence[int]) -> OperatorQueue:
    defaults: dict[str, Value] = {}
    for instance in instances:
        defaults.update((name, value) for name, value in instance.defaults if name not in defaults)
    settings = [tuple(_settings(instance, defaults)) for instance in instances]
    covered = [[feature for name, value in defaults.items() for feature in _values(name, value)]]
    covered += [_settings(instance, defaults) for instance in equipped]
    encoded = encode(((each,) for each in settings), covered)
    rows, copies = merge_rows(encoded.codes)
    pairs = list(combinations(range(len(encoded.keys)), 2))
    table = feature_table(encoded.codes[rows], encoded.covered, pairs)
    return OperatorQueue(_Novelty(table, discount=True), [[positions[copy] for copy in group] for group in copies])


def _settings(instance: Instance, defaults: Mapping[str, Value]) -> list[Feature]:
    """Values of all parameters; those that are not given are at their defaults."""
    found: dict[str, Value] = dict(defaults)
    seen: dict[str, int] = {}
    for argument in instance.arguments():
        number = seen[argument.name] = seen.get(argument.name, 0) + 1
        found[argument.name if number == 1 else f"{argument.name} {number}"] = argument.value
    return [feature for name, value in found.items() for feature in _values(name, value)] or [("", "")]


def _values(name: str, value: Value) -> Iterator[Feature]:
    if isinstance(value, Tensor):
        yield f"{name} dtype", value.dtype
        yield f"{name} shape", ",".join(integer_subspace(dim) for dim in value.shape)
    elif isinstance(value, (list, tuple)):
        ordered = "" if len(value) < 2 or not all(type(item) is int for item in value) else _steps(cast("Sequence[int]", value))
        yield name, ",".join(_class(item) for item in value) + ordered
    else:
        yield name, _class(value)


def _steps(items: Sequence[int]) -> str:
    return "".join("<=>"[(a > b) - (a < b) + 1] for a, b in pairwise(items[:2]))


def _class(value: Value) -> str:
    if isinstance(value, (bool, int)):
        return integer_subspace(int(value))
    if isinstance(value, float):
        return "above 0" if value > 0 else "not above 0"
    return subspace(value)
