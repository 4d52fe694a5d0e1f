"""Programs of many operators as models: numpy gives the reference, a subclass prints the language that compilers load."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence

from opera.arrays import Array, as_array
from opera.extensions.programs.check import check
from opera.extensions.programs.document import BadProgram
from opera.extensions.programs.faults import type_fault
from opera.extensions.programs.instances import ILL_TYPED as ILL_TYPED_API
from opera.extensions.programs.instances import program_of
from opera.extensions.programs.languages import registry
from opera.extensions.programs.program import Program, bindings, canonical
from opera.extensions.programs.templates.meaning import ORDER_OF_NAN, Meaning
from opera.extensions.programs.types import IllTyped, tensors_in
from opera.extensions.programs.values import type_of
from opera.instance import Instance, Tensor
from opera.models.sampling import sample
from opera.models.template import Artefact, Invalid, PythonSource, Reference

ILL_TYPED = "ill-typed-program"
"""Reason code of an instance whose program is malformed or breaks a rule of types."""
ILL_TYPED_KIND = "ill-typed"
"""The kind of artefact of a program that compilers have to reject."""


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
        self._meaning = Meaning(self.program, self._values, instance.library)

    @property
    def inputs(self) -> Sequence[tuple[str, Array]]:
        return [(each.name, value) for each, value in zip(self.program.main.parameters, self._values, strict=True)]

    @property
    def dtypes(self) -> Collection[str]:
        """The dtypes of all values of the program."""
        return {each.dtype for binding in bindings(self.program) for each in tensors_in(binding.type)}

    def run_once(self) -> list[Array]:
        """The results by numpy."""
        return self._meaning.results()

    def reference(self) -> Reference:
        """The results by numpy, and the same in double precision along the whole program; an ill-typed program has none."""
        if self.ill_typed:
            return Reference([], None)
        results = self._meaning.results()
        return Reference(results, self._meaning.precise(), undefined=ORDER_OF_NAN if self._meaning.compares_nan else None)

    def nearby(self, scale: float, draw: int, computes_as: Mapping[str, str] | None = None) -> list[Array] | None:
        return self._meaning.nearby(scale, draw, computes_as)

    def exact(self, dtype: str) -> list[Array] | None:
        return self._meaning.exact(dtype)

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
