"""Selects what a suite tests: findings, which are known failures, and instances that pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from opera.compilers.registry import did_you_mean
from opera.corpus.readers import given_ids
from opera.corpus.selection import Chosen, Selection, check_keyword, most_varied, selector
from opera.difftest.judge import headline
from opera.errors import NothingSelected, UserError
from opera.oracles.verdict import Verdict
from opera.report.details import finding_of, finding_with, resolve, result_of
from opera.report.reproducer import ScriptCase, original, reduced
from opera.store import Campaign, Campaigns, Corpus, StoredResult, Workspace, queries
from opera.store.queries import Scope, campaigns_in
from opera.triage.baseline import Baseline
from opera.triage.findings import Finding, group, knowledge_of, smallest_first
from opera.triage.merge import candidates_of, merges

_DEAD = {Verdict.ABORT: "ChildProcessError", Verdict.HANG: "TimeoutError", Verdict.OOM: "MemoryError"}
"""What a test in a child process raises, by the verdict of the finding."""
_SMALL = 2**15
"""Bytes of an instance's document up to which its test is small."""
_CASES = 3
"""Failing tests of a finding that are tried until one can be shown."""
_NAMED = 5
_LINK = re.compile(r"https?://[^\s<>\"'`|\\]{1,300}")


@dataclass(frozen=True)
class Failure:
    """How a known failure shows in a test.

    Attributes:
        raises: Dotted name of the exception; without a dot, a builtin.
        summary: What goes wrong, in one line.
        in_child: Whether the test needs a process of its own: it dies, hangs, or takes too much memory.
        also: What the failure raises in addition below the project's own conftest, in place of *raises*.
    """

    raises: str
    summary: str
    in_child: bool = False
    also: tuple[str, ...] = ()

    @property
    def exceptions(self) -> tuple[str, ...]:
        """Dotted names of all exceptions."""
        return tuple(dict.fromkeys((self.raises, *self.also)))


@dataclass(frozen=True)
class Candidate:
    """A test to be exported.

    Attributes:
        identity: Identity of the finding, or of the instance that passes.
        api: Name of the operator.
        cases: What to show: the first that the library can rebuild.
        trigger: When it fails; empty if that is not known, or if it passes.
        link: Link of an issue; empty without one.
        former: Other ids under which the finding was reported.
        more: How many more calls fail for the same cause, and of which operators; empty without others.
        ids: Ids of the instance in the suites that it came from.
    """

    identity: str
    api: str
    cases: tuple[ScriptCase, ...]
    trigger: str = ""
    link: str = ""
    former: tuple[str, ...] = ()
    more: str = ""
    ids: tuple[str, ...] = ()

    @property
    def compiler(self) -> str:
        """The compiler that the test drives."""
        return self.cases[0].result.compiler


@dataclass(frozen=True)
class Request:
    """What to export.

    Attributes:
        findings: Ids, or prefixes of ids, of findings or failing tests; empty for all.
        scope: Campaign, compiler and frontend.
        keyword: A `-k` expression on APIs.
        passing: Number of passing instances.
        with_findings: Whether known failures are wanted.
        baseline: Notes on findings; None for no notes.
    """

    findings: tuple[str, ...] = ()
    scope: Scope = field(default_factory=Scope)
    keyword: str | None = None
    passing: int = 0
    with_findings: bool = True
    baseline: Baseline | None = None


@dataclass(frozen=True)
class Candidates:
    """The tests to be exported, of one compiler.

    Attributes:
        compiler: Its name.
        tests: Known failures, then passing instances.
        elsewhere: Number of findings that are left out, because an exporter or the library is at fault.
        versions: Versions of compiler and libraries, by name.
    """

    compiler: str
    tests: tuple[Candidate, ...]
    elsewhere: int = 0
    versions: Mapping[str, str] = field(default_factory=dict[str, str])


