"""How like two APIs are, before anything is called: signature, documentation, name and recorded behaviour."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from opera.extensions.generators.deeprel.matching import ParameterSlot
from opera.extensions.generators.deeprel.words import Documentation, likeness

SIGNATURE, TEXT, NAME, BEHAVIOUR = 0.35, 0.3, 0.2, 0.15
"""What the parts count for in the score."""
SHORTLIST = 80
"""Candidates whose names and behaviour are compared too."""


class ComparedApi:
    """An API as it is compared.

    Attributes:
        name: Name of the API.
        shape: Names and kinds of its parameters.
        behaviour: Behaviour of its recorded calls; empty without a recorded call.
    """

    def __init__(self, name: str, slots: Sequence[ParameterSlot], behaviour: Counter[tuple[int, str]]) -> None:
        self.name = name
        self.names: frozenset[str] = frozenset("input" if slot.name == "self" else slot.name for slot in slots)
        self.kinds: Counter[str] = Counter(kind for slot in slots for kind in slot.kinds)
        self.behaviour = behaviour


class Likeness:
    """Ranks candidates by their likeness to an API."""

    def __init__(self, subjects: Sequence[ComparedApi], texts: Mapping[str, str]) -> None:
        """*texts* is the documentation of all subjects."""
        self._subjects: dict[str, ComparedApi] = {subject.name: subject for subject in subjects}
        self._documentation = Documentation(texts)

    def ranked(self, name: str, count: int) -> list[tuple[float, str]]:
        """The *count* likeliest relatives of the API *name*, each with its score, 0 to 1; the likest first."""
        source = self._subjects[name]
        rough: list[tuple[float, str]] = []
        for other in self._subjects.values():
            if other.name != name:
                score = SIGNATURE * _signature(source, other) + TEXT * self._documentation.likeness(name, other.name)
                rough.append((score, other.name))
        rough.sort(key=lambda item: (-item[0], item[1]))
        exact: list[tuple[float, str]] = []
        for score, candidate in rough[:SHORTLIST]:
            other = self._subjects[candidate]
            named = likeness(name.rpartition(".")[2].lower(), candidate.rpartition(".")[2].lower())
            exact.append((score + NAME * named + BEHAVIOUR * _behaviour(source, other), candidate))
        exact.sort(key=lambda item: (-item[0], item[1]))
        return exact[:count]


def _signature(one: ComparedApi, other: ComparedApi) -> float:
    """The share of names and of kinds that two signatures have in common."""
    names = len(one.names & other.names) / max(1, len(one.names | other.names))
    return 0.5 * names + 0.5 * _cosine(one.kinds, other.kinds)


def _behaviour(one: ComparedApi, other: ComparedApi) -> float:
    """How alike the tensors were that both were called with; in the middle where one was never seen."""
    return _cosine(one.behaviour, other.behaviour) if one.behaviour and other.behaviour else 0.5


def _cosine(one: Mapping[Any, int], other: Mapping[Any, int]) -> float:
    lengths = [math.sqrt(sum(count * count for count in part.values())) for part in (one, other)]
    if 0.0 in lengths:
        return 0.0
    return sum(count * other.get(key, 0) for key, count in one.items()) / (lengths[0] * lengths[1])
