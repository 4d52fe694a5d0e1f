"""What generation needs to know of a library."""

from __future__ import annotations

import random
from typing import Any, ContextManager, Optional, Protocol

from opera.extensions.generators.docter.constraints import Facts, TargetApi
from opera.extensions.generators.docter.recipes import CallRecipe, Given, TensorRecipe, realised
from opera.instrumentation.filters import Filters
from opera.instrumentation.stream import Stream


class Bench(Protocol):
    """A library as a target: its APIs, their constraints, its tensors, its recorder."""

    library: str
    version: str

    def names(self, scope: list[str]) -> list[str]:
        """The APIs of the parts in *scope*, in an order that does not change."""
        ...

    def api(self, name: str, given: Optional[dict[str, Facts]] = None) -> Optional[TargetApi]:
        """The API called *name* with all known constraints of its parameters, and also *given*; None if that is not enough."""
        ...

    def tensor(self, recipe: TensorRecipe, seed: int) -> Any:
        """A new tensor; the same for the same *seed*."""
        ...

    def dtype(self, name: str) -> Any:
        """The library's object for a data type."""
        ...

    def reset(self, seed: int, entry: str) -> None:
        """Seeds the library's own generators, and undoes what earlier entries may have set."""
        ...

    def recorder(self, stream: Stream, filters: Filters) -> ContextManager[Any]:
        """The recorder, whose `watching()` records."""
        ...


class PreparedCall:
    """A recipe made real: its arguments are built once, so that the call itself can be watched alone."""

    def __init__(self, bench: Bench, api: TargetApi, recipe: CallRecipe, seed: int) -> None:
        """Builds the arguments.

        Raises:
            Exception: whatever the library raises while it makes a tensor.
        """
        generator = random.Random(seed)

        def tensor(part: TensorRecipe) -> Any:
            return bench.tensor(part, generator.getrandbits(31))

        def arguments(givens: Any) -> Any:
            values = [(given, realised(given.value, tensor, bench.dtype)) for given in givens]
            return [value for given, value in values if not given.keyword], {given.name: value for given, value in values if given.keyword}

        self._target = api.target
        self._build = None if recipe.build is None else arguments(recipe.build)
        self._call = arguments(recipe.call)

    def prepare(self) -> None:
        """Builds the object of a module class, which is not part of the call; does nothing for a function."""
        if self._build is not None:
            positional, keywords = self._build
            self._target = self._target(*positional, **keywords)
            self._build = None

    def run(self) -> Any:
        """Makes the call; builds the object of a module class first."""
        self.prepare()
        positional, keywords = self._call
        return self._target(*positional, **keywords)


def described(recipe: CallRecipe) -> str:
    """A call in one line, for logs."""

    def side(givens: Any) -> str:
        return ", ".join(_text(given) for given in givens or ())

    head = "" if recipe.build is None else f"({side(recipe.build)})"
    return f"{head}({side(recipe.call)})"


def _text(given: Given) -> str:
    value = given.value
    shown = f"{value.dtype}{list(value.shape)}:{value.values}" if isinstance(value, TensorRecipe) else repr(value)[:80]
    return f"{given.name}={shown}"
