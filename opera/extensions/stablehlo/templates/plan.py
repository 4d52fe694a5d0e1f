"""Prepares a StableHLO program for the reference interpreter of jaxlib: probes for what it computes, and a `main` to begin with."""

from __future__ import annotations

import importlib
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opera.extensions.stablehlo.checks import Check
from opera.extensions.stablehlo.literals import Constant
from opera.extensions.stablehlo.templates.checks import Compared, is_check, read_check, remove
from opera.extensions.stablehlo.templates.module import (
    Function,
    Rejected,
    functions_of,
    ir,
    keep_only,
    message_of,
    run_passes,
    stablehlo,
    tensor_of,
    walk,
)
from opera.extensions.stablehlo.templates.parallel import lift
from opera.extensions.stablehlo.templates.probes import NoProbe, Probes, Written
from opera.extensions.stablehlo.types import Value

PRINT = "interpreter.print"
NAME = "opera.name"
"""Attribute of a print: the name of the value in the text of the program."""
_DEPRECATED = frozenset(
    f"stablehlo.{name}" for name in ("broadcast", "create_token", "dot", "einsum", "torch_index_select", "unary_einsum")
)
"""Operations that the interpreter does not know, and that a pass of StableHLO writes with others."""
MAIN = "main"


_REFUSED = 3
"""Exit status of a copy in which the interpreter refused a program."""
_MOST_SAID = 65_536
_UNKNOWN = re.compile(r"Unsupported (?:op|custom call|type)\b[^\n]{0,200}|Operation stablehlo\.\w+ is unsupported")


@dataclass
class Site:
    """A check of the program, and the probes of what it compares."""

    check: Check
    line: int
    actual: int
    expected: int | Value | None
    probe: str = ""
    iteration: int = 0


@dataclass
class Plan:
    """An instrumented module.

    Attributes:
        module: It has a function `main` without results, which calls the function in question.
        probes: All of its probes.
        sites: All of its checks.
        printed: The names of the values that the program prints, by probe.
        results: Type and probe of each result; the probe is None for what is no tensor.
    """

    module: Any
    probes: Probes
    sites: list[Site] = field(default_factory=list[Site])
    printed: dict[int, str] = field(default_factory=dict[int, str])
    results: list[tuple[str, int | None]] = field(default_factory=list[tuple[str, "int | None"]])


def instrument(module: Any, function: Function, inputs: Sequence[Constant], *, with_results: bool) -> Plan:
    """Puts probes in the place of checks, calls *function* from a new `main`, and lowers CHLO.

    Raises:
        Rejected: a check has other operands or attributes than it takes.
        NoProbe: a value cannot be taken out.
    """
    keep_only(module, function.name)
    if not all(tensor is None or tensor.has_static_shape for tensor in map(tensor_of, function.inputs)):
        function = _make_static(module, function, inputs)
    plan = Plan(module, Probes())
    operations = list(walk(module.operation))
    name_prints(module)
    if any(str(each.name) == "interpreter.run_parallel" for each in operations):
        lift(module, lambda each: str(each.name) == PRINT or (is_check(each) and not each.results))
    for operation in list(walk(module.operation)):
        name = str(operation.name)
        if name == "interpreter.probe":
            plan.probes.take_over(operation)
        elif name == PRINT:
            plan.printed[plan.probes.add(operation.operands[0], operation)] = str(operation.attributes[NAME].value)
            operation.erase()
        elif is_check(operation):
            plan.sites.append(_site(read_check(operation), operation, plan.probes))
            remove(operation)
    lower(module)
    _call_from_main(plan, function, inputs, with_results=with_results)
    return plan


def name_prints(module: Any) -> None:
    """Keeps, with each print, the name of its value in the text."""
    for operation in walk(module.operation):
        if str(operation.name) == PRINT:
            operation.attributes[NAME] = ir.StringAttr.get(str(operation.operands[0].get_name()))


def lower(module: Any) -> None:
    """Writes the operations of CHLO, and deprecated ones, with others; raises what MLIR raises where one cannot be."""
    _lower_chlo(module)
    if any(str(each.name) in _DEPRECATED for each in walk(module.operation)):
        run_passes(module, "func.func(stablehlo-legalize-deprecated-ops{fail-on-unused=false})")


def _lower_chlo(module: Any) -> None:
    """Writes the operations of CHLO with those of StableHLO; raises what MLIR raises where one cannot be."""
    if any(str(each.name).startswith("chlo.") for each in walk(module.operation)):
        run_passes(module, "func.func(chlo-legalize-to-stablehlo)")


def _site(compared: Compared, operation: Any, probes: Probes) -> Site:
    actual = probes.add(compared.actual, operation)
    expected = compared.expected
    other = expected if expected is None or isinstance(expected, Value) else probes.add(expected, operation)
    return Site(compared.check, compared.line, actual, other, compared.probe, compared.iteration)


