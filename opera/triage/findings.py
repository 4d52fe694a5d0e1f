"""Groups failing tests into findings: by fingerprint, and by root cause after triage."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from opera.compilers.registry import has_script
from opera.console import one_line
from opera.difftest.judge import headline
from opera.instance import Instance
from opera.models.forms import form_parts
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, Corpus, StoredResult, Workspace, queries
from opera.store.campaigns import Reproduction
from opera.store.corpus import OTHER_TESTS
from opera.store.finding_ids import FindingIds, ReportedId
from opera.store.reductions import Reductions, StoredReduction
from opera.triage.arbitration import Opinion, blames_library, opinions_of, stands_alone
from opera.triage.causes import Causes, ids_of, new_id
from opera.triage.reduction.trigger import Trigger, sound, trigger_of


@dataclass(frozen=True)
class Finding:
    """Failing tests with one root cause, as far as it is known.

    Attributes:
        id: The id under which it was first reported: of the ids that name it, the oldest.
        compiler: Who is at fault: the compiler, the exporter that failed before it, or the library where all compilers disagree with it.
        frontend: Model format.
        route: Route of the representative.
        operators: APIs of the failing instances, sorted.
        verdict, stage, converter: As the tests have them.
        summary: One line that says what goes wrong, safe to print.
        representative: The failing test that was reduced, else the one with the smallest instance.
        tests: All failing tests, in the order of their identities.
        fingerprints: The fingerprints of the tests, the representative's fingerprint first.
        members: The parts that were merged: what one reduction covers, or what none covers of a fingerprint; the first reduced first.
        former_ids: The other ids that name it: findings that are now part of this one.
        names: The id of each member: the oldest one that names it, else its own.
        reduction: The outcome of the representative's reduction; None if it was not tried.
        merged_because: Why the members are one.
        reproduction: The outcome of its script; None if none was run.
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
    former_ids: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    reduction: StoredReduction | None = None
    merged_because: tuple[str, ...] = ()
    reproduction: Reproduction | None = None

    @property
    def verified(self) -> bool:
        """Whether its script showed the failure."""
        return self.reproduction is not None and self.reproduction.reproduced

    @property
    def reproducer(self) -> str | None:
        """The script, relative to the workspace; None if none was run."""
        return None if self.reproduction is None else self.reproduction.script

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
    def has_script(self) -> bool:
        """Whether `opera reproduce` can write a script for it: the compiler's adapter has a template."""
        return has_script(self.representative.compiler, self.representative.frontend)

    @property
    def trigger(self) -> str | None:
        """The condition under which it fails, as text; None where it is not known.

        A trigger without a property means that any call fails. It counts as known if another recorded test fails, and none passes.
        """
        condition = self.condition
        return None if condition is None else condition.text()

    @property
    def condition(self) -> Trigger | None:
        """As `trigger`, but not as text."""
        return None if self.reduction is None else condition_of(self.reduction)

    @property
    def reduced(self) -> Instance | None:
        """The reduced instance of the representative; None without a reduction."""
        return None if self.reduction is None or self.reduction.document is None else self.reduction.instance()

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """The opinions of other compilers on the reduced instance."""
        return opinions_of(self.reduction)

    @property
    def alone(self) -> str | None:
        """Who stands alone by these opinions: `library`, `lowering`, `compiler` or `interpreter`; None where they do not say it."""
        found = stands_alone(self.representative.compiler, self.opinions)
        return None if found is None else found.value

    @property
    def lowest_level(self) -> LowestLevel | None:
        """The outcome of the first test that also ran at the lowest optimisation level; None without such a test."""
        found = next((test.detail["lowest_level"] for test in (self.representative, *self.tests) if "lowest_level" in test.detail), None)
        return None if found is None else LowestLevel(str(found["name"]), Verdict(found["verdict"]))


