"""Strategies by name: the two of OPERA, and those of the entry points `opera.strategies`."""

from __future__ import annotations

from collections.abc import Callable

from opera.compilers.registry import did_you_mean
from opera.errors import UserError
from opera.plugins import load, registered
from opera.prioritize.feature_coverage import OperaAdaptiveStrategy, OperaStrategy
from opera.prioritize.strategy import Strategy

GROUP = "opera.strategies"
_OWN: dict[str, Callable[[], Strategy]] = {"opera": OperaStrategy, "opera-adaptive": OperaAdaptiveStrategy}


def strategy_names() -> list[str]:
    """The names that `--strategy` takes."""
    return [*_OWN, *(name for name in registered(GROUP) if name not in _OWN)]


def get_strategy(name: str) -> Strategy:
    """The strategy called *name*.

    Raises:
        UserError: the strategy is unknown; the message lists all strategies.
        EnvironmentBroken: it cannot be imported.
    """
    names = strategy_names()
    if name not in names:
        raise UserError(f"unknown strategy {name!r}{did_you_mean(name, names)}; choose one of: {', '.join(names)}")
    return _OWN[name]() if name in _OWN else load(GROUP, name)()
