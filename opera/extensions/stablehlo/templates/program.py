"""Hands StableHLO modules of jaxlib on as plain programs, which need no jaxlib."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opera.extensions.stablehlo.interpreter import ELEMENTS, SITE, PastLimit
from opera.extensions.stablehlo.program import Attribute, Block, Function, Operation, Program, read_attribute
from opera.extensions.stablehlo.scanner import TextError
from opera.extensions.stablehlo.templates.checks import Compared, is_check, read_check
from opera.extensions.stablehlo.templates.module import functions_of, ir, line_of, tensor_of
from opera.extensions.stablehlo.templates.plan import lower, name_prints
from opera.extensions.stablehlo.types import Value


@dataclass(frozen=True)
class Plain:
    """A plain program, and its checks: the attribute `site` of a check is its place among them, its operands are what it compares."""

    program: Program
    checks: list[Compared] = field(default_factory=list[Compared])


def plain_program(module: Any) -> Plain:
    """The functions of *module*; operations of CHLO, and deprecated ones, are written with others first.

    Raises:
        MLIRError: one of CHLO cannot be written with others.
        Rejected: a check has other operands or attributes than it takes.
        TextError: a constant is of a type that is not known, e.g. quantised.
        PastLimit: a constant has more elements than the interpreter takes.
    """
    name_prints(module)
    lower(module)
    checks: list[Compared] = []
    return Plain(Program({each.name: _Reader(checks).function(each) for each in functions_of(module)}), checks)


class _Reader:
    """Reads one function; each of its values gets a number."""

    def __init__(self, checks: list[Compared]) -> None:
        self._checks = checks
        self._numbers: dict[Any, int] = {}

    def function(self, function: Any) -> Function:
        body = self._block(function.operation.regions[0].blocks[0])
        inputs, results = (tuple(str(each) for each in types) for types in (function.inputs, function.results))
        return Function(function.name, inputs, results, body, function.line)

    def _define(self, values: Sequence[Any]) -> tuple[int, ...]:
        found: list[int] = []
        for value in values:
            self._numbers[value] = len(self._numbers)
            found.append(self._numbers[value])
        return tuple(found)

    def _block(self, block: Any) -> Block:
        arguments = self._define(list(block.arguments))
        return Block(arguments, tuple(self._operation(each.operation) for each in block.operations))

    def _operation(self, operation: Any) -> Operation:
        name, operands = str(operation.name), list(operation.operands)
        attributes: Mapping[str, Attribute]
        if is_check(operation):
            compared = read_check(operation)
            name, attributes = SITE, {"site": len(self._checks)}
            operands = [each for each in (compared.actual, compared.expected) if each is not None and not isinstance(each, Value)]
            self._checks.append(compared)
        else:
            attributes = _attributes(operation)
        numbers = tuple(self._numbers[each] for each in operands)
        regions = tuple(self._block(region.blocks[0]) for region in operation.regions if len(region.blocks))
        results = self._define(list(operation.results))
        types = tuple(str(each.type) for each in operation.results)
        return Operation(name, numbers, results, types, attributes, regions, line_of(operation))


def _attributes(operation: Any) -> dict[str, Attribute]:
    if str(operation.name) == "stablehlo.constant":
        text = constant_text(operation)
        return {} if text is None else {"value": read_attribute(text)}
    return {name: _read(operation.attributes[name]) for name in operation.attributes}


def constant_text(constant: Any) -> str | None:
    """The value of a constant as MLIR prints it, since jaxlib cannot read complex ones; None where it is no dense constant.

    Raises:
        PastLimit: it has more elements than the interpreter takes.
    """
    type = tensor_of(constant.results[0].type)
    size = 0 if type is None else math.prod(type.shape)
    if size > ELEMENTS:
        raise PastLimit(f"{type} has {size:,} elements, and at most {ELEMENTS:,} are allowed")
    text = constant.get_asm(large_elements_limit=None)
    return text[text.index("dense") :].strip() if "dense" in text else None


def _read(attribute: Any) -> Attribute:
    """An attribute as a plain value; as text, where it is of a kind that no operation needs, e.g. the layout of a foreign call."""
    text = str(attribute.value) if isinstance(attribute, ir.StringAttr) else str(attribute)
    try:
        return text if isinstance(attribute, ir.StringAttr) else read_attribute(text)
    except TextError:
        return text


def plain_operation(operation: Any) -> Operation:
    """One operation alone, without its operands and regions."""
    return Operation(str(operation.name), (), (), tuple(str(each.type) for each in operation.results), _attributes(operation))
