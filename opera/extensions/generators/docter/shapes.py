"""Draws shapes: sizes that parameters share by symbol, and the usual relations between the tensors of one call."""

from __future__ import annotations

from typing import Any, Optional

from opera.extensions.generators.docter.chooser import Chooser
from opera.extensions.generators.docter.constraints import Dim, ParameterConstraint

Shape = tuple[int, ...]

MOST_ELEMENTS = 20_000
_VARIED: list[tuple[Any, float]] = [(1, 0.7), (2, 2.0), (3, 2.0), (4, 2.0), (5, 1.0), (6, 0.7), (8, 0.5)]
_BASES: list[tuple[Any, float]] = [(4, 4.0), (2, 1.0), (3, 1.0), (6, 0.7), (8, 0.4), (1, 0.2), (5, 0.4)]
_FIRST: list[tuple[Any, float]] = [
    (("dims", 2), 3.0),
    (("dims", 3), 2.5),
    (("dims", 4), 2.5),
    (("dims", 1), 1.5),
    (("dims", 5), 0.7),
    (("dims", 0), 0.4),
]
_LATER: list[tuple[Any, float]] = [
    (("same",), 6.0),
    (("vector",), 1.2),
    (("drop-last",), 0.6),
    (("drop-first",), 0.4),
    (("transpose",), 0.6),
    (("batch",), 0.5),
    (("broadcast",), 0.6),
    (("dims", 0), 0.3),
    (("dims", 1), 0.8),
    (("dims", 2), 0.8),
    (("dims", 3), 0.5),
    (("dims", 4), 0.4),
]


class Sizes:
    """The sizes of one drawing. In half of the drawings all sides are equal, so that most relations between shapes hold."""

    def __init__(self, chooser: Chooser) -> None:
        self._choose = chooser.choose

    def base(self) -> int:
        """The size of all sides where they are equal."""
        return int(self._choose("base", _BASES))

    def pool(self, shape: Optional[Shape], slot: str) -> int:
        """A size that occurs elsewhere in the call."""
        if not shape or self._equal():
            return self.base()
        return shape[int(self._choose(f"{slot}.pool.{len(shape)}", [(index, 1.0) for index in range(len(shape))]))]

    def shape(self, constraint: ParameterConstraint, slot: str, first: Optional[Shape]) -> Shape:
        """A shape for the tensor of *constraint*; *first* is the shape of the call's first tensor, once there is one."""
        options: list[tuple[Any, float]] = [(("documented", number), 6.0) for number in range(len(constraint.shapes))]
        options += [(("dims", dims), 4.0) for dims in constraint.ndims]
        usual = _FIRST if first is None else _LATER
        options += [(way, weight * (0.25 if options else 1.0)) for way, weight in usual]
        way = self._choose(f"{slot}.shape", options)
        return _bounded(self._made(way, constraint, slot, first or ()))

    def _made(self, way: tuple[Any, ...], constraint: ParameterConstraint, slot: str, first: Shape) -> Shape:
        if way[0] == "documented":
            return self._documented(constraint.shapes[int(way[1])], slot)
        if way[0] == "dims":
            return tuple(self.size(f"{slot}.{way[1]}.{index}") for index in range(way[1]))
        if way[0] == "vector":
            return (self.pool(first, slot),)
        if way[0] == "drop-last":
            return first[:-1]
        if way[0] == "drop-first":
            return first[1:]
        if way[0] == "transpose":
            return (*first[:-2], *reversed(first[-2:]))
        if way[0] == "batch":
            return first[:1]
        if way[0] == "broadcast":
            return tuple(1 if index % 2 else side for index, side in enumerate(first))
        return first

    def _documented(self, dims: tuple[Dim, ...], slot: str) -> Shape:
        found: list[int] = []
        for dim in dims:
            if dim == "...":
                count = int(self._choose(f"{slot}.more", [(0, 2.0), (1, 2.0), (2, 1.0)]))
                found.extend(self.size(f"*{index}") for index in range(count))
            else:
                found.append(dim if isinstance(dim, int) else self.size(dim))
        return tuple(found)

    def size(self, symbol: str) -> int:
        """The size for which *symbol* stands in this drawing."""
        return self.base() if self._equal() else int(self._choose(f"size.{symbol}", _VARIED))

    def _equal(self) -> bool:
        return bool(self._choose("equal", [(True, 1.0), (False, 1.0)]))


def _bounded(shape: Shape) -> Shape:
    """*shape* with its longest sides halved until it has few enough elements."""
    sides = list(shape)
    while sides and _count(sides) > MOST_ELEMENTS:
        longest = sides.index(max(sides))
        sides[longest] = max(1, sides[longest] // 2)
    return tuple(sides)


def _count(sides: list[int]) -> int:
    count = 1
    for side in sides:
        count *= side
    return count
