"""Runs a campaign: skips tests with a result, stores each new result, and loses nothing when it stops."""

from __future__ import annotations

import math
import signal
import stat
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from opera.bundle import PART
from opera.config import Config
from opera.corpus.selection import Predicate, selector
from opera.corpus.stored_call import stored_call
from opera.difftest.judge import HARNESS_ERROR, Judgement
from opera.difftest.messages import NOTHING_COMPARED, REJECTED, SAME_SIGNATURE
from opera.difftest.protocol import LOWEST_LEVEL
from opera.difftest.session import SubjectSession
from opera.difftest.settings import Settings
from opera.difftest.test import Identity, Test
from opera.errors import EnvironmentBroken, NothingSelected
from opera.instance import Instance
from opera.interruption import SIGNALS
from opera.oracles.revisions import COMPARISON
from opera.oracles.verdict import Verdict
from opera.run.adaptive import Adaptation, Draws
from opera.run.disk import NoRoom, WorkspacePlace, check_room
from opera.run.earlier import Earlier
from opera.run.observers import ProgressListener, Watch
from opera.run.plan import Plan, make_plan
from opera.run.remembered import Remembered
from opera.run.scheduler import AHEAD, Cache, Scheduler
from opera.store import Campaigns, Corpus, StoredResult, Workspace
from opera.store.campaigns import KNOWN_DIGITS
from opera.triage.known_failures import earlier, failures_of, match
from opera.workers import folders, supervision
from opera.workers.machine import Machine
from opera.workers.supervision import working_folder

_LOGS_KEPT = 200


def log_folder(workspace: Workspace) -> Path:
    """Where the last words of workers go; the oldest of what earlier ones said are removed."""
    folder = folders.own_folder(workspace.folder / "logs")
    logs = sorted(_files(folder, "*.log"), key=lambda path: path.lstat().st_mtime)
    for path in logs[: max(0, len(logs) - _LOGS_KEPT)]:
        path.unlink(missing_ok=True)
    return folder


def clear(workspace: Workspace) -> None:
    """Ends what earlier commands have left. The workspace is locked, so that nothing writes to it meanwhile."""
    supervision.clear(workspace.scratch)
    clear_parts(workspace)


def clear_parts(workspace: Workspace) -> None:
    """Removes files that a killed process has not finished. Nothing may write to the workspace meanwhile."""
    for folder in (workspace.cache, workspace.blobs):
        if not folder.is_symlink():
            for part in _files(folder, f"{PART}*"):
                part.unlink(missing_ok=True)


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    """The regular files of *folder* whose names match."""
    return (path for path in folder.glob(pattern) if stat.S_ISREG(path.lstat().st_mode))


_FLUSH_SECONDS = 0.25
_FLUSH_RESULTS = 500


@dataclass(frozen=True)
class Summary:
    """The outcome of a campaign, with the parts of earlier runs.

    Attributes:
        campaign: Its identity.
        executed: Tests with a result.
        planned: Tests of the plan.
        seconds: Wall time of all parts.
        verdicts: Number of tests per verdict.
        findings: Distinct fingerprints.
        new_findings: Failures that the workspace did not hold before the campaign began, by fingerprint and condition; undecided ones
            count among them.
        undecided: New findings with the fingerprint of a known failure, but on other instances: they are not reduced, and their cause
            may be the same.
        harness_errors: Tests that ended in OPERA's own code, and say nothing of the compiler.
        accepted: Tests that pass without a comparison, by reason.
        complete: Whether every planned test has its result.
        stopped_by: `limit`, `budget`, `maxfail` or `interrupt`; None when the corpus was exhausted.
        versions: Versions of library and compiler.
    """

    campaign: str
    executed: int
    planned: int
    seconds: float
    verdicts: dict[str, int]
    findings: int
    new_findings: int
    undecided: int
    harness_errors: int
    accepted: dict[str, int]
    complete: bool
    stopped_by: str | None
    versions: dict[str, Any]

    @property
    def is_silent(self) -> bool:
        """Whether no test passed or failed: such a campaign says nothing of the compiler, and is no success."""
        return not any(self.verdicts.get(each.value, 0) for each in Verdict if each.is_judgement)


