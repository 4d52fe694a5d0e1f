"""The compilers that are asked about failures of another one: which, from data, and their workers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import cast

from opera.compilers.registry import choose_route, plugin, plugins
from opera.config import Config
from opera.difftest.runner import TestRunner
from opera.difftest.settings import Settings
from opera.errors import OperaError

_STAGE_SECONDS = 15.0


@dataclass(frozen=True)
class Arbiters:
    """Who is asked about a library's operators.

    Attributes:
        subjects: `compiler/frontend`, in the order in which they are asked.
        guard: Whether one of them has to run a reduced instance as well: the library itself checks little of what makes one valid.
    """

    subjects: Sequence[str] = ()
    guard: bool = False


def arbiters_of(library: str, compiler: str = "") -> Arbiters:
    """Who is asked about a failure of *compiler*, which is never asked itself; of any compiler where none is named."""
    known = _facts().get(library, Arbiters())
    return Arbiters([each for each in known.subjects if each.split("/")[0] != compiler], known.guard)


@cache
def _facts() -> Mapping[str, Arbiters]:
    text = resources.files("opera").joinpath("facts", "arbiters.toml").read_text(encoding="utf-8")
    return {
        library: Arbiters(cast("list[str]", row["subjects"]), bool(row.get("guard", False))) for library, row in tomllib.loads(text).items()
    }


def prober_of(subject: str, config: Config, scratch: Path) -> TestRunner | None:
    """Workers of *subject* on its usual route; None where it does not work here."""
    compiler, _, frontend = subject.partition("/")
    if compiler not in plugins():
        return None
    try:
        route = choose_route(plugin(compiler).load(), frontend, None)
        return TestRunner(Settings(compiler, frontend, route.name, timeout=_STAGE_SECONDS), config, scratch)
    except OperaError:
        return None
