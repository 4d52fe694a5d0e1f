"""Features as dense integer codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
"""Classes by row (an instance) and column (a key): 0 where nothing is known of the key, 1 where the instance lacks it, then the
classes."""

Pair = tuple[int, int]
"""Two columns of `Codes`: a pair of parameters."""

Feature = tuple[str, str]
"""A key and the class of values that an instance has there.

A key is a parameter's name, or starts with one: `axis`, `axis:given`, `pads[0]`, `axis~input:axis`.
"""
Features = tuple[Feature, ...]
"""Features that belong together, such as those of one argument."""

UNKNOWN, ABSENT = 0, 1
_FIRST = 2


@dataclass(frozen=True)
class Encoded:
    """Rows of features as codes.

    Attributes:
        keys: Keys of the columns.
        classes: The classes of each column, in the order of their codes from 2 on.
        codes: One row for each that was given; a key that the row lacks is a class like any other.
        covered: One row for each that counts as covered from the start; 0 where it says nothing of a key.
    """

    keys: tuple[str, ...]
    classes: tuple[tuple[str, ...], ...]
    codes: Codes
    covered: Codes

    def select(self, columns: Sequence[int]) -> Encoded:
        """The same with these columns only."""
        return Encoded(
            keys=tuple(self.keys[each] for each in columns),
            classes=tuple(self.classes[each] for each in columns),
            codes=self.codes[:, columns],
            covered=self.covered[:, columns],
        )


class Encoder:
    """Numbers keys and classes as they come; rows can be added at any time."""

    def __init__(self) -> None:
        self._columns: dict[str, tuple[int, dict[str, int]]] = {}
        self._codes: Codes = np.ones((0, 0), np.int32)

    def add(self, rows: Iterable[Iterable[Features]]) -> None:
        """Adds rows below those there are. A key that occurs twice in a row keeps its last class.

        A reader that gives the same tuple of features again is spared the work.
        """
        known: dict[int, tuple[Features, list[int], list[int]]] = {}
        places: list[int] = []
        values: list[int] = []
        lengths: list[int] = []
        for row in rows:
            before = len(places)
            for features in row:
                found = known.get(id(features))
                if found is None:
                    found = known[id(features)] = (features, *self._number(features))
                places += found[1]
                values += found[2]
            lengths.append(len(places) - before)
        had = len(self._codes)
        codes = np.full((had + len(lengths), len(self._columns)), ABSENT, np.int32)
        codes[:had, : self._codes.shape[1]] = self._codes
        codes[np.repeat(np.arange(had, len(codes)), lengths), places] = values
        self._codes = codes

    def _number(self, features: Features) -> tuple[list[int], list[int]]:
        """Columns and codes of *features*."""
        columns: list[int] = []
        codes: list[int] = []
        for key, value in features:
            entry = self._columns.get(key)
            if entry is None:
                entry = self._columns[key] = (len(self._columns), {})
            columns.append(entry[0])
            codes.append(entry[1].setdefault(value, len(entry[1]) + _FIRST))
        return columns, codes

    def encoded(self, order: npt.NDArray[np.intp], covered: Sequence[Iterable[Feature]] = ()) -> Encoded:
        """The rows in *order*, columns by their keys; keys that only *covered* has are left out."""
        keys = sorted(self._columns)
        classes = [tuple(self._columns[key][1]) for key in keys]
        known = np.zeros((len(covered), len(self._columns)), np.int32)
        for row, features in enumerate(covered):
            for key, value in features:
                if key in self._columns:
                    column, numbers = self._columns[key]
                    known[row, column] = numbers.get(value, len(numbers) + _FIRST)
        by_key = [self._columns[key][0] for key in keys]
        return Encoded(tuple(keys), tuple(classes), self._codes[order][:, by_key], known[:, by_key])


def encode(rows: Iterable[Iterable[Features]], covered: Sequence[Iterable[Feature]] = ()) -> Encoded:
    """*rows* in their order."""
    encoder = Encoder()
    given = list(rows)
    encoder.add(given)
    return encoder.encoded(np.arange(len(given)), covered)


def distinct_columns(encoded: Encoded) -> Encoded:
    """*encoded* without the columns that split the rows as an earlier one does: they would count one difference twice."""
    kept: dict[bytes, int] = {}
    for column in range(len(encoded.keys)):
        _, first, inverse = np.unique(encoded.codes[:, column], return_index=True, return_inverse=True)
        split = np.argsort(np.argsort(first))[inverse]
        kept.setdefault(split.astype(np.int32).tobytes(), column)
    return encoded.select(list(kept.values()))


def count_splits(encoded: Encoded) -> int:
    """How many columns `distinct_columns` would leave; quicker for a few rows."""
    found: set[tuple[int, ...]] = set()
    columns: list[list[int]] = encoded.codes.T.tolist()
    for column in columns:
        numbers: dict[int, int] = {}
        found.add(tuple(numbers.setdefault(code, len(numbers)) for code in column))
    return len(found)


def choose_pairs(encoded: Encoded, most: int) -> list[Pair]:
    """Up to *most* pairs of columns that vary and are about different parameters, columns with many classes first."""
    classes = [len(np.unique(encoded.codes[:, column])) for column in range(len(encoded.keys))]
    order = sorted((column for column, count in enumerate(classes) if count > 1), key=lambda column: -classes[column])
    subjects = [re.split(r"[:\[~]", key, maxsplit=1)[0] for key in encoded.keys]
    pairs: list[Pair] = []
    for index, second in enumerate(order):
        pairs.extend((first, second) for first in order[:index] if subjects[first] != subjects[second])
        if len(pairs) >= most:
            break
    return pairs[:most]


def merge_rows(codes: Codes) -> tuple[npt.NDArray[np.intp], list[list[int]]]:
    """The first of each group of equal rows, in order, and for each the positions of all rows of its group."""
    _, first, inverse = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))
    rows: list[int] = place[inverse.reshape(-1)].tolist()
    copies: list[list[int]] = [[] for _ in range(len(first))]
    for position, row in enumerate(rows):
        copies[row].append(position)
    return np.sort(first), copies
