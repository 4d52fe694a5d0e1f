"""A summary of a workspace's results: verdicts per subject, findings, and the reasons of all other tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opera.console import one_line
from opera.corpus.selection import Selection, check, selector
from opera.errors import NothingSelected
from opera.oracles.verdict import Verdict
from opera.store import Campaign, Campaigns, Corpus, StoredResult, Workspace, queries
from opera.store.queries import Scope, campaigns_in
from opera.triage.baseline import Baseline
from opera.triage.findings import Finding, findings_in
from opera.triage.known_failures import earlier, failures_of, match

UNKNOWN_API = "(instance gone)"


@dataclass(frozen=True)
class SubjectCounts:
    """Number of tests of a subject, per verdict; *accepted* counts those that pass without a comparison, by reason."""

    compiler: str
    frontend: str
    verdicts: Mapping[Verdict, int]
    accepted: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def name(self) -> str:
        """The subject as `compiler/frontend`, e.g. `tvm/onnx`."""
        return f"{self.compiler}/{self.frontend}"

    @property
    def tests(self) -> int:
        """Number of tests with a result."""
        return sum(self.verdicts.values())

    @property
    def failures(self) -> int:
        """Number of tests that belong to a finding."""
        return sum(count for verdict, count in self.verdicts.items() if verdict.is_failure)


@dataclass(frozen=True)
class Filtered:
    """Tests of one subject that are no findings, and why. *reason* is empty for `flaky`."""

    verdict: Verdict
    reason: str
    subject: str
    tests: int

    @property
    def key(self) -> str:
        """Verdict and reason, e.g. `unsupported: no-kernel` or `flaky`."""
        return f"{self.verdict.value}: {self.reason}" if self.reason else self.verdict.value


@dataclass(frozen=True)
class Curve:
    """How the findings of a campaign came: at each of *steps*, (tests done, distinct fingerprints so far)."""

    campaign: Campaign
    tests: int
    steps: tuple[tuple[int, int], ...]

    @property
    def subject(self) -> str:
        """The subject as `compiler/frontend`, e.g. `tvm/onnx`."""
        return f"{self.campaign.compiler}/{self.campaign.frontend}"

    @property
    def findings(self) -> int:
        """Distinct fingerprints at the end."""
        return self.steps[-1][1] if self.steps else 0


@dataclass(frozen=True)
class OperatorTally:
    """Tests of one API on one subject, and how many of them failed."""

    api: str
    subject: str
    tests: int
    failing: int


@dataclass(frozen=True)
class Overview:
    """The data of a report about a scope.

    Attributes:
        scope: Which results these are.
        subjects: Verdict counts, by subject.
        findings: Exporters' findings among them; grouped by what failed, the most severe and most frequent first.
        filtered: Why tests are no findings, by subject.
        curves: One per campaign, the oldest first.
        operators: By API and subject.
        apis: API of each instance of the workspace by its hash.
        campaign_of: The newest campaign of each failing test.
        known: Why findings are known, by id; empty unless new findings were asked for.
        left_out: Number of known findings that are not in *findings*.
    """

    scope: Scope
    subjects: tuple[SubjectCounts, ...]
    findings: tuple[Finding, ...]
    filtered: tuple[Filtered, ...]
    curves: tuple[Curve, ...]
    operators: tuple[OperatorTally, ...]
    apis: Mapping[str, str]
    campaign_of: Mapping[str, Campaign]
    known: Mapping[str, str] = field(default_factory=dict[str, str])
    left_out: int = 0

    @property
    def new_findings(self) -> tuple[Finding, ...]:
        """The findings that are not known."""
        return tuple(each for each in self.findings if each.id not in self.known)

    @property
    def known_findings(self) -> tuple[Finding, ...]:
        """The findings that are known."""
        return tuple(each for each in self.findings if each.id in self.known)

    @property
    def tests(self) -> int:
        """Number of tests with a result."""
        return sum(subject.tests for subject in self.subjects)

    def filtered_by_reason(self) -> list[tuple[str, int]]:
        """Tests that are no findings by reason over all subjects, the largest first."""
        totals: Counter[str] = Counter()
        for each in self.filtered:
            totals[each.key] += each.tests
        return sorted(totals.items(), key=lambda item: (-item[1], item[0]))


def overview(workspace: Workspace, scope: Scope) -> Overview:
    """Reads the results in *scope*.

    Raises:
        NothingSelected: the scope has no result.
        UserError: no campaign, or more than one, begins with the scope's prefix.
    """
    tally = _Tally(queries.apis(workspace))
    campaigns = Campaigns(workspace)
    for campaign in campaigns_in(campaigns, scope):
        tally.add(campaign, campaigns.results(campaign.id))
    if not tally.verdicts:
        raise NothingSelected(_nothing(campaigns, scope))
    findings = findings_among(workspace, tally.apis, tally.failures)
    return tally.overview(scope, findings)


def findings_among(workspace: Workspace, apis: Mapping[str, str], within: Iterable[StoredResult] | None = None) -> tuple[Finding, ...]:
    """The findings that have a test *within*, or all; *apis* gives the API of each instance by its hash."""
    return tuple(findings_in(workspace, lambda key: apis.get(key, UNKNOWN_API), within))


def _nothing(campaigns: Campaigns, scope: Scope) -> str:
    there = sorted({f"{each.compiler}/{each.frontend}" for each in campaigns.all()})
    if not there:
        return "the workspace has no results; run a campaign first, e.g. `opera run --compiler onnxruntime --frontend onnx`"
    if scope.compiler is None and scope.frontend is None:
        return "the selected campaign has no results yet; run its command again to continue it"
    return f"no result is selected; the workspace has campaigns of {', '.join(there)}"


class _Tally:
    """Counts results as they stream by; keeps only failing ones."""

    def __init__(self, apis: Mapping[str, str]) -> None:
        self.apis = apis
        self.verdicts: Counter[tuple[str, str, Verdict]] = Counter()
        self.failures: list[StoredResult] = []
        self._filtered: Counter[tuple[Verdict, str, str]] = Counter()
        self._accepted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._operators: Counter[tuple[str, str]] = Counter()
        self._failing: Counter[tuple[str, str]] = Counter()
        self._curves: list[Curve] = []
        self._campaign_of: dict[str, Campaign] = {}
        self._seen: set[str] = set()

    def add(self, campaign: Campaign, results: Iterable[StoredResult]) -> None:
        """Counts the results of *campaign* in its order; a test that an earlier campaign had is counted once."""
        steps: list[tuple[int, int]] = []
        known: set[str] = set()
        done = 0
        for result in results:
            done += 1
            if result.fingerprint is not None:
                self._campaign_of[result.test] = campaign
                if result.fingerprint not in known:
                    known.add(result.fingerprint)
                    steps.append((done, len(known)))
            if result.test not in self._seen:
                self._seen.add(result.test)
                self._count(result)
        self._curves.append(Curve(campaign, done, tuple(steps)))

    def _count(self, result: StoredResult) -> None:
        subject = f"{result.compiler}/{result.frontend}"
        place = self.apis.get(result.instance, UNKNOWN_API), subject
        self.verdicts[result.compiler, result.frontend, result.verdict] += 1
        self._operators[place] += 1
        if result.fingerprint is not None:
            self.failures.append(result)
            self._failing[place] += 1
        elif result.verdict is Verdict.PASS:
            self._accepted[result.compiler, result.frontend].update([result.reason] if result.reason else [])
        else:
            reason = "" if result.verdict is Verdict.FLAKY else one_line(result.reason or "no reason kept", 80)
            self._filtered[result.verdict, reason, subject] += 1

    def overview(self, scope: Scope, findings: Sequence[Finding]) -> Overview:
        """The counts as the data of a report."""
        subjects = sorted({(compiler, frontend) for compiler, frontend, _ in self.verdicts})
        return Overview(
            scope,
            tuple(
                SubjectCounts(*key, {verdict: n for verdict in Verdict if (n := self.verdicts[*key, verdict])}, self._accepted[key])
                for key in subjects
            ),
            tuple(findings),
            tuple(
                Filtered(*key, count)
                for key, count in sorted(self._filtered.items(), key=lambda item: (item[0][2], item[0][0].value, -item[1], item[0][1]))
            ),
            tuple(self._curves),
            tuple(OperatorTally(*key, count, self._failing[key]) for key, count in sorted(self._operators.items())),
            self.apis,
            self._campaign_of,
        )


def with_known(view: Overview, baseline: Baseline | None, workspace: Workspace) -> Overview:
    """*view* with the reason of each known finding. A finding is known if all its failing tests are.

    Args:
        view: The findings of a scope.
        baseline: The known failures; None for those of the workspace when the campaigns of *view* began.
        workspace: Has the findings.
    """
    if baseline is None:
        begun = ((curve.campaign.known, f"found before campaign {curve.campaign.id} began") for curve in view.curves)
        known = [failure for each, note in begun for failure in earlier(each, note)]
    else:
        known = [replace(each, note=each.note or f"in {baseline.path.name}") for each in baseline.failures]
    found = match(known, failures_of((test for each in view.findings for test in each.tests), workspace))
    reasons = {case.test: one_line(old.note) for old, new in (*found.same, *found.changed) for case in new.cases}
    return replace(
        view,
        known={
            each.id: "; ".join(dict.fromkeys(reasons[test.test] for test in each.tests))
            for each in view.findings
            if all(test.test in reasons for test in each.tests)
        },
    )


def only_new(view: Overview) -> Overview:
    """*view* without its known findings."""
    return replace(view, findings=view.new_findings, left_out=len(view.known), known={})


_TOPS = (1, 5, 10)


@dataclass(frozen=True)
class SourceCensus:
    """The counts of one source: *calls* seen by its newest extraction, None for an import; *dropped* of them.

    *shapes* counts instances that differ in more than dtypes and tensor values.
    """

    library: str
    name: str
    instances: int
    shapes: int
    operators: int
    calls: int | None
    dropped: int


@dataclass(frozen=True)
class TopShare:
    """The share of a library's instances, 0 to 1, that its *top* most frequent operators have."""

    top: int
    share: float


