"""At most so many of each kind: what `--cap` means wherever it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def at_most(items: Iterable[Item], cap: int | None, kind: Callable[[Item], Hashable]) -> Iterator[Item]:
    """The first *cap* of *items* of each *kind*, in their order; all of them when *cap* is None."""
    taken: Counter[Hashable] = Counter()
    for item in items:
        of = kind(item)
        if cap is None or taken[of] < cap:
            taken[of] += 1
            yield item
