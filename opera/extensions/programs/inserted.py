"""A program whose body is inserted into others as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import numpy as np

from opera.extensions.programs.check import Evaluation, NotDefined
from opera.extensions.programs.languages import registry
from opera.extensions.programs.program import Binding, Call, If, Invoke, Program, Tuple, bindings, calls
from opera.extensions.programs.types import TensorType, Type, elements, tensor, tensors_in
from opera.extensions.programs.values import ANY, Bounds, ProgramValue

_TRIES = 200


class InsertedBlock:
    """A program of one function without branches, as a generator inserts it.

    Attributes:
        main: Its function.
        calls: How many operators it has.
        elements: How many elements its largest tensor has.
        results: A variable for each type of a tensor that it gives.
        needs: What its parameters have to be, by name.
    """

    def __init__(self, program: Program) -> None:
        """Prepares a block; *program* is one that `check` accepts.

        Raises:
            ValueError: it has branches, calls functions, or has no operator or no tensor as its result.
        """
        self.main = program.main
        bindings = self.main.body.bindings
        if any(isinstance(each.value, (If, Invoke)) for each in bindings):
            raise ValueError("a program to insert has no 'if' and calls no function")
        self.calls = len(list(calls(program)))
        types: dict[str, Type] = {each.name: each.type for each in (*self.main.parameters, *bindings)}
        self.elements = max((elements(each.shape) for kind in types.values() for each in tensors_in(kind)), default=0)
        last = next((each.value for each in bindings if each.name == self.main.body.result), None)
        names = last.parts if isinstance(last, Tuple) else (self.main.body.result,)
        made = {each.name for each in bindings}
        self.results = {types[name]: name for name in names if name in made and isinstance(types[name], TensorType)}
        if not self.calls or not self.results:
            raise ValueError("a program to insert has at least one operator, and a tensor as a result")
        self.needs = self._needs(types)
        self._evaluation = Evaluation(program, registry())

    def values(self, given: Mapping[str, ProgramValue]) -> dict[str, ProgramValue] | None:
        """The values of all variables, from those of the parameters; None where an operator is not defined on them."""
        values = dict(given)
        try:
            with np.errstate(all="ignore"):
                for each in self.main.body.bindings:
                    values[each.name] = self._evaluation.expression(each.value, values)
        except NotDefined:
            return None
        return values

    def _needs(self, types: Mapping[str, Type]) -> dict[str, Bounds]:
        """What the operators that read a parameter ask of it, all together."""
        found: dict[str, Bounds] = {}
        parameters = {each.name for each in self.main.parameters}
        for binding in self.main.body.bindings:
            if not isinstance(binding.value, Call):
                continue
            operator, names = registry().get(binding.value.operator), binding.value.arguments
            kinds = [tensor(types[name]) for name in names]
            for index, name in enumerate(names):
                if name in parameters:
                    one, other = found.get(name, ANY), operator.need(index, kinds, binding.value.attributes)
                    found[name] = Bounds(max(one.low, other.low), min(one.high, other.high), one.zero and other.zero)
        return found


def by_type(programs: Sequence[Program]) -> dict[Type, list[InsertedBlock]]:
    """The blocks of *programs*, by the types that they give."""
    found: dict[Type, list[InsertedBlock]] = {}
    for block in map(InsertedBlock, programs):
        for kind in block.results:
            found.setdefault(kind, []).append(block)
    return found


def beyond_solvers(program: Program, call: Call) -> bool:
    """Whether no solver gives the parameters of *call*, for its own type, in 200 tries; its arguments' types may be others."""
    operator = registry().get(call.operator)
    target = _type_of(program, call)
    if not call.attributes:
        return not operator.recognises(target)
    if not operator.recognises(target):
        return True
    random = Random(call.operator)
    return not any(dict(operator.solve(target, random).attributes) == dict(call.attributes) for _ in range(_TRIES))


def _type_of(program: Program, call: Call) -> Type:
    found: Binding = next(each for each in bindings(program) if each.value is call)
    return found.type
