"""Judges a compiler that accepts an ill-typed program."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from opera.extensions.programs.faults import TypeFault, type_fault
from opera.extensions.programs.instances import program_of
from opera.extensions.programs.languages import registry
from opera.instance import Instance
from opera.oracles.verdict import ACCEPTED, DifferenceFacts

FACTS = Path(__file__).parents[2] / "facts" / "lenient.toml"


def fault_of(instance: Instance) -> TypeFault:
    """The call that makes the program of *instance* ill-typed."""
    found = type_fault(program_of(instance), registry())
    assert found is not None
    return found


def accepted(fault: TypeFault, compiler: str, frontend: str) -> DifferenceFacts:
    """The difference between a rejection and a result; explained where the compiler documents that it takes more than the language."""
    reason = next((str(row["reason"]) for row in _rows() if _applies(row, fault, f"{compiler}/{frontend}")), None)
    return DifferenceFacts(
        kind=ACCEPTED, output=0, expected=f"a typed error ({fault.operator}: {fault.why})", actual="a result", explained=reason
    )


def _applies(row: dict[str, Any], fault: TypeFault, subject: str) -> bool:
    return subject in row["subjects"] and fault.operator in row["operators"] and re.search(row["pattern"], fault.why) is not None


@cache
def _rows() -> list[dict[str, Any]]:
    return tomllib.loads(FACTS.read_text(encoding="utf-8")).get("lenient", [])
