"""Failures of a campaign in a form for matching two campaigns: fingerprint, condition, identity of the bug, failing instances."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from opera.console import clean, one_line
from opera.difftest.judge import headline
from opera.instance import Instance
from opera.oracles.fingerprint import NO_NOISE, symptom_of
from opera.oracles.verdict import Detail, Stage, Verdict
from opera.store import Campaigns, StoredResult, Workspace
from opera.store.campaigns import KNOWN_DIGITS
from opera.store.queries import Scope, campaigns_in
from opera.triage.findings import condition_of, knowledge_of
from opera.triage.reduction.properties import parts_of
from opera.triage.reduction.trigger import Trigger


@dataclass(frozen=True)
class Case:
    """A failing test.

    Attributes:
        test: Its identity.
        instance: The first digits of the hash of its instance.
        form: Its input form.
        load: Gives the instance; None where the instance or its data are gone.
    """

    test: str
    instance: str
    form: str
    load: Callable[[], Instance | None]


@dataclass(frozen=True)
class KnownFailure:
    """Failing tests with one fingerprint and, as far as triage has found out, one condition.

    Attributes:
        fingerprint: 16 hexadecimal digits.
        compiler: The compiler, or the exporter that failed.
        frontend: Model format.
        verdict: `crash`, `inconsistent` ...
        stage: Where it stopped, empty where that is not known.
        converter: The conversion function.
        kind: Exception type, signal, or kind of difference.
        instances: The first digits of the failing instances' hashes.
        summary: One line of one of the tests.
        note: The remark of a person in a baseline.
        condition: The trigger that the reduction of one of the tests found; None where nothing is reduced.
        cases: The tests; empty for a failure that a file names.
        reduced: The reduced instance that the condition was found on, and its form; None for a failure that a file names.
    """

    fingerprint: str
    compiler: str
    frontend: str
    verdict: str
    stage: str
    converter: str
    kind: str
    instances: frozenset[str]
    summary: str = ""
    note: str = ""
    condition: Trigger | None = None
    cases: Sequence[Case] = ()
    reduced: tuple[Instance, str] | None = None

    @property
    def subject(self) -> str:
        """The subject as `compiler/frontend`, e.g. `tvm/onnx`."""
        return f"{self.compiler}/{self.frontend}"

    @property
    def key(self) -> tuple[str, str | None]:
        """Fingerprint and condition, which no other failure of the same side has."""
        return self.fingerprint, None if self.condition is None else self.condition.text()

    @property
    def bug(self) -> tuple[str, str, str, str]:
        """The parts of a failure that are equal in all versions of the compiler; messages and frames are not."""
        return self.subject, self.verdict, self.converter, self.kind

    def covers(self, case: Case) -> bool:
        """Whether *case*, a failing test that looks alike, is this failure: its instance failed before, or has the condition.

        A condition that names the operators of a program does not decide: a larger program may have them, and fail for another cause.
        """
        if case.instance in self.instances:
            return True
        if self.condition is None or parts_of(self.condition.properties):
            return False
        instance = case.load()
        return instance is not None and self.condition.holds(instance, case.form)

    def covers_cause(self, other: KnownFailure) -> bool:
        """Whether the condition of *other* is this failure's: of the same text, or this one's holds for the reduced instance."""
        if self.condition is None or other.condition is None:
            return False
        return self.condition.text() == other.condition.text() or (other.reduced is not None and self.condition.holds(*other.reduced))

    def of_cases(self, cases: Sequence[Case]) -> KnownFailure:
        """The part of it that *cases* are."""
        return replace(self, cases=cases, instances=frozenset(each.instance for each in cases))


def failures_of(results: Iterable[StoredResult], workspace: Workspace) -> list[KnownFailure]:
    """The failures among *results*, by fingerprint and condition, in alphabetical order of subject, converter and fingerprint."""
    knowledge = knowledge_of(workspace)
    found: list[KnownFailure] = []
    for part, tests in knowledge.causes.split(results, knowledge.instance_of).items():
        reduction = knowledge.causes.of(part)
        failure = _failure(tests, knowledge.instance_of)
        condition = None if reduction is None or reduction.document is None else condition_of(reduction)
        if reduction is not None and condition is not None:
            failure = replace(failure, condition=condition, reduced=(reduction.instance(), reduction.detail.get("form", tests[0].form)))
        found.append(failure)
    return sorted(found, key=lambda each: (each.subject, each.converter, each.fingerprint, str(each.key[1])))


def _failure(tests: Sequence[StoredResult], instance_of: Callable[[str], Instance | None]) -> KnownFailure:
    first = min(tests, key=lambda test: test.test)
    return KnownFailure(
        fingerprint=str(first.fingerprint),
        compiler=first.at_fault,
        frontend=first.frontend,
        verdict=first.verdict.value,
        stage=first.stage.value if first.stage else "",
        converter=clean(first.converter or ""),
        kind=clean(_kind(first.verdict, first.stage, first.detail)),
        instances=frozenset(test.instance[:KNOWN_DIGITS] for test in tests),
        summary=one_line(headline(first.verdict, first.detail, first.compiler)),
        cases=[Case(test.test, test.instance[:KNOWN_DIGITS], test.form, lambda key=test.instance: instance_of(key)) for test in tests],
    )


def _kind(verdict: Verdict, stage: Stage | None, detail: Detail) -> str:
    return symptom_of("", verdict, stage, "", detail, NO_NOISE).kind


Pair = tuple[KnownFailure, KnownFailure]
"""A failure of the left side, and what is the same failure on the right."""


@dataclass(frozen=True)
class Matching:
    """How the failures of two sides belong together.

    Attributes:
        same: Pairs with one fingerprint and one cause.
        changed: Pairs of one bug whose fingerprint changed.
        new: Only on the right.
        undecided: On the right, with the fingerprint of a failure on the left, but on instances that did not fail there. No reduction
            says whether the cause is the same.
        gone: Only on the left.
    """

    same: tuple[Pair, ...]
    changed: tuple[Pair, ...]
    new: tuple[KnownFailure, ...]
    undecided: tuple[KnownFailure, ...]
    gone: tuple[KnownFailure, ...]

    @property
    def unknown(self) -> tuple[KnownFailure, ...]:
        """The failures on the right that nothing on the left explains: new ones, and undecided ones."""
        return (*self.new, *self.undecided)


def match(left: Sequence[KnownFailure], right: Sequence[KnownFailure]) -> Matching:
    """Matches *right* against *left*: by fingerprint first, then by bug; in both cases by cause.

    One fingerprint may have several causes, since several bugs may end in one message. So a failing test is known only if the same
    instance failed on the left, or has the condition of a failure there. It is also known if a reduction shows one cause with such a test.
    A failure on the left answers for one changed message only.
    """
    alike: dict[object, list[KnownFailure]] = {}
    for each in left:
        for name in (each.fingerprint, each.bug):
            alike.setdefault(name, []).append(each)
    same: list[Pair] = []
    changed: list[Pair] = []
    new: list[KnownFailure] = []
    undecided: list[KnownFailure] = []
    there = {each.fingerprint for each in right}
    answered = {each.key for each in left if each.fingerprint in there}
    for each in right:
        known = alike.get(each.fingerprint, [])
        pairs, rest = _explained(known, each)
        same += pairs
        if rest is None:
            continue
        old = _changed([old for old in alike.get(each.bug, []) if old.key not in answered], rest)
        if old is not None:
            answered.add(old.key)
            changed.append((old, rest))
        else:
            (undecided if known and rest.condition is None else new).append(rest)
    matched = {old.key for old, _ in (*same, *changed)}
    return Matching(tuple(same), tuple(changed), tuple(new), tuple(undecided), tuple(each for each in left if each.key not in matched))


def _explained(known: Sequence[KnownFailure], failure: KnownFailure) -> tuple[list[Pair], KnownFailure | None]:
    """The parts of *failure* that are one of *known*, and the rest of it; None where nothing is left."""
    cases = failure.cases or [Case("", each, "", lambda: None) for each in sorted(failure.instances)]
    by_case = [next((old for old in known if old.covers(case)), None) for case in cases]
    if failure.condition is not None:
        old = next((old for old in known if old.covers_cause(failure)), None) or next(filter(None, by_case), None)
        return ([], failure) if old is None else ([(old, failure)], None)
    parts: dict[int, tuple[KnownFailure, list[Case]]] = {}
    rest: list[Case] = []
    for case, old in zip(cases, by_case, strict=True):
        if old is None:
            rest.append(case)
        else:
            parts.setdefault(id(old), (old, []))[1].append(case)
    if not parts:
        return [], failure
    pairs = [(old, failure.of_cases(cases)) for old, cases in parts.values()]
    return pairs, failure.of_cases(rest) if rest else None


def _changed(known: Sequence[KnownFailure], failure: KnownFailure) -> KnownFailure | None:
    """The one of *known* that explains all of *failure*, whose message has changed. What it explains in part only may be another bug."""
    return next((old for old in known if _explained([old], failure)[1] is None), None)


def earlier(known: Mapping[str, Iterable[str]], note: str) -> list[KnownFailure]:
    """The failures that a workspace had when a campaign began: instances by fingerprint. *note* says where they come from."""
    return [KnownFailure(each, "", "", "", "", "", "", frozenset(instances), note=note) for each, instances in known.items()]


def results_in(workspace: Workspace, scope: Scope) -> list[StoredResult]:
    """The results of *scope*, each once; of a test that several campaigns have there is one result."""
    campaigns = Campaigns(workspace)
    found = {result.test: result for campaign in campaigns_in(campaigns, scope) for result in campaigns.results(campaign.id)}
    return list(found.values())
