"""The types of values in a program: tensors and tuples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Union

Attribute = Union[bool, int, float, str, tuple[int, ...]]
"""A parameter of an operator that is part of the program."""
Attributes = Mapping[str, Attribute]
NO_ATTRIBUTES: Attributes = {}


class TensorType(NamedTuple):
    """The type of a tensor.

    Attributes:
        shape: Its sizes.
        dtype: The name of its elements' type, e.g. `float32`.
    """

    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class TupleType(NamedTuple):
    """The type of a tuple.

    Attributes:
        fields: The types of its parts.
    """

    fields: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.fields))})"


Type = Union[TensorType, TupleType]


class IllTyped(ValueError):
    """A program, or a call, that breaks a rule of types. The message says which, without the place."""


def elements(shape: tuple[int, ...]) -> int:
    """The number of elements of *shape*."""
    return math.prod(shape)


def tensors_in(kind: Type) -> Iterator[TensorType]:
    """The types of the tensors in a value of type *kind*, in order."""
    if isinstance(kind, TensorType):
        yield kind
    else:
        for field in kind.fields:
            yield from tensors_in(field)


def tensor(kind: Type) -> TensorType:
    """*kind*, if it is the type of a tensor.

    Raises:
        IllTyped: it is not.
    """
    if not isinstance(kind, TensorType):
        raise IllTyped(f"expected a tensor, found {kind}")
    return kind
