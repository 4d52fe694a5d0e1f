"""Self-checking StableHLO programs as operator instances: one function, its constants as inputs, what it checks as outputs."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from opera.extensions.stablehlo.checks import Check
from opera.extensions.stablehlo.literals import Constant, read_constant
from opera.extensions.stablehlo.templates.checks import Compared, is_check, read_check, remove
from opera.extensions.stablehlo.templates.module import Function, functions_of, ir, keep_only, parse, tensor_of, walk
from opera.extensions.stablehlo.templates.plan import MAIN, evaluate_apart, free_main, instrument, place_constant, rename, results_of
from opera.extensions.stablehlo.types import Value

_CONSTANT = "stablehlo.constant"
_OUTSIDE = frozenset({"interpreter.run_parallel", "interpreter.probe", "interpreter.print", "stablehlo.infeed", "stablehlo.recv"})
_NO_OPERATOR = frozenset({_CONSTANT, "stablehlo.return", "stablehlo.custom_call"})


class NotRecordable(Exception):
    """A function that is no instance. The message is the reason code."""


@dataclass(frozen=True)
class Graph:
    """A function without checks, whose constants are inputs.

    Attributes:
        api: The operation under check, e.g. `stablehlo.add`.
        text: A module with a function `main`.
        inputs: The constants, in the order of the arguments of `main`.
        checks: What the program demands of each result of `main`.
        expected: The constants that results are compared with, where the text has them; None for computed ones.
    """

    api: str
    text: str
    inputs: tuple[Value, ...]
    checks: tuple[Check, ...]
    expected: tuple[Value | None, ...]


def graph_of(text: str, function: Function) -> tuple[Graph, str]:
    """The instance that *function* of the module *text* is, and a module whose `main` gives the values to compare with.

    Raises:
        NotRecordable: it takes inputs, has no check at its top level, or does what no compiler can do alone.
        TextError: a constant is of a type that is not known, e.g. quantised.
    """
    if function.inputs:
        raise NotRecordable("takes-inputs")
    module, found, checks = _prepared(text, function)
    if not found:
        raise NotRecordable("no-check")
    if any((type := tensor_of(each.actual.type)) is None or not type.has_static_shape for each in found):
        raise NotRecordable("dynamic-result")
    api = _operation_of(module, found[0].actual)
    limits = tuple(each.check for each in found)
    declared = tuple(each.expected if isinstance(each.expected, Value) else None for each in found)
    _return(module, [each.actual for each in found], checks)
    inputs = _lift(module)
    graph = Graph(api, _text(module), tuple(inputs), limits, declared)
    other, again, checks = _prepared(text, function)
    _return(other, [each.expected for each in again if not isinstance(each.expected, Value)], checks)
    return graph, _text(other)


def bare(text: str, function: Function) -> tuple[str, list[Any]]:
    """The function as `main`, in generic form, and the types of its inputs.

    Raises:
        NotRecordable: it has a check, gives nothing, or has inputs or results of no size that is known.
    """
    module, found, _ = _prepared(text, function)
    if found:
        raise NotRecordable("checks-itself")
    types = [tensor_of(each) for each in (*function.inputs, *function.results)]
    if not function.results or any(each is None or not each.has_static_shape for each in types):
        raise NotRecordable("no-result" if not function.results else "dynamic-or-no-tensor")
    text = str(module.operation.get_asm(large_elements_limit=None, print_generic_op_form=True))
    return text, types[: len(function.inputs)]


def _text(module: Any) -> str:
    return str(module.operation.get_asm(large_elements_limit=None))


def _prepared(text: str, function: Function) -> tuple[Any, list[Compared], list[Any]]:
    """The module with *function* as `main`, what its checks compare, and the checks."""
    module = parse(text)
    keep_only(module, function.name)
    if any(str(each.name) in _OUTSIDE for each in walk(module.operation)):
        raise NotRecordable("parallel-or-probed")
    rename(module, free_main(module, function.name), MAIN)
    checks = [each.operation for each in _body(module).operations if is_check(each.operation)]
    if len(checks) < sum(is_check(each) for each in walk(module.operation)):
        raise NotRecordable("check-within")
    return module, [read_check(each) for each in checks], checks


def _main(module: Any) -> Any:
    return next(each.operation for each in functions_of(module) if each.name == MAIN)


def _body(module: Any) -> Any:
    return _main(module).regions[0].blocks[0]


def _operation_of(module: Any, value: Any) -> str:
    """The operation that makes *value*, also where that is within a called function."""
    functions = {each.name: each.operation for each in functions_of(module)}
    owner = value.owner
    seen: set[str] = set()
    while not isinstance(owner, ir.Block) and str(owner.operation.name) in ("func.call", "stablehlo.composite"):
        name = str(owner.operation.attributes["callee"].value) if "callee" in owner.operation.attributes else ""
        if name not in functions or name in seen:
            break
        seen.add(name)
        ending = list(functions[name].regions[0].blocks[0].operations)[-1]
        owner = ending.operands[0].owner if len(ending.operands) else functions[name].regions[0].blocks[0]
    if isinstance(owner, ir.Block) or str(owner.operation.name) in _NO_OPERATOR - {_CONSTANT}:
        names = [str(each.name) for each in walk(module.operation) if str(each.name).partition(".")[0] in ("stablehlo", "chlo")]
        return next((name for name in reversed(names) if name not in _NO_OPERATOR), _CONSTANT)
    return str(owner.operation.name)


def _return(module: Any, values: Sequence[Any], checks: Sequence[Any]) -> None:
    """Makes `main` give *values* instead of its results and *checks*, and removes what no value needs."""
    main = _main(module)
    ending = list(main.regions[0].blocks[0].operations)[-1].operation
    ir.Operation.create("func.return", operands=list(values), ip=ir.InsertionPoint(ending))
    ending.erase()
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], [each.type for each in values]))
    for name in ("res_attrs", "arg_attrs", "sym_visibility"):
        if name in main.attributes:
            del main.attributes[name]
    for check in checks:
        remove(check)
    for each in reversed([each.operation for each in main.regions[0].blocks[0].operations][:-1]):
        if not any(list(result.uses) for result in each.results):
            each.erase()
    keep_only(module, MAIN)


def _lift(module: Any) -> list[Value]:
    """Makes the constants of `main`, and of the functions without inputs that it calls, arguments of `main`; returns their values."""
    main = _main(module)
    block = main.regions[0].blocks[0]
    extension: Any = importlib.import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext")
    functions = {each.name: each for each in functions_of(module)}
    for each in [each.operation for each in block.operations if str(each.operation.name) == "func.call"]:
        callee = functions.get(str(each.attributes["callee"].value))
        if callee is not None and not callee.inputs:
            with ir.InsertionPoint(each):
                made = list(extension.inlined_func_call(callee.operation, []))
            for old, new in zip(list(each.results), made, strict=True):
                old.replace_all_uses_with(new)
            each.erase()
    constants = [each.operation for each in block.operations if str(each.operation.name) == _CONSTANT]
    inputs = [read_constant(_text_of(each)) for each in constants]  # all of them first: MLIR prints a module in between otherwise
    for each in constants:
        each.results[0].replace_all_uses_with(block.add_argument(each.results[0].type, each.location))
        each.erase()
    kind = ir.FunctionType(main.attributes["function_type"].value)
    types = [argument.type for argument in block.arguments]
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, list(kind.results)))
    keep_only(module, MAIN)
    return inputs


def _text_of(constant: Any) -> str:
    """The attribute of a constant: jaxlib cannot read complex ones, but it prints them."""
    text = constant.get_asm(large_elements_limit=None)
    return text[text.index("dense") :].strip()


def baked(text: str, inputs: Sequence[Constant]) -> str:
    """The module *text* with constants in the place of the arguments of `main`; raises Rejected where they do not fit."""
    module = parse(text)
    main = _main(module)
    block = main.regions[0].blocks[0]
    with ir.InsertionPoint.at_block_begin(block):
        made = [place_constant(each) for each in inputs]
    for argument, value in zip(list(block.arguments), made, strict=True):
        argument.replace_all_uses_with(value)
    for place in reversed(range(len(made))):
        block.erase_argument(place)
    kind = ir.FunctionType(main.attributes["function_type"].value)
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], list(kind.results)))
    return _text(module)


def values_of(text: str, inputs: Sequence[Constant]) -> list[Value]:
    """The results of `main` on the interpreter.

    Raises:
        InterpreterFailed, NotInterpreted, ChildProcessError: as `evaluate_apart` does.
        NoProbe, Rejected: a result, or the text, is of a kind that is not known.
    """
    module = parse(text)
    function = next(each for each in functions_of(module) if each.name == MAIN)
    plan = instrument(module, function, inputs, with_results=True)
    return [value for _, value in results_of(plan, evaluate_apart(plan)) if value is not None]
