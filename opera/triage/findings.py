"""Groups failing tests into findings: by fingerprint, and by root cause as far as triage has gone."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from opera.difftest.judge import headline
from opera.instance import Instance
from opera.oracles.verdict import Stage, Verdict
from opera.store import Corpus, StoredResult, Workspace, queries
from opera.store.reductions import Reductions, StoredReduction
from opera.triage.arbitration import Opinion, blames_library, opinions_of
from opera.triage.causes import Causes
from opera.triage.reduction.trigger import trigger_of


@dataclass(frozen=True)
class Finding:
    """Failing tests with one root cause, as far as it is known.

    Attributes:
        id: The fingerprint; once it was reduced, a hash of the fingerprint and the trigger.
        compiler: Who is at fault: the compiler, the exporter that failed before it, or the library where all compilers disagree with it.
        frontend: Model format.
        route: Of the representative.
        operators: APIs of the failing instances, sorted.
        verdict, stage, converter: As the tests have them.
        summary: One line that says what goes wrong.
        representative: The failing test that was reduced, else the one with the smallest instance.
        tests: All failing tests, in the order of their identities.
        fingerprints: Of the tests, that of the representative first.
        members: Findings that were merged into this one, itself first.
        reduction: What reducing the representative came to; None where that was not tried.
        merged_because: Why the members are one.
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
    fingerprints: tuple[str, ...]
    members: tuple[str, ...]
    reduction: StoredReduction | None = None
    merged_because: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """Who is at fault, and of which models: `tvm/onnx`, `torch.onnx/pytorch`."""
        return f"{self.compiler}/{self.frontend}"

    @property
    def trigger(self) -> str | None:
        """The condition under which it fails, as text; None where it is not known."""
        trigger = None if self.reduction is None else self.reduction.trigger
        return None if trigger is None else trigger_of(trigger).text()

    @property
    def reduced(self) -> Instance | None:
        """The reduced instance of the representative; None where there is none."""
        return None if self.reduction is None or self.reduction.document is None else self.reduction.instance()

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """What other compilers make of the reduced instance."""
        return opinions_of(self.reduction)

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


@dataclass(frozen=True)
class Knowledge:
    """What grouping needs to know besides results.

    Attributes:
        api_of: Gives the API of an instance by its hash.
        sizes: Gives the sizes of instances by their hashes; the smallest represents a finding.
        instance_of: Gives an instance by its hash; None where it or its data are gone.
        causes: What triage has found out.
    """

    api_of: Callable[[str], str]
    sizes: Callable[[Iterable[str]], Mapping[str, int]]
    instance_of: Callable[[str], Instance | None]
    causes: Causes


def group(results: Iterable[StoredResult], known: Knowledge) -> list[Finding]:
    """The findings among *results*, those with a fingerprint; most severe and most frequent first."""
    leaves = known.causes.split(results, known.instance_of)
    members: dict[str, list[str]] = {}
    for leaf, root in known.causes.roots(leaves).items():
        members.setdefault(root, []).append(leaf)
    findings = [_finding([root, *(leaf for leaf in names if leaf != root)], leaves, known) for root, names in members.items()]
    return sorted(findings, key=lambda each: (each.compiler, each.frontend, _SEVERITY.index(each.verdict), -len(each.tests), each.id))


_SEVERITY = [Verdict.ABORT, Verdict.INCONSISTENT, Verdict.CRASH, Verdict.HANG, Verdict.OOM]
"""A silent wrong result is worse than an exception, and a dead process worse than both."""


def _finding(members: Sequence[str], leaves: Mapping[str, Sequence[StoredResult]], known: Knowledge) -> Finding:
    tests = [test for leaf in members for test in leaves[leaf]]
    reduction = known.causes.of(members[0])
    first = _representative(leaves[members[0]], reduction, known)
    fingerprints = dict.fromkeys(str(test.fingerprint) for test in (first, *tests))
    return Finding(
        id=members[0],
        compiler=_culprit(first, reduction),
        frontend=first.frontend,
        route=first.route,
        operators=tuple(sorted({known.api_of(test.instance) for test in tests})),
        verdict=first.verdict,
        stage=first.stage,
        converter=first.converter,
        summary=headline(first.verdict, first.detail, first.compiler),
        representative=first,
        tests=tuple(sorted(tests, key=lambda test: test.test)),
        fingerprints=tuple(fingerprints),
        members=tuple(members),
        reduction=reduction,
        merged_because=known.causes.reasons(members),
    )


def _culprit(first: StoredResult, reduction: StoredReduction | None) -> str:
    """Who is at fault, as far as it is known."""
    if reduction is not None and blames_library(reduction):
        return reduction.instance().library
    return str(first.detail.get("exporter", first.compiler))


def _representative(tests: Sequence[StoredResult], reduction: StoredReduction | None, known: Knowledge) -> StoredResult:
    """The test that was reduced; else the smallest, as `smallest_first` orders them."""
    if reduction is not None:
        reduced = next((test for test in tests if test.test == reduction.test), None)
        if reduced is not None:
            return reduced
    return smallest_first(tests, known.sizes)[0]


def smallest_first(tests: Sequence[StoredResult], sizes: Callable[[Iterable[str]], Mapping[str, int]]) -> list[StoredResult]:
    """*tests* by the size of their instances; of equal ones, those with constants baked in come first."""
    by_size = sizes({test.instance for test in tests})
    return sorted(tests, key=lambda test: (by_size.get(test.instance, 1 << 62), test.form != "baked", test.test))


_CACHED = 4096
"""Instances that are kept in memory: tests of one instance differ in form and seed."""


def causes_of(workspace: Workspace) -> Causes:
    """What triage has found out so far."""
    stored = Reductions(workspace)
    return Causes(stored.all(), stored.assignments(), stored.merges())


def knowledge_of(workspace: Workspace, api_of: Callable[[str], str] | None = None) -> Knowledge:
    """Everything about the workspace; *api_of* where somebody has read the APIs of all instances already."""
    corpus = Corpus(workspace)

    @functools.lru_cache(_CACHED)
    def instance_of(key: str) -> Instance | None:
        try:
            return corpus.get(key)
        except (KeyError, ValueError):
            return None

    return Knowledge(api_of or (lambda key: queries.api_of(workspace, key)), corpus.sizes, instance_of, causes_of(workspace))
