"""Prioritisation: the order in which operator instances become tests."""

from opera.prioritise.equipped import equipped_counts
from opera.prioritise.registry import get_strategy
from opera.prioritise.strategy import Adaptive, Candidate, Context, Observation, Ranked, Session, Strategy, StrategyName

__all__ = [
    "Adaptive",
    "Candidate",
    "Context",
    "Observation",
    "Ranked",
    "Session",
    "Strategy",
    "StrategyName",
    "equipped_counts",
    "get_strategy",
]
