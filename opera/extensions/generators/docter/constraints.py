"""What is known of an API's parameters: the constraints from which calls are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional, Union

Dim = Union[int, str]
"""One side of a tensor: a number, a symbol that parameters share, or `...` for any number of sides."""

MISSING: Any = object()
"""Stands for a default that does not exist."""

TENSOR, TENSORS, INT, INTS, FLOAT, FLOATS = "tensor", "tensors", "int", "ints", "float", "floats"
BOOL, BOOLS, STRING, DTYPE, NONE, OTHER = "bool", "bools", "string", "dtype", "none", "other"
DRAWABLE = frozenset({TENSOR, TENSORS, INT, INTS, FLOAT, FLOATS, BOOL, BOOLS, STRING, DTYPE})
"""The kinds of value that can be generated; `none` is None, `other` (a device, a callable) is never passed."""


class ValueType(NamedTuple):
    """One type that an argument may have; *length* of a list, where it is fixed."""

    name: str
    length: Optional[int] = None


class ParameterConstraint(NamedTuple):
    """All that is known of one parameter.

    Attributes:
        name: Name of the parameter.
        kinds: The types it may have, the likeliest first; none where nothing is known.
        required: Whether a call needs it.
        keyword: Whether it can be given by keyword only.
        rest: Whether it is variadic (`*tensors`).
        default: Its default, `MISSING` where it has none or one that is not known.
        dtypes: Dtypes of a tensor, by canonical name; any where empty.
        ndims: Numbers of dimensions that a tensor may have; any where empty.
        shapes: Shapes that a tensor may have; any where empty.
        low: Smallest number allowed.
        high: Largest number allowed.
        choices: The only values allowed, where there is such a list.
    """

    name: str
    kinds: tuple[ValueType, ...] = ()
    required: bool = True
    keyword: bool = False
    rest: bool = False
    default: Any = MISSING
    dtypes: tuple[str, ...] = ()
    ndims: tuple[int, ...] = ()
    shapes: tuple[tuple[Dim, ...], ...] = ()
    low: Optional[float] = None
    high: Optional[float] = None
    choices: tuple[Any, ...] = ()

    def has(self, kind: str) -> bool:
        """Whether *kind* is among its types."""
        return any(item.name == kind for item in self.kinds)

    @property
    def drawable_kinds(self) -> tuple[ValueType, ...]:
        """The kinds of which a value can be made: text only where some is known, None only where leaving it out is no choice."""
        text = bool(self.choices) or isinstance(self.default, str)
        left_out = {STRING} if not text else set[str]()
        allowed = DRAWABLE - left_out | ({NONE} if self.required else set[str]())
        return tuple(kind for kind in self.kinds if kind.name in allowed)

    @property
    def drawable(self) -> bool:
        """Whether a value for it can be made."""
        return not self.kinds or bool(self.choices) or bool(self.drawable_kinds)


Signature = tuple[ParameterConstraint, ...]
"""The parameters of one overload, in order."""


class TargetApi(NamedTuple):
    """An API as a target of generation.

    Attributes:
        name: The name under which users import it.
        target: The function, or the class of a module.
        calls: The signatures of its overloads; of a module class those of the call of its objects.
        build: The signature of the constructor of a module class; None for a function.
    """

    name: str
    target: Any
    calls: tuple[Signature, ...]
    build: Optional[Signature] = None


class Facts(NamedTuple):
    """What a text says of one parameter. Empty parts say nothing."""

    kinds: tuple[ValueType, ...] = ()
    dtypes: tuple[str, ...] = ()
    ndims: tuple[int, ...] = ()
    shapes: tuple[tuple[Dim, ...], ...] = ()
    low: Optional[float] = None
    high: Optional[float] = None
    choices: tuple[Any, ...] = ()


def refined(constraint: ParameterConstraint, facts: Facts) -> ParameterConstraint:
    """*constraint* with what *facts* add; types of a signature stand, a documented shape makes an unknown type a tensor."""
    kinds = constraint.kinds or facts.kinds or ((ValueType(TENSOR),) if facts.shapes or facts.ndims else ())
    return constraint._replace(
        kinds=kinds,
        dtypes=facts.dtypes or constraint.dtypes,
        ndims=facts.ndims or constraint.ndims,
        shapes=facts.shapes or constraint.shapes,
        low=constraint.low if facts.low is None else facts.low,
        high=constraint.high if facts.high is None else facts.high,
        choices=facts.choices or constraint.choices,
    )


def merged(one: dict[str, Facts], other: dict[str, Facts]) -> dict[str, Facts]:
    """The facts of both; where both say something of a parameter, *other* is right."""
    found = dict(one)
    for name, facts in other.items():
        said = {key: value for key, value in facts._asdict().items() if value not in ((), None)}
        found[name] = found.get(name, Facts())._replace(**said)
    return found


def with_facts(signature: Sequence[ParameterConstraint], facts: dict[str, Facts]) -> Signature:
    """*signature* with what the documentation says of each parameter."""
    found: list[ParameterConstraint] = []
    for constraint in signature:
        known = facts.get(constraint.name) or (facts.get("input") if constraint.name == "self" else None)
        found.append(constraint if known is None else refined(constraint, known))
    return tuple(found)
