"""Draws one conforming call of an API: kinds, shapes that parameters share, dtypes, numbers within their ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, cast

from opera.extensions.generators.docter import naming, shapes
from opera.extensions.generators.docter.chooser import Chooser
from opera.extensions.generators.docter.constraints import (
    BOOL,
    BOOLS,
    DTYPE,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    MISSING,
    NONE,
    STRING,
    TENSOR,
    TENSORS,
    ParameterConstraint,
    Signature,
    TargetApi,
    ValueType,
)
from opera.extensions.generators.docter.recipes import CallRecipe, DtypeRecipe, Given, TensorRecipe

Options = list[tuple[Any, float]]

GIVE_OPTIONAL = 0.3
_FLOATING: Options = [
    ("float32", 6.0),
    ("float64", 1.2),
    ("int64", 0.8),
    ("int32", 0.4),
    ("bool", 0.3),
    ("uint8", 0.2),
    ("complex64", 0.3),
    ("float16", 0.3),
    ("bfloat16", 0.3),
]
_INDEXING: Options = [("int64", 6.0), ("int32", 1.0), ("float32", 1.0), ("bool", 0.2)]
_MASKING: Options = [("bool", 6.0), ("float32", 1.0), ("uint8", 0.3)]
_DTYPES: Options = [("float32", 3.0), ("float64", 2.0), ("int64", 1.5), ("int32", 1.0), ("bool", 0.5), ("float16", 0.5), ("complex64", 0.3)]
_VALUES: Options = [("normal", 4.0), ("positive", 1.5), ("unit", 1.0), ("integral", 0.4), ("sorted", 0.3), ("definite", 0.3)]
_WHOLE: Options = [("index", 4.0), ("signed", 0.6)]
_REALS: Options = [(0.5, 3.0), (1.0, 2.0), (0.1, 1.0), (2.0, 1.0), (1e-05, 0.4), (0.0, 0.5), (-1.0, 0.3), (3.5, 0.4), (2, 0.5), (1, 0.3)]
_NUMBERS: dict[str, Options] = {
    naming.SMALL: [(1, 4.0), (2, 3.0), (3, 1.0)],
    naming.NEAR_ZERO: [(0, 3.0), (1, 3.0), (2, 1.0), (-1, 0.4)],
    naming.SIZE: [("pool", 5.0), (1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0), (6, 0.5), (8, 0.5)],
    naming.PLAIN: [(0, 1.5), (1, 2.0), (2, 1.5), (3, 1.0), (-1, 0.6), ("pool", 1.0), (5, 0.4)],
}


class Undrawable(Exception):
    """A required parameter for which no value can be made; the message is its name."""


class Drawing:
    """One call that is being drawn; parameters see what was drawn before them."""

    def __init__(self, chooser: Chooser, api: TargetApi) -> None:
        self._choose = chooser.choose
        self._api = api
        self._sizes = shapes.Sizes(chooser)
        self._first: Optional[TensorRecipe] = None
        every = [*(api.build or ()), *(item for call in api.calls for item in call)]
        self._symbols = {dim for item in every for shape in item.shapes for dim in shape if isinstance(dim, str)}

    def call(self) -> CallRecipe:
        """The whole call.

        Raises:
            Undrawable: it needs a value that cannot be made.
        """
        build = None if self._api.build is None else self._arguments(self._api.build, "build.")
        variant = int(self._choose("variant", [(number, 1.0) for number in range(len(self._api.calls))]))
        return CallRecipe(build, self._arguments(self._api.calls[variant], f"call{variant}."))

    def _arguments(self, signature: Signature, prefix: str) -> tuple[Given, ...]:
        found: list[Given] = []
        skipped = False
        for constraint in signature:
            slot = prefix + constraint.name
            if not self._wanted(constraint, slot):
                skipped = skipped or not constraint.keyword
                continue
            if constraint.rest:
                count = self._choose(f"{slot}.count", [(1, 1.0), (2, 1.0), (3, 0.5)])
                found.extend(Given(constraint.name, self._value(constraint, f"{slot}.{number}")) for number in range(count))
                continue
            found.append(Given(constraint.name, self._value(constraint, slot), skipped or constraint.keyword))
        return tuple(found)

    def _wanted(self, constraint: ParameterConstraint, slot: str) -> bool:
        if constraint.required:
            if not constraint.drawable:
                raise Undrawable(constraint.name)
            return True
        if not constraint.drawable:
            return False
        return bool(self._choose(f"{slot}.given", [(False, 1 - GIVE_OPTIONAL), (True, GIVE_OPTIONAL)]))

    def _value(self, constraint: ParameterConstraint, slot: str) -> Any:
        if constraint.choices:
            return self._choose(f"{slot}.value", [(item, 1.0) for item in constraint.choices])
        kinds = constraint.drawable_kinds if constraint.kinds else naming.likely_kinds(constraint)
        kind = cast(ValueType, self._choose(f"{slot}.kind", [(kind, 1.0 / (1 + index)) for index, kind in enumerate(kinds)]))
        return self._of_kind(kind, constraint, slot)

    def _of_kind(self, kind: ValueType, constraint: ParameterConstraint, slot: str) -> Any:
        if kind.name == TENSOR:
            return self._tensor(constraint, slot)
        if kind.name == TENSORS:
            return self._tensors(constraint, slot)
        if kind.name == INT:
            return self._int(constraint, slot)
        if kind.name == FLOAT:
            return self._choose(f"{slot}.value", _within(_REALS, constraint) or [(constraint.low or constraint.high or 0.0, 1.0)])
        if kind.name == BOOL:
            return self._choose(f"{slot}.value", [(True, 1.0), (False, 1.0)])
        if kind.name == DTYPE:
            return DtypeRecipe(self._choose(f"{slot}.value", [(name, 1.0) for name in constraint.dtypes] or _DTYPES))
        if kind.name in (STRING, NONE):
            return constraint.default if kind.name == STRING else None
        return self._list(kind, constraint, slot)

    # Tensors

    def _tensor(self, constraint: ParameterConstraint, slot: str) -> TensorRecipe:
        first = self._first
        shape = self._sizes.shape(constraint, slot, None if first is None else first.shape)
        dtype = self._dtype(constraint, slot)
        recipe = TensorRecipe(shape, dtype, *self._values(dtype, shape, slot))
        if first is None:
            self._first = recipe
        return recipe

    def _dtype(self, constraint: ParameterConstraint, slot: str) -> str:
        options: Options = [(name, 2.0) for name in constraint.dtypes]
        if not options:
            options = _INDEXING if naming.is_index(constraint.name) else _MASKING if naming.is_mask(constraint.name) else _FLOATING
            if self._first is not None and options is _FLOATING:
                options = [("as-first", 14.0), *options]
        chosen = self._choose(f"{slot}.dtype", options)
        return self._first.dtype if chosen == "as-first" and self._first is not None else str(chosen)

    def _values(self, dtype: str, shape: tuple[int, ...], slot: str) -> tuple[str, int]:
        """How the values are drawn, and below what bound indices lie."""
        if "float" in dtype or "complex" in dtype:
            square = len(shape) >= 2 and shape[-1] == shape[-2]
            return str(self._choose(f"{slot}.values", [item for item in _VALUES if square or item[0] != "definite"])), 1
        sides = self._first.shape if self._first is not None else shape
        bounds: Options = [(max(1, min(sides, default=1)), 3.0), (self._sizes.base(), 1.0), (1, 0.4), (2, 0.6)]
        return str(self._choose(f"{slot}.values", _WHOLE)), int(self._choose(f"{slot}.high", bounds))

    def _tensors(self, constraint: ParameterConstraint, slot: str) -> list[TensorRecipe]:
        count = self._choose(f"{slot}.count", [(2, 3.0), (1, 1.0), (3, 1.0)])
        whole = self._tensor(constraint, slot)
        if count > 1 and self._choose(f"{slot}.alike", [(True, 4.0), (False, 1.0)]) is False:
            return [whole, *(self._tensor(constraint, f"{slot}.{number}") for number in range(1, count))]
        return [whole] * count

    # Numbers

    def _int(self, constraint: ParameterConstraint, slot: str) -> int:
        if constraint.name in self._symbols:
            return self._sizes.size(constraint.name)
        meaning = naming.number(constraint.name)
        if meaning == naming.AXIS:
            dims = len(self._first.shape) if self._first is not None else 2
            axes = range(-dims, dims) if dims else range(-1, 1)
            options: Options = [(axis, 2.0 if axis in (0, -1) else 1.0) for axis in axes]
        else:
            options = _NUMBERS[meaning]
        options = _within(options, constraint) or [(int(constraint.low or constraint.high or 0), 1.0)]
        chosen = self._choose(f"{slot}.value", options)
        return self._sizes.pool(self._first.shape if self._first is not None else None, slot) if chosen == "pool" else int(chosen)

    def _list(self, kind: ValueType, constraint: ParameterConstraint, slot: str) -> list[Any]:
        """A list of numbers or booleans."""
        sides = self._first.shape if self._first is not None else ()
        meaning = naming.number(constraint.name) if kind.name == INTS else ""
        if kind.length is None:
            options: Options = [("each", 2.0), ("constant", 3.0)]
            if meaning == naming.AXIS:
                options += [("axes", 5.0), ("permutation", 1.5)]
            if meaning == naming.SIZE:
                options += [("as-first", 3.0), ("flat", 1.0)]
            way = self._choose(f"{slot}.list", options)
        else:
            way = self._choose(f"{slot}.list", [("constant", 2.0), ("each", 1.0)])
        if way == "as-first":
            return list(sides)
        if way == "flat":
            return [self._choose(f"{slot}.flat", [(-1, 1.0), (_product(sides), 1.0)])]
        if way in ("axes", "permutation"):
            return self._axes(len(sides), slot, every=way == "permutation")
        dims = len(sides)
        count = kind.length or self._choose(f"{slot}.length", [(1, 1.0), (2, 2.0), (3, 1.0), (dims, 2.0), (max(1, dims - 2), 2.0)])
        of_item = {INTS: INT, FLOATS: FLOAT, BOOLS: BOOL}[kind.name]
        plain = constraint._replace(default=MISSING, choices=())
        return [self._of_kind(ValueType(of_item), plain, slot if way == "constant" else f"{slot}.{index}") for index in range(count)]

    def _axes(self, dims: int, slot: str, *, every: bool) -> list[int]:
        """Different axes of the first tensor."""
        left = list(range(max(1, dims)))
        count = len(left) if every else self._choose(f"{slot}.axes", [(number, 1.0) for number in range(1, len(left) + 1)])
        found: list[int] = []
        for index in range(count):
            axis = int(self._choose(f"{slot}.axis{index}.{len(left)}", [(number, 1.0) for number in range(len(left))]))
            found.append(left.pop(min(axis, len(left) - 1)))
        return found


def _within(options: Sequence[tuple[Any, float]], constraint: ParameterConstraint) -> Options:
    """The options in the range that is allowed."""
    low = float("-inf") if constraint.low is None else constraint.low
    high = float("inf") if constraint.high is None else constraint.high
    return [item for item in options if isinstance(item[0], str) or low <= item[0] <= high]


def _product(sides: Sequence[int]) -> int:
    count = 1
    for side in sides:
        count *= side
    return count
