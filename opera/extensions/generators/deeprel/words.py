"""Likeness of texts: edit distance of names, and of documentation by its rare words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping

_WORD = re.compile(r"[a-z]{3,}")
MOST_WORDS = 60
"""Only the beginning of a documentation says what an API does."""


def distance(one: str, other: str) -> int:
    """Levenshtein's distance: the fewest letters to insert, delete or replace."""
    if len(one) < len(other):
        one, other = other, one
    row = list(range(len(other) + 1))
    for index, letter in enumerate(one, 1):
        before, row[0] = row[0], index
        for number, wanted in enumerate(other, 1):
            before, row[number] = row[number], min(row[number] + 1, row[number - 1] + 1, before + (letter != wanted))
    return row[-1]


def likeness(one: str, other: str) -> float:
    """1 for equal names, 0 for names that have nothing in common."""
    longest = max(len(one), len(other))
    return 1.0 if longest == 0 else 1.0 - distance(one, other) / longest


class Documentation:
    """The documentation of many APIs as vectors of words, each weighted by how few APIs use it."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """*texts* is documentation by API."""
        counts = {name: Counter(_WORD.findall(text.lower())[:MOST_WORDS]) for name, text in texts.items()}
        used = Counter(word for count in counts.values() for word in count)
        self._vectors = {name: _unit({word: n * math.log(len(counts) / used[word]) for word, n in c.items()}) for name, c in counts.items()}

    def likeness(self, one: str, other: str) -> float:
        """The cosine of two APIs' vectors, 0 to 1."""
        left, right = self._vectors.get(one, {}), self._vectors.get(other, {})
        if len(left) > len(right):
            left, right = right, left
        return sum(weight * right.get(word, 0.0) for word, weight in left.items())


def _unit(vector: dict[str, float]) -> dict[str, float]:
    length = math.sqrt(sum(weight * weight for weight in vector.values()))
    return {word: weight / length for word, weight in vector.items() if weight > 0} if length > 0 else {}