class _Stop:
    """Whether and why to stop.

    The first Ctrl-C, SIGTERM or SIGHUP asks, and the loop obeys within milliseconds. A second one does not wait for the loop, which may be
    at work on a plan.
    While the workers are ended, which takes no longer than it has to, there is nothing left to interrupt.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.ending = False
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> _Stop:
        for number in SIGNALS:
            if number is signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:  # `nohup` has SIGHUP ignored
                self._previous[number] = signal.signal(number, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.reason == "interrupt" and not self.ending:
            self.ending = True
            raise KeyboardInterrupt
        self.reason = "interrupt"


class _ResultWriter:
    """Collects results and the materialiser's answers, and writes them together a few times a second."""

    def __init__(self, campaigns: Campaigns, cache: Cache, campaign: str) -> None:
        self._campaigns = campaigns
        self._cache = cache
        self._campaign = campaign
        self._results: list[tuple[int, StoredResult]] = []
        self._adopted: list[tuple[int, str]] = []
        self._written = time.monotonic()

    def add(self, place: int, result: StoredResult) -> None:
        self._results.append((place, result))
        if len(self._results) >= _FLUSH_RESULTS:
            self.flush()

    def adopt(self, place: int, test: str) -> None:
        self._adopted.append((place, test))

    def flush_if_due(self) -> None:
        if time.monotonic() - self._written >= _FLUSH_SECONDS:
            self.flush()

    def discard_answers(self) -> None:
        """Drops the materialiser's unwritten answers: it gave them while the disk was full."""
        self._cache.drain()

    def flush(self) -> None:
        answers = self._cache.drain()
        if answers:
            self._campaigns.keep_artefacts(answers)
        if self._results:
            self._campaigns.write(self._campaign, self._results)
            self._results = []
        if self._adopted:
            self._campaigns.adopt(self._campaign, self._adopted)
            self._adopted = []
        self._written = time.monotonic()


def run_campaign(
    workspace: Workspace,
    config: Config,
    settings: Settings,
    order: Callable[[], Iterable[tuple[str, Instance]]],
    progress: ProgressListener,
    adaptation: Adaptation | None = None,
) -> Summary:
    """Runs, or continues, the campaign that *settings* describe.

    Args:
        workspace: Open for writing.
        config: Says which interpreters to use.
        settings: The campaign's arguments.
        order: Gives hash and instance of the corpus in ranked order; called once the workers are known to work.
        progress: Is told how it goes.
        adaptation: Who chooses the order while the campaign runs; *order* then says only which instances there are, and which of an API
            are the first. None where *order* is the order.

    Raises:
        EnvironmentBroken: an adapter does not work.
        NothingSelected: no test is left after the selection.
    """
    wanted = selector(settings.keyword)
    started = time.monotonic()
    clear(workspace)
    with _Stop() as stop, working_folder("crew", workspace.scratch) as scratch:
        workers = SubjectSession(settings, config, workspace.cache, scratch, log_folder(workspace))
        watch = Watch(workspace, settings, workers.pool, progress)
        try:
            return _Campaign(workspace, settings, workers, stop, watch, started, adaptation).run(make_order=order, wanted=wanted)
        finally:
            stop.ending = True
            workers.pool.close()
            clear_parts(workspace)  # of workers that were killed while they stored a model
            watch.ended()


def _kept(order: Iterable[tuple[str, Instance]], instances: dict[str, Instance]) -> Iterator[tuple[str, Instance]]:
    """*order*, whose instances are put into *instances* as they come."""
    for key, instance in order:
        instances[key] = instance
        yield key, instance


