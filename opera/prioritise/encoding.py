"""Features as dense integer codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from opera.prioritise.coverage import Codes, Pair

Feature = tuple[str, str]
"""A key and the class of values that an instance has there.

A key is a parameter's name, or starts with one: `axis`, `axis:given`, `pads[0]`, `axis~input:axis`.
"""


@dataclass(frozen=True)
class Encoded:
    """Rows of features as codes.

    Attributes:
        keys: Of the columns.
        codes: One row for each that was given; a key that the row lacks is a class like any other.
        covered: One row for each that counts as covered from the start; 0 where it says nothing of a key.
    """

    keys: tuple[str, ...]
    codes: Codes
    covered: Codes

    def select(self, columns: Sequence[int]) -> Encoded:
        """The same with these columns only."""
        return Encoded(tuple(self.keys[column] for column in columns), self.codes[:, columns], self.covered[:, columns])


def encode(rows: Iterable[Iterable[Feature]], covered: Sequence[Iterable[Feature]] = ()) -> Encoded:
    """Numbers keys and classes by first occurrence in *rows*; keys that only *covered* has are left out.

    A key that occurs twice in a row keeps its last class.
    """
    columns: dict[str, tuple[int, dict[str, int]]] = {}
    places: list[int] = []
    values: list[int] = []
    lengths: list[int] = []
    for features in rows:
        before = len(places)
        for key, value in features:
            entry = columns.get(key)
            if entry is None:
                entry = columns[key] = (len(columns), {})
            column, classes = entry
            places.append(column)
            values.append(classes.setdefault(value, len(classes) + 2))
        lengths.append(len(places) - before)
    codes = np.ones((len(lengths), len(columns)), np.int32)
    codes[np.repeat(np.arange(len(lengths)), lengths), places] = values
    known = np.zeros((len(covered), len(columns)), np.int32)
    for row, features in enumerate(covered):
        for key, value in features:
            if key in columns:
                column, classes = columns[key]
                known[row, column] = classes.setdefault(value, len(classes) + 2)
    return Encoded(tuple(columns), codes, known)


def distinct_columns(encoded: Encoded) -> Encoded:
    """*encoded* without the columns that split the rows as an earlier one does: they would count one difference twice."""
    kept: dict[bytes, int] = {}
    for column in range(len(encoded.keys)):
        _, first, inverse = np.unique(encoded.codes[:, column], return_index=True, return_inverse=True)
        split = np.argsort(np.argsort(first))[inverse]
        kept.setdefault(split.astype(np.int32).tobytes(), column)
    return encoded.select(list(kept.values()))


def choose_pairs(encoded: Encoded, most: int) -> list[Pair]:
    """Up to *most* pairs of columns that vary and are about different parameters, columns with many classes first."""
    classes = [len(np.unique(encoded.codes[:, column])) for column in range(len(encoded.keys))]
    order = sorted((column for column, count in enumerate(classes) if count > 1), key=lambda column: -classes[column])
    subjects = [re.split(r"[:\[~]", key, maxsplit=1)[0] for key in encoded.keys]
    pairs: list[Pair] = []
    for place, second in enumerate(order):
        pairs.extend((first, second) for first in order[:place] if subjects[first] != subjects[second])
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
