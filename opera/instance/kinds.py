"""Kinds of instances: how an instance is called, and what the stages do differently with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from opera.plugins import load, loaded, registered

if TYPE_CHECKING:
    from opera.instance.instance import Instance

GROUP = "opera.kinds"
Steps = Sequence[Callable[["Instance"], Iterator["Instance"]]]
"""Steps of a reduction: each gives simpler instances."""


class Kind:
    """How an instance is called. Each kind exists once, so that `is` compares kinds.

    Attributes:
        value: Its name in documents: one of OPERA's, or the entry point of an extension.
    """

    FUNCTION: ClassVar[Kind]
    """A function or method: `call` holds all its arguments."""
    MODULE: ClassVar[Kind]
    """A class that is built with `init` and then called with `call`."""
    NODE: ClassVar[Kind]
    """One ONNX node: attributes in `init`, input slots in `call` (None for an omitted optional input)."""
    GRAPH: ClassVar[Kind]
    """An operator spelled out as a graph of others (ONNX function bodies); the graph is in `context`."""

    _known: ClassVar[dict[str, Kind]] = {}
    value: str

    def __new__(cls, value: object) -> Kind:
        """The kind of that name; raises ValueError if neither OPERA nor an extension has it."""
        known = cls._known.get(value) if isinstance(value, str) else None
        if known is None:
            if not isinstance(value, str) or (value not in _OWN and value not in registered(GROUP)):
                raise ValueError(f"{str(value)[:40]!r} is no kind of instance")
            known = super().__new__(cls)
            known.value = value
            cls._known[value] = known
        return known

    def __reduce__(self) -> tuple[type[Kind], tuple[str]]:
        return Kind, (self.value,)

    def __repr__(self) -> str:
        return f"Kind({self.value!r})"

    @cached_property
    def behaviour(self) -> InstanceKind:
        """What the stages do differently with its instances; raises EnvironmentBroken if its extension cannot be imported."""
        return _OWN[self.value] if self.value in _OWN else load(GROUP, self.value)()


class InstanceKind:
    """What the stages do with instances of a kind. The defaults are those of a call of one operator.

    Attributes:
        has_one_operator: Whether an instance stands for one operator, which is named and converted.
        fixes_inputs: Whether an instance fixes the dtypes and shapes of its inputs, so that none can be changed alone.
        is_model: Whether an instance is a model in a format, whose inputs may be constants as well.
        nouns: What instances are called, by API, if the API is no name of an operator.
    """

    has_one_operator: bool = True
    fixes_inputs: bool = False
    is_model: bool = False
    nouns: ClassVar[Mapping[str, str]] = {}

    def operators(self, instance: Instance) -> tuple[str, ...]:
        """The distinct operators, in order of first use."""
        return (instance.operator,)

    def lines(self, instance: Instance) -> tuple[str, ...]:
        """What a person reads below the call."""
        return ()

    def features(self, instance: Instance) -> tuple[str, ...]:
        """What an instance of several operators is made of: its operators with their dtypes, and how they are combined."""
        return ()

    def cost(self, instance: Instance) -> float:
        """Complexity beyond that of the arguments."""
        return 0.0

    def steps(self, instance: Instance) -> Steps | None:
        """The steps of its reduction, the coarsest first; None for those of a call of one operator."""
        return None

    def with_other_operators(self, instance: Instance) -> Iterator[tuple[str, Instance]]:
        """Each feature of *instance*, with an instance in which another operator stands for it."""
        yield from ()

    def model(self, library: str, instance: Instance, key: str, seed: int) -> Any:
        """The model of *instance* in the format of *library* (`opera.models.template.Model`); None if the template makes it."""
        return None

    def artefact(self, data: bytes) -> Any:
        """What a compiler's Python API takes in place of the bytes of an artefact."""
        raise NotImplementedError

    def rejection(self, instance: Instance) -> str:
        """The operator because of which a compiler has to reject *instance*."""
        raise NotImplementedError

    def accepted(self, instance: Instance, compiler: str, frontend: str) -> Any:
        """The difference (`opera.oracles.verdict.DifferenceFacts`) of a compiler that accepts what it has to reject."""
        raise NotImplementedError


class _NodeKind(InstanceKind):
    is_model = True


class _GraphKind(_NodeKind):
    fixes_inputs = True


_OWN: dict[str, InstanceKind] = {"function": InstanceKind(), "module": InstanceKind(), "node": _NodeKind(), "graph": _GraphKind()}
Kind.FUNCTION, Kind.MODULE, Kind.NODE, Kind.GRAPH = (Kind(name) for name in _OWN)


def noun_of(api: str) -> str | None:
    """What instances of *api* are called, if it is no name of an operator."""
    return next((kind.nouns[api] for kind in loaded(GROUP).values() if api in kind.nouns), None)
