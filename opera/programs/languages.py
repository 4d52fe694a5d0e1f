"""The languages that programs are printed in: which operators each has, and with which dtypes."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from opera.console import one_line
from opera.errors import EnvironmentBroken
from opera.plugins import registered
from opera.programs.operators import Operator, Registry, builtin
from opera.programs.program import Program, operators_of

FACTS = Path(__file__).parents[1] / "facts" / "programs.toml"
GROUP = "opera.operators"
"""Entry points, each a function that gives operators."""


@cache
def registry() -> Registry:
    """All operators: those that come with OPERA, and those of installed plug-ins.

    Raises:
        EnvironmentBroken: a plug-in cannot be loaded, or registers a name twice.
    """
    found = Registry()
    for operator in builtin():
        found.register(operator)
    for plugin, target in registered(GROUP).items():
        module, _, name = target.partition(":")
        try:
            for operator in getattr(importlib.import_module(module), name)():
                found.register(operator)
        except Exception as error:
            why = one_line(f"{type(error).__name__}: {error}", 200)
            raise EnvironmentBroken(f"the operators of plug-in {plugin!r} cannot be loaded ({why}); correct or uninstall it") from error
    return found


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(FACTS.read_text(encoding="utf-8"))


def languages() -> tuple[str, ...]:
    """The names of the languages."""
    return tuple(name for name in _tables() if name != "schema")


def operators_in(language: str) -> list[Operator]:
    """The operators of *language*, with the dtypes that it has for them."""
    found: list[Operator] = []
    for row in _tables()[language]["operators"]:
        for name in row["names"]:
            operator = registry().get(name)
            found.append(replace(operator, dtypes=tuple(each for each in operator.dtypes if each in row["dtypes"])))
    return found


def declined(language: str) -> dict[str, str]:
    """The operators of *language* that are not generated, each with the reason."""
    return {name: row["reason"] for row in _tables()[language]["declined"] for name in row["names"]}


def fitting(program: Program, language: str) -> str | None:
    """Why *language* cannot hold *program*; None if it can."""
    there = {each.name for each in operators_in(language)}
    missing = [name for name in operators_of(program) if name not in there]
    return f"has no operator {missing[0]!r}" if missing else None