def candidates(workspace: Workspace, request: Request, seed: int = 0) -> Candidates:
    """The tests that *request* describes.

    Raises:
        UserError: an id or a campaign is unknown, or the tests are of several compilers.
        NothingSelected: no test is left.
    """
    wanted = selector(request.keyword)
    _check_compiler(workspace, request.scope.compiler)
    campaigns = campaigns_in(Campaigns(workspace), request.scope)
    results = {each.test: each for campaign in campaigns for each in Campaigns(workspace).results(campaign.id)}
    apis = queries.apis(workspace)
    found: list[Candidate] = []
    elsewhere = 0
    if request.findings:
        named = [_named(workspace, name, request.baseline) for name in dict.fromkeys(request.findings)]
        found = [each for each in {each.identity: each for each in named}.values() if wanted(each.api)]
    elif request.with_findings:
        failing = [each for each in results.values() if each.fingerprint is not None]
        of_scope = by_cause(workspace, lambda key: apis.get(key, ""), {each.test for each in failing})
        chosen = [each for each in of_scope if any(map(wanted, each.operators))]
        elsewhere = sum(each.is_elsewhere for each in chosen)
        found = [candidate_of(workspace, each, request.baseline) for each in chosen if not each.is_elsewhere]
    if request.passing:
        found += _passing(workspace, results.values(), apis, request, seed)
    if not found:
        check_keyword(request.keyword, apis.values())
        raise NothingSelected(f"no test is selected; `opera report{request.scope.options}` lists the findings")
    compilers = sorted({each.compiler for each in found})
    if len(compilers) > 1:
        raise UserError(f"the tests are of {', '.join(compilers)}; choose one with --compiler, because a suite drives one compiler")
    used = [each for each in campaigns if each.compiler == compilers[0]]
    return Candidates(compilers[0], tuple(found), elsewhere, versions_of(used))


def _check_compiler(workspace: Workspace, name: str | None) -> None:
    """Raises UserError if no campaign has the compiler called *name*."""
    known = sorted({each.compiler for each in Campaigns(workspace).all()})
    if name is not None and name not in known:
        there = f"there are campaigns of {', '.join(known)}" if known else "`opera run` makes one"
        raise UserError(f"the workspace has no campaign of {name!r}{did_you_mean(name, known)}; {there}")


def versions_of(campaigns: Iterable[Campaign]) -> dict[str, str]:
    """The versions of compilers and libraries in *campaigns*, by name; those of newer campaigns count."""
    found: dict[str, str] = {}
    for campaign in campaigns:
        for side in ("library", "compiler"):
            sides: Any = campaign.versions.get(side, {})
            found.update({str(name): str(version) for name, version in dict(sides).items()})
    return found


def _named(workspace: Workspace, name: str, baseline: Baseline | None) -> Candidate:
    target = resolve(workspace, name)
    if target.finding is not None:
        return candidate_of(workspace, finding_of(workspace, target.finding), baseline)
    if target.test is None:
        raise UserError(f"{name!r} is neither a finding nor a failing test; `opera report` lists the findings")
    result = result_of(workspace, target.test)
    if not result.verdict.is_failure:
        raise UserError(f"test {result.test[:12]} did not fail: {result.verdict.value}; `opera report` lists the findings")
    finding = finding_with(workspace, result.test)
    return failing_test(workspace, result) if finding is None else candidate_of(workspace, finding, baseline)


def by_cause(workspace: Workspace, api_of: Callable[[str], str], within: Collection[str]) -> list[Finding]:
    """The findings that have a test *within*. Those that triage has not met are joined by its merge rules, as triage would join them."""
    known = knowledge_of(workspace, api_of)
    failures = list(Campaigns(workspace).results(failures=True))
    joined = merges(candidates_of(known.causes.split(failures, known.instance_of), known.causes))
    causes = replace(known.causes, merges=(*known.causes.merges, *joined))
    return group(failures, replace(known, causes=causes), within)


