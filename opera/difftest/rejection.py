"""What an ill-typed program comes to that a compiler accepts."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from opera.instance import Instance
from opera.oracles.verdict import DifferenceFacts
from opera.programs.faults import TypeFault, type_fault
from opera.programs.instances import program_of
from opera.programs.languages import registry

FACTS = Path(__file__).parents[1] / "facts" / "lenient.toml"
ACCEPTED = "accepted"
"""The kind of difference."""


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
