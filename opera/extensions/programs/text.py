"""Programs as text that a person can read. Nothing reads it back; the document is `program/1`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from opera.arrays import Array
from opera.extensions.programs.program import Binding, Block, Call, Constant, Function, If, Invoke, Program, Projection, Tuple
from opera.extensions.programs.types import Attribute, elements
from opera.extensions.programs.values import to_array

_FEW = 6
"""Elements of a literal that are written out."""


def lines_of(program: Program) -> Iterator[str]:
    """One line for each binding: `v2: float32[3] = add(x1, v1)`; those of inner blocks begin with bars."""
    for function in program.functions:
        yield from _function(function)


def _function(function: Function) -> Iterator[str]:
    yield f"{function.name}({', '.join(f'{each.name}: {each.type}' for each in function.parameters)}):"
    yield from _block(function.body, "")


def _block(block: Block, indent: str) -> Iterator[str]:
    for binding in block.bindings:
        yield from _binding(binding, indent)
    yield f"{indent}{'' if indent else 'return '}{block.result}"


def _binding(binding: Binding, indent: str) -> Iterator[str]:
    start = f"{indent}{binding.name}: {binding.type} = "
    match binding.value:
        case Call(operator, arguments, attributes):
            settings = [f"{name}={_attribute(value)}" for name, value in attributes.items()]
            yield f"{start}{operator}({', '.join([*arguments, *settings])})"
        case Constant(literal):
            few = literal.data is not None and elements(literal.shape) <= _FEW
            yield f"{start}{_literal(to_array(literal)) if few else 'constant'}"
        case Tuple(parts):
            yield f"{start}({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        case Projection(source, index):
            yield f"{start}{source}[{index}]"
        case If(condition, then, otherwise):
            yield f"{start}if {condition}:"
            yield from _block(then, indent + "| ")
            yield f"{indent}else:"
            yield from _block(otherwise, indent + "| ")
        case Invoke(function, arguments):
            yield f"{start}{function}({', '.join(arguments)})"


def _attribute(value: Attribute) -> str:
    return str(list(value)) if isinstance(value, tuple) else repr(value)


def _literal(array: Array) -> str:
    return " ".join(np.array2string(array, precision=6, separator=", ").split())
