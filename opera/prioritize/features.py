"""The features of one argument that a converter can distinguish, without literal sizes.

Literal dimensions would make every instance look new, and greedy coverage could not tell them apart.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import cast

import numpy as np

from opera.instance import Constraint, Instance, Tensor
from opera.instance.values import Value
from opera.prioritize.encoding import Feature
from opera.prioritize.subspaces import integer_subspace, subspace

_LISTED = 4
"""Elements of a list, or occurrences of a variadic parameter, that have features of their own."""
_SMALL_TENSOR = 8
"""Largest number of elements of an integer tensor that is read as a list of axes, sizes or pads."""
_LITERAL_TEXT = 48


def rank_class(rank: int) -> str:
    """0 to 5, or above."""
    return str(rank) if rank <= 5 else ">5"


def integer_data(tensor: Tensor) -> tuple[int, ...] | None:
    """The elements of a small one- or zero-dimensional integer tensor whose values are known."""
    if tensor.data is None or not _is_list(tensor):
        return None
    return tuple(int(number) for number in np.frombuffer(tensor.data, np.dtype(f"{'iu'['u' in tensor.dtype]}{tensor.itemsize}")))


def _is_list(tensor: Tensor) -> bool:
    """Whether the elements of *tensor* are few integers, in at most one dimension."""
    return len(tensor.shape) <= 1 and tensor.dtype.startswith(("int", "uint")) and tensor.size <= _SMALL_TENSOR


def pattern(values: Sequence[int]) -> str:
    """How the elements of a list of integers relate to each other."""
    if not values:
        return "empty"
    if len(values) == 1:
        return "single"
    if min(values) == max(values):
        return "zeros" if values[0] == 0 else "equal"
    if sorted(values) == list(range(len(values))):
        steps = {after - before for before, after in pairwise(values)}
        return "identity" if steps == {1} else "reversal" if steps == {-1} else "permutation"
    half = len(values) // 2
    if len(values) % 2 == 0 and tuple(values[:half]) == tuple(values[half:]):
        return "symmetric"
    return "mixed"


class FeatureReader:
    """Reads the features of arguments; remembers those of values that it has met."""

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[Feature, ...]] = {}
        self._summaries: dict[Hashable, tuple[Feature, ...]] = {}

    def arguments(self, instance: Instance) -> Iterator[tuple[Feature, ...]]:
        """Features of every argument, of the names and number of given arguments, of arguments at their defaults, and of the context."""
        defaults: dict[str, Value] = dict(instance.defaults)
        seen: dict[str, int] = {}
        given: set[str] = set()
        for argument in instance.arguments():
            name, value = argument.name, argument.value
            occurrence = seen.get(name, 0)
            seen[name] = occurrence + 1
            if value is not None:
                given.add(name)
            if occurrence == 0:
                yield self.value(name, value, "default" if name in defaults and same_value(value, defaults[name]) else "set")
            elif occurrence < _LISTED:
                yield self.value(f"{name}[{occurrence}]", value)
        yield self._summary(seen, given, len(instance.call), len(instance.expected or ()))
        for name, value in instance.defaults:
            if name not in seen:
                yield self.value(name, value, "absent")
        for name, value in instance.context:
            yield ((f"context {name}", repr(value)[:_LITERAL_TEXT] if isinstance(value, (bool, int, str)) else subspace(value)),)

    def _summary(self, seen: dict[str, int], given: set[str], inputs: int, outputs: int) -> tuple[Feature, ...]:
        """Which arguments are given, how many inputs and outputs there are, and how often variadic ones repeat."""
        key = (tuple(seen.items()), frozenset(given), inputs, outputs)
        found = self._summaries.get(key)
        if found is None:
            repeats = ((f"{name}:count", rank_class(count)) for name, count in seen.items() if count > 1)
            names, counts = ",".join(sorted(given)), f"{inputs} in, {outputs} out"
            found = self._summaries[key] = (("arguments given", names), ("arguments counted", counts), *repeats)
        return found

    def defaults(self, defaults: Iterable[tuple[str, Value]], given: str) -> Iterator[Feature]:
        """Features of parameters at their defaults, left out (*given* `absent`) or written (`default`)."""
        for name, value in defaults:
            yield from self.value(name, value, given)

    def value(self, name: str, value: Value, given: str = "") -> tuple[Feature, ...]:
        """Features of *value* as the value of the parameter *name*, with how it is *given* if that is told."""
        identity = _identity(value)
        key = (name, given, *identity) if identity is not None else None
        features = self._known.get(key) if key is not None else None
        if features is None:
            features = (*(((f"{name}:given", given),) if given else ()), *_value_features(name, value))
            if key is not None:
                self._known[key] = features
        return features


def same_value(value: Value, other: Value) -> bool:
    """Whether two argument values mean the same; a list and a tuple with the same elements do, `True` and 1 do not."""
    if isinstance(value, (list, tuple)) and isinstance(other, (list, tuple)):
        left, right = value, cast("list[Value]", other)
        return len(left) == len(right) and all(map(same_value, left, right))
    return type(cast("object", value)) is type(cast("object", other)) and value == other


def _identity(value: Value) -> tuple[Hashable, ...] | None:
    """The cache key of the features of *value*; None if the features are not worth keeping."""
    if isinstance(value, Tensor):
        data = value.data if value.data is not None and _is_list(value) else None
        size = len(value.shape), _dims_class(value.shape), _layout(value)
        return ("tensor", size, value.dtype, None if value.constraint is None else _values_class(value.constraint), data)
    if value is None or isinstance(value, (bool, int, str)):
        return (type(value), value)
    if isinstance(value, float):
        return (float, _float_class(value))
    if isinstance(value, (list, tuple)) and {type(item) for item in value} <= {int}:
        return ("list", tuple(value))
    return None


def _value_features(name: str, value: Value) -> Iterator[Feature]:
    if isinstance(value, Tensor):
        yield from _tensor_features(name, value)
    elif isinstance(value, (list, tuple)):
        yield name, "list"
        yield from _list_features(name, value)
    elif isinstance(value, float):
        yield name, _float_class(value)
    elif isinstance(value, dict):
        yield name, "dict"
        yield f"{name}:length", rank_class(len(value))
    else:
        yield name, subspace(value)[:_LITERAL_TEXT]


def _float_class(value: float) -> str:
    """Sign, and one of 0, 1, a fraction of 1, another whole number, or more."""
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    kind = f"{size:.0f}" if size in (0.0, 1.0) else "fraction" if size < 1 else "whole" if size == int(size) else "more"
    return f"-{kind}" if value < 0 else kind


def _list_features(name: str, values: Sequence[Value]) -> Iterator[Feature]:
    yield f"{name}:length", rank_class(len(values))
    if all(type(value) is int for value in values):
        integers = cast("Sequence[int]", values)
        yield f"{name}:pattern", pattern(integers)
        yield f"{name}:signs", ",".join(sorted({integer_subspace(value) for value in integers}))
    for index, value in enumerate(values[:_LISTED]):
        element = f"{name}[{index}]"
        if isinstance(value, (list, tuple)):
            yield element, "list"
            yield f"{element}:length", rank_class(len(value))
        else:
            yield from _value_features(element, value)


def _tensor_features(name: str, tensor: Tensor) -> Iterator[Feature]:
    yield name, "tensor"
    yield f"{name}:dtype", tensor.dtype
    yield f"{name}:rank", rank_class(len(tensor.shape))
    yield f"{name}:dims", _dims_class(tensor.shape)
    yield f"{name}:layout", _layout(tensor)
    data = integer_data(tensor)
    if data is not None:
        yield from _list_features(name, data)
    if tensor.constraint is not None:
        yield f"{name}:values", _values_class(tensor.constraint)


def _layout(tensor: Tensor) -> str:
    return tensor.layout if tensor.strides is None else "broadcast" if 0 in tensor.strides else "strides"


def _values_class(limits: Constraint | None) -> str:
    if limits is None:
        return ""
    signs = "-" if limits.high is not None and limits.high < 0 else "+" if limits.low is not None and limits.low >= 0 else "any"
    return f"{signs}{' nan' * limits.nan}{' inf' * limits.inf} {' '.join(limits.structure)}"


def _dims_class(shape: Sequence[int]) -> str:
    if 0 in shape:
        return "empty"
    if 1 in shape:
        return "ones" if max(shape) == 1 else "some one"
    return "equal" if len(shape) > 1 and min(shape) == max(shape) else "other"
