"""Recorded arguments as Python source; what differs between libraries is overridden."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from opera.instance import Argument, Call, DType, Enum, Named, Tensor
from opera.templates.python_text import dotted, keyword_argument, number_text


class ArgumentText:
    """Writes arguments; tensors of the call become x0, x1, ... in the order in which the model takes them.

    The other tensors are written with the values that the worker gives to them.
    """

    def __init__(self, constants: Iterable[str] = ()) -> None:
        """*constants* are the texts of the other tensors: see `CallArguments.constants`."""
        self._count = 0
        self._constants = iter(constants)

    def argument(self, argument: Argument, *, inputs: bool) -> str:
        """One argument, with its name where it is passed by keyword."""
        text = self._value(argument.value, inputs)
        return keyword_argument(argument.name, text) if argument.keyword else text

    def path(self, api: str) -> str:
        """The name of a function or class."""
        return dotted(api)

    def dtype(self, name: str) -> str:
        """The expression for the dtype *name*."""
        raise NotImplementedError

    def input(self, name: str) -> str:
        """An input of the model, where it is used."""
        return name

    def scalar(self, value: Any) -> str:
        """A value that holds no others."""
        if isinstance(value, DType):
            return self.dtype(value.name)
        if isinstance(value, Enum):
            return f"{dotted(value.path)}.{dotted(value.member)}"
        if isinstance(value, Named):
            return dotted(value.path)
        if isinstance(value, (int, float, complex)):
            return number_text(value)
        return repr(value)

    def _value(self, value: Any, inputs: bool) -> str:
        if isinstance(value, Tensor):
            return self._tensor(inputs)
        if isinstance(value, (list, tuple)):
            items = [self._value(item, inputs) for item in cast("list[Any]", value)]
            if isinstance(value, list):
                return f"[{', '.join(items)}]"
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        if isinstance(value, dict):
            pairs = cast("dict[Any, Any]", value).items()
            return "{" + ", ".join(f"{self._value(key, False)}: {self._value(item, inputs)}" for key, item in pairs) + "}"
        if isinstance(value, slice):
            ends = cast("tuple[Any, ...]", (value.start, value.stop, value.step))
            return f"slice({', '.join(self._value(end, inputs) for end in ends)})"
        if isinstance(value, Call):
            given = [(name, self._value(item, False)) for name, item in value.arguments]
            parts = [text if name is None else keyword_argument(name, text) for name, text in given]
            return f"{self.path(value.api)}({', '.join(parts)})"
        return self.scalar(value)

    def _tensor(self, inputs: bool) -> str:
        if not inputs:
            return next(self._constants)
        self._count += 1
        return self.input(f"x{self._count - 1}")
