"""Finds the call that makes a program ill-typed. Compilers have to reject such a program."""

from __future__ import annotations

from dataclasses import dataclass, replace

from opera.extensions.programs.check import check
from opera.extensions.programs.languages import registry
from opera.extensions.programs.operators import Registry
from opera.extensions.programs.program import MAIN, Block, Call, Function, Parameter, Program
from opera.extensions.programs.retype import retyped
from opera.extensions.programs.types import IllTyped, Type


@dataclass(frozen=True)
class TypeFault:
    """A call that has no type.

    Attributes:
        place: Place of its binding in `main`; those before it are well typed.
        operator: Its name.
        arguments: The types of its arguments.
        why: What breaks a rule of types, as one line.
    """

    place: int
    operator: str
    arguments: tuple[Type, ...]
    why: str

    def __str__(self) -> str:
        return f"{self.operator}({', '.join(map(str, self.arguments))}): {self.why}"


def type_fault(program: Program, registry: Registry) -> TypeFault | None:
    """The first call of `main` that no types allow, whatever types its bindings declare; None where all have a type.

    Raises:
        IllTyped: something else than a call of `main` is ill-typed.
    """
    rest = program.functions[:-1]
    if rest:
        check(Program((*rest[:-1], replace(rest[-1], name=MAIN))), registry)
    visible: dict[str, Type] = {each.name: each.type for each in program.main.parameters}
    functions = {each.name: each for each in rest}
    for index, each in enumerate(program.main.body.bindings):
        try:
            _, visible[each.name] = retyped(Block((each,), each.name), visible, functions, registry)
        except (KeyError, IndexError) as error:
            raise IllTyped(f"{each.name[:40]!r} in function {MAIN!r}: there is no {error}") from error
        except IllTyped as error:
            if not isinstance(each.value, Call) or each.value.operator not in registry:
                raise
            return TypeFault(index, each.value.operator, tuple(visible[name] for name in each.value.arguments), str(error))
    return None


def faulty_call(program: Program) -> Program:
    """The call that makes *program* ill-typed, alone: its arguments are parameters, and its result keeps the declared type.

    Raises:
        ValueError: *program* is well typed.
    """
    fault = type_fault(program, registry())
    if fault is None:
        raise ValueError("the program is well typed")
    binding = program.main.body.bindings[fault.place]
    assert isinstance(binding.value, Call)
    types = dict(zip(binding.value.arguments, fault.arguments, strict=True))
    parameters = tuple(Parameter(name, kind) for name, kind in types.items())
    return Program((Function(MAIN, parameters, Block((binding,), binding.name), binding.type),))
