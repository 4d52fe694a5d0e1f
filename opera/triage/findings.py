"""Groups failing tests into findings: first triage, by fingerprint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from opera.campaign.judge import headline
from opera.oracles.verdict import Stage, Verdict
from opera.store import StoredResult


@dataclass(frozen=True)
class Finding:
    """Failing tests with one fingerprint.

    Attributes:
        id: The fingerprint.
        compiler: The compiler, or the exporter that failed before it.
        frontend: Model format.
        route: Of the representative.
        operators: APIs of the failing instances, sorted.
        verdict, stage, converter: As the tests have them.
        summary: One line that says what goes wrong.
        representative: The failing test with the smallest instance.
        tests: All failing tests, in the order of their identities.
    """

    id: str
    compiler: str
    frontend: str
    route: str
    operators: tuple[str, ...]
    verdict: Verdict
    stage: Stage | None
    converter: str | None
    summary: str
    representative: StoredResult
    tests: tuple[StoredResult, ...]

    @property
    def lowest_level(self) -> LowestLevel | None:
        """What became of the first test that was run at the lowest optimisation level too; None where none was."""
        found = next((test.detail["lowest_level"] for test in (self.representative, *self.tests) if "lowest_level" in test.detail), None)
        return None if found is None else LowestLevel(str(found["name"]), Verdict(found["verdict"]))


@dataclass(frozen=True)
class LowestLevel:
    """What a compiler made of a failing test at its lowest optimisation level, *name*."""

    name: str
    verdict: Verdict

    @property
    def vanishes(self) -> bool:
        """Whether the failure is gone: the optimiser is at fault."""
        return self.verdict is Verdict.PASS

    def __str__(self) -> str:
        if self.vanishes:
            return f"passes at level {self.name}: a bug of the optimiser"
        return f"{self.verdict.value} at level {self.name} too"


def group(
    results: Iterable[StoredResult], api_of: Callable[[str], str], sizes: Callable[[Iterable[str]], Mapping[str, int]]
) -> list[Finding]:
    """The findings among *results*, those with a fingerprint; most severe and most frequent first.

    Args:
        results: Results of tests.
        api_of: Gives the API of an instance by its hash.
        sizes: Gives the sizes of instances by their hashes; the smallest represents a finding.
    """
    groups: dict[str, list[StoredResult]] = {}
    for result in results:
        if result.fingerprint is not None:
            groups.setdefault(result.fingerprint, []).append(result)
    findings = [_finding(key, tests, api_of, sizes) for key, tests in groups.items()]
    return sorted(findings, key=lambda each: (each.compiler, each.frontend, _SEVERITY.index(each.verdict), -len(each.tests), each.id))


_SEVERITY = [Verdict.ABORT, Verdict.INCONSISTENT, Verdict.CRASH, Verdict.HANG, Verdict.OOM]
"""A silent wrong result is worse than an exception, and a dead process worse than both."""


def _finding(
    key: str, tests: Sequence[StoredResult], api_of: Callable[[str], str], sizes: Callable[[Iterable[str]], Mapping[str, int]]
) -> Finding:
    by_size = sizes({test.instance for test in tests})
    first = min(tests, key=lambda test: (by_size.get(test.instance, 1 << 62), test.form != "baked", test.test))
    return Finding(
        key, str(first.detail.get("exporter", first.compiler)), first.frontend, first.route,
        tuple(sorted({api_of(test.instance) for test in tests})), first.verdict, first.stage, first.converter,
        headline(first.verdict, first.detail), first, tuple(sorted(tests, key=lambda test: test.test)),
    )  # fmt: skip