def condition_of(reduction: StoredReduction) -> Trigger | None:
    """The trigger of *reduction*; None where it has no property, and no other recorded test shows that any call fails."""
    if reduction.trigger is None:
        return None
    condition = trigger_of(reduction.trigger)
    witnessed = bool(reduction.detail.get("fails")) and not reduction.detail.get("against")
    return condition if condition.properties or witnessed else None


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
        reported: The ids of findings so far, the oldest first.
        reproductions: The outcomes of scripts.
    """

    api_of: Callable[[str], str]
    sizes: Callable[[Iterable[str]], Mapping[str, int]]
    instance_of: Callable[[str], Instance | None]
    causes: Causes
    reported: Sequence[ReportedId] = ()
    reproductions: Sequence[Reproduction] = ()


def group(results: Iterable[StoredResult], known: Knowledge, within: Collection[str] | None = None) -> list[Finding]:
    """The findings among *results*, those with a fingerprint; most severe and most frequent first.

    Args:
        results: All failing tests of a workspace, so that ids and groups do not depend on what is selected.
        known: The facts in addition.
        within: The selected tests, of which a finding has at least one; None for all.
    """
    parts = known.causes.split(results, known.instance_of)
    named = ids_of(parts, known.reported)
    members: dict[str, list[str]] = {}
    roots = known.causes.roots(parts)
    for part, root in roots.items():
        members.setdefault(root, []).append(part)
    ids: dict[str, list[str]] = {root: [] for root in members}
    for each, part in named.items():
        ids[roots[part]].append(each)
    selected = parts if within is None else {part: [test for test in tests if test.test in within] for part, tests in parts.items()}
    findings: list[Finding] = []
    for root, joined in members.items():
        if any(selected[part] for part in joined):
            ordered = [root, *(part for part in joined if part != root)]
            own = ids[root] or [new_id(root, parts[root], named)]
            findings.append(_finding(ordered, selected, known, own, _names(ordered, own[0], named)))
    return sorted(findings, key=lambda each: (each.compiler, each.frontend, _SEVERITY.index(each.verdict), -len(each.tests), each.id))


def _names(members: Sequence[str], identity: str, named: Mapping[str, str]) -> dict[str, str]:
    """The id of each of *members*: one that names this member, else its own; the finding's where its own names another part."""
    names: dict[str, str] = {}
    for each, part in named.items():
        names.setdefault(part, each)
    return {part: names.get(part, identity if part in named else part) for part in members}


_SEVERITY = [Verdict.ABORT, Verdict.INCONSISTENT, Verdict.CRASH, Verdict.HANG, Verdict.OOM]
"""A silent wrong result is worse than an exception, and a dead process worse than both."""


def _finding(
    members: Sequence[str], parts: Mapping[str, Sequence[StoredResult]], known: Knowledge, ids: Sequence[str], names: Mapping[str, str]
) -> Finding:
    tests = [test for part in members for test in parts[part]]
    reduction = known.causes.of(members[0])
    first = _representative(next(parts[part] for part in members if parts[part]), reduction, known)
    return Finding(
        id=ids[0],
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
        former_ids=tuple(ids[1:]),
        names=names,
        reduction=reduction,
        merged_because=known.causes.reasons(names),
        reproduction=_reproduction([*ids, *members], {test.test for test in tests}, known),
    )


def _reproduction(ids: Sequence[str], tests: Collection[str], known: Knowledge) -> Reproduction | None:
    """The outcome of a script of one of *tests*; of several, the one under the first of *ids*."""
    found = [each for each in known.reproductions if each.test in tests]
    return min(found, key=lambda each: (ids.index(each.finding) if each.finding in ids else len(ids), not each.reproduced), default=None)


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
    """*tests* by the size of their instances; of equal ones, those of lower opsets come first, then those with constants baked in."""
    by_size = sizes({test.instance for test in tests})

    def key(test: StoredResult) -> tuple[int, int, bool, str]:
        inputs, opset = form_parts(test.form)
        return by_size.get(test.instance, 1 << 62), opset or 0, inputs != "baked", test.test

    return sorted(tests, key=key)


_CACHED = 4096
"""Instances that are kept in memory: tests of one instance differ in form and seed."""


def causes_of(workspace: Workspace) -> Causes:
    """The results of triage so far."""
    stored = Reductions(workspace)
    return Causes(sound(stored.all()), stored.assignments(), stored.merges())


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
        reported=FindingIds(workspace).all(),
        reproductions=Campaigns(workspace).reproductions(),
    )


def findings_in(
    workspace: Workspace, api_of: Callable[[str], str] | None = None, within: Iterable[StoredResult] | None = None
) -> list[Finding]:
    """The findings of the workspace, or those that have one of the tests *within*, with these tests only."""
    selected = None if within is None else {each.test for each in within}
    return group(Campaigns(workspace).results(failures=True), knowledge_of(workspace, api_of), selected)


@dataclass(frozen=True)
class Reach:
    """How many tests of a source have an instance that meets a finding's condition; of the source `architectures`, how many models."""

    source: str
    tests: int
    of: int


def reach_of(workspace: Workspace, finding: Finding) -> list[Reach]:
    """Where the condition of *finding* holds among all that the workspace has recorded of its operators; nothing is run.

    An instance that many tests share is known by a few of them, so the numbers are lower bounds.
    """
    if finding.condition is None or finding.reduced is None:
        return []
    corpus, library = Corpus(workspace), finding.reduced.library
    keys = (key for key, api in corpus.runnable(library).items() if api in finding.operators)
    meets = (key for key, each in corpus.readable(keys) if finding.condition.holds(each, finding.representative.form))
    found = {(each.source, each.test) for key in meets for each in corpus.provenance(key) if each.test != OTHER_TESTS}
    tests = Counter(source for source, _ in found)
    return [Reach(source, tests[source], every) for source, every in queries.tests_by_source(workspace, library).items() if tests[source]]
