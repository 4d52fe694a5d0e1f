"""Prioritisation: the order in which operator instances become tests."""

from opera.prioritize.familiarity import equipped_counts
from opera.prioritize.history import History, record
from opera.prioritize.registry import get_strategy, strategy_names
from opera.prioritize.strategy import Adaptive, Candidate, Context, Observation, Ranked, Session, Strategy

__all__ = [
    "Adaptive",
    "Candidate",
    "Context",
    "History",
    "Observation",
    "Ranked",
    "Session",
    "Strategy",
    "equipped_counts",
    "get_strategy",
    "record",
    "strategy_names",
]
