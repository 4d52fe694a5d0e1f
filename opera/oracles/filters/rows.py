"""Filters: kinds of false alarms, each a condition with the operators for which it excuses a result, and the reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from opera.arrays import Array
from opera.instance import Instance
from opera.instance.libraries import facts_of
from opera.oracles.evidence import Evidence

ALL = r"\w+"
"""A pattern that matches every operator."""
Condition = Callable[[Evidence], Array]
"""The elements of an output for which no specification fixes the result: a mask of that output's shape."""


@dataclass(frozen=True)
class FilterScope:
    """Which operators a row is about.

    Attributes:
        operators: A regular expression for the whole last part of the API's name; upper and lower case are equal.
        why: The reason in words.
        libraries: Names of libraries; empty for all but those with a specification of every operator.
        parameter, equals: A parameter that must have this value; None without such a condition.
        before_opset: For ONNX, the opset from which on the operator is specified otherwise.
    """

    operators: str
    why: str
    libraries: tuple[str, ...] = ()
    parameter: str | None = None
    equals: Any = None
    before_opset: int | None = None

    def matches(self, operator: str) -> bool:
        """Whether the row is about *operator*, of whatever library."""
        return re.fullmatch(self.operators, operator, re.IGNORECASE) is not None

    def applies(self, instance: Instance) -> bool:
        """Whether *instance* is one of an operator that the row is about."""
        if not self.matches(instance.operator) or (self.libraries and instance.library not in self.libraries):
            return False
        if facts_of(instance.library).specified and not self.libraries and self.operators != ALL:
            return False
        opset = instance.context_value("opset")
        if self.before_opset is not None and isinstance(opset, int) and opset >= self.before_opset:
            return False
        return self.parameter is None or any(
            argument.name == self.parameter and argument.value == self.equals for argument in (*instance.init, *instance.call)
        )


@dataclass(frozen=True)
class Filter:
    """Results that no specification fixes.

    Attributes:
        reason: Code under which such tests are counted.
        scope: Its operators.
        mask: The elements of an output for which its condition holds.
        input: The input that the condition looks at.
    """

    reason: str
    scope: FilterScope
    mask: Condition
    input: int = 0

    @property
    def is_of_inputs(self) -> bool:
        """Whether the condition is one on the inputs alone, which may kill a process as well as give any result."""
        return self.mask in _OF_INPUTS

    @property
    def condition(self) -> str:
        """The name of its condition: `integer-zero`."""
        return self.mask.__name__.replace("_", "-")


ROWS: list[Filter] = []
"""The filters of the modules that were imported, in the order of their conditions."""
_OF_INPUTS: set[Condition] = set()


def of_inputs(condition: Condition) -> Condition:
    """Marks a condition on the inputs alone, which may kill a process as well as give any result."""
    _OF_INPUTS.add(condition)
    return condition


def excuses(
    reason: str,
    operators: str,
    *,
    why: str,
    input: int = 0,
    libraries: tuple[str, ...] = (),
    parameter: str | None = None,
    equals: Any = None,
    before_opset: int | None = None,
) -> Callable[[Condition], Condition]:
    """Makes a filter of a condition.

    Args:
        reason: The reason under which OPERA counts such tests.
        operators: A regular expression for the last part of the API's name.
        why: The reason, in words; it quotes the specification.
        input: The index of the input that the condition checks.
        libraries: Names of libraries; empty for all but those with a specification of every operator.
        parameter: A parameter that must have a value.
        equals: That value.
        before_opset: For ONNX, the first opset whose documentation of the operator fixes the result.
    """

    def register(condition: Condition) -> Condition:
        scope = FilterScope(operators, why, libraries, parameter, equals, before_opset)
        ROWS.append(Filter(reason, scope, condition, input))
        return condition

    return register
