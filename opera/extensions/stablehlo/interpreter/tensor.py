"""Tensors at run time: elements by index, in the order of the specification."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from opera.extensions.stablehlo.interpreter.element import Element, element, stored_element
from opera.extensions.stablehlo.types import ElementType, TensorType, Value

Index = tuple[int, ...]


def index_space(shape: Sequence[int]) -> Iterator[Index]:
    """All indices of *shape*, the last dimension first: `index_space` of the specification."""
    return itertools.product(*map(range, shape))


class Tensor:
    """A tensor: its type, and its elements."""

    def __init__(self, value: Value) -> None:
        self._array = value.array
        self.type = value.type

    @property
    def value(self) -> Value:
        """The tensor as an array."""
        return Value(self.type, self._array)

    @property
    def shape(self) -> Index:
        """The size of each dimension."""
        return self.type.shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.type.shape)

    def index_space(self) -> Iterator[Index]:
        """All indices, in row-major order."""
        return index_space(self.type.shape)

    def get(self, index: Index = ()) -> Element:
        """The element at *index*."""
        return stored_element(self.type.element, self._array[index])

    def set(self, index: Index, value: Element) -> None:
        """Puts *value* at *index*; raises TypeError for an element of another type. Only the maker of a tensor does."""
        if value.type != self.type.element:
            raise TypeError(f"an element of {value.type.name} in a {self.type}")
        self._array[index] = value.stored

    def integers(self) -> tuple[int, ...]:
        """All elements in C order, as integers."""
        return tuple(int(each) for each in self._array.reshape(-1))

    def copy(self) -> Tensor:
        """A tensor of its own with the same elements."""
        return Tensor(Value(self.type, self._array.copy()))


def empty(type: TensorType) -> Tensor:
    """A tensor of zeros, to be filled."""
    return Tensor(Value(type, np.zeros(type.shape, type.element.numpy)))


def filled(type: TensorType, element_at: Callable[[Index], Element]) -> Tensor:
    """The tensor whose element at each index is *element_at* of the index."""
    result = empty(type)
    for index in result.index_space():
        result.set(index, element_at(index))
    return result


def scalar(value: Element) -> Tensor:
    """The tensor without dimensions that holds *value*."""
    return filled(TensorType((), value.type), lambda _: value)


def number_tensor(type: ElementType, number: float) -> Tensor:
    """The tensor without dimensions that holds *number*."""
    return scalar(element(type, number))
