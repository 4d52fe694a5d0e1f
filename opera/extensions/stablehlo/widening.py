"""Plain programs with other types of elements: what they would give without rounding, or without overflow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from opera.extensions.stablehlo.program import Attribute, Block, Operation, Program
from opera.extensions.stablehlo.types import TensorType, Value, element_type

IN_DOUBLE: Mapping[str, str] = {"f16": "f64", "bf16": "f64", "f32": "f64", "complex<f32>": "complex<f64>"}
"""Floating-point numbers in double precision."""
AS_INT64: Mapping[str, str] = {"i8": "i64", "i16": "i64", "i32": "i64"}
"""Integers with a sign in 64 bits."""
AS_FLOAT64: Mapping[str, str] = {**IN_DOUBLE, **AS_INT64, "i64": "f64"}
"""Nothing is rounded, and no integer wraps around."""
_ON_PURPOSE = frozenset({"stablehlo.bitcast_convert", "stablehlo.reduce_precision", "stablehlo.rng_bit_generator"})
"""Operations that mean the width of their types."""
_TENSOR = re.compile(r"(tensor<(?:(?:\d+|\?)x)*)([A-Za-z]\w*(?:<\w+>)?)(.*)")
_USUAL = frozenset({"f32", "i32", "complex<f32>"})
"""What programs are written in: a conversion to it is no rounding on purpose."""


def widened(program: Program, types: Mapping[str, str]) -> Program | None:
    """*program* with elements of other types; None where it means their width, e.g. because it rounds on purpose.

    Args:
        program: The program.
        types: The new type of elements, by the old one.
    """
    operations = [each for name in program.functions for each in program.reached(name)]
    if any(each.name in _ON_PURPOSE or _rounds(each, types) for each in operations):
        return None
    return Program(
        {
            name: replace(
                each,
                inputs=tuple(_type(type, types) for type in each.inputs),
                results=tuple(_type(type, types) for type in each.results),
                body=_block(each.body, types),
            )
            for name, each in program.functions.items()
        }
    )


def _rounds(operation: Operation, types: Mapping[str, str]) -> bool:
    """Whether *operation* converts to a narrow type, which would be a wider one."""
    if operation.name != "stablehlo.convert":
        return False
    matches = [_TENSOR.fullmatch(each) for each in operation.types]
    return any(match is not None and match[2] in types and match[2] not in _USUAL for match in matches)


def _block(block: Block, types: Mapping[str, str]) -> Block:
    return replace(block, operations=tuple(_operation(each, types) for each in block.operations))


def _operation(operation: Operation, types: Mapping[str, str]) -> Operation:
    return replace(
        operation,
        types=tuple(_type(each, types) for each in operation.types),
        attributes={name: _attribute(each, types) for name, each in operation.attributes.items()},
        regions=tuple(_block(each, types) for each in operation.regions),
    )


def _type(text: str, types: Mapping[str, str]) -> str:
    """A type of tensors as text, dimensions unchanged."""
    match = _TENSOR.fullmatch(text)
    return text if match is None else f"{match[1]}{types.get(match[2], match[2])}{match[3]}"


def _attribute(attribute: Attribute, types: Mapping[str, str]) -> Attribute:
    return widened_value(attribute, types) if isinstance(attribute, Value) else attribute


def widened_value(value: Value, types: Mapping[str, str]) -> Value:
    """The same numbers as elements of another type."""
    wide = types.get(value.type.element.name)
    if wide is None:
        return value
    type = TensorType(value.type.shape, element_type(wide))
    with np.errstate(all="ignore"):
        return Value(type, value.array.astype(type.element.numpy))
