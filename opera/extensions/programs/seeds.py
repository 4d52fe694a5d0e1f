"""Which calls no solver draws, so that a recorded instance is the only way to them."""

from __future__ import annotations

from random import Random

from opera.extensions.programs.languages import registry
from opera.extensions.programs.program import Binding, Call, Program, bindings
from opera.extensions.programs.types import Type

_TRIES = 200


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
