"""The self-checking programs of `tests/stablehlo`, read once, and evaluated by the readable interpreter."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opera.extensions.stablehlo.checks import holds
from opera.extensions.stablehlo.program import Operation
from opera.extensions.stablehlo.scanner import programs_of
from opera.extensions.stablehlo.statements import generic
from opera.extensions.stablehlo.templates.module import entries_of, ir, new_context, parse, stablehlo
from opera.extensions.stablehlo.templates.program import Plain, plain_program
from opera.extensions.stablehlo.types import Value

FOLDER = Path(__file__).parent / "stablehlo"


@dataclass(frozen=True)
class Case:
    """A function of a program."""

    file: str
    function: str
    plain: Plain


def cases() -> list[Case]:
    """All functions that no other function calls."""
    stablehlo.register_stablehlo_passes()
    found: list[Case] = []
    for path in sorted(FOLDER.glob("*.mlir")):
        for program in programs_of(path.read_text(encoding="utf-8")):
            with new_context(), ir.Location.unknown():
                module = parse(generic(program.text))
                names = [each.name for each in entries_of(module)]
                plain = plain_program(module)
            found += [Case(path.name, name, plain) for name in names]
    return found


def failure_of(case: Case) -> str | None:
    """Why a function does not hold; None where all of its checks do."""
    interpreter: Any = importlib.import_module("opera.extensions.stablehlo.interpreter")  # not at the top: faults are put into it
    wrong: list[str] = []
    seen: set[int] = set()

    def observe(operation: Operation, values: list[Any]) -> None:
        site = operation.integer("site")
        seen.add(site)
        check = case.plain.checks[site]
        expected = check.expected if isinstance(check.expected, Value) else values[1].value
        mismatch = holds(check.check, values[0].value, expected)
        if mismatch is not None:
            wrong.append(str(mismatch))

    interpreter.evaluate(case.plain.program, case.function, [], observe=observe)
    if wrong:
        return wrong[0]
    return None if seen else "it came by no check"
