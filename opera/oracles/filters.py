"""Filters: kinds of false alarms, as data with a reason each."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from opera.arrays import Array
from opera.instance import Instance
from opera.instance.libraries import facts_of
from opera.oracles.conditions import CONDITIONS, OF_INPUTS
from opera.oracles.evidence import Evidence

_ALL = r"\w+"


@dataclass(frozen=True)
class FilterScope:
    """Which operators a row of `facts/filters.toml` is about.

    Attributes:
        operators: Matched against the whole last part of the API's name.
        why: The reason in words.
        libraries: Names of libraries; empty for all.
        parameter, equals: A parameter that must have this value; None without such a condition.
        before_opset: For ONNX, the opset from which on the operator is specified otherwise.
    """

    operators: re.Pattern[str]
    why: str
    libraries: tuple[str, ...] = ()
    parameter: str | None = None
    equals: Any = None
    before_opset: int | None = None

    def applies(self, instance: Instance) -> bool:
        """Whether *instance* is one of an operator that the row is about."""
        if not self.operators.fullmatch(instance.operator) or (self.libraries and instance.library not in self.libraries):
            return False
        if facts_of(instance.library).specified and not self.libraries and self.operators.pattern != _ALL:
            return False
        opset = instance.context_value("opset")
        if self.before_opset is not None and isinstance(opset, int) and opset >= self.before_opset:
            return False
        return self.parameter is None or any(
            argument.name == self.parameter and argument.value == self.equals for argument in (*instance.init, *instance.call)
        )


@dataclass(frozen=True)
class Filter:
    """A row `[[filter]]`: results that no specification fixes.

    Attributes:
        reason: Code under which such tests are counted.
        scope: Its operators.
        condition: Name of a condition.
        input: The input that the condition looks at.
    """

    reason: str
    scope: FilterScope
    condition: str
    input: int = 0

    @property
    def is_of_inputs(self) -> bool:
        """Whether the condition is one on the inputs alone, which may kill a process as well as give any result."""
        return self.condition in OF_INPUTS

    def mask(self, evidence: Evidence) -> Array:
        """The elements of an output for which the condition holds: an array of bools of the output's shape."""
        return CONDITIONS[self.condition](evidence)


@cache
def filters() -> tuple[Filter, ...]:
    """The filters that come with OPERA, in the order of the file."""
    return tuple(_filter(row) for row in _rows("filter"))


def may_fail(operator: str) -> bool:
    """Whether there are operands with which *operator*, the last part of an API's name, may do anything at all."""
    return any(each.is_of_inputs and each.scope.operators.fullmatch(operator) for each in filters())


def lengths_are_computed(instance: Instance) -> bool:
    """Whether the lengths of the output are computed from floating-point numbers: a rounding error may make another whole number."""
    return any(scope.applies(instance) for scope in _scopes("computed-length"))


def order_is_specified(instance: Instance) -> bool:
    """Whether the library says which of several equal elements its indices name, so that there are no ties."""
    return any(scope.applies(instance) for scope in _scopes("first-of-equals"))


@cache
def _scopes(table: str) -> tuple[FilterScope, ...]:
    return tuple(_scope(row) for row in _rows(table))


def _rows(table: str) -> list[dict[str, Any]]:
    text = resources.files("opera").joinpath("facts", "filters.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)[table]


def _filter(row: Mapping[str, Any]) -> Filter:
    if row["condition"] not in CONDITIONS:
        raise ValueError(f"facts/filters.toml: no condition {row['condition']!r}; there are {', '.join(CONDITIONS)}")
    return Filter(row["reason"], _scope(row), row["condition"], row.get("input", 0))


def _scope(row: Mapping[str, Any]) -> FilterScope:
    return FilterScope(
        operators=re.compile(row["operators"], re.IGNORECASE),
        why=row["why"],
        libraries=tuple(row.get("libraries", ())),
        parameter=row.get("parameter"),
        equals=row.get("equals"),
        before_opset=row.get("before_opset"),
    )
