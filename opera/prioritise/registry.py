"""Strategies by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from opera.errors import UserError
from opera.prioritise.baselines import RandomStrategy, RoundRobinStrategy
from opera.prioritise.feature_coverage import OperaStrategy
from opera.prioritise.paper import PaperStrategy
from opera.prioritise.strategy import Strategy, StrategyName

_STRATEGIES: dict[StrategyName, Callable[[], Strategy]] = {
    StrategyName.OPERA: OperaStrategy,
    StrategyName.OPERA_PAPER: PaperStrategy,
    StrategyName.RANDOM: RandomStrategy,
    StrategyName.ROUND_ROBIN: RoundRobinStrategy,
}


def get_strategy(name: str) -> Strategy:
    """The strategy called *name*.

    Raises:
        UserError: there is none; the message lists those there are.
    """
    names = [member.value for member in StrategyName]
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UserError(f"There is no strategy {name!r}.{hint} Choose one of: {', '.join(names)}.")
    return _STRATEGIES[StrategyName(name)]()
