"""Groups failing tests into findings: by fingerprint, and by root cause after triage."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from opera.console import one_line
from opera.difftest.judge import headline
from opera.instance import Instance
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, Corpus, StoredResult, Workspace, queries
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
        summary: One line that says what goes wrong, safe to print.
        representative: The failing test that was reduced, else the one with the smallest instance.
        tests: All failing tests, in the order of their identities.
        fingerprints: The fingerprints of the tests, the representative's fingerprint first.
        members: Findings that were merged into this one, itself first.
        reduction: The outcome of the representative's reduction; None if it was not tried.
        merged_because: Why the members are one.
        verified: Whether its reproducer reproduced it.
        reproducer: The script, relative to the workspace; None if none was written.
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
    verified: bool = False
    reproducer: str | None = None

    @property
    def subject(self) -> str:
        """The project at fault and the kind of models: `tvm/onnx`, `torch.onnx/pytorch`."""
        return f"{self.compiler}/{self.frontend}"

    @property
    def heading(self) -> str:
        """The heading of reports for it: `tvm/onnx`, `torch.onnx (exporter)`, `pytorch (library)`."""
        if not self.is_elsewhere:
            return self.subject
        return f"{self.compiler} ({'library' if self.representative.exporter is None else 'exporter'})"

    @property
    def met_by(self) -> tuple[str, ...]:
        """Subjects whose campaigns met it: its own, or all those behind the exporter that failed."""
        return tuple(sorted({test.subject for test in self.tests}))

    @property
    def is_elsewhere(self) -> bool:
        """Whether something before the compiler is at fault: an exporter, or the library, against which several compilers agree."""
        return self.compiler != self.representative.compiler

    @property
    def trigger(self) -> str | None:
        """The condition under which it fails, as text; None where it is not known."""
        trigger = None if self.reduction is None else self.reduction.trigger
        return None if trigger is None else trigger_of(trigger).text()

    @property
    def reduced(self) -> Instance | None:
        """The reduced instance of the representative; None without a reduction."""
        return None if self.reduction is None or self.reduction.document is None else self.reduction.instance()

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """The opinions of other compilers on the reduced instance."""
        return opinions_of(self.reduction)

    @property
    def lowest_level(self) -> LowestLevel | None:
        """The outcome of the first test that also ran at the lowest optimisation level; None without such a test."""
        found = next((test.detail["lowest_level"] for test in (self.representative, *self.tests) if "lowest_level" in test.detail), None)
        return None if found is None else LowestLevel(str(found["name"]), Verdict(found["verdict"]))


@dataclass(frozen=True)
class LowestLevel:
    """The outcome of a failing test at the compiler's lowest optimisation level, *name*."""

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
    """The facts that grouping needs in addition to the results.

    Attributes:
        api_of: Gives the API of an instance by its hash.
        sizes: Gives the sizes of instances by their hashes; the smallest represents a finding.
        instance_of: Gives an instance by its hash; None where it or its data are gone.
        causes: What triage has found out.
        reproductions: Script and whether it reproduced, by finding.
    """

    api_of: Callable[[str], str]
    sizes: Callable[[Iterable[str]], Mapping[str, int]]
    instance_of: Callable[[str], Instance | None]
    causes: Causes
    reproductions: Mapping[str, tuple[str, bool]] = field(default_factory=dict[str, tuple[str, bool]])


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
    script, verified = known.reproductions.get(members[0], (None, False))
    return Finding(
        id=members[0],
        compiler=_culprit(first, reduction),
        frontend=first.frontend,
        route=first.route,
        operators=tuple(sorted({known.api_of(test.instance) for test in tests})),
        verdict=first.verdict,
        stage=first.stage,
        converter=first.converter,
        summary=one_line(headline(first.verdict, first.detail, first.compiler)),
        representative=first,
        tests=tuple(sorted(tests, key=lambda test: test.test)),
        fingerprints=tuple(dict.fromkeys(str(test.fingerprint) for test in (first, *tests))),
        members=tuple(members),
        reduction=reduction,
        merged_because=known.causes.reasons(members),
        verified=verified,
        reproducer=script,
    )


def _culprit(first: StoredResult, reduction: StoredReduction | None) -> str:
    """The project at fault, as far as known."""
    if reduction is not None and blames_library(reduction):
        return reduction.instance().library
    return first.at_fault


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
    """The results of triage so far."""
    stored = Reductions(workspace)
    return Causes(stored.all(), stored.assignments(), stored.merges())


def knowledge_of(workspace: Workspace, api_of: Callable[[str], str] | None = None) -> Knowledge:
    """The knowledge in the workspace; pass *api_of* if the APIs of all instances are already known."""
    corpus = Corpus(workspace)

    @functools.lru_cache(_CACHED)
    def instance_of(key: str) -> Instance | None:
        try:
            return corpus.get(key)
        except (KeyError, ValueError):
            return None

    return Knowledge(
        api_of=api_of or (lambda key: queries.api_of(workspace, key)),
        sizes=corpus.sizes,
        instance_of=instance_of,
        causes=causes_of(workspace),
        reproductions=Campaigns(workspace).reproductions(),
    )
