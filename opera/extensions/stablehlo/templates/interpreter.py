"""The worker that evaluates StableHLO programs with one of two interpreters, and compares as their checks demand."""

from __future__ import annotations

import base64
import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from opera.extensions.stablehlo.checks import holds
from opera.extensions.stablehlo.interpreter import NotDefined, PastLimit, Stopped, Unsupported
from opera.extensions.stablehlo.literals import Constant
from opera.extensions.stablehlo.messages import (
    Checked,
    Compose,
    Composed,
    Evaluated,
    Fold,
    Folded,
    Interpret,
    Interpreted,
    Printed,
    RawArray,
    RawTensor,
    Refused,
    to_answer,
)
from opera.extensions.stablehlo.statements import pretty
from opera.extensions.stablehlo.templates.checks import is_check, read_check
from opera.extensions.stablehlo.templates.fold import fold
from opera.extensions.stablehlo.templates.inputs import inputs_of
from opera.extensions.stablehlo.templates.module import (
    Function,
    Parts,
    Rejected,
    entries_of,
    functions_of,
    ir,
    line_of,
    message_of,
    new_context,
    parse,
    programs_in,
    resource_in,
    run_named_passes,
    stablehlo,
    walk,
)
from opera.extensions.stablehlo.templates.parallel import most_parallel
from opera.extensions.stablehlo.templates.plan import InterpreterFailed, Plan, Site, evaluate, instrument, results_of
from opera.extensions.stablehlo.templates.probes import NoProbe, Probes, Written
from opera.extensions.stablehlo.templates.readable import evaluate_readably
from opera.extensions.stablehlo.templates.self_checking import compose
from opera.extensions.stablehlo.types import Value


class Stages(Protocol):
    """What a worker is told of its task's stages."""

    def enter(self, name: str) -> None:
        """Notes that the stage *name* begins."""
        ...


class Interpreter:
    """Answers the requests of `opera.extensions.stablehlo.messages`; each function is a stage of its own, called by its place."""

    spent = False

    def __init__(self, options: Mapping[str, Any]) -> None:
        pass

    def ready(self) -> dict[str, Any]:
        version: Any = importlib.import_module("jaxlib.version")
        stablehlo.register_stablehlo_passes()
        return {"versions": {"jaxlib": str(version.__version__), "stablehlo": str(stablehlo.get_current_version())}}

    def handle(self, task: Mapping[str, Any], stages: Stages) -> dict[str, Any]:
        if task["is"] == "fold":
            return _folded(Fold(str(task["text"]), task["interpreter"], int(task["most"])), stages)
        if task["is"] == "compose":
            inputs, expected = ([RawTensor(**each) for each in task[name]] for name in ("inputs", "expected"))
            return _composed(Compose(str(task["text"]), str(task["name"]), inputs, expected, task["tolerances"]), stages)
        arrays = task.get("arrays")
        request = Interpret(
            text=str(task["text"]),
            function=task.get("function"),
            without=tuple(task.get("without", ())),
            arguments=task.get("arguments"),
            arrays=None if arrays is None else tuple(RawArray(**each) for each in arrays),
            with_results=bool(task.get("with_results")),
            interpreter=task.get("interpreter", "reference"),
            passes=tuple(task.get("passes", ())),
        )
        stages.enter("read")
        with new_context(), ir.Location.unknown():
            try:
                return to_answer(self._interpreted(request, stages))
            except Rejected as error:
                return to_answer(Refused(str(error), error.line, error.unknown))

    def _interpreted(self, request: Interpret, stages: Stages) -> Interpreted:
        found: list[Evaluated] = []
        programs = programs_in(parse(request.text))
        for program in programs:
            run_named_passes(program, request.passes)
            parts, processes = Parts(program), most_parallel(program)
            entries = entries_of(program) if request.function is None else functions_of(program)
            for function in entries:
                if request.function not in (None, function.name):
                    continue
                place = len(found)
                if place in request.without:
                    found.append(_plain(function, "it ended the process", "left-out"))
                    continue
                stages.enter(f"{place}/{processes}")
                found.append(evaluated(parts, function, request))
        return Interpreted(found, [each.name for program in programs for each in functions_of(program)])


