"""Writes a StableHLO model with its inputs and outputs as a self-checking program, in the style of the interpreter's own tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opera.extensions.stablehlo.messages import Compose, RawTensor
from opera.extensions.stablehlo.printing import printed_dense
from opera.extensions.stablehlo.statements import pretty
from opera.extensions.stablehlo.templates.inputs import constant_of
from opera.extensions.stablehlo.templates.module import Function, Rejected, functions_of, ir, parse, tensor_of
from opera.extensions.stablehlo.templates.plan import MAIN, free_main, place_constant, rename
from opera.extensions.stablehlo.types import Value, decoded

_TRIVIAL = frozenset({"stablehlo.constant", "func.return"})


def compose(request: Compose) -> str:
    """The program: constants, operations, checks.

    Raises:
        Rejected: the text has no function `main`, or inputs or results do not fit.
    """
    module = parse(request.text)
    function = next((each for each in functions_of(module) if each.name == MAIN), None)
    if function is None:
        raise Rejected("the module has no function main")
    _name_values(function)
    block = function.operation.regions[0].blocks[0]
    _bake(block, request)
    _check(function, block, request)
    rename(module, free_main(module, MAIN), request.name)
    text = str(module.operation.get_asm(large_elements_limit=None, use_name_loc_as_prefix=True))
    return pretty(_without_module(text))


def _name_values(function: Function) -> None:
    """Gives arguments and results the names that their operations have for them: `lhs`, `rhs`, `result`."""
    block = function.operation.regions[0].blocks[0]
    for operation in block.operations:
        if str(operation.operation.name) in _TRIVIAL:
            continue
        for name, value in _named_operands(operation):
            if isinstance(value.owner, ir.Block):
                value.set_location(ir.Location.name(name))
    results = [each for each in block.operations if str(each.operation.name) not in _TRIVIAL]
    for index, each in enumerate(results):
        name = "result" if index == len(results) - 1 else str(each.operation.name).rpartition(".")[2]
        each.operation.location = ir.Location.name(name)


def _named_operands(operation: Any) -> list[tuple[str, Any]]:
    """The operands with the names of the operation's own accessors; several under one name are numbered."""
    found: list[tuple[str, Any]] = []
    members: Mapping[str, Any] = type(operation).__dict__
    for name in [each for each, member in members.items() if isinstance(member, property)]:
        value: Any = getattr(operation, name, None)
        if isinstance(value, ir.Value) and value in list(operation.operands):
            found.append((name, value))
        elif isinstance(value, ir.OpOperandList):
            several = list(value)
            found += [(f"{name}{index}" if len(several) > 1 else name.rstrip("s_"), each) for index, each in enumerate(several)]
    return found


def _bake(block: Any, request: Compose) -> None:
    """Puts constants in the place of arguments."""
    arguments = list(block.arguments)
    if [str(each.type) for each in arguments] != [each.type for each in request.inputs]:
        raise Rejected("the inputs are not those of main")
    anchor = block.operations[0]
    for argument, given in zip(arguments, request.inputs, strict=True):
        with ir.InsertionPoint(anchor):
            made = place_constant(constant_of(_value(given)))
        made.owner.location = argument.location
        argument.replace_all_uses_with(made)
    for place in reversed(range(len(arguments))):
        block.erase_argument(place)


def _check(function: Function, block: Any, request: Compose) -> None:
    """Compares the results with what is expected, instead of returning them."""
    ending = list(block.operations)[-1].operation
    values = list(ending.operands)
    if [str(each.type) for each in values] != [each.type for each in request.expected]:
        raise Rejected("the outputs are not those of main")
    for value, wanted, tolerance in zip(values, request.expected, request.tolerances, strict=True):
        _add_check(value, _value(wanted), tolerance, ending)
    ir.Operation.create("func.return", ip=ir.InsertionPoint(ending))
    ending.erase()
    operation = function.operation
    operation.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], []))
    for name in ("res_attrs", "arg_attrs", "sym_visibility"):
        if name in operation.attributes:
            del operation.attributes[name]


def _add_check(value: Any, expected: Value, tolerance: float | None, before: Any) -> None:
    if tensor_of(value.type) is None:
        raise Rejected(f"a result of type {value.type} cannot be checked")
    name = "check.expect_eq_const" if tolerance is None else "check.expect_almost_eq_const"
    attributes = {"value": ir.StringAttr.get(printed_dense(expected))}
    if tolerance is not None:
        attributes["tolerance"] = ir.FloatAttr.get(ir.F64Type.get(), tolerance)
    ir.Operation.create(name, operands=[value], attributes=attributes, ip=ir.InsertionPoint(before))


def _value(tensor: RawTensor) -> Value:
    try:
        value = decoded(tensor.type, tensor.data)
    except ValueError as error:
        raise Rejected(f"no constant: {error}") from error
    if value is None:
        raise Rejected(f"no value of type {tensor.type}")
    return value


def _without_module(text: str) -> str:
    """The functions alone, as the tests of the interpreter have them."""
    lines: Sequence[str] = text.strip().splitlines()
    if not lines[0].startswith("module"):
        return text
    return "\n".join(each.removeprefix("  ") for each in lines[1:-1]) + "\n"
