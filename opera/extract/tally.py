"""What a source has given so far: figures for its summary, file by file where its entries are files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from opera.extract.items import FailedShard, Tests
from opera.untrusted import Count, typed

ERRORS = 20
"""How many errors of a suite are kept with their message."""


@dataclass
class Tally:
    """Counts of one source, or of one of its files.

    Attributes:
        calls: All calls seen, dropped ones included.
        digests: Identities of the distinct instances.
        operators: Their APIs.
        dropped: Calls that could not be recorded, by reason.
        outcomes: Tests by outcome.
        errors: Tests and files that could not be run, with the message.
        failures: Hosts that died.
    """

    calls: int = 0
    digests: set[bytes] = field(default_factory=set[bytes])
    operators: set[str] = field(default_factory=set[str])
    dropped: Counter[str] = field(default_factory=Counter[str])
    outcomes: Counter[str] = field(default_factory=Counter[str])
    errors: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    failures: list[FailedShard] = field(default_factory=list[FailedShard])

    def add(self, other: Tally) -> None:
        """Adds the counts of a file to those of its source."""
        self.calls += other.calls
        self.digests |= other.digests
        self.operators |= other.operators
        self.dropped += other.dropped
        self.outcomes += other.outcomes
        self.errors = [*self.errors, *other.errors][:ERRORS]
        self.failures += other.failures

    def test(self, outcome: str, test: str, message: str) -> None:
        """Counts a test that has ended."""
        self.outcomes[outcome] += 1
        if outcome == "error" and len(self.errors) < ERRORS:
            self.errors.append((test, message))

    def tests(self) -> Tests | None:
        """The outcomes, where there are any."""
        return Tests(dict(self.outcomes.most_common()), tuple(self.errors)) if self.outcomes else None

    def facts(self) -> dict[str, Any]:
        """Everything but the digests, as a JSON document."""
        return {
            "calls": self.calls,
            "operators": sorted(self.operators),
            "dropped": dict(self.dropped),
            "outcomes": dict(self.outcomes),
            "errors": [list(error) for error in self.errors],
            "failures": [[each.shard, each.cause, each.entry, each.log] for each in self.failures],
        }

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any], digests: frozenset[bytes]) -> Tally:
        """Inverse of `facts`; raises Malformed where they are none."""
        found = typed(facts, _Facts)
        return cls(
            calls=found.calls,
            digests=set(digests),
            operators=set(found.operators),
            dropped=Counter(found.dropped),
            outcomes=Counter(found.outcomes),
            errors=list(found.errors),
            failures=[FailedShard(shard, cause, entry, False, log) for shard, cause, entry, log in found.failures],
        )


class _Facts(msgspec.Struct):
    """What `Tally.facts` writes."""

    calls: Count
    operators: list[str]
    dropped: dict[str, Count]
    outcomes: dict[str, Count]
    errors: list[tuple[str, str]]
    failures: list[tuple[str, str, str, str]]
