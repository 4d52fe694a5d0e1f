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
    """In place of outputs: the format of the model does not say what they are, so that every compiler may give its own."""

    why: str


def blames(
    model: Outputs | Undefined | None,
    expected: Outputs,
    precise: Outputs | None,
    actual: Outputs | None,
    policy: Policy,
    *,
    exported: bool,
) -> bool:
    """Whether the model that the compiler was given is at fault for what the compiler made of it.

    It is where it gives the compiler's result, and not the library's, without the compiler. What an exporter made has to give the library's
    result everywhere: it is also at fault where both differ from the library in the same type or shape, where the model has something right
    and the compiler is wrong at none of that, where neither has a result, and where the format leaves open what the result is.

    Args:
        model: The outputs of the model as another implementation runs it; None where that says that there are none, or that they are
            undefined.
        expected: The library's.
        precise: The library's in double precision, where they can be had.
        actual: The compiler's; None where it raised or died.
        policy: What the compiler declares to compute as.
        exported: Whether an exporter made the model, and not the library's own capture.
    """
    if isinstance(model, Undefined):
        return exported
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