def _make_static(module: Any, function: Function, inputs: Sequence[Constant]) -> Function:
    """*function* with the dimensions that its inputs have, and everything that follows from them.

    Raises:
        NoProbe: it has checks, which the passes of StableHLO do not get past.
    """
    if any(is_check(each) for each in walk(module.operation)):
        raise NoProbe(f"@{function.name} takes inputs of dynamic dimensions and has checks; write its types with dimensions")
    name = free_main(module, function.name)
    rename(module, name, MAIN)
    types = ",".join(each.type for each in inputs)
    run_passes(module, f"stablehlo-refine-arguments{{types={types}}}", "stablehlo-refine-shapes")
    return next(each for each in functions_of(module) if each.name == MAIN)


def free_main(module: Any, name: str) -> str:
    """Gives the function called `main` another name; returns the name that the function called *name* has then."""
    taken = {each.name for each in functions_of(module)}
    if MAIN not in taken:
        return name
    free = next(f"{MAIN}_{number}" for number in range(len(taken) + 1) if f"{MAIN}_{number}" not in taken)
    rename(module, MAIN, free)
    return free if name == MAIN else name


def rename(module: Any, old: str, new: str) -> None:
    """Gives the function called *old*, and all that refers to it, the name *new*."""
    ir.SymbolTable.replace_all_symbol_uses(old, new, module.operation)
    own = next(each for each in functions_of(module) if each.name == old)
    own.operation.attributes["sym_name"] = ir.StringAttr.get(new)


def _call_from_main(plan: Plan, function: Function, inputs: Sequence[Constant], *, with_results: bool) -> None:
    """Adds a function `main`, which calls *function* with constants, and probes what comes back."""
    name = free_main(plan.module, function.name)
    func: Any = importlib.import_module("jaxlib.mlir.dialects.func")
    with ir.InsertionPoint.at_block_begin(plan.module.body):
        main = func.FuncOp(MAIN, ir.FunctionType.get([], []))
    with ir.InsertionPoint(main.add_entry_block()):
        values = [place_constant(each) for each in inputs]
        call = func.CallOp(list(function.results), ir.FlatSymbolRefAttr.get(name), values)
        ending = func.ReturnOp([])
    for result in call.results if with_results else ():
        number = None if tensor_of(result.type) is None else plan.probes.add(result, ending)
        plan.results.append((str(result.type), number))


def place_constant(constant: Constant) -> Any:
    """The result of a new operation that gives *constant*; raises Rejected where its text is no constant of its type."""
    try:
        module = ir.Module.parse(f'"stablehlo.constant"() {{value = {constant.text}}} : () -> {constant.type}')
    except ir.MLIRError as error:
        raise Rejected(f"an input is no constant: {message_of(error)}") from error
    return module.body.operations[0].operation.clone().results[0]


class InterpreterFailed(Exception):
    """The interpreter refused a program; the message is its first diagnostic."""


def evaluate(plan: Plan) -> list[Written]:
    """Evaluates an instrumented module; what the interpreter does not know ends the process.

    Raises:
        InterpreterFailed: the interpreter says why it cannot.
    """
    with tempfile.TemporaryDirectory() as folder:
        _eval(plan, folder)
        return plan.probes.written(Path(folder))


def _eval(plan: Plan, folder: str) -> None:
    said: list[str] = []

    def listen(diagnostic: Any) -> bool:
        said.append(str(diagnostic.message))
        return True

    handler = plan.module.context.attach_diagnostic_handler(listen)
    try:
        stablehlo.eval_module(plan.module, [], folder)
    except ValueError as error:
        raise InterpreterFailed(said[0] if said else str(error)) from error
    finally:
        handler.detach()


class NotInterpreted(Exception):
    """The interpreter does not know an operation, a type or a custom call; the message is what it says."""


def evaluate_apart(plan: Plan) -> list[Written]:
    """Evaluates an instrumented module in a copy of this process, which the interpreter may end.

    Raises:
        InterpreterFailed: the interpreter says why it cannot.
        NotInterpreted: it ended the copy over something that it does not know.
        ChildProcessError: it ended the copy in another way; the message is what the copy printed.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
                _eval(plan, folder)
                code = 0
            except InterpreterFailed as error:
                os.write(2, str(error).encode())
                code = _REFUSED
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if status == 0:
            return plan.probes.written(Path(folder))
        log.seek(0)
        said = log.read(_MOST_SAID).decode("utf-8", "replace").strip()
    if os.waitstatus_to_exitcode(status) == _REFUSED:
        raise InterpreterFailed(said)
    unknown = _UNKNOWN.search(said)
    raise NotInterpreted(unknown[0]) if unknown is not None else ChildProcessError(said or f"status {status}")


def results_of(plan: Plan, written: Sequence[Written]) -> list[tuple[str, Value | None]]:
    """Type and value of each result; the value is None for what is no tensor.

    Raises:
        ValueError: a result was not written once.
    """
    values: dict[int, list[Value]] = {}
    for number, value in written:
        values.setdefault(number, []).append(value)
    found: list[tuple[str, Value | None]] = []
    for type, number in plan.results:
        own = [] if number is None else values.get(number, [])
        if number is not None and len(own) != 1:
            raise ValueError(f"a result of type {type} was written {len(own)} times")
        found.append((type, own[0] if own else None))
    return found
