"""Operator instances and their provenance."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from opera.instance.kinds import Kind
from opera.instance.values import Tensor, Value, walk


class Outcome(enum.Enum):
    """The outcome of the recorded call."""

    RETURNED = "returned"
    RAISED = "raised"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Argument:
    """One argument: its parameter's name, its value, and whether it is passed by keyword."""

    name: str
    value: Value
    keyword: bool = False


@dataclass(frozen=True)
class Instance:
    """An API with one setting of its parameters and inputs.

    Attributes:
        library: `pytorch`, `onnx`, `keras` ...
        api: Importable name (`torch.nn.functional.conv2d`) or, for ONNX, `domain.Operator` (`ai.onnx.Conv`).
        kind: How it is called.
        init: Arguments of the constructor, or ONNX attributes, sorted by name where order means nothing.
        call: Arguments of the call in the order in which they were passed.
        context: Facts outside the arguments on which the result depends (ONNX `opset` and `outputs`, a module's `training`).
        defaults: The defaults of the parameters, as far as known. Not part of the identity: a new parameter changes no hash.
        outcome: What the library did in the recorded call. Not part of the identity.
        exception: Its type where it raised. Not part of the identity.
        expected: The outputs that the source itself declares for the recorded inputs, if it does. Not part of the identity.
    """

    library: str
    api: str
    kind: Kind
    init: tuple[Argument, ...] = ()
    call: tuple[Argument, ...] = ()
    context: tuple[tuple[str, Any], ...] = ()
    defaults: tuple[tuple[str, Value], ...] = ()
    outcome: Outcome = Outcome.UNKNOWN
    exception: str | None = None
    expected: tuple[Value, ...] | None = field(default=None, repr=False)

    @property
    def operator(self) -> str:
        """The short name of the operator (`conv2d`, `Conv`); for an overload (`torch.ops.aten.add.Tensor`), the name of its operator.

        For a class of a file (`file:models/toy.py::Toy`), the name of the class.
        """
        parts = self.api.rpartition("::")[2].split(".")
        return parts[3] if len(parts) == 5 and parts[:2] == ["torch", "ops"] else parts[-1]

    def arguments(self) -> Iterator[Argument]:
        """All arguments, the constructor's first."""
        yield from self.init
        yield from self.call

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor among the arguments, nested ones included."""
        for argument in self.arguments():
            for value in walk(argument.value):
                if isinstance(value, Tensor):
                    yield value

    def context_value(self, name: str, default: Any = None) -> Any:
        """The context fact *name*, or *default*."""
        return next((value for key, value in self.context if key == name), default)


@dataclass(frozen=True)
class Occurrence:
    """Provenance: the test and the source that called an instance, and the number of calls."""

    source: str
    test: str
    calls: int = 1
