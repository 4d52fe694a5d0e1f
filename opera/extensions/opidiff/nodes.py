"""Nodes of a suite after validation: dimensions, presets and variables are resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from opera.instance.values import Distribution, Number

Literal = Union[None, bool, int, float, str, "list[Literal]", "dict[str, Literal]"]
"""What YAML's core schema can say."""


@dataclass(frozen=True, slots=True)
class TensorNode:
    """A tensor.

    Attributes:
        shape: Its sizes.
        dtype: Canonical name.
        drawn: How its values are drawn; None where *values* has them.
        values: The values in C order; None where they are drawn.
        requires_grad: As torch has it.
    """

    shape: tuple[int, ...]
    dtype: str
    drawn: Distribution | None
    values: tuple[Number, ...] | None = None
    requires_grad: bool = False


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A Python scalar: *value*, or a number from *low* to *high*, or true with probability *p*."""

    dtype: str
    value: Number | None
    low: Number | None
    high: Number | None
    p: float


@dataclass(frozen=True, slots=True)
class ListNode:
    """*length* values of *elem*."""

    length: int
    elem: Node


@dataclass(frozen=True, slots=True)
class TupleNode:
    """One value of each element."""

    elems: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class OptionalNode:
    """None with probability *p_none*, else a value of *elem*."""

    p_none: float
    elem: Node


@dataclass(frozen=True, slots=True)
class ConstNode:
    """A node `const`, which gives a JSON value as it stands."""

    value: Literal


@dataclass(frozen=True, slots=True)
class ListOfNodes:
    """A literal list that holds nodes; only among the arguments of constructors."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MappingOfNodes:
    """A literal mapping that holds nodes; only among the arguments of constructors."""

    items: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class ConstructNode:
    """An object to construct; as the operator of a test, a module that is also called."""

    path: str
    args: tuple[Node, ...] = ()
    kwargs: tuple[tuple[str, Node], ...] = ()


Node = Union[TensorNode, ScalarNode, ListNode, TupleNode, OptionalNode, ConstNode, ListOfNodes, MappingOfNodes, ConstructNode]


@dataclass(frozen=True, slots=True)
class TestCase:
    """One test after expansion.

    Attributes:
        id: Unique in the suite.
        place: Where its item stands.
        op: `aten::add`, or the module to construct and call.
        inputs: Positional inputs.
        kwargs: Keyword arguments.
        impl: Label of the implementation.
        device: `cpu`, `gpu`, `cuda` or `mps`.
        packed: Whether input 0 is transported as pairs of real and imaginary parts.
        pair: Id of the pair that it belongs to.
        side: `a` or `b` in a pair.
        other: Of side b, what side a runs.
    """

    __test__ = False

    id: str
    place: int
    op: str | ConstructNode
    inputs: tuple[Node, ...]
    kwargs: tuple[tuple[str, Node], ...]
    impl: str | None = None
    device: str = "cpu"
    packed: bool = False
    pair: str | None = None
    side: str | None = None
    other: ConstructNode | None = None

    @property
    def operator(self) -> str:
        """What it runs, as the file names it."""
        return self.op if isinstance(self.op, str) else self.op.path
