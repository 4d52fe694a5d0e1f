"""Matches the arguments of recorded calls to the parameters of another API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Optional

from opera.extensions.generators.deeprel.assignment import assign
from opera.extensions.generators.deeprel.words import likeness
from opera.extensions.generators.docter.constraints import FLOAT, FLOATS, INT, INTS, NONE, OTHER, ParameterConstraint, TargetApi

NAME, TYPE, PLACE = 0.5, 0.35, 0.15
"""What a match counts by: likeness of names, types that fit, and position."""
_SAME_NAMES = {
    "self": "input",
    "x": "input",
    "a": "input",
    "tensor": "input",
    "axis": "dim",
    "keepdims": "keepdim",
    "y": "other",
    "b": "other",
}
_NEAR = {(INT, FLOAT), (INTS, FLOATS), (INT, INTS), (FLOAT, FLOATS)}


class ParameterSlot(NamedTuple):
    """A parameter of an API, or an argument as its recorded calls have it.

    Attributes:
        part: `build` for the constructor's, `call` for the call's.
        name: Name of the parameter.
        kinds: Kinds of values that it takes, or had; empty where nothing is known.
        place: Position within its part.
        required: Whether a call needs it.
    """

    part: str
    name: str
    kinds: frozenset[str]
    place: int
    required: bool


class Match(NamedTuple):
    """Which parameter of a target takes each argument of a source.

    Attributes:
        pairs: Source argument to the target's parameter.
        score: 0 to 1.
        variant: The number of the target's overload.
    """

    pairs: dict[tuple[str, str], ParameterConstraint]
    parts: dict[tuple[str, str], str]
    score: float
    variant: int

    def text(self) -> str:
        """The match in one line."""
        return ", ".join(f"{name}={target.name}" for (_, name), target in self.pairs.items())


def match(source: Sequence[ParameterSlot], api: TargetApi) -> Optional[Match]:
    """The best match of *source* to an overload of *api*; None where no overload has all it needs."""
    found = [made for number, call in enumerate(api.calls) if (made := _match_overload(source, api, number, call)) is not None]
    return max(found, key=lambda item: item.score, default=None)


def _match_overload(source: Sequence[ParameterSlot], api: TargetApi, number: int, call: Sequence[ParameterConstraint]) -> Optional[Match]:
    targets = [("build", item, index) for index, item in enumerate(api.build or ())]
    targets += [("call", item, index) for index, item in enumerate(call)]
    targets = [item for item in targets if not item[1].rest]
    if not targets:
        return None
    scores = [[_score(slot, *target) for target in targets] for slot in source]
    chosen = [(row, column) for row, column in assign(scores) if scores[row][column] > 0]
    taken = {column for _, column in chosen}
    if any(item.required and column not in taken for column, (_, item, _) in enumerate(targets)):
        return None
    keys = {(source[row].part, source[row].name): targets[column] for row, column in chosen}
    total = sum(scores[row][column] for row, column in chosen)
    required = sum(slot.required for slot in source)
    matched = sum(source[row].required for row, _ in chosen)
    if matched < required:
        return None
    return Match(
        {key: target for key, (_, target, _) in keys.items()},
        {key: part for key, (part, _, _) in keys.items()},
        total / max(len(source), len(targets), 1),
        number,
    )


def _score(slot: ParameterSlot, part: str, target: ParameterConstraint, place: int) -> float:
    """0 where the types do not fit."""
    fit = _fit(slot.kinds, target)
    if fit == 0.0:
        return 0.0
    near = 1.0 / (1 + abs(slot.place - place)) if slot.part == part else 0.0
    return NAME * likeness(_SAME_NAMES.get(slot.name, slot.name), _SAME_NAMES.get(target.name, target.name)) + TYPE * fit + PLACE * near


def _fit(kinds: frozenset[str], target: ParameterConstraint) -> float:
    """How well values of *kinds* fit *target*: 1 for equal types, 0 for none in common."""
    takes = {kind.name for kind in target.kinds} - {NONE}
    had = kinds - {NONE}
    if not takes or not had:
        return 0.5
    if had <= takes:
        return 1.0
    if had & takes or any((one, other) in _NEAR for one in had for other in takes):
        return 0.5
    return 0.4 if OTHER in had and OTHER in takes else 0.0


def slots_of(api: TargetApi) -> list[ParameterSlot]:
    """The parameters of an API's first overload."""
    found = [
        ParameterSlot("build", item.name, frozenset(kind.name for kind in item.kinds), index, item.required)
        for index, item in enumerate(api.build or ())
    ]
    first = api.calls[0] if api.calls else ()
    return found + [
        ParameterSlot("call", item.name, frozenset(kind.name for kind in item.kinds), index, item.required)
        for index, item in enumerate(first)
    ]
