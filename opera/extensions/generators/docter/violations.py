"""Breaks exactly one constraint of a call that returned, or puts one of its values on a boundary."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from opera.extensions.generators.docter.recipes import CallRecipe, DtypeRecipe, TensorRecipe

_EXTREME = (0, -1, 2**31, 2**63 - 1, -(2**63))
_REALS = (0.0, -1.0, float("nan"), float("inf"), float("-inf"), 1e38)
_OTHER_DTYPES = {"float32": ("int64", "bool", "complex64", "float64"), "int64": ("float32", "bool", "uint8"), "bool": ("float32", "int64")}
_ODD_VALUES = ("nan", "inf", "huge", "zero", "negative")


class Violation(NamedTuple):
    """A broken call: what is broken (`input: empty`), and the call."""

    what: str
    recipe: CallRecipe


def violations(recipe: CallRecipe, generator: random.Random) -> list[Violation]:
    """All violations of *recipe*, in a random order in which kinds alternate."""
    groups: dict[str, list[Violation]] = {}
    for violation in _all(recipe):
        groups.setdefault(violation.what, []).append(violation)
    order = list(groups)
    generator.shuffle(order)
    return [generator.choice(groups[what]) for what in order]


def _all(recipe: CallRecipe) -> Iterator[Violation]:
    for path, value in recipe.parts():
        name = recipe.given(path).name
        for how, other in _broken(value):
            yield Violation(f"{name}: {how}", recipe.replaced(path, other))
        if len(path) == 2:
            yield Violation(f"{name}: none", recipe.replaced(path, None))
            yield Violation(f"{name}: missing", recipe.without(path))


def _broken(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, TensorRecipe):
        yield from _broken_tensor(value)
    elif isinstance(value, DtypeRecipe):
        yield from (("dtype", DtypeRecipe(name)) for name in _OTHER_DTYPES.get(value.name, ("float32", "bool")))
    elif isinstance(value, bool):
        yield "type", 2
    elif isinstance(value, int):
        yield from ((_extreme(number), number) for number in _EXTREME if number != value)
        yield from (("beyond", number) for number in (value + 1, value - 1))
        yield "type", value + 0.5
    elif isinstance(value, float):
        yield from ((f"{number}", number) for number in _REALS if number != value)
        yield "type", "opera"
    elif isinstance(value, str):
        yield "choice", "opera"
        yield "type", 1
    elif isinstance(value, list):
        items = cast("list[Any]", value)
        yield "empty", []
        yield "longer", [*items, *items[-1:]]
        yield "shorter", items[:-1]


def _extreme(number: int) -> str:
    return {0: "zero", -1: "negative"}.get(number, "huge")


def _broken_tensor(tensor: TensorRecipe) -> Iterator[tuple[str, TensorRecipe]]:
    shape = tensor.shape
    if shape:
        yield "scalar", tensor._replace(shape=())
        yield "dropped dimension", tensor._replace(shape=shape[1:])
    yield "added dimension", tensor._replace(shape=(1, *shape))
    for index, side in enumerate(shape):
        yield "empty", tensor._replace(shape=(*shape[:index], 0, *shape[index + 1 :]))
        yield "mismatch", tensor._replace(shape=(*shape[:index], side + 1, *shape[index + 1 :]))
    for dtype in _OTHER_DTYPES.get(tensor.dtype, ("float32", "int64")):
        values = "index" if dtype in ("int64", "bool", "uint8") else "normal"
        yield "dtype", tensor._replace(dtype=dtype, values=values, high=max(1, tensor.high))
    if tensor.dtype.startswith(("float", "bfloat")):
        yield from ((values, tensor._replace(values=values)) for values in _ODD_VALUES)
    elif "int" in tensor.dtype:
        yield "beyond", tensor._replace(values="index", high=tensor.high + 7)
        yield "negative", tensor._replace(values="negative")
