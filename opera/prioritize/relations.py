"""Relations between the arguments of one instance: the conversion of an operator usually branches on them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple, cast

from opera.instance import Instance, Tensor
from opera.prioritize.encoding import Feature
from opera.prioritize.features import integer_data

_TENSORS = 4
_INTEGERS = 8
_LISTS = 4


class _Profile(NamedTuple):
    """The sizes in an instance: shapes and dtypes of its tensors, its integers, its lists of integers."""

    tensors: tuple[tuple[str, tuple[int, ...], str], ...]
    integers: tuple[tuple[str, int], ...]
    lists: tuple[tuple[str, tuple[int, ...]], ...]
    outputs: tuple[tuple[tuple[int, ...], str], ...]


class RelationReader:
    """Reads the relational features of instances; remembers those that it has met."""

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[Feature, ...]] = {}

    def relations(self, instance: Instance) -> tuple[Feature, ...]:
        """Features that hold between several arguments, or between inputs and the outputs that the source declares."""
        profile = _profile(instance)
        features = self._known.get(profile)
        if features is None:
            features = self._known[profile] = tuple(_relations(profile))
        return features


def _profile(instance: Instance) -> _Profile:
    tensors: list[tuple[str, tuple[int, ...], str]] = []
    integers: list[tuple[str, int]] = []
    lists: list[tuple[str, tuple[int, ...]]] = []
    for argument in instance.arguments():
        value = argument.value
        if isinstance(value, Tensor):
            data = integer_data(value)
            if data is None:
                tensors.append((argument.name, value.shape, value.dtype))
            elif value.shape:
                lists.append((argument.name, data))
            else:
                integers.append((argument.name, data[0]))
        elif type(value) is int:
            integers.append((argument.name, value))
        elif isinstance(value, (list, tuple)) and value:
            if all(type(item) is int for item in value):
                lists.append((argument.name, tuple(cast("Sequence[int]", value))))
            else:
                found = [(f"{argument.name}[{i}]", item) for i, item in enumerate(value[:2]) if isinstance(item, Tensor)]
                tensors.extend((name, item.shape, item.dtype) for name, item in found)
    outputs = tuple((value.shape, value.dtype) for value in instance.expected or () if isinstance(value, Tensor))
    return _Profile(tuple(tensors[:_TENSORS]), tuple(integers[:_INTEGERS]), tuple(lists[:_LISTS]), outputs[:_TENSORS])


def _relations(profile: _Profile) -> Iterator[Feature]:
    for (first, left, left_dtype), (second, right, right_dtype) in combinations(profile.tensors, 2):
        yield f"{first}~{second}:shape", broadcast_class(left, right)
        yield f"{first}~{second}:dtype", "same" if left_dtype == right_dtype else "other"
    for (first, left), (second, right) in combinations(profile.lists, 2):
        yield f"{first}~{second}", _compare(left, right)
    if not profile.tensors:
        return
    name, shape, dtype = profile.tensors[0]
    for parameter, number in profile.integers:
        yield f"{parameter}~{name}:axis", axis_class(number, len(shape))
        yield f"{parameter}~{name}:channels", _divides(number, shape)
    for parameter, numbers in profile.lists:
        yield f"{parameter}~{name}:axes", ",".join(sorted({axis_class(number, len(shape)) for number in set(numbers)}))
        yield f"{parameter}~{name}:length", _length_class(len(numbers), len(shape))
        yield f"{parameter}~{name}:size", _compare(numbers, shape[-len(numbers) :]) if len(numbers) <= len(shape) else "longer"
    for index, (output, output_dtype) in enumerate(profile.outputs):
        yield f"output {index}:shape", broadcast_class(shape, output)
        yield f"output {index}:dtype", "same" if output_dtype == dtype else output_dtype


def broadcast_class(left: Sequence[int], right: Sequence[int]) -> str:
    """How two shapes broadcast: same, one into the other, both into a third, not at all; and which has more dimensions."""
    if tuple(left) == tuple(right):
        return "same"
    pairs = list(zip(reversed(left), reversed(right), strict=False))
    if any(a != b and a != 1 and b != 1 for a, b in pairs):
        fit = "apart"
    else:
        stretches_left = len(left) < len(right) or any(a == 1 != b for a, b in pairs)
        stretches_right = len(right) < len(left) or any(b == 1 != a for a, b in pairs)
        fit = "both" if stretches_left and stretches_right else "left" if stretches_left else "right"
    return f"{fit} {'=' if len(left) == len(right) else '<' if len(left) < len(right) else '>'}"


def axis_class(number: int, rank: int) -> str:
    """Where *number* lies as an axis of a tensor of rank *rank*, and its sign."""
    if not -rank <= number < rank:
        return "outside"
    axis = number % rank
    place = "first" if axis == 0 else "last" if axis == rank - 1 else "middle"
    return f"-{place}" if number < 0 else place


def _divides(number: int, shape: Sequence[int]) -> str:
    """*number* against dimension 1, where most formats keep the channels."""
    if len(shape) < 2:
        return "none"
    if number == 1:
        return "one"
    return "all" if number == shape[1] else "part" if number > 1 and shape[1] % number == 0 else "other"


def _length_class(length: int, rank: int) -> str:
    meanings = ((rank, "rank"), (rank - 2, "spatial"), (2 * rank, "twice the rank"), (2 * rank - 4, "twice the spatial"))
    return next((meaning for size, meaning in meanings if length == size), "other")


def _compare(left: Sequence[int], right: Sequence[int]) -> str:
    if len(left) != len(right):
        return "shorter" if len(left) < len(right) else "longer"
    signs = {(a > b) - (a < b) for a, b in zip(left, right, strict=True)}
    return "".join("<=>"[sign + 1] for sign in sorted(signs))
