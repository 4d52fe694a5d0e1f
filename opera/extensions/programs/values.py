"""Values of programs, and what an operator needs to know of them before it may be called."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, Union

import numpy as np

from opera.arrays import Array, from_bytes, numpy_dtype, to_bytes
from opera.extensions.programs.types import TensorType, TupleType, Type
from opera.instance import Tensor

ProgramValue = Union[Array, "tuple[ProgramValue, ...]"]
"""A tensor, or a tuple."""


class Bounds(NamedTuple):
    """What a value has to be, so that an operator is defined on it. All of its elements are finite.

    Attributes:
        low: The smallest element allowed.
        high: The largest element allowed.
        zero: Whether an element may be 0.
    """

    low: float = -math.inf
    high: float = math.inf
    zero: bool = True

    def __str__(self) -> str:
        return f"from {self.low:g} to {self.high:g}{'' if self.zero else ' without 0'}"


ANY = Bounds()


_NEAR_ZERO = 1e-3
"""Share of the largest element below which an element may come of numbers that cancel."""


def within(value: ProgramValue, bounds: Bounds) -> bool:
    """Whether each element of *value* is finite and lies in *bounds*."""
    if isinstance(value, tuple):
        return all(within(each, bounds) for each in value)
    if value.size == 0 or (bounds is ANY and value.dtype.kind != "f"):
        return True
    low, high = value.min(), value.max()
    if not (bounds.low <= low and high <= bounds.high and -math.inf < low and high < math.inf):
        return False
    return bounds.zero or bool(value.all())


def clear_of_zero(value: ProgramValue) -> bool:
    """Whether no number of *value* may be exactly 0 where it is added up in another order."""
    if isinstance(value, tuple) or value.dtype.kind != "f" or value.size == 0:
        return True
    sizes = np.abs(value)
    return bool(sizes.min() > _NEAR_ZERO * sizes.max())


def drawn(kind: Type, bounds: Bounds, generator: np.random.Generator) -> ProgramValue:
    """A random value of type *kind* within *bounds*; integers are small, so that their products are too."""
    if isinstance(kind, TupleType):
        return tuple(drawn(each, bounds, generator) for each in kind.fields)
    dtype = numpy_dtype(kind.dtype)
    if dtype.kind == "b":
        return np.asarray(generator.integers(0, 2, kind.shape), bool)
    if dtype.kind in "iu":
        least = 0 if dtype.kind == "u" else -8
        low, high = math.ceil(max(bounds.low, least)), math.floor(min(bounds.high, 8))
        found = np.asarray(generator.integers(low, max(low, high) + 1, kind.shape), dtype)
        return found if bounds.zero else np.asarray(np.where(found == 0, 1, found), dtype)
    low, high = max(bounds.low, -2.0), min(bounds.high, 2.0)
    if low > high:
        low, high = bounds.low, bounds.low + 2.0
    found = generator.uniform(low, high, kind.shape)
    if not bounds.zero:
        found = np.where(np.abs(found) < 0.25, 0.25 if high > 0.25 else low, found)
    return np.asarray(np.clip(found, low, high), dtype)


PLAIN = (1, 0, -1, 2, 0.5)
"""Numbers that optimisers look for, because an operator does nothing with them, or something simpler."""


def plain(kind: TensorType, bounds: Bounds, generator: np.random.Generator) -> Array | None:
    """One of `PLAIN` within *bounds* as every element of a value of type *kind*; None if *bounds* allow no such number."""
    dtype = numpy_dtype(kind.dtype)
    numbers = [each for each in PLAIN if dtype.kind == "f" or each == np.asarray(each).astype(dtype)]
    fitting = [each for each in numbers if bounds.low <= each <= bounds.high and (each or bounds.zero)]
    return np.full(kind.shape, generator.choice(fitting), dtype) if fitting else None


def type_of(value: ProgramValue) -> Type:
    """The type of *value*."""
    if isinstance(value, tuple):
        return TupleType(tuple(map(type_of, value)))
    return TensorType(value.shape, value.dtype.name)


def to_tensor(value: Array) -> Tensor:
    """*value* as an instance keeps it."""
    return Tensor(value.shape, value.dtype.name, to_bytes(value))


def to_array(value: Tensor) -> Array:
    """The elements of *value*.

    Raises:
        ValueError: they were not kept.
    """
    if value.data is None:
        raise ValueError("a literal of a program has no elements")
    return from_bytes(value.data, value.dtype, value.shape)


def tensors_of(value: ProgramValue) -> Iterator[Array]:
    """The tensors of a result, in order."""
    if isinstance(value, tuple):
        for each in value:
            yield from tensors_of(each)
    else:
        yield value
