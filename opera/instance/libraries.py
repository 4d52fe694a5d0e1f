"""Facts of libraries and formats, from `facts/libraries.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class LibraryFacts:
    """What the stages have to know of a library.

    Attributes:
        title: Its name in texts.
        expected: Who gives the expected result, if the library computes nothing itself.
        page: Address of an operator's documentation, with `{name}`; empty without one.
        specified: Whether a specification says what every operator does.
        constants: Whether all inputs of its programs may be constants.
        forms: Forms of its models that not every library has.
        lowering: Whether models of other libraries are lowered to its text.
    """

    title: str
    expected: str = ""
    page: str = ""
    specified: bool = False
    constants: bool = False
    forms: Sequence[str] = ()
    lowering: bool = False


def facts_of(library: str | None) -> LibraryFacts:
    """The facts of *library*; of an unknown one, its name."""
    return _facts().get(library or "", LibraryFacts(library or ""))


@cache
def _facts() -> dict[str, LibraryFacts]:
    text = resources.files("opera").joinpath("facts", "libraries.toml").read_text(encoding="utf-8")
    return {name: LibraryFacts(**row) for name, row in tomllib.loads(text).items()}
