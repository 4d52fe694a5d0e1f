"""The readable interpreter of StableHLO, on self-checking programs of each operation."""

from __future__ import annotations

import pytest

from opera.extensions.stablehlo.interpreter import RULES
from tests.stablehlo_suite import Case, cases, failure_of

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.function)
def test_program_holds(case: Case) -> None:
    assert failure_of(case) is None


def test_each_operation_has_a_program() -> None:
    """No rule without a test."""
    used = {operation.name for case in CASES for operation in case.plain.program.reached(case.function)}
    assert set(RULES) - used == {"stablehlo.create_token"}  # the parser writes it as after_all
