"""Replaces operations of StableHLO whose operands are constants by their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opera.extensions.stablehlo import interpreter
from opera.extensions.stablehlo.folding import MOST_ELEMENTS, Inner, reason_to_keep
from opera.extensions.stablehlo.interpreter import PastLimit
from opera.extensions.stablehlo.literals import Constant, read_constant
from opera.extensions.stablehlo.messages import Which
from opera.extensions.stablehlo.printing import printed_dense
from opera.extensions.stablehlo.scanner import TextError
from opera.extensions.stablehlo.templates.module import Function, functions_of, ir, walk
from opera.extensions.stablehlo.templates.plan import (
    MAIN,
    InterpreterFailed,
    NotInterpreted,
    evaluate_apart,
    instrument,
    place_constant,
    results_of,
)
from opera.extensions.stablehlo.templates.probes import NoProbe, Written
from opera.extensions.stablehlo.templates.program import constant_text, plain_operation
from opera.extensions.stablehlo.templates.readable import evaluate_readably
from opera.extensions.stablehlo.types import Value

_CONSTANT = "stablehlo.constant"


@dataclass
class Folding:
    """What became of the operations with constant operands.

    Attributes:
        folded: How many were replaced, by name.
        kept: How many were not, by reason.
    """

    folded: Counter[str] = field(default_factory=Counter[str])
    kept: Counter[str] = field(default_factory=Counter[str])


def fold(module: Any, which: Which = "readable", most: int = MOST_ELEMENTS) -> Folding:
    """Replaces operations whose operands are all constant, in all functions of *module*, and removes constants that only they needed.

    Args:
        module: Is changed.
        which: The interpreter that evaluates.
        most: Elements that a result may have.
    """
    found = Folding()
    for function in functions_of(module):
        _fold_block(function.operation.regions[0].blocks[0], {}, found, which, most)
    return found


def _fold_block(block: Any, values: dict[Any, Value], found: Folding, which: Which, most: int) -> None:
    """Folds the operations of *block* in their order, and those in the regions of what stays; *values* are the constants so far."""
    for each in [every.operation for every in block.operations]:
        if str(each.name) == _CONSTANT:
            _note_constant(each, values)
        elif (
            all(operand in values for operand in each.operands) and not _sees_outside(each) and _fold_one(each, values, found, which, most)
        ):
            continue
        for region in each.regions:
            for inner in region.blocks:
                _fold_block(inner, values, found, which, most)


def _note_constant(constant: Any, values: dict[Any, Value]) -> None:
    try:
        text = constant_text(constant)
        if text is not None:
            values[constant.results[0]] = read_constant(text)
    except (TextError, PastLimit):  # quantised, a resource, or too large: what takes it stays
        return


def _sees_outside(operation: Any) -> bool:
    """Whether a region takes values from around its operation."""
    inner = [each for each in walk(operation) if each != operation]
    own = {result for each in inner for result in each.results}
    own |= {argument for each in (operation, *inner) for region in each.regions for block in region.blocks for argument in block.arguments}
    return any(operand not in own for each in inner for operand in each.operands)


def _fold_one(operation: Any, values: dict[Any, Value], found: Folding, which: Which, most: int) -> bool:
    """Replaces *operation*, if that may be."""
    name = str(operation.name)
    if not name.startswith("stablehlo.") or not operation.results:
        return False
    operands = [values[each] for each in operation.operands]
    inside = [Inner(plain_operation(each), tuple(str(one.type) for one in each.operands)) for each in walk(operation) if each != operation]
    reason = reason_to_keep(plain_operation(operation), operands, most, which, inside)
    results = None if reason is not None else _evaluated(operation, operands, which)
    if results is None:
        found.kept[reason or "the interpreter gives no result"] += 1
        return False
    for old, value in zip(list(operation.results), results, strict=True):
        with ir.InsertionPoint(operation), operation.location:
            new = place_constant(_constant(value))
        old.replace_all_uses_with(new)
        values[new] = value
    givers = list(operation.operands)
    operation.erase()
    for each in givers:
        if each in values and not list(each.uses):
            del values[each]
            each.owner.erase()
    found.folded[name] += 1
    return True


def _constant(value: Value) -> Constant:
    return Constant(printed_dense(value), str(value.type))


def _evaluated(operation: Any, operands: Sequence[Value], which: Which) -> list[Value] | None:
    """The results of one operation, in a module of its own."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        kind = ir.FunctionType.get([each.type for each in operation.operands], [each.type for each in operation.results])
        attributes: Mapping[str, Any] = {"sym_name": ir.StringAttr.get(MAIN), "function_type": ir.TypeAttr.get(kind)}
        function = ir.Operation.create("func.func", attributes=attributes, regions=1)
        block = function.regions[0].blocks.append(*kind.inputs)
    with ir.InsertionPoint(block):
        copy = operation.clone()
        for index, argument in enumerate(block.arguments):
            copy.operands[index] = argument
        ir.Operation.create("func.return", operands=list(copy.results))
    inputs = [_constant(each) for each in operands]
    main = functions_of(module)[0]
    try:
        plan, written = _run(module, main, inputs, which)
        return [value for _, value in results_of(plan, written) if value is not None]
    except (*interpreter.FAILURES, InterpreterFailed, NotInterpreted, ChildProcessError, NoProbe, TextError, ValueError, ir.MLIRError):
        return None


def _run(module: Any, main: Function, inputs: Sequence[Constant], which: Which) -> tuple[Any, Sequence[Written]]:
    if which == "readable":
        observed = evaluate_readably(module, main, inputs, with_results=True)
        return observed.plan, observed.written
    plan = instrument(module, main, inputs, with_results=True)
    return plan, evaluate_apart(plan)