@dataclass(frozen=True)
class OperatorCount:
    """Distinct instances of an API, and those of them that differ in more than dtypes and tensor values."""

    api: str
    instances: int
    shapes: int


@dataclass(frozen=True)
class LibraryCensus:
    """The instances of a library. *operators* are all of them, the most frequent first."""

    name: str
    instances: int
    shapes: int
    operators: tuple[OperatorCount, ...]
    skew: tuple[TopShare, ...]


@dataclass(frozen=True)
class Ran:
    """A campaign and the verdicts of its tests."""

    campaign: Campaign
    verdicts: Mapping[str, int]

    @property
    def tests(self) -> int:
        """Number of tests with a result."""
        return sum(self.verdicts.values())


@dataclass(frozen=True)
class Census:
    """The content of a workspace. *seen* is filled only if the command selects tests."""

    libraries: tuple[LibraryCensus, ...]
    sources: tuple[SourceCensus, ...]
    seen: tuple[queries.Occurred, ...]
    campaigns: tuple[Ran, ...]


def census(workspace: Workspace, selection: Selection) -> Census:
    """Counts what *workspace* holds of what is selected by library, source, keyword and test.

    Raises:
        UserError: there is no such library or source.
        NothingSelected: the workspace is empty, or nothing of it is selected.
    """
    check(workspace, selection.library, selection.source)
    stored = Campaigns(workspace)
    ran = tuple(Ran(each, stored.verdicts(each.id)) for each in stored.all() if selection.library in (None, each.library))
    if not Corpus(workspace).libraries() and not ran:
        raise NothingSelected("the workspace is empty; run e.g. `opera extract --lib onnx`")
    libraries = tuple(_libraries(workspace, selection))
    if not libraries and set(selection.document()) - {"library"}:
        raise NothingSelected(
            "no instance is selected; `opera ls --operators` lists the operators, and `opera show ID` the tests of an instance"
        )
    seen = () if selection.test is None else _seen(workspace, selection)
    return Census(libraries, tuple(_sources(workspace, selection)), seen, ran)


