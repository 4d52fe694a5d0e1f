"""Recipes: calls as plain data, from which each try makes new values of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Optional, cast

Path = tuple[Any, ...]
"""The way to a part of a call: `("call", 0, 2)` is the third item of the first argument's list."""


class TensorRecipe(NamedTuple):
    """A tensor to be made.

    Attributes:
        shape: Its dimensions.
        dtype: Canonical name.
        values: How they are drawn: `normal`, `positive`, `unit`, `integral`, `sorted`, `definite`, `index`, `signed`, `nan`, `inf`,
            `huge`, `zero` or `negative`.
        high: Values of an index lie below it.
    """

    shape: tuple[int, ...]
    dtype: str
    values: str = "normal"
    high: int = 1

    @property
    def size(self) -> int:
        """Number of elements of the tensor."""
        count = 1
        for side in self.shape:
            count *= side
        return count


class DtypeRecipe(NamedTuple):
    """A data type passed as an argument."""

    name: str


class Given(NamedTuple):
    """One argument of a recipe."""

    name: str
    value: Any
    keyword: bool = False


class CallRecipe(NamedTuple):
    """One call: arguments of the constructor, None for a function, and of the call."""

    build: Optional[tuple[Given, ...]]
    call: tuple[Given, ...]

    def parts(self) -> Iterator[tuple[Path, Any]]:
        """Every value with the path to it, lists before their items."""
        for part in ("build", "call"):
            for number, given in enumerate(cast("tuple[Given, ...]", getattr(self, part) or ())):
                yield from _parts((part, number), given.value)

    def given(self, path: Path) -> Given:
        """The argument to which *path* leads or in which it ends."""
        return cast(Given, getattr(self, path[0])[path[1]])

    def replaced(self, path: Path, value: Any) -> CallRecipe:
        """A copy with *value* at *path*."""
        part, number, *inner = path
        givens = list(cast("tuple[Given, ...]", getattr(self, part)))
        before = givens[int(number)]
        givens[int(number)] = before._replace(value=_replaced(before.value, inner, value))
        return self._replace(**{part: tuple(givens)})

    def without(self, path: Path) -> CallRecipe:
        """A copy without the argument at *path*; those after it are passed by keyword."""
        part, number = path[:2]
        givens = cast("tuple[Given, ...]", getattr(self, part))
        rest = (*givens[:number], *(given._replace(keyword=True) for given in givens[number + 1 :]))
        return self._replace(**{part: rest})

    def tensors(self) -> list[tuple[Path, TensorRecipe]]:
        """Every tensor with the path to it."""
        return [(path, value) for path, value in self.parts() if isinstance(value, TensorRecipe)]


def realised(value: Any, tensor: Callable[[TensorRecipe], Any], dtype: Callable[[str], Any]) -> Any:
    """The library's value for *value*, made by *tensor* and *dtype*."""
    if isinstance(value, TensorRecipe):
        return tensor(value)
    if isinstance(value, DtypeRecipe):
        return dtype(value.name)
    if isinstance(value, (list, tuple)):
        items = [realised(item, tensor, dtype) for item in cast("list[Any]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    return value


def _parts(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    yield path, value
    if isinstance(value, (list, tuple)) and not isinstance(value, (TensorRecipe, DtypeRecipe)):
        for number, item in enumerate(cast("list[Any]", value)):
            yield from _parts((*path, number), item)


def _replaced(whole: Any, inner: list[Any], value: Any) -> Any:
    if not inner:
        return value
    items: list[Any] = list(whole)
    items[inner[0]] = _replaced(items[inner[0]], inner[1:], value)
    return tuple(items) if isinstance(whole, tuple) else items
