"""The items that an extraction yields, and the counts for its summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from opera.instance import Instance, Occurrence
from opera.untrusted import Count, JsonObject, typed


@dataclass(frozen=True)
class Recorded:
    """An instance that this extraction sees for the first time. Each digest is yielded once, whatever source it comes from."""

    digest: str
    instance: Instance
    occurrence: Occurrence


@dataclass(frozen=True)
class Again:
    """A further occurrence of an instance that was yielded before."""

    digest: str
    occurrence: Occurrence


@dataclass(frozen=True)
class FailedShard:
    """A host that did not come to its end. What it had written is among the items nevertheless.

    Attributes:
        shard: Which part of the source, as `2/4` counted from 0.
        cause: `killed by SIGSEGV`, `exit code 1`, `no progress for 180 s`, `longer than 1800 s`.
        entry: The part of the source that was running; empty when it died before the first.
        resumed: Whether another host went on with the entries after it.
        log: The end of what it printed.
    """

    shard: str
    cause: str
    entry: str
    resumed: bool
    log: str


@dataclass(frozen=True)
class FileEnded:
    """A file of a suite has been run, and all that it gave was yielded before this.

    Attributes:
        source: The source.
        entry: Path of the file within its suite.
        mark: Hash of the file and of the settings under which it ran.
        facts: What `SourceSummary` needs of it, as a JSON document.
        digests: The identities of its distinct instances.
    """

    source: str
    entry: str
    mark: str
    facts: Mapping[str, Any]
    digests: frozenset[bytes]


@dataclass(frozen=True)
class Tests:
    """How the tests of a suite ended.

    Attributes:
        outcomes: Number of tests by `passed`, `failed`, `skipped` and `error` (a file that cannot be imported is one error).
        errors: Where errors came from, and the message of each; the first few.
    """

    outcomes: Mapping[str, int]
    errors: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SourceSummary:
    """The last item of each source.

    Attributes:
        source: Its name.
        calls: All calls seen, dropped ones included.
        distinct: Number of distinct instances, those that another source had as well included.
        operators: Number of distinct APIs among them.
        dropped: Calls that could not be recorded, by reason code.
        drops: The same by API and reason, without calls that are not worth a test.
        failed_shards: Hosts that died.
        seconds: Wall time.
        version: Version of the library.
        files: Number of files; 0 for a source whose entries are none.
        kept: Files that an earlier, interrupted extraction had run already.
        tests: Outcomes of a suite's tests; None for a source that has no tests of its own.
    """

    source: str
    calls: int
    distinct: int
    operators: int
    dropped: Mapping[str, int]
    failed_shards: tuple[FailedShard, ...]
    seconds: float
    version: str = ""
    files: int = 0
    kept: int = 0
    tests: Tests | None = None
    drops: Mapping[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])


@dataclass(frozen=True)
class Progress:
    """How far a source has come.

    Attributes:
        source: Its name.
        calls: Calls read so far.
        entry: The entry being read.
        shards_done: Hosts that have ended.
        shards: Hosts in all.
        files: Whether each of them runs one file.
    """

    source: str
    calls: int
    entry: str
    shards_done: int
    shards: int
    files: bool = False


Item = Recorded | Again | FileEnded | SourceSummary


_API = re.compile(r"[A-Za-z0-9_.]{1,400}")
_NOISE = "noise:"
"""How the reason for a call begins that no test is worth: the corpus says so."""
ERRORS = 20
"""How many errors of a suite are kept with their message."""


@dataclass
class SourceTally:
    """Counts of one source, or of one of its files.

    Attributes:
        calls: All calls seen, dropped ones included.
        digests: Identities of the distinct instances.
        operators: Their APIs.
        dropped: Calls that could not be recorded, by reason.
        drops: The same by API and reason, without noise.
        outcomes: Tests by outcome.
        errors: Tests and files that could not be run, with the message.
        failures: Hosts that died.
    """

    calls: int = 0
    digests: set[bytes] = field(default_factory=set[bytes])
    operators: set[str] = field(default_factory=set[str])
    dropped: Counter[str] = field(default_factory=Counter[str])
    drops: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    outcomes: Counter[str] = field(default_factory=Counter[str])
    errors: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    failures: list[FailedShard] = field(default_factory=list[FailedShard])

    def add(self, other: SourceTally) -> None:
        """Adds the counts of a file to those of its source."""
        self.calls += other.calls
        self.digests |= other.digests
        self.operators |= other.operators
        self.dropped += other.dropped
        self.drops += other.drops
        self.outcomes += other.outcomes
        self.errors = [*self.errors, *other.errors][:ERRORS]
        self.failures += other.failures

    def drop(self, reason: str, api: str, calls: int) -> None:
        """Counts calls of *api* that were not recorded."""
        self.dropped[reason] += calls
        if _API.fullmatch(api) and not reason.startswith(_NOISE):
            self.drops[api, reason] += calls

    def test(self, outcome: str, test: str, message: str) -> None:
        """Counts a test that has ended."""
        self.outcomes[outcome] += 1
        if outcome == "error" and len(self.errors) < ERRORS:
            self.errors.append((test, message))

    def tests(self) -> Tests | None:
        """The outcomes, where there are any."""
        return Tests(dict(self.outcomes.most_common()), tuple(self.errors)) if self.outcomes else None

    def facts(self) -> JsonObject:
        """Everything but the digests, as a JSON document."""
        return {
            "calls": self.calls,
            "operators": sorted(self.operators),
            "dropped": dict(self.dropped),
            "drops": [[api, reason, calls] for (api, reason), calls in self.drops.items()],
            "outcomes": dict(self.outcomes),
            "errors": [list(error) for error in self.errors],
            "failures": [[each.shard, each.cause, each.entry, each.log] for each in self.failures],
        }

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any], digests: frozenset[bytes]) -> SourceTally:
        """Inverse of `facts`; raises Malformed where they are none."""
        found = typed(facts, _Facts)
        return cls(
            calls=found.calls,
            digests=set(digests),
            operators=set(found.operators),
            dropped=Counter(found.dropped),
            drops=Counter({(api, reason): calls for api, reason, calls in found.drops}),
            outcomes=Counter(found.outcomes),
            errors=list(found.errors),
            failures=[FailedShard(shard, cause, entry, False, log) for shard, cause, entry, log in found.failures],
        )


class _Facts(msgspec.Struct):
    """The document of `SourceTally.facts`."""

    calls: Count
    operators: list[str]
    dropped: dict[str, Count]
    outcomes: dict[str, Count]
    errors: list[tuple[str, str]]
    failures: list[tuple[str, str, str, str]]
    drops: list[tuple[str, str, Count]] = []
