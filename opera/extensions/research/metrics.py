"""How early an order of tests reveals the faults.

All figures are between 0 and 1 but for times; *positions* count from 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

QUARTERS = (25, 50, 75, 100)
"""Per cent of the tests at which RAUC is given."""


@dataclass(frozen=True)
class Detection:
    """Where an order reveals each fault first.

    Attributes:
        tests: Number of tests.
        positions: Positions of the first test that reveals each fault, rising.
        costs: Seconds until that test has ended, and the seconds of that test itself, in the order of *positions*.
        total: Seconds of all tests.
    """

    tests: int
    positions: Sequence[int]
    costs: Sequence[tuple[float, float]]
    total: float


def detect(order: Sequence[str], failing: Mapping[str, AbstractSet[str]], seconds: Mapping[str, float]) -> Detection:
    """Finds the first test of each fault in *order*.

    Args:
        order: All tests, first to last.
        failing: The faults that a test reveals; others reveal none.
        seconds: Seconds of each test.

    Raises:
        ValueError: a test of *failing* is not in *order*, or *order* has one twice.
    """
    if len(set(order)) != len(order):
        raise ValueError("an order names a test twice")
    seen: set[str] = set()
    found: list[tuple[int, float, float]] = []
    spent = 0.0
    missed = set(failing)
    for position, test in enumerate(order, 1):
        cost = seconds.get(test, 0.0)
        spent += cost
        if test in failing:
            missed.discard(test)
            found.extend((position, spent, cost) for _ in failing[test] - seen)
            seen |= failing[test]
    if missed:
        raise ValueError(f"{len(missed)} tests that reveal a fault are not in the order")
    return Detection(len(order), [each[0] for each in found], [(each[1], each[2]) for each in found], spent)


def apfd(positions: Sequence[int], tests: int) -> float:
    """Average percentage of faults detected: 1 - sum(positions) / (tests * faults) + 1 / (2 * tests).

    Raises:
        ValueError: there is no fault; the figure is not defined.
    """
    if not positions or not tests:
        raise ValueError("APFD is not defined without faults")
    return 1 - sum(positions) / (tests * len(positions)) + 1 / (2 * tests)


def apfdc(detection: Detection) -> float:
    """The same over seconds instead of tests, all faults of one severity (Elbaum, Malishevsky and Rothermel); 0 without times."""
    if not detection.total:
        return 0.0
    left = sum(detection.total - until + cost / 2 for until, cost in detection.costs)
    return left / (detection.total * len(detection.costs))


def rauc(positions: Sequence[int], tests: int, percent: int) -> float:
    """Area under the curve of faults over the first *percent* of the tests, divided by the largest there could be.

    The largest area belongs to an order that reveals one fault with every test until all are revealed. Areas are computed as for APFD:
    a fault at position p counts from the middle of its test on.
    """
    within = tests * percent // 100
    best = _area(range(1, len(positions) + 1), within)
    return _area(positions, within) / best if best else 0.0


def _area(positions: Sequence[int], within: int) -> float:
    return sum(within - position + 0.5 for position in positions if position <= within)
