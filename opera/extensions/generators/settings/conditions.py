"""The conditions of known bugs as a generator: pairs of settings that broke an operator once, for all operators like it."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("conditions.toml")


@dataclass(frozen=True)
class Condition:
    """What a known bug needs, as patterns.

    Attributes:
        name: The condition in words.
        operators: Pattern of the names of APIs.
        settings: Patterns of settings, as these are printed.
        causes: The causes in data/findings that it was read from.
    """

    name: str
    operators: re.Pattern[str]
    settings: tuple[re.Pattern[str], ...]
    causes: tuple[str, ...]


@cache
def conditions() -> tuple[Condition, ...]:
    """All conditions that the package has."""
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8"))["condition"]
    return tuple(
        Condition(row["name"], _pattern(row["operators"]), tuple(map(_pattern, row["settings"])), tuple(row["causes"])) for row in rows
    )


def combinations(known: Sequence[Condition], api: str, settings: Sequence[Any]) -> list[tuple[int, int]]:
    """The pairs of *settings* of *api*, by their numbers, that a condition names; each once."""
    texts = [str(each) for each in settings]
    found: dict[tuple[int, int], None] = {}
    for condition in known:
        if condition.operators.search(api.rpartition(".")[2]):
            one, other = ([number for number, text in enumerate(texts) if each.search(text)] for each in condition.settings)
            found.update(dict.fromkeys((min(pair), max(pair)) for pair in itertools.product(one, other) if pair[0] != pair[1]))
    return list(found)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)
