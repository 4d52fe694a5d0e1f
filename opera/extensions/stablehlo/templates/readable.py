"""Evaluates StableHLO modules with the readable interpreter, and says what its checks, prints and probes saw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opera.extensions.stablehlo import interpreter
from opera.extensions.stablehlo.literals import Constant, read_constant
from opera.extensions.stablehlo.program import Operation
from opera.extensions.stablehlo.templates.module import Function, keep_only
from opera.extensions.stablehlo.templates.plan import NAME, PRINT, Plan, Site
from opera.extensions.stablehlo.templates.probes import Probes, Written
from opera.extensions.stablehlo.templates.program import Plain, plain_program
from opera.extensions.stablehlo.types import Value


class Observed:
    """What one evaluation came by, with the numbers that a plan of the other interpreter has for it.

    Args:
        plain: The program.
        module: The module that it was read from.
    """

    def __init__(self, plain: Plain, module: Any) -> None:
        self.written: list[Written] = []
        self._next = 2 * len(plain.checks)
        self.plan = Plan(module, Probes())
        for index, each in enumerate(plain.checks):
            expected = each.expected if each.expected is None or isinstance(each.expected, Value) else 2 * index + 1
            self.plan.sites.append(Site(each.check, each.line, 2 * index, expected, each.probe, each.iteration))

    def see(self, operation: Operation, values: Sequence[interpreter.Tensor]) -> None:
        """Notes what an operation was given."""
        if operation.name == interpreter.SITE:
            place = operation.integer("site")
            self.written += [Written(2 * place + which, each.value) for which, each in enumerate(values)]
        elif operation.name == PRINT:
            self.plan.printed[self._note(values[0].value)] = operation.word(NAME)
        else:
            self.plan.probes.named.setdefault(operation.word("probe_id"), []).append(self._note(values[0].value))

    def end(self, types: Sequence[str], results: Sequence[interpreter.RuntimeValue]) -> None:
        """Notes the program's results, with their types."""
        for type, value in zip(types, results, strict=True):
            self.plan.results.append((type, self._note(value.value) if isinstance(value, interpreter.Tensor) else None))

    def _note(self, value: Value) -> int:
        self._next += 1
        self.written.append(Written(self._next, value))
        return self._next


def evaluate_readably(module: Any, function: Function, inputs: Sequence[Constant], *, with_results: bool) -> Observed:
    """Evaluates *function*, and what it calls.

    Raises:
        Unsupported: it may come to operations or types that the interpreter does not know; all are named.
        Stopped, NotDefined: it has no meaning, or passes a limit.
        MLIRError, Rejected, TextError: as `plain_program` does.
    """
    keep_only(module, function.name)
    plain = plain_program(module)
    observed = Observed(plain, module)
    arguments = [interpreter.Tensor(read_constant(each.text)) for each in inputs]
    results = interpreter.evaluate(plain.program, function.name, arguments, observe=observed.see)
    if with_results:
        observed.end(plain.program.functions[function.name].results, results)
    return observed
