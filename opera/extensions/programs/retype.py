"""Gives the bindings of a program the types that follow from their arguments."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace

from opera.extensions.programs.operators import Registry
from opera.extensions.programs.program import Binding, Block, Call, Constant, Expression, Function, If, Invoke, Projection, Tuple
from opera.extensions.programs.types import IllTyped, TensorType, TupleType, Type, tensors_in

MOST_TENSORS = 10_000
"""Most tensors in a tuple, whose parts may be one tuple of tuples."""


def retyped(block: Block, outer: Mapping[str, Type], functions: Mapping[str, Function], registry: Registry) -> tuple[Block, Type]:
    """*block* with the types that follow from those outside, and the type of its result.

    Args:
        block: The types that it declares do not count.
        outer: The types of the variables outside.
        functions: Those that it may call.
        registry: The operators.

    Raises:
        IllTyped: an operator, a function or an `if` does not take what it is given.
        KeyError: there is no such variable or function.
    """
    visible = dict(outer)
    found: list[Binding] = []
    for each in block.bindings:
        value, kind = _expression(each.value, visible, functions, registry)
        found.append(Binding(each.name, kind, value))
        visible[each.name] = kind
    return replace(block, bindings=tuple(found)), visible[block.result]


def _expression(
    value: Expression, visible: Mapping[str, Type], functions: Mapping[str, Function], registry: Registry
) -> tuple[Expression, Type]:
    match value:
        case Call(operator, arguments, attributes):
            if operator not in registry:
                raise IllTyped(f"there is no operator {operator[:40]!r}")
            return value, registry.get(operator).infer([visible[each] for each in arguments], attributes)
        case Constant(literal):
            return value, TensorType(literal.shape, literal.dtype)
        case Tuple(parts):
            kind = TupleType(tuple(visible[each] for each in parts))
            if next(itertools.islice(tensors_in(kind), MOST_TENSORS, None), None) is not None:
                raise IllTyped(f"a tuple of more than {MOST_TENSORS:,} tensors")
            return value, kind
        case Projection(source, index):
            whole = visible[source]
            if not isinstance(whole, TupleType):
                raise IllTyped(f"part {index} of {whole}")
            return value, whole.fields[index]
        case If(condition, then, otherwise):
            (one, kind), (other, same) = (retyped(each, visible, functions, registry) for each in (then, otherwise))
            if kind != same:
                raise IllTyped(f"the branches give {kind} and {same}")
            return If(condition, one, other), kind
        case Invoke(name, arguments):
            function = functions[name]
            if tuple(visible[each] for each in arguments) != tuple(each.type for each in function.parameters):
                raise IllTyped(f"function {name!r} takes other sizes")
            return value, function.result
