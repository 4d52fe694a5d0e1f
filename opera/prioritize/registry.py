"""Strategies by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from opera.errors import UserError
from opera.prioritize.artifact import ArtifactStrategy
from opera.prioritize.baselines import AdditionalStrategy, FastStrategy, RandomStrategy, RoundRobinStrategy, TotalStrategy
from opera.prioritize.feature_coverage import OperaAdaptiveStrategy, OperaStrategy
from opera.prioritize.paper import OperatorOnlyStrategy, PaperStrategy, ParameterOnlyStrategy
from opera.prioritize.strategy import Strategy, StrategyName

_STRATEGIES: dict[StrategyName, Callable[[], Strategy]] = {
    StrategyName.OPERA: OperaStrategy,
    StrategyName.OPERA_ADAPTIVE: OperaAdaptiveStrategy,
    StrategyName.OPERA_PAPER: PaperStrategy,
    StrategyName.OPERA_ARTIFACT: ArtifactStrategy,
    StrategyName.OPERATOR_ONLY: OperatorOnlyStrategy,
    StrategyName.PARAMETER_ONLY: ParameterOnlyStrategy,
    StrategyName.FAST: FastStrategy,
    StrategyName.TOTAL: TotalStrategy,
    StrategyName.ADDITIONAL: AdditionalStrategy,
    StrategyName.ROUND_ROBIN: RoundRobinStrategy,
    StrategyName.RANDOM: RandomStrategy,
}


def get_strategy(name: str) -> Strategy:
    """The strategy called *name*.

    Raises:
        UserError: the strategy is unknown; the message lists all strategies.
    """
    names = [member.value for member in StrategyName]
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise UserError(f"unknown strategy {name!r}{hint}; choose one of: {', '.join(names)}")
    return _STRATEGIES[StrategyName(name)]()