def _libraries(workspace: Workspace, selection: Selection) -> Iterable[LibraryCensus]:
    wanted = selector(selection.keyword)
    counts: dict[str, list[OperatorCount]] = {}
    for each in queries.counts(workspace, selection.wanted(), by_source=False):
        if wanted(each.api):
            counts.setdefault(each.library, []).append(OperatorCount(each.api, each.instances, each.shapes))
    for name, operators in sorted(counts.items()):
        operators.sort(key=lambda each: (-each.instances, each.api))
        total = sum(each.instances for each in operators)
        skew = tuple(TopShare(top, sum(each.instances for each in operators[:top]) / total) for top in _TOPS)
        yield LibraryCensus(name, total, sum(each.shapes for each in operators), tuple(operators), skew)


def _sources(workspace: Workspace, selection: Selection) -> Iterable[SourceCensus]:
    newest = {(each.library, each.source): each for each in queries.extractions(workspace)}
    wanted = selector(selection.keyword)
    counts: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for each in queries.counts(workspace, selection.wanted(), by_source=True):
        if wanted(each.api):
            counts.setdefault((each.library, each.source), []).append((each.instances, each.shapes))
    for (library, source), rows in sorted(counts.items()):
        extraction = newest.get((library, source))
        calls, dropped = (None, 0) if extraction is None else (extraction.calls, sum(extraction.dropped.values()))
        yield SourceCensus(library, source, sum(row[0] for row in rows), sum(row[1] for row in rows), len(rows), calls, dropped)


def _seen(workspace: Workspace, selection: Selection) -> tuple[queries.Occurred, ...]:
    wanted = selector(selection.keyword)
    return tuple(each for each in queries.occurrences(workspace, selection.wanted()) if wanted(each.api))