class _Campaign:
    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        workers: SubjectSession,
        stop: _Stop,
        watch: Watch,
        started: float,
        adaptation: Adaptation | None,
    ) -> None:
        self._campaigns = Campaigns(workspace)
        self._corpus = Corpus(workspace)
        self._workspace = workspace
        self._settings = settings
        self._workers = workers
        self._stop = stop
        self._watch = watch
        self._started = started
        self._found: set[str] = set()
        self._new: set[str] = set()
        self._lowered: Counter[str] = Counter()
        self._machines: set[str] = set()
        self._adaptation = adaptation
        self._draws: Draws | None = None
        self._complete = False

    def run(self, *, make_order: Callable[[], Iterable[tuple[str, Instance]]], wanted: Callable[[str], bool]) -> Summary:
        identity, plan = self._start(make_order, wanted)
        planned = len(plan) if self._draws is None else self._draws.planned
        if not planned:
            raise NothingSelected(f"no {self._workers.route.library} instance is selected; check -k, or extract more instances")
        versions = {
            "template": identity.template,
            "library": dict(identity.library),
            "compiler": dict(identity.versions),
            "route": identity.route.name,
            "adapter": self._workers.adapter.revision,
            "comparison": COMPARISON,
            "review": identity.review,
        }
        key, products = self._settings.campaign(versions), {} if self._workers.products is None else {"products": self._workers.products}
        selection = self._settings.selection()
        campaign = self._campaigns.begin(key, self._settings.compiler, self._settings.frontend, selection, {**versions, **products})
        self._earlier = Earlier(self._campaigns, identity, self._workspace.cache)
        self._known = {fingerprint: frozenset(instances) for fingerprint, instances in campaign.known.items()}
        todo: Iterable[Test]
        if self._draws is None:
            todo = self._continue(campaign.id, plan)
        else:
            self._draws.replay(self._campaigns.course(campaign.id))
            todo = self._draws
        for result in self._campaigns.results(campaign.id, failures=True):
            self._found.add(str(result.fingerprint))
            self._note_new(result)
            self._lowered[str(result.fingerprint)] += LOWEST_LEVEL in result.detail
        self._watch.began(campaign.id, planned, self._campaigns.verdicts(campaign.id), len(self._new), campaign.versions.get("products"))
        cache = Cache(self._campaigns.kept)
        self._writer = _ResultWriter(self._campaigns, cache, campaign.id)
        try:
            self._work(todo, cache)
        except NoRoom:
            self._writer.discard_answers()
            raise
        finally:
            self._writer.flush()
            stopped_by = self._stop.reason
            complete = self._complete
            self._watch.finishing(complete=complete, stopped_by=stopped_by)
            self._campaigns.pause(campaign.id, time.monotonic() - self._started, complete=complete, stopped_by=stopped_by)
        if complete and stopped_by is None and self._settings.limit is not None and planned == self._settings.limit:
            stopped_by = "limit"
        return self._summary(campaign.id, planned, complete, stopped_by, versions)

    def _start(self, make_order: Callable[[], Iterable[tuple[str, Instance]]], wanted: Predicate) -> tuple[Identity, Plan]:
        """Identity and plan. Workers are started where a test is left, or where nothing says what their versions are."""
        remembered = None if self._settings.cluster is not None else Remembered(self._campaigns, self._workers)
        if remembered is not None and remembered.recall():
            identity = self._workers.identity()
            plan = self._plan(make_order(), identity, wanted)
            if plan and all(self._campaigns.is_finished(test) for _, test in plan.identities()):
                return identity, plan
        identity = self._workers.prove(lambda: self._stop.reason is not None)
        if remembered is not None:
            remembered.keep()
        return identity, self._plan(make_order(), identity, wanted)

    def _plan(self, order: Iterable[tuple[str, Instance]], identity: Identity, wanted: Predicate) -> Plan:
        """All tests of the campaign; makes `_draws` if an adaptive strategy chooses among them while the campaign runs."""
        settings, instances = self._settings, dict[str, Instance]()
        seeds = range(settings.seed, settings.seed + settings.seeds)
        if self._adaptation is None:
            limit = settings.limit
        else:
            order, limit = _kept(order, instances), None
        plan = make_plan(
            order,
            identity,
            settings.forms,
            wanted,
            opsets=settings.opsets,
            seeds=seeds,
            limit=limit,
            cap=settings.cap,
            shard=settings.shard,
        )
        if self._adaptation is not None:
            self._draws = Draws(
                self._adaptation, plan, instances, settings.seed, settings.limit, settings.shard, self._campaigns.finished, self._adopt
            )
        return plan

    def _continue(self, campaign: str, tests: Plan) -> Plan:
        """Counts what has a result already to the campaign, and returns what has none."""
        todo = array("I")

        def done() -> Iterator[tuple[int, str]]:
            for index, (place, identity) in enumerate(tests.identities()):
                if self._campaigns.is_finished(identity):
                    yield place, identity
                else:
                    todo.append(index)

        self._campaigns.adopt(campaign, done())
        return tests.part(todo)

    def _adopt(self, test: Test, result: StoredResult) -> None:
        """Counts a result to the campaign that another one has of a test that was drawn."""
        if result.fingerprint is not None:
            self._found.add(result.fingerprint)
            self._note_new(result)
        self._writer.adopt(test.place, test.id)
        self._watch.result(result, test.api, None)

    def _work(self, todo: Iterable[Test], cache: Cache) -> None:
        """Runs what is to do, or as much of it as there is time for."""
        scheduler = Scheduler(
            todo,
            self._workers.pool,
            self._workers.difftest(self._corpus.document),
            cache,
            slots=self._settings.jobs,
            on_result=self._result,
            lowered=self._lowered,
            ahead=AHEAD if self._draws is None else 0,
            earlier=self._earlier,
        )
        place = WorkspacePlace(self._workspace.folder)
        while not scheduler.finished:
            place.check()
            if self._stop.reason is None:
                self._stop.reason = self._reason_to_stop()
            if self._stop.reason is not None:
                return
            try:
                scheduler.step()
            except (OSError, EnvironmentBroken):
                place.check()  # where it is gone, that is why
                raise
            self._writer.flush_if_due()
            self._watch.tick()
        self._complete = True

    def _reason_to_stop(self) -> str | None:
        if self._settings.budget is not None and time.monotonic() - self._started >= self._settings.budget:
            return "budget"
        if self._settings.maxfail is not None and len(self._found) >= self._settings.maxfail:
            return "maxfail"
        return None

    def _result(self, test: Test, judgement: Judgement) -> None:
        check_room(judgement, self._workspace.folder)
        fingerprint = judgement.symptom(self._settings.subject).fingerprint if judgement.verdict.is_failure else None
        result = StoredResult(
            test=test.id,
            instance=test.instance,
            compiler=self._settings.compiler,
            frontend=self._settings.frontend,
            route=self._workers.route.name,
            form=str(test.form),
            seed=test.seed,
            verdict=judgement.verdict,
            stage=judgement.stage,
            reason=judgement.reason,
            converter=judgement.converter,
            fingerprint=fingerprint,
            detail=judgement.detail if judgement.outputs is None else {**judgement.detail, "outputs": judgement.outputs},
            seconds=judgement.seconds,
            machine=self._workers.pool.machine.id,
            exporter=judgement.exporter,
        )
        self._keep_machine(self._workers.pool.machine)
        is_new = fingerprint is not None and self._note_new(result)
        if fingerprint is not None:
            self._found.add(fingerprint)
        self._writer.add(test.place, result)
        if self._draws is not None:
            self._draws.observe(test, fingerprint)
        self._watch.result(result, test.api, self._call(test.instance) if is_new else None)

    def _note_new(self, result: StoredResult) -> bool:
        """Notes the fingerprint of a failing test as new unless its instance failed in this way before; says whether that is news."""
        fingerprint = str(result.fingerprint)
        if fingerprint in self._new or result.instance[:KNOWN_DIGITS] in self._known.get(fingerprint, ()):
            return False
        self._new.add(fingerprint)
        return True

    def _call(self, instance: str) -> str:
        return stored_call(Corpus(self._workspace), self._workspace.blobs, instance, math.inf).text

    def _keep_machine(self, machine: Machine) -> None:
        if machine.id not in self._machines:
            self._machines.add(machine.id)
            self._campaigns.keep_machine(machine.id, machine.document)

    def _summary(self, campaign: str, planned: int, complete: bool, stopped_by: str | None, versions: dict[str, Any]) -> Summary:
        stored = self._campaigns.get(campaign)
        assert stored is not None
        verdicts = self._campaigns.verdicts(campaign)
        failures = failures_of(self._campaigns.results(campaign, failures=True), self._workspace) if self._new else []
        found = match(earlier(stored.known, ""), failures)
        return Summary(
            campaign=campaign,
            executed=sum(verdicts.values()),
            planned=planned,
            seconds=stored.seconds,
            verdicts=verdicts,
            findings=len(self._found),
            new_findings=len(found.unknown),
            undecided=len(found.undecided),
            harness_errors=self._campaigns.with_reason(campaign, HARNESS_ERROR),
            accepted={
                each: count
                for each in (SAME_SIGNATURE, NOTHING_COMPARED, REJECTED)
                if (count := self._campaigns.with_reason(campaign, each))
            },
            complete=complete,
            stopped_by=stopped_by,
            versions=versions,
        )
