"""Filters: kinds of false alarms, as data with a reason each, and the conditions that they are made of."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from opera.instance import Instance
from opera.models.arrays import Array, as_array, is_array

_WIDTH = 8


@dataclass(frozen=True)
class Filter:
    """One row of `facts/filters.toml`.

    Attributes:
        reason: Code under which such tests are counted.
        operators: Matched against the whole last part of the API's name.
        condition: Name of a condition.
        why: The reason in words.
        input: The input that the condition looks at.
        parameter, equals: A parameter that must have this value; None where there is no such demand.
    """

    reason: str
    operators: re.Pattern[str]
    condition: str
    why: str
    input: int = 0
    parameter: str | None = None
    equals: Any = None

    @property
    def is_of_inputs(self) -> bool:
        """Whether the condition is one on the inputs alone, which may kill a process as well as give any result."""
        return self.condition in _OF_INPUTS

    def applies(self, instance: Instance) -> bool:
        """Whether the operator is one that the filter is about."""
        if not self.operators.fullmatch(instance.operator):
            return False
        return self.parameter is None or any(
            argument.name == self.parameter and argument.value == self.equals for argument in (*instance.init, *instance.call)
        )

    def mask(self, inputs: Sequence[Any], expected: Array, actual: Array | None) -> Array:
        """The elements of an output for which the condition holds: an array of bools of the output's shape.

        Args:
            inputs: The model's.
            expected: The library's output.
            actual: The compiler's, of the same shape; None where it gave none.
        """
        return _CONDITIONS[self.condition](Evidence(inputs, self.input, expected, actual))


@dataclass(frozen=True)
class Evidence:
    """What a condition looks at."""

    inputs: Sequence[Any]
    place: int
    expected: Array
    actual: Array | None

    @property
    def input(self) -> Array | None:
        """The input that the filter names, where it is an array."""
        if self.place >= len(self.inputs) or not is_array(self.inputs[self.place]):
            return None
        return as_array(self.inputs[self.place])

    def spread(self, mask: Array) -> Array:
        """A mask over the input as one over the output: element by element where the shapes allow it, else all or nothing."""
        try:
            return np.broadcast_to(mask, self.expected.shape)
        except ValueError:
            return np.full(self.expected.shape, bool(mask.any()))

    def nowhere(self) -> Array:
        """No element."""
        return np.zeros(self.expected.shape, dtype=bool)


def _always(evidence: Evidence) -> Array:
    return np.ones(evidence.expected.shape, dtype=bool)


def _integer_zero(evidence: Evidence) -> Array:
    divisor = evidence.input
    return evidence.nowhere() if divisor is None or divisor.dtype.kind not in "iub" else evidence.spread(divisor == 0)


def _shift_past_width(evidence: Evidence) -> Array:
    bits = evidence.input
    if bits is None or bits.dtype.kind not in "iu" or evidence.expected.dtype.kind not in "iu":
        return evidence.nowhere()
    return evidence.spread((bits < 0) | (bits >= _WIDTH * evidence.expected.dtype.itemsize))


def _unrepresentable(evidence: Evidence) -> Array:
    source, target = evidence.input, evidence.expected.dtype
    if source is None or target.kind not in "iu" or source.dtype.kind in "iubOSU":
        return evidence.nowhere()
    limits = np.iinfo(target)
    with np.errstate(all="ignore"):
        wide = np.real(source).astype(np.float64)
        whole = np.trunc(wide)
        return evidence.spread(~((whole >= float(limits.min)) & (whole < float(limits.max) + 1.0)))


def _same_elements(evidence: Evidence) -> Array:
    """Everywhere, where the outputs hold the same elements along some axis."""
    expected, actual = evidence.expected, evidence.actual
    if actual is None or expected.ndim == 0 or expected.dtype.kind == "O":
        return evidence.nowhere()
    alike = any(
        bool(np.array_equal(np.sort(expected, axis=axis), np.sort(actual, axis=axis), equal_nan=expected.dtype.kind in "fc"))
        for axis in range(expected.ndim)
    )
    return np.full(expected.shape, alike)


def _library_nan(evidence: Evidence) -> Array:
    return np.isnan(evidence.expected) if evidence.expected.dtype.kind in "fc" else evidence.nowhere()


_CONDITIONS: Mapping[str, Callable[[Evidence], Array]] = {
    "always": _always,
    "integer-zero": _integer_zero,
    "shift-past-width": _shift_past_width,
    "unrepresentable": _unrepresentable,
    "same-elements": _same_elements,
    "library-nan": _library_nan,
}
_OF_INPUTS = frozenset({"integer-zero", "shift-past-width", "unrepresentable"})


@cache
def filters() -> tuple[Filter, ...]:
    """The filters that come with OPERA, in the order of the file."""
    text = resources.files("opera").joinpath("facts", "filters.toml").read_text(encoding="utf-8")
    return tuple(_filter(row) for row in tomllib.loads(text)["filter"])


def _filter(row: Mapping[str, Any]) -> Filter:
    if row["condition"] not in _CONDITIONS:
        raise ValueError(f"facts/filters.toml: no condition {row['condition']!r}; there are {', '.join(_CONDITIONS)}")
    return Filter(
        row["reason"], re.compile(row["operators"], re.IGNORECASE), row["condition"], row["why"], row.get("input", 0), row.get("parameter"),
        row.get("equals"),
    )  # fmt: skip
