"""What readers of models share: they build a program from operators that are known, and name the rest."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from opera.arrays import Array, dtype_name
from opera.extensions.programs.document import encode_program
from opera.extensions.programs.operators import DTYPES, Registry
from opera.extensions.programs.program import (
    Binding,
    Block,
    Call,
    Constant,
    Expression,
    If,
    Invoke,
    Parameter,
    Program,
    without_dead_bindings,
)
from opera.extensions.programs.program import Tuple as TupleOf
from opera.extensions.programs.types import Attributes, IllTyped, TensorType, TupleType, Type
from opera.extensions.programs.values import to_tensor


class Opaque(ValueError):
    """A part of a model that no program can hold. The message says why."""


@dataclass(frozen=True)
class Reading:
    """A model as a program.

    Attributes:
        program: What could be read.
        opaque: What could not, each with the reason: its results are parameters of the program, behind those of the model.
        values: The names in the model of the parameters, in order.
    """

    program: Program
    opaque: tuple[str, ...]
    values: tuple[str, ...]


@dataclass
class Builder:
    """Bindings that grow, typed as they are added.

    Attributes:
        registry: The operators.
        types: The types of all variables.
        bindings: Those of the block that is being read.
    """

    registry: Registry
    types: dict[str, Type] = field(default_factory=dict[str, Type])
    bindings: list[Binding] = field(default_factory=list[Binding])
    _number: Iterator[int] = field(default_factory=lambda: iter(range(1, 10**9)))

    def parameter(self, kind: Type) -> Parameter:
        """A new parameter, which is visible from now on."""
        found = Parameter(self._fresh("x"), kind)
        self.types[found.name] = kind
        return found

    def call(self, operator: str, arguments: Sequence[str], attributes: Attributes | None = None) -> str:
        """Binds a call; raises `Opaque` where the operator does not take its arguments."""
        try:
            kind = self.registry.get(operator).infer([self.types[each] for each in arguments], attributes or {})
        except (IllTyped, IndexError, KeyError) as error:
            raise Opaque(f"{operator}: {error}") from error
        return self.bind(Call(operator, tuple(arguments), attributes or {}), kind)

    def constant(self, value: Array) -> str:
        """Binds the literal *value* to a new variable, and returns its name."""
        if dtype_name(value.dtype) not in DTYPES:
            raise Opaque(f"no operator takes {dtype_name(value.dtype)}")
        tensor = to_tensor(np.ascontiguousarray(value).reshape(value.shape))
        return self.bind(Constant(tensor), TensorType(tensor.shape, tensor.dtype))

    def parts(self, names: Sequence[str]) -> str:
        """The only one of *names*, or a tuple of them."""
        if len(names) == 1:
            return names[0]
        return self.bind(TupleOf(tuple(names)), TupleType(tuple(self.types[each] for each in names)))

    def bind(self, value: Expression, kind: Type) -> str:
        """Adds a binding; its variable."""
        name = self._fresh("v")
        self.bindings.append(Binding(name, kind, value))
        self.types[name] = kind
        return name

    def inner(self) -> Builder:
        """A builder for a block inside this one, which sees its variables."""
        return Builder(self.registry, dict(self.types), [], self._number)

    def apart(self) -> Builder:
        """A builder for another function."""
        return Builder(self.registry, {}, [], self._number)

    def block(self, result: str, *, main: bool = False) -> Block:
        """The block that has been read, without what its result does not depend on."""
        found = without_dead_bindings(Block(tuple(self.bindings), result))
        plain = not any(isinstance(each.value, (If, Invoke)) for each in found.bindings)
        return Block(found.bindings, result, dataflow=main and plain)

    def mark(self) -> int:
        """The number of bindings, to `forget` later ones."""
        return len(self.bindings)

    def forget(self, mark: int) -> None:
        """Removes the bindings behind *mark*."""
        del self.bindings[mark:]

    def _fresh(self, letter: str) -> str:
        return f"{letter}{next(self._number)}"


def axis_from(axis: int, rank: int) -> int:
    """*axis*, counted from the front; raises `Opaque` where there is none."""
    if not -rank <= axis < rank:
        raise Opaque(f"axis {axis} of {rank} dimensions")
    return axis % rank


def integral(value: float) -> int | float:
    """*value* as an integer where it is one."""
    return int(value) if float(value).is_integer() else float(value)


def write_readings(read: Callable[[str], Reading], given: Iterable[str]) -> None:
    """Writes a line of JSON for each of *given*: the `program/1` document and what stays opaque, or what is wrong with it.

    The first argument of the command line is the file to write.
    """
    with Path(sys.argv[1]).open("w", encoding="utf-8") as lines:
        for each in given:
            try:
                reading = read(each)
                found = {"program": {**encode_program(reading.program), "inputs": []}, "opaque": reading.opaque}
            except Exception as error:  # a file that is no model fails in many ways
                found = {"error": f"{type(error).__name__}: {error}"[:300]}
            lines.write(json.dumps(found, separators=(",", ":")) + "\n")
            lines.flush()
