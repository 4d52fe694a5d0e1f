"""What earlier campaigns on other compilers, or on earlier versions, showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

Operator = tuple[str, str]
"""Library and API of an operator."""


@dataclass(frozen=True)
class Record:
    """What the campaigns of one subject showed.

    Attributes:
        failed: Ids of the instances that failed.
        tests: Number of instances by operator.
        faults: Distinct faults by operator, for those that have any.
    """

    failed: frozenset[str]
    tests: Mapping[Operator, int]
    faults: Mapping[Operator, frozenset[str]]


def record(outcomes: Iterable[tuple[str, Operator, Collection[str]]]) -> Record:
    """The record of *outcomes*: id and operator of each instance, and its faults. An instance may come several times."""
    seen: dict[str, Operator] = {}
    failed: set[str] = set()
    faults: dict[Operator, set[str]] = {}
    for name, operator, found in outcomes:
        seen[name] = operator
        if found:
            failed.add(name)
            faults.setdefault(operator, set()).update(found)
    return Record(frozenset(failed), Counter(seen.values()), {operator: frozenset(each) for operator, each in faults.items()})


@dataclass(frozen=True)
class History:
    """What earlier campaigns showed.

    Attributes:
        records: One for each subject.
    """

    records: tuple[Record, ...] = ()

    def about(self, operators: Collection[Operator]) -> History:
        """The records that have tests of any of *operators*."""
        known = set(operators)
        return History(tuple(each for each in self.records if not known.isdisjoint(each.tests)))

    def failures(self) -> Counter[str]:
        """On how many subjects each instance failed."""
        return Counter(name for each in self.records for name in each.failed)

    def mean(self, operators: Collection[Operator]) -> tuple[float, float]:
        """Distinct faults of *operators* together, and their tests; the mean over the records."""
        faults = tests = 0
        for each in self.records:
            faults += len(frozenset[str]().union(*(each.faults.get(operator, ()) for operator in operators)))
            tests += sum(each.tests.get(operator, 0) for operator in operators)
        count = max(1, len(self.records))
        return faults / count, tests / count
