"""The languages that programs are printed in: which operators each has, and with which dtypes."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from opera.console import one_line
from opera.errors import EnvironmentBroken
from opera.extensions.programs.operators import Operator, Registry, alternatives, builtin
from opera.extensions.programs.policy import BadPolicy, Policy, hint
from opera.extensions.programs.program import Program, operators_of
from opera.plugins import registered

FACTS = Path(__file__).parents[2] / "facts" / "programs.toml"
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
    for implementation, operator in alternatives():
        found.register(operator, implementation)
    for plugin, target in registered(GROUP).items():
        module, _, name = target.partition(":")
        try:
            for made in getattr(importlib.import_module(module), name)():
                implementation, operator = cast("tuple[str, Operator]", made if isinstance(made, tuple) else ("default", made))
                found.register(operator, implementation)
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


class Unwritable(ValueError):
    """A part of a program that a language cannot say, or that is not written in it."""


NO_CHOICES: Mapping[str, str] = {}


def operators_in(language: str, implementations: Mapping[str, str] = NO_CHOICES) -> list[Operator]:
    """The operators of *language*, with the dtypes that it has for them, and those of plug-ins that say how it writes them.

    Args:
        language: Its name.
        implementations: Which implementation of an operator, where that is not `default`.
    """
    found: list[Operator] = []
    listed: set[str] = set()
    for row in _tables()[language]["operators"]:
        for name in row["names"]:
            listed.add(name)
            operator = registry().get(name, implementations.get(name, "default"))
            found.append(replace(operator, dtypes=tuple(each for each in operator.dtypes if each in row["dtypes"])))
    others = (registry().get(each, implementations.get(each, "default")) for each in registry().names() if each not in listed)
    return [*found, *(each for each in others if language in each.printers)]


def drawn_from(policy: Policy) -> list[Operator]:
    """The operators that a generator of *policy* draws from.

    Raises:
        BadPolicy: an operator has no such implementation.
    """
    for name, implementation in policy.implementations.items():
        there = registry().implementations(name)
        if implementation not in there:
            raise BadPolicy(f"operator {name!r} has no implementation {implementation!r}{hint(implementation, there)}")
    there = operators_in(policy.language, policy.implementations)
    return [each for each in there if not policy.only or each.name in policy.only]


def nan_unspecified(language: str) -> frozenset[str]:
    """The operators of which *language* does not say what they make of a NaN."""
    return frozenset(_tables()[language]["nan_unspecified"])


def declined(language: str) -> dict[str, str]:
    """The operators of *language* that are not generated, each with the reason."""
    return {name: row["reason"] for row in _tables()[language]["declined"] for name in row["names"]}


def fitting(program: Program, language: str) -> str | None:
    """Why *language* cannot hold *program*; None if it can."""
    there = {each.name for each in operators_in(language)}
    missing = [name for name in operators_of(program) if name not in there]
    return f"has no operator {missing[0]!r}" if missing else None


def own_printer(operator: str, language: str) -> Callable[..., Any]:
    """The function of a plug-in that writes *operator* in *language*.

    Raises:
        ValueError: there is none.
    """
    target = registry().get(operator).printers.get(language, "") if operator in registry() else ""
    module, _, name = target.partition(":")
    if not name:
        raise ValueError(f"{language} has no operator {operator!r}")
    return getattr(importlib.import_module(module), name)