def _folded(request: Fold, stages: Stages) -> dict[str, Any]:
    stages.enter("fold")
    with new_context(), ir.Location.unknown():
        try:
            module = parse(request.text)
            for operation in filter(is_check, walk(module.operation)):
                read_check(operation)
            found = fold(module, request.interpreter, request.most)
        except Rejected as error:
            return to_answer(Refused(str(error), error.line, error.unknown))
        text = pretty(str(module.operation.get_asm(large_elements_limit=None)))
        return to_answer(Folded(text, dict(found.folded), dict(found.kept)))


def _composed(request: Compose, stages: Stages) -> dict[str, Any]:
    stages.enter("compose")
    with new_context(), ir.Location.unknown():
        try:
            return to_answer(Composed(compose(request)))
        except Rejected as error:
            return to_answer(Refused(str(error), error.line, error.unknown))
        except ir.MLIRError as error:
            return to_answer(Refused(message_of(error), 0))


def _plain(function: Function, failure: str, kind: Any) -> Evaluated:
    return Evaluated(function.name, function.line, [str(each) for each in function.inputs], [], [], [], failure, kind)


def evaluated(parts: Parts, function: Function, request: Interpret) -> Evaluated:
    """Evaluates one function in a module of its own."""
    try:
        inputs = inputs_of(function, request.arguments, request.arrays)
    except Rejected as error:
        return _plain(function, str(error), "inputs")
    try:
        plan, written = _run(parts.alone(function.name), function, inputs, request)
        checks = [_checked(site, plan.probes, written) for site in plan.sites]
        printed = [Printed(plan.printed[number], _raw(value)) for number, value in written if number in plan.printed]
        results = [RawTensor(type, None) if value is None else _raw(value) for type, value in results_of(plan, written)]
    except Rejected as error:
        if error.line:
            raise
        return _plain(function, str(error), "inputs")
    except NoProbe as error:
        return _plain(function, str(error), "type")
    except (Unsupported, PastLimit) as error:
        return _plain(function, str(error), "unknown")
    except RecursionError:
        return _plain(function, f"@{function.name} nests too deep", "unknown")
    except (InterpreterFailed, NotDefined, Stopped, ir.MLIRError, RuntimeError, ValueError) as error:
        return _plain(function, message_of(error), "raised")
    return Evaluated(function.name, function.line, [str(each) for each in function.inputs], checks, results, printed)


def _run(module: Any, function: Function, inputs: Sequence[Constant], request: Interpret) -> tuple[Plan, Sequence[Written]]:
    """What the interpreter that was asked for came by."""
    resource = resource_in(module.operation)
    if resource is not None:
        raise Unsupported((), f"line {line_of(resource)}: the values of a dense_resource are not read; write the constant as dense<...>")
    if request.interpreter == "readable":
        observed = evaluate_readably(module, function, inputs, with_results=request.with_results)
        return observed.plan, observed.written
    plan = instrument(module, function, inputs, with_results=request.with_results)
    return plan, evaluate(plan)


def _checked(site: Site, probes: Probes, written: Sequence[Written]) -> Checked:
    actual = [value for number, value in written if number == site.actual]
    if site.expected is None:
        named = [value for number, value in written if number in probes.named.get(site.probe, ())]
        expected = named[site.iteration : site.iteration + 1] * len(actual)
        if actual and not expected:
            return Checked(str(site.check), site.line, 1, f"the probe {site.probe[:60]!r} has not written {site.iteration + 1} values")
    elif isinstance(site.expected, Value):
        expected = [site.expected] * len(actual)
    else:
        expected = [value for number, value in written if number == site.expected]
    pairs = list(zip(actual, expected, strict=False))
    wrong = next((found for one, other in pairs if (found := holds(site.check, one, other)) is not None), None)
    if wrong is None:
        return Checked(str(site.check), site.line, len(pairs))
    return Checked(str(site.check), site.line, len(pairs), str(wrong), list(wrong.index), wrong.actual, wrong.expected)


def _raw(value: Value) -> RawTensor:
    return RawTensor(str(value.type), base64.b64encode(value.array.tobytes()).decode("ascii"))
