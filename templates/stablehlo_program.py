"""Hands StableHLO modules of jaxlib on as plain programs, which need no jaxlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opera.stablehlo.program import Attribute, Block, Function, Operation, Program, read_attribute
from opera.templates.stablehlo_module import functions_of, ir, line_of, run_passes, walk
from opera.templates.stablehlo_plan import DEPRECATED, lower_chlo


def plain_program(module: Any) -> Program:
    """The functions of *module*; operations of CHLO, and deprecated ones, are written with others first.

    Raises:
        MLIRError: one of CHLO cannot be written with others.
    """
    lower_chlo(module)
    if any(str(each.name) in DEPRECATED for each in walk(module.operation)):
        run_passes(module, "func.func(stablehlo-legalize-deprecated-ops{fail-on-unused=false})")
    return Program({each.name: _Reader().function(each) for each in functions_of(module)})


class _Reader:
    """Reads one function; each of its values gets a number."""

    def __init__(self) -> None:
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
        operands = tuple(self._numbers[each] for each in operation.operands)
        regions = tuple(self._block(region.blocks[0]) for region in operation.regions if len(region.blocks))
        results = self._define(list(operation.results))
        types = tuple(str(each.type) for each in operation.results)
        return Operation(str(operation.name), operands, results, types, _attributes(operation), regions, line_of(operation))


def _attributes(operation: Any) -> dict[str, Attribute]:
    if str(operation.name) == "stablehlo.constant":  # jaxlib cannot read complex constants, but it prints them
        text = operation.get_asm(large_elements_limit=None)
        return {"value": read_attribute(text[text.index("dense") :].strip())} if "dense" in text else {}
    return {name: read_attribute(_text(operation.attributes[name])) for name in operation.attributes}


def _text(attribute: Any) -> str:
    return f'"{attribute.value}"' if isinstance(attribute, ir.StringAttr) else str(attribute)
