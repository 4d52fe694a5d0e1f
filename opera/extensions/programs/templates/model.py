"""Programs of many operators as models: numpy gives the reference, a subclass prints the language that compilers load."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from opera.arrays import Array, as_array, dtype_name
from opera.extensions.programs.check import Rounding, check, evaluate
from opera.extensions.programs.document import BadProgram
from opera.extensions.programs.faults import type_fault
from opera.extensions.programs.instances import ILL_TYPED as ILL_TYPED_API
from opera.extensions.programs.instances import program_of
from opera.extensions.programs.languages import registry
from opera.extensions.programs.operators import Operator
from opera.extensions.programs.program import Program, bindings, canonical
from opera.extensions.programs.types import IllTyped, tensors_in
from opera.extensions.programs.values import ProgramValue, type_of
from opera.instance import Instance, Tensor
from opera.models.sampling import is_inexact, nudged, sample
from opera.models.template import LIBRARY_RAISED, Artefact, Invalid, PythonSource, Reference

ILL_TYPED = "ill-typed-program"
"""Reason code of an instance whose program is malformed or breaks a rule of types."""
ILL_TYPED_KIND = "ill-typed"
"""The kind of artefact of a program that compilers have to reject."""
_WIDE = {"float16": "float64", "float32": "float64"}
_SIGNED = ("int8", "int16", "int32")
_UNSIGNED = ("uint8", "uint16", "uint32")
_VISIBLE = 2.0**-24
"""Relative size of the smallest change that a number in less than double precision shows."""
_COARSE = 2.0**-11
"""The same in half precision."""


class ProgramModel(ABC):
    """One program, typed again, with its inputs. What it means is what the registry of operators says."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        """Reads the program.

        Raises:
            Invalid: it is malformed, ill-typed, or takes other inputs.
        """
        self.ill_typed = instance.api == ILL_TYPED_API
        try:
            self.program = canonical(_checked(instance, ill_typed=self.ill_typed))
        except (BadProgram, IllTyped) as error:
            raise Invalid(ILL_TYPED) from error
        self._values = [_value(each.value, f"{key}:{index}", seed) for index, each in enumerate(instance.call)]
        if [type_of(each) for each in self._values] != [each.type for each in self.program.main.parameters]:
            raise Invalid("inputs-do-not-fit")

    @property
    def inputs(self) -> Sequence[tuple[str, Array]]:
        return [(each.name, value) for each, value in zip(self.program.main.parameters, self._values, strict=True)]

    @property
    def dtypes(self) -> Collection[str]:
        """The dtypes of all values of the program."""
        return {each.dtype for binding in bindings(self.program) for each in tensors_in(binding.type)}

    def run_once(self) -> list[Array]:
        """The results by numpy."""
        return self._evaluate(self._values)

    def reference(self) -> Reference:
        """The results by numpy, and the same in double precision along the whole program; an ill-typed program has none."""
        if self.ill_typed:
            return Reference([], None)
        outputs = self._evaluate(self._values)
        try:
            precise = self._evaluate(self._values, _WIDE)
        except Invalid:
            precise = None
        return Reference(outputs, precise)

    def nearby(self, scale: float, draw: int, computes_as: Mapping[str, str] | None = None) -> list[Array] | None:
        """The results near the inputs; every second draw keeps the program's own precision, because its steps may be rounded or not.

        In the other draws, literals are off by *scale*, too. So are results of operators where the dtype cannot hold them exactly, or
        compilers approximate the operator. What follows a rounded number may follow another one, for example `floor` of a number that is
        nearly whole, or of `x / x`. The error of an operator whose formula cancels, such as `gelu(-9)`, is relative to its largest
        argument.
        """
        visible = scale >= _VISIBLE
        own = visible and draw % 2 == 1
        amount = 0.0 if own and draw == 1 else scale
        feeds = [self._nudged(value, amount, draw, index, computes_as, own=own) for index, value in enumerate(self._values)]

        def rounded(value: Array, operator: Operator | None, largest: Array, number: int) -> Array:
            if value.dtype != np.float64:
                return value
            with np.errstate(all="ignore"):
                exact = (value == value.astype(holder)) & (operator is not None and not operator.approximate)
                size = np.maximum(np.abs(value), largest) if operator is not None and operator.cancels else np.abs(value)
                error = nudged(size, scale, draw, len(feeds) + number) - size
                return np.where(exact | ~np.isfinite(error), value, value + error)  # what is infinite has no rounding error

        holder = np.float16 if scale >= _COARSE else np.float32
        try:
            return self._evaluate(feeds, {} if own else _WIDE, rounded if visible and not own else None)
        except Invalid:
            return None

    def exact(self, dtype: str) -> list[Array] | None:
        """The results where all narrower integers are *dtype*; None where an operator does not take these."""
        try:
            narrow = _SIGNED if dtype == "int64" else (*_SIGNED, *_UNSIGNED, "int64")
            return self._evaluate(self._values, dict.fromkeys(narrow, dtype), needs=False)
        except Invalid:
            return None

    def shapes_elsewhere(self) -> None:
        return None

    def captured(self, kind: str, data: bytes) -> tuple[str, Sequence[Array]] | None:
        """What another evaluator of the language says; None where there is none."""
        return None

    def artefact(self, kind: str, form: str) -> Artefact:
        """The program in the language of a compiler. An ill-typed one is an artefact of its own kind, so that only its routes take it."""
        if self.ill_typed != (kind == ILL_TYPED_KIND):
            raise Invalid(ILL_TYPED if self.ill_typed else "well-typed-program")
        return self.printed(kind)

    @abstractmethod
    def printed(self, kind: str) -> Artefact:
        """The program as an artefact of *kind*."""

    @abstractmethod
    def source(self, form: str) -> PythonSource:
        """The program as a person would write it."""

    def _nudged(self, value: Array, scale: float, draw: int, place: int, computes_as: Mapping[str, str] | None, *, own: bool) -> Array:
        """An input that is off by *scale*, in double precision unless the program keeps its *own*."""
        name = dtype_name(value.dtype)
        if not is_inexact(name):
            return value
        with np.errstate(all="ignore"):
            moved = nudged(value.astype("float64"), scale, draw, place, computes_as)
            return moved if name in _WIDE and not own else moved.astype(value.dtype)

    def _evaluate(
        self, values: Sequence[Array], dtypes: Mapping[str, str] | None = None, rounding: Rounding | None = None, *, needs: bool = True
    ) -> list[Array]:
        try:
            return list(tensors_of(evaluate(self.program, values, registry(), dtypes or {}, rounding, needs=needs)))
        except ValueError as error:
            raise Invalid(LIBRARY_RAISED) from error


def _checked(instance: Instance, *, ill_typed: bool) -> Program:
    program = program_of(instance)
    if not ill_typed:
        check(program, registry())
    elif type_fault(program, registry()) is None:
        raise Invalid("well-typed-program")
    return program


def _value(value: object, key: str, seed: int) -> Array:
    if not isinstance(value, Tensor):
        raise Invalid("input-is-no-tensor")
    return as_array(sample(value, key, seed))


def tensors_of(value: ProgramValue) -> Iterator[Array]:
    """The tensors of a result, in order."""
    if isinstance(value, tuple):
        for each in value:
            yield from tensors_of(each)
    else:
        yield value
