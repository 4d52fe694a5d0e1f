"""The arguments of a recorded call as Python objects, with a slot for every tensor that becomes an input."""

from __future__ import annotations

import copy
import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from opera.instance import Argument, Call, Enum, Named, Opaque, Tensor
from opera.models.template import Invalid


@dataclass(frozen=True)
class Slot:
    """Stands for the tensor that the model takes as its *index*-th input."""

    index: int


class CallArguments(ABC):
    """Makes arguments; what is peculiar to a library, its subclass does.

    Attributes:
        inputs: The values of the slots that were given out so far, in their order.
        constants: Copies of the tensors that are no inputs, such as those of a constructor, in the order in which source text has them.
    """

    def __init__(self) -> None:
        self.inputs: list[Any] = []
        self.constants: list[Any] = []

    def made(self, arguments: Sequence[Argument], *, inputs: bool) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments; with *inputs*, a slot stands in place of each tensor.

        Raises:
            Invalid: an argument cannot be made again.
        """
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for argument in arguments:
            value = self._value(argument.value, inputs)
            if argument.keyword:
                keywords[argument.name] = value
            else:
                positional.append(value)
        return positional, keywords

    @abstractmethod
    def tensor(self, tensor: Tensor) -> Any:
        """The library's tensor, or an array, with its values drawn."""
        ...

    @abstractmethod
    def constant(self, value: Any) -> Any:
        """The library's object for a value that is neither a tensor nor a container of values; may raise as `resolved`."""
        ...

    @abstractmethod
    def resolved(self, path: str) -> Any:
        """What a recorded dotted name means.

        Raises:
            ImportError: it means nothing of the library's.
            AttributeError: it is not there.
            Invalid: it is no operator.
        """
        ...

    def _value(self, value: Any, inputs: bool) -> Any:
        if isinstance(value, Tensor):
            made = self.tensor(value)
            if not inputs:
                self.constants.append(copy.deepcopy(made))  # the call may write to it
                return made
            self.inputs.append(made)
            return Slot(len(self.inputs) - 1)
        if isinstance(value, (list, tuple)):
            items = [self._value(item, inputs) for item in cast("list[Any]", value)]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, dict):
            return {key: self._value(item, inputs) for key, item in cast("dict[Any, Any]", value).items()}
        if isinstance(value, slice):
            return slice(*(self._value(end, inputs) for end in cast("tuple[Any, ...]", (value.start, value.stop, value.step))))
        try:
            return self._called(value) if isinstance(value, Call) else self.constant(value)
        except (ImportError, AttributeError) as error:
            raise Invalid("argument-not-rebuilt") from error

    def _called(self, call: Call) -> Any:
        """What the call makes; its tensors are constants."""
        positional = [self._value(item, False) for name, item in call.arguments if name is None]
        keywords = {name: self._value(item, False) for name, item in call.arguments if name is not None}
        try:
            return self.resolved(call.api)(*positional, **keywords)
        except Invalid:
            raise
        except Exception as error:
            raise Invalid("argument-not-rebuilt") from error


def member(kind: Any, name: str) -> Any:
    """The member *name* of an enumeration; raises AttributeError if *kind* is not an enumeration, or has no such member."""
    if not isinstance(kind, type) or not issubclass(kind, enum.Enum) or name not in kind.__members__:
        raise AttributeError(f"{kind!r} is no enumeration with a member {name!r}")
    return kind.__members__[name]


def named_constant(value: Any, resolve: Callable[..., Any]) -> Any:
    """What *value* names, by *resolve* of the library, or *value* itself; raises `Invalid` where it stands for what was not recorded."""
    if isinstance(value, Enum):
        return member(resolve(value.path, called=False), value.member)
    if isinstance(value, Opaque):
        raise Invalid("argument-not-rebuilt")
    return resolve(value.path, called=False) if isinstance(value, Named) else value


def filled(value: Any, tensors: Sequence[Any]) -> Any:
    """*value* with *tensors* in place of the slots."""
    if isinstance(value, Slot):
        return tensors[value.index]
    if isinstance(value, (list, tuple)):
        items = [filled(item, tensors) for item in cast("list[Any]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        return {key: filled(item, tensors) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, slice):
        return slice(*(filled(end, tensors) for end in cast("tuple[Any, ...]", (value.start, value.stop, value.step))))
    return value
