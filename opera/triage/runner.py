"""Reduces failing tests, splits fingerprints by trigger, and merges findings with one root cause. Stores each result at once."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from opera.calls import call_text
from opera.compilers.adapter import REJECTS
from opera.config import Config
from opera.console import doing, plural
from opera.difftest.runner import TestCase, TestRunner
from opera.difftest.settings import Settings
from opera.errors import EnvironmentBroken, OperaError
from opera.instance import Instance, encode_instance
from opera.oracles.fingerprint import NEWER_OPSET
from opera.oracles.verdict import Verdict
from opera.store import Campaign, Campaigns, Corpus, StoredResult, Workspace, queries
from opera.store.finding_ids import FindingIds, ReportedId
from opera.store.reductions import GONE, ReductionFacts, Reductions, StoredReduction
from opera.triage.arbitration import Guards, Question, asked, question_of, scope_of
from opera.triage.causes import finding_id
from opera.triage.findings import Knowledge, findings_in, knowledge_of, smallest_first
from opera.triage.merge import candidates_of, merges
from opera.triage.reduction.properties import View
from opera.triage.reduction.reduce import Budget, NotReduced, Reducer, Reduction
from opera.triage.reduction.trigger import Neighbours, trigger_of

_MOST_ATTEMPTS = 2
"""Tests of a fingerprint that are tried where one cannot be reduced."""
_STAGE_SECONDS = 15.0
"""Deadline of each stage of a probe: a variation that takes longer says nothing, except where the failure itself is a hang."""
_SLACK = 4
"""A probe has this multiple of what the slowest stage of the failing test took."""

_WITNESSES = 3
"""Other failing tests that are kept as witnesses of a trigger."""
_NEWER_OPSET = "its condition is that the model needs a newer opset than the compiler says to load"
_NEIGHBOURS = 300
"""Recorded tests of an operator that a trigger is held against."""


@dataclass(frozen=True)
class _Task:
    """A test to reduce, its instance, and the recorded tests of the operator."""

    test: StoredResult
    instance: Instance
    neighbours: Neighbours


_Walk = Generator[_Task, StoredReduction, None]
"""A generator over the tests of a fingerprint: yields tests to reduce, and receives their reductions."""

Say = Callable[[StoredReduction, str], None]
"""Is told each reduction, with the API of its instance."""


@dataclass(frozen=True)
class TriageOptions:
    """The settings of triage.

    Attributes:
        compiler, frontend: Only failures of these, where given.
        limit: Most fingerprints to reduce.
        causes: Most triggers to look for within one fingerprint.
        again: Whether to forget earlier reductions of what is selected.
        arbiters: Whether to ask other compilers about wrong results.
        jobs: Reductions at a time.
        budget: Budget of each reduction.
    """

    compiler: str | None = None
    frontend: str | None = None
    limit: int | None = None
    causes: int = 4
    again: bool = False
    arbiters: bool = True
    jobs: int = 1
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True)
class Untried:
    """Failing tests of one fingerprint that a limit left: no trigger found so far holds for them, and none of them was reduced.

    Attributes:
        fingerprint: Fingerprint of the tests; they are shown as the finding of this id.
        tests: Their ids, the smallest first.
        causes: Triggers of the fingerprint that were found.
    """

    fingerprint: str
    tests: tuple[str, ...]
    causes: int


@dataclass
class TriageTally:
    """The outcome of a triage.

    Attributes:
        reduced, not_reduced, probes: Counts.
        seconds: Wall time.
        problems: Subjects that could not be triaged, with the reasons.
        untried: What the limits left, of all that was selected.
    """

    reduced: int = 0
    not_reduced: int = 0
    probes: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list[str])
    untried: list[Untried] = field(default_factory=list[Untried])


@dataclass(frozen=True)
class _Place:
    """Where one reduction at a time is done."""

    runner: TestRunner
    guards: Guards

    def cancel(self) -> None:
        """Nobody waits for it any more."""
        self.runner.cancelled = True
        self.guards.cancel()

    def close(self) -> None:
        """Ends the workers of the reduction."""
        self.runner.close()
        self.guards.close()


class Triage:
    """One run of triage over an open workspace."""

    def __init__(self, workspace: Workspace, config: Config, options: TriageOptions, say: Say) -> None:
        self._workspace = workspace
        self._config = config
        self._options = options
        self._say = say
        self._store = Reductions(workspace)
        self._campaigns = Campaigns(workspace)
        self.tally = TriageTally()

    def run(self) -> TriageTally:
        """Reduces what no reduction covers yet, then merges.

        Raises:
            EnvironmentBroken: none of the compilers works here.
        """
        began = time.monotonic()
        failures = [each for each in self._campaigns.results(failures=True) if self._selected(each)]
        todo = self._todo(self._forget(failures) if self._options.again else failures)
        groups: dict[Settings, list[list[StoredResult]]] = defaultdict(list)
        campaigns = self._campaign_of()
        for tests in todo:
            groups[settings_of(tests[0], campaigns.get(tests[0].test))].append(tests)
        for settings, fingerprints in groups.items():
            self._work(settings, fingerprints)
        if self._options.arbiters:
            self._arbitrate(failures)
        self.merge()
        self.tally.untried = self._untried(failures)
        self.tally.seconds = time.monotonic() - began
        if self.tally.problems and not (self.tally.reduced or self.tally.not_reduced):
            raise EnvironmentBroken("; ".join(self.tally.problems))
        return self.tally

    def _selected(self, result: StoredResult) -> bool:
        return self._options.compiler in (None, result.compiler) and self._options.frontend in (None, result.frontend)

    def _forget(self, failures: Sequence[StoredResult]) -> list[StoredResult]:
        """Forgets the reductions of the most frequent fingerprints, as many as are to be reduced; returns their failures."""
        counts = Counter(str(each.fingerprint) for each in failures)
        chosen = set(sorted(counts, key=lambda each: (-counts[each], each))[: self._options.limit])
        self._store.forget(chosen)
        return [each for each in failures if each.fingerprint in chosen]

    def _todo(self, failures: Sequence[StoredResult]) -> list[list[StoredResult]]:
        """The failing tests that no reduction covers, by fingerprint, the smallest first; the most frequent fingerprint first."""
        known = knowledge_of(self._workspace)
        tried = {each.fingerprint for each in known.causes.reductions if each.finding == each.fingerprint}
        counts = Counter(each.fingerprint for each in known.causes.reductions)
        full = {each for each, count in counts.items() if count >= self._options.causes}
        left = known.causes.split(failures, known.instance_of)
        groups = [tests for finding, tests in left.items() if finding == tests[0].fingerprint and finding not in tried | full]
        groups.sort(key=lambda tests: (-len(tests), str(tests[0].fingerprint)))
        return [smallest_first(tests, known.sizes) for tests in groups[: self._options.limit]]

    def _untried(self, failures: Sequence[StoredResult]) -> list[Untried]:
        """What is left of *failures*; the largest group first."""
        known = knowledge_of(self._workspace)
        tried = {each.test for each in known.causes.reductions}
        whole = {each.fingerprint for each in known.causes.reductions if each.reason in (_NEWER_OPSET, GONE)}
        found: list[Untried] = []
        for finding, tests in known.causes.split(failures, known.instance_of).items():
            left = [each.test for each in smallest_first(tests, known.sizes) if each.test not in tried]
            if left and finding == tests[0].fingerprint and finding not in whole:
                triggers = {each.finding for each in known.causes.reductions if each.fingerprint == finding and each.reason is None}
                found.append(Untried(finding, tuple(left), len(triggers)))
        return sorted(found, key=lambda each: (-len(each.tests), each.fingerprint))

    def _campaign_of(self) -> dict[str, Campaign]:
        """The newest campaign of every test that failed."""
        order = {each.id: (index, each) for index, each in enumerate(self._campaigns.all())}
        rows = sorted(queries.campaigns_of_failures(self._workspace), key=lambda row: order[row[1]][0])
        return {test: order[key][1] for test, key in rows}

    def _work(self, settings: Settings, groups: Sequence[Sequence[StoredResult]]) -> None:
        """Works through fingerprints, several at a time; all that is kept is kept by this thread."""
        todo = iter(groups)
        subject, ended = f"{settings.compiler}/{settings.frontend}", 0
        running: dict[Future[StoredReduction], tuple[_Place, _Walk, str]] = {}

        def submit(place: _Place, walk: _Walk, task: _Task) -> None:
            running[pool.submit(self._reduced, place, task)] = place, walk, task.instance.api

        def start(place: _Place) -> None:
            for tests in todo:
                walk = self._fingerprint(tests)
                for task in walk:
                    submit(place, walk, task)
                    return

        jobs = min(self._options.jobs, len(groups))
        places: list[_Place] = []
        with ExitStack() as stack, ThreadPoolExecutor(jobs) as pool:
            starting = {pool.submit(self._place, settings) for _ in range(jobs)}  # imports of several seconds each, all at once
            try:
                while starting or running:
                    busy = ", ".join(api for _, _, api in running.values()) or "workers start"
                    doing(f"{subject}: {ended} of {plural(len(groups), 'fingerprint')} reduced, now {busy}")
                    pending: list[Future[Any]] = [*starting, *running]
                    ready = wait(pending, return_when=FIRST_COMPLETED).done
                    for begun in starting & ready:
                        starting.remove(begun)
                        places.append(begun.result())
                        stack.callback(places[-1].close)
                        start(places[-1])
                    for done in running.keys() & ready:
                        place, walk, api = running.pop(done)
                        reduction = done.result()
                        self._keep(reduction, api)
                        try:
                            submit(place, walk, walk.send(reduction))
                        except StopIteration:
                            ended += 1
                            start(place)
            except OperaError as error:
                self.tally.problems.append(f"{subject} ({settings.route}): {error}")
            finally:
                for place in places:
                    place.cancel()
                for each in starting:
                    each.add_done_callback(_close)

    def _place(self, settings: Settings) -> _Place:
        """Workers for one reduction at a time."""
        runner = TestRunner(settings, self._config, self._workspace.scratch)
        return _Place(runner, Guards(settings.compiler, self._config, self._workspace.scratch))

    def _fingerprint(self, tests: Sequence[StoredResult]) -> _Walk:
        """Asks for the reduction of one test after another until every test of a fingerprint has a finding, or as often as is allowed."""
        known = knowledge_of(self._workspace)
        left: list[StoredResult] = list(tests)
        if tests[0].converter == NEWER_OPSET:
            self._keep(StoredReduction(str(tests[0].fingerprint), tests[0].test, str(tests[0].fingerprint), _NEWER_OPSET), "")
            return
        failed = 0
        for _ in range(self._options.causes):
            if not left or failed >= _MOST_ATTEMPTS:
                break
            readable = ((test, instance) for test in left if (instance := known.instance_of(test.instance)) is not None)
            test, instance = next(readable, (None, None))
            if test is None or instance is None:
                fingerprint = str(left[0].fingerprint)
                self._keep(StoredReduction(fingerprint, left[0].test, fingerprint, GONE), "")
                return
            reduction = yield _Task(test, instance, self._neighbours(test, instance, known))
            failed += reduction.reason is not None
            if reduction.trigger is None:
                left.remove(test)
                continue
            covered = [each for each in left if _is_same_call(each, test) or self._covers(reduction, each, known)]
            self._store.assign([each.test for each in covered], reduction.finding)
            left = [each for each in left if each not in covered]

    def _covers(self, reduction: StoredReduction, test: StoredResult, known: Knowledge) -> bool:
        assert reduction.trigger is not None
        trigger = trigger_of(reduction.trigger)
        if not trigger.properties:
            return True
        instance = known.instance_of(test.instance)
        return instance is not None and trigger.holds(instance, test.form)

    def _neighbours(self, test: StoredResult, instance: Instance, known: Knowledge) -> Neighbours:
        """The recorded tests of the operator, in the campaigns of *test*; none of an instance of several operators."""
        if not instance.kind.behaviour.has_one_operator:
            return Neighbours()
        passing: list[View] = []
        alike: dict[str, View] = {}
        for each in queries.neighbours(self._workspace, test.test, instance.api, _NEIGHBOURS):
            found = known.instance_of(each.instance)
            if found is not None and each.verdict == Verdict.PASS.value:
                passing.append(View(found, each.form))
            elif found is not None and each.fingerprint == test.fingerprint:
                alike[each.test] = View(found, each.form)
        return Neighbours(passing, alike)

    def _reduced(self, place: _Place, task: _Task) -> StoredReduction:
        """The reduction of one test; runs in a thread of its own, and keeps nothing."""
        test, instance = task.test, task.instance
        fingerprint, runner = str(test.fingerprint), place.runner
        began, probes = time.monotonic(), runner.count
        try:
            accepts = place.guards.of(TestCase(instance, test.form, test.instance, test.seed))
            reducer = Reducer(runner, fingerprint, test.verdict, self._options.budget, accepts, task.neighbours)
            found = reducer.reduce(instance, test.form, test.instance, test.seed)
            stored = StoredReduction(
                fingerprint=fingerprint,
                test=test.test,
                finding=finding_id(fingerprint, found.trigger),
                reason=None,
                document=encode_instance(found.instance),
                trigger=found.trigger.document(),
                detail={**_detail(found), **self._first_pass(runner, task, found)},
            )
        except NotReduced as error:
            detail: ReductionFacts = {"probes": runner.count - probes, "seconds": time.monotonic() - began}
            stored = StoredReduction(fingerprint, test.test, fingerprint, str(error), detail=detail)
        return stored

    def _first_pass(self, runner: TestRunner, task: _Task, found: Reduction) -> ReductionFacts:
        """Which pass makes an instance of several operators fail: one operator alone is converted, a combination is optimised."""
        one = task.instance.kind.behaviour.has_one_operator or task.test.route == REJECTS
        if one or task.test.verdict not in (Verdict.INCONSISTENT, Verdict.CRASH):
            return {}
        name = runner.first_pass(TestCase(found.instance, found.form, "reduced", 0))
        return {} if name is None else {"first_pass": name}

    def _keep(self, stored: StoredReduction, api: str) -> None:
        self._store.keep(stored)
        self.tally.probes += stored.detail.get("probes", 0)
        if stored.reason is None:
            self.tally.reduced += 1
        else:
            self.tally.not_reduced += 1
        self._say(stored, api)

    def _arbitrate(self, failures: Sequence[StoredResult]) -> None:
        """Asks other compilers about the wrong results."""
        results = {each.test: each for each in failures if each.verdict is Verdict.INCONSISTENT and each.exporter is None}
        questions: dict[str, list[Question]] = defaultdict(list)
        known = knowledge_of(self._workspace)
        for reduction in self._store.all():
            result = results.get(reduction.test)
            question = None if result is None else question_of(result, reduction, known.instance_of(result.instance))
            if result is not None and question is not None and result.route != REJECTS:
                questions[scope_of(question.trial.instance.library, result)].append(question)
        doing(f"asking other compilers about {plural(sum(map(len, questions.values())), 'wrong result')}")
        for scope, each in questions.items():
            for reduction in asked(scope, each, self._config, self._workspace.scratch):
                self._store.keep(reduction)

    def merge(self) -> None:
        """Computes again which findings of the workspace have one root cause, and gives an id to those that have none yet."""
        doing("merging findings")
        known = knowledge_of(self._workspace)
        leaves = known.causes.split(self._campaigns.results(failures=True), known.instance_of)
        corpus = Corpus(self._workspace)

        @cache
        def tests_of(key: str) -> list[str]:
            return [each.test for each in corpus.provenance(key)]

        self._store.replace_merges(merges(candidates_of(leaves, known.causes, tests_of)))
        found = findings_in(self._workspace)
        FindingIds(self._workspace).keep(ReportedId(each.id, each.representative.test) for each in found)


def _close(place: Future[_Place]) -> None:
    """Ends workers that nobody waited for."""
    if not place.cancelled() and place.exception() is None:
        place.result().close()


def settings_of(result: StoredResult, campaign: Campaign | None) -> Settings:
    """The settings under which a failing test ran: one set of workers serves all tests with the same."""
    known: Any = {} if campaign is None else campaign.settings
    level, chebyshev = known.get("level"), known.get("chebyshev")
    slowest = 0.0 if result.verdict is Verdict.HANG else max(result.seconds.values(), default=0.0)
    timeout = _STAGE_SECONDS
    while timeout < _SLACK * slowest:  # doubled, so that few sets of workers serve all tests
        timeout *= 2
    return Settings(result.compiler, result.frontend, result.route, level=level, chebyshev=chebyshev, timeout=timeout)


def _is_same_call(one: StoredResult, other: StoredResult) -> bool:
    """Whether two tests differ in the seed of their inputs only: of one fingerprint, they have one cause."""
    return (one.instance, one.form) == (other.instance, other.form)


def _detail(found: Reduction) -> ReductionFacts:
    return {
        "form": found.form,
        "probes": found.probes,
        "seconds": round(found.seconds, 3),
        "complete": found.complete,
        "confirmed": found.confirmed,
        "evidence": found.evidence,
        "passes": {name: " ".join(call_text(instance).split()) for name, instance in found.proof.passes.items()},
        "fails": found.proof.fails[:_WITNESSES],
        "against": found.proof.against,
        "untried": found.proof.untried,
    }
