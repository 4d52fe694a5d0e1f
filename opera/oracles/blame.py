"""Finds out whether the exported model was already wrong before the compiler read it."""

from __future__ import annotations

from dataclasses import dataclass

from opera.arrays import Outputs, as_array, is_array
from opera.oracles.compare import Difference, Policy, compare
from opera.oracles.tolerance import differ

_OF_VALUES = frozenset({"values", "nan", "inf"})
"""Kinds of differences between outputs of one type and shape."""


@dataclass(frozen=True)
class Undefined:
    """Stands for outputs that the format of the model leaves open: every compiler may give its own.

    Attributes:
        why: What is left open.
        only_values: Whether the format still fixes their types and shapes.
    """

    why: str
    only_values: bool = False


def blames(
    model: Outputs | Undefined | None,
    expected: Outputs,
    precise: Outputs | None,
    actual: Outputs | None,
    policy: Policy,
    *,
    exported: bool,
) -> bool:
    """Whether the model is at fault for the compiler's result.

    A model is at fault if another implementation runs it and gets the compiler's result instead of the library's. A model of an exporter is
    also at fault if it and the compiler differ from the library in the same type or shape, or if the compiler errs only where the model
    does. It is at fault as well if neither gives a result, or if the format leaves the result open.

    Args:
        model: The outputs of the model in another implementation; None if that implementation rejects the model.
        expected: The library's outputs.
        precise: The library's outputs in double precision; None if it cannot compute them.
        actual: The compiler's outputs; None if it raised or died.
        policy: The dtypes that the compiler declares to compute as others.
        exported: Whether an exporter made the model, rather than the library's own capture.
    """
    if isinstance(model, Undefined):
        difference = compare(expected, precise, actual, policy) if model.only_values and actual is not None else None
        return exported and (difference is None or difference.kind in _OF_VALUES)
    if model is None or actual is None:
        return exported and model is None and actual is None
    own = compare(expected, precise, model, Policy({}))
    if own is None:
        return False
    if _agree(model, None, actual, policy):
        return True
    return exported and (
        _is_the_same(own, compare(expected, precise, actual, policy)) or _wrong_where_the_model_is(model, expected, actual, policy)
    )


def _agree(one: Outputs, precise: Outputs | None, other: Outputs, policy: Policy) -> bool:
    difference = compare(one, precise, other, policy)
    return difference is None or difference.explained is not None


def _is_the_same(own: Difference, other: Difference | None) -> bool:
    """Whether two outputs differ from the library's in another way than by their values, and alike."""
    if other is None or own.kind in _OF_VALUES:
        return False
    return (own.kind, own.output, own.actual) == (other.kind, other.output, other.actual)


def _wrong_where_the_model_is(model: Outputs, expected: Outputs, actual: Outputs, policy: Policy) -> bool:
    """Whether the compiler's outputs are of the model's types and shapes, and the library's wherever the model's are."""
    if not len(model) == len(expected) == len(actual):
        return False
    for own, right, given in zip(model, expected, actual, strict=True):
        if not (is_array(own) and is_array(right) and is_array(given)):
            return False
        mine, wanted, got = as_array(own), as_array(right), as_array(given)
        if not mine.dtype == wanted.dtype == got.dtype or not mine.shape == wanted.shape == got.shape:
            return False
        kept = ~differ(wanted, mine)
        is_right_there = bool(kept.any()) and _agree([wanted[kept]], None, [got[kept]], policy)
        if not is_right_there and not _agree([mine], None, [got], policy):
            return False
    return True
