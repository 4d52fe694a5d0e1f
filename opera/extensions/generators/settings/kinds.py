"""The kinds of settings that a parameter or an input gets, for all libraries alike, and how settings are combined."""

from __future__ import annotations

import importlib
import itertools
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Optional, Protocol, TypeVar

np: Any = importlib.import_module("numpy")

Call = TypeVar("Call")
Item = TypeVar("Item")

REALS: tuple[float, ...] = (0.5, 1.0)
"""Fractions to try where nothing is known of a number."""
SIZES = (1, 0)
"""Sizes of a dimension."""
LARGEST = 100_000
"""Elements of an input: a larger call says no more, and takes longer."""
ELEMENTS = (("int32", 2**24 + 1), ("int64", 2**24 + 1), ("int64", 2**53 + 1))
"""Whole numbers that single or double precision does not hold, with their dtypes: an implementation may compute integers in these."""
BORROWED = 2
"""Values that are tried for an optional input which a call leaves out."""
_RELATIONS = 6
"""Sizes and integers of a call to which its other integers are related."""
_NARROW = 1.5
"""Reals up to this are spread out before they become integers: most of them would be 0."""
_SPREAD = 6.0


class Setting(Protocol[Call]):
    """One change of a call."""

    @property
    def factor(self) -> str:
        """What changes; two settings of one factor exclude each other."""
        ...

    def of(self, call: Call) -> Optional[Call]:
        """*call* with this setting; None where it has no such value."""
        ...


def variations(
    call: Call, settings: Sequence[Setting[Call]], pairs: int, seed: str, combined: Iterable[tuple[int, int]] | None = None
) -> Iterator[tuple[tuple[int, ...], Call]]:
    """*call* with each of *settings* alone, then with up to *pairs* pairs, drawn at random; each with the numbers of its settings.

    With *combined*, the pairs are drawn from these, and a setting is tried alone only if one of them has it.
    """
    is_any = combined is None
    both = list(itertools.combinations(range(len(settings)), 2) if combined is None else combined)
    both = [pair for pair in both if settings[pair[0]].factor != settings[pair[1]].factor]
    alone = {number for pair in both for number in pair}
    for number, setting in enumerate(settings):
        made = setting.of(call) if is_any or number in alone else None
        if made is not None:
            yield (number,), made
    random.Random(seed).shuffle(both)
    for one, other in both[:pairs]:
        made = settings[one].of(call)
        made = None if made is None else settings[other].of(made)
        if made is not None:
            yield (one, other), made


def spread(items: Sequence[Item], count: int) -> list[Item]:
    """At most *count* of *items*, spread evenly: neighbours in a list of recorded calls are alike."""
    return [items[index * len(items) // count] for index in range(count)] if len(items) > count else list(items)


def distinct(values: Iterable[Any]) -> list[Any]:
    """*values* without repetitions; True and 1 are two values."""
    seen: set[str] = set()
    found: list[Any] = []
    for value in values:
        if repr(value) not in seen:
            seen.add(repr(value))
            found.append(value)
    return found


# Kinds of values


def axes(rank: int) -> list[int]:
    """Each axis of an input, counted from both ends."""
    return list(range(-rank, rank))


def boundaries(low: Optional[float], high: Optional[float], whole: bool) -> list[Any]:
    """The ends of a documented range, and the numbers next to them inside it."""
    step = 1.0 if whole else REALS[0]
    found = [] if low is None else [low, low + step]
    found += [] if high is None else [high, high - step]
    within = [each for each in found if (low is None or each >= low) and (high is None or each <= high)]
    return [int(each) for each in within if abs(each) < 2**62] if whole else within


def lists(present: Sequence[int]) -> list[list[int]]:
    """A list of integers with ones, reversed, counted from the end, and without items."""
    return [[1] * len(present), list(present)[::-1], [-1 - each for each in present], []]


def related(numbers: Iterable[int]) -> list[int]:
    """Each of *numbers*, sizes and other integers of a call, with its two neighbours: as large as something else, or just beyond it."""
    some = [each for each in dict.fromkeys(numbers) if 1 <= each <= LARGEST][:_RELATIONS]
    return distinct(each + step for each in some for step in (0, 1, -1))


def related_lists(present: Sequence[int], numbers: Sequence[int]) -> list[list[int]]:
    """A list of integers in relation to *numbers*: one of them in every place or in the last, and each item one more."""
    some = related(numbers)
    every = [[each] * len(present) for each in some]
    last = [[*present[:-1], each] for each in some] if len(present) > 1 else []
    return [*every, *last, [each + 1 for each in present]] if present else []


# Kinds of inputs


def cast(value: Any, dtype: Any) -> Any:
    """*value* in another dtype, without signs where the new one has none; None where numpy has no such conversion."""
    before, after = _sort(value.dtype), _sort(dtype)
    try:
        with np.errstate(all="ignore"):
            if after == "bool":
                return value.astype("complex128" if before == "complex" else "float64").real > 0
            if before == "float" and after.endswith("int") and value.size and np.abs(value.astype("float64")).max() <= _NARROW:
                value = np.round(value.astype("float64") * _SPREAD)
            if before == "float" and after == "complex":
                value = value.astype("float64") + 1j * value.astype("float64")[::-1] if value.ndim else value.astype("float64")
            if after == "uint" and before in ("float", "int"):
                value = np.abs(value.astype("float64") if before == "float" else value)
            return value.astype(dtype)
    except (TypeError, ValueError):
        return None


def _sort(dtype: Any) -> str:
    """`float`, `int`, `uint`, `bool`, `complex`, or the whole name of any other dtype."""
    match = re.match(r"b?(float|int|uint|bool|complex)", str(dtype))
    return str(dtype) if match is None else match[1]


def with_element(value: Any, number: int) -> Any:
    """*value* with *number* as its first element; None where it has no element."""
    if not value.size:
        return None
    changed = value.copy()
    changed.reshape(-1)[0] = number
    return changed


def with_size(value: Any, dimension: int, size: int) -> Any:
    """*value* cut to *size* in a dimension; None where it has no more."""
    if dimension >= value.ndim or value.shape[dimension] <= size:
        return None
    return value[(slice(None),) * dimension + (slice(size),)]


def with_rank(value: Any, rank: int) -> Any:
    """*value* with another number of dimensions: its first part, or one more dimension of 1 in front; None where it has that rank."""
    if rank == value.ndim:
        return None
    while value.ndim > rank:
        if not value.shape[0]:
            return None
        value = value[0, ...]
    while value.ndim < rank:
        value = value[None]
    return value