def candidate_of(workspace: Workspace, finding: Finding, baseline: Baseline | None = None) -> Candidate:
    """The one test for *finding*: its reduced instance, else the smallest failing one that can be shown."""
    smaller = reduced(finding)
    smallest = smallest_first(finding.tests, Corpus(workspace).sizes)
    results = {each.test: each for each in (smallest if smaller is None else [finding.representative, *smallest])}
    wholes = [original(workspace, each) for each in list(results.values())[:_CASES]]
    cases = tuple(wholes) if smaller is None else (smaller, *wholes)
    first = cases[0].result.instance
    return Candidate(
        finding.id,
        queries.api_of(workspace, first) or finding.operators[0],
        cases,
        finding.trigger or "",
        _link(finding, baseline),
        finding.former_ids,
        _more(finding),
        tuple(given_ids(Corpus(workspace), first)),
    )


def _more(finding: Finding) -> str:
    """How many calls fail in addition to the one that is shown, and of which operators."""
    count = len({each.instance for each in finding.tests}) - 1
    if count == 0:
        return ""
    names = list(dict.fromkeys(each.rpartition(".")[2] for each in finding.operators))
    others = ", …" if len(names) > _NAMED else ""
    calls = "1 more call fails" if count == 1 else f"{count:,} more calls fail"
    return f"{calls} for the same cause: {', '.join(names[:_NAMED])}{others}"


def failing_test(workspace: Workspace, result: StoredResult) -> Candidate:
    """The test for one failing test of a campaign, as the campaign ran it."""
    ids = tuple(given_ids(Corpus(workspace), result.instance))
    return Candidate(result.test, queries.api_of(workspace, result.instance), (original(workspace, result),), ids=ids)


def passing_test(workspace: Workspace, result: StoredResult) -> Candidate:
    """The test for one passing test of a campaign."""
    ids = tuple(given_ids(Corpus(workspace), result.instance))
    return Candidate(result.instance, queries.api_of(workspace, result.instance), (original(workspace, result),), ids=ids)


def failure_of(result: StoredResult) -> Failure | None:
    """How the failure of *result* shows in a test; None if it is no failure."""
    if not result.verdict.is_failure:
        return None
    summary = headline(result.verdict, result.detail, result.compiler)
    if result.verdict in _DEAD:
        return Failure(_DEAD[result.verdict], summary, in_child=True)
    raised = result.detail.get("failure") if result.verdict is Verdict.CRASH else None
    name = "AssertionError" if raised is None else str(raised["type"])
    return Failure(
        "RuntimeError" if name.startswith("opera.") else name, summary
    )  # the base of what a suite raises in place of OPERA's own


def _link(finding: Finding, baseline: Baseline | None) -> str:
    """The first link in a note of *baseline* on *finding*."""
    if baseline is None:
        return ""
    notes = (each.note for each in baseline.failures if each.fingerprint in finding.fingerprints)
    found = next((match for note in notes if (match := _LINK.search(note)) is not None), None)
    return "" if found is None else found[0]


def _passing(
    workspace: Workspace, results: Iterable[StoredResult], apis: Mapping[str, str], request: Request, seed: int
) -> list[Candidate]:
    """Passing instances, chosen for variety, small ones first; of an instance, the first test."""
    wanted = selector(request.keyword)
    by_instance: dict[str, StoredResult] = {}
    for result in sorted(results, key=lambda each: each.test):
        if result.verdict is Verdict.PASS and wanted(apis.get(result.instance, "")):
            by_instance.setdefault(result.instance, result)
    rows = [Chosen(key, "", apis.get(key, ""), "") for key in sorted(by_instance)]
    chosen: Sequence[Chosen] = most_varied(workspace, rows, Selection(limit=request.passing, max_size=_SMALL), seed) if rows else []
    if len(chosen) < request.passing:
        known = {each.id for each in chosen}
        large = [each for each in rows if each.id not in known]
        chosen = [*chosen, *most_varied(workspace, large, Selection(limit=request.passing - len(chosen)), seed)]
    return [passing_test(workspace, by_instance[each.id]) for each in chosen]
