"""Runs a campaign against the store: what is done is skipped, what comes is written, and stopping loses nothing."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from opera.campaign.judge import Judgement
from opera.campaign.plan import Test, make_plan
from opera.campaign.rig import Rig
from opera.campaign.scheduler import Cache, Scheduler
from opera.campaign.selection import selector
from opera.campaign.settings import Settings
from opera.config import Config
from opera.errors import NothingSelected
from opera.instance import Instance
from opera.store import Campaigns, Corpus, StoredResult, Workspace

_FLUSH_SECONDS = 0.25
_FLUSH_RESULTS = 500


class Progress(Protocol):
    """Is told how a campaign goes, to tell a person."""

    def began(self, campaign: str, total: int, done: int) -> None:
        """The plan stands: *done* of its *total* tests have results already."""
        ...

    def result(self, result: StoredResult, api: str, *, new_finding: bool) -> None:
        """A test has its result; *new_finding* says that nothing with its fingerprint was known."""
        ...

    def tick(self, busy: list[tuple[str, str, str]]) -> None:
        """Called many times a second, with role, API and stage of what is in progress."""
        ...

    def ended(self) -> None:
        """The campaign has ended, for whatever reason."""
        ...


@dataclass(frozen=True)
class Summary:
    """What a campaign came to, parts of earlier runs included.

    Attributes:
        campaign: Its identity.
        executed: Tests with a result.
        planned: Tests of the plan.
        seconds: Wall time of all parts.
        verdicts: Number of tests per verdict.
        findings: Distinct fingerprints.
        new_findings: Those that the workspace did not hold before the campaign began.
        complete: Whether every planned test has its result.
        stopped_by: `limit`, `budget`, `maxfail` or `interrupt`; None when the corpus was exhausted.
        versions: Of library and compiler.
    """

    campaign: str
    executed: int
    planned: int
    seconds: float
    verdicts: dict[str, int]
    findings: int
    new_findings: int
    complete: bool
    stopped_by: str | None
    versions: dict[str, Any]


class _Stop:
    """Whether and why to stop; the first Ctrl-C asks, the loop obeys within milliseconds."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> _Stop:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.reason = "interrupt"


class _Ledger:
    """Collects results and the materialiser's answers, and writes them together a few times a second."""

    def __init__(self, campaigns: Campaigns, cache: Cache, campaign: str) -> None:
        self._campaigns = campaigns
        self._cache = cache
        self._campaign = campaign
        self._results: list[tuple[int, StoredResult]] = []
        self._written = time.monotonic()

    def add(self, place: int, result: StoredResult) -> None:
        self._results.append((place, result))
        if len(self._results) >= _FLUSH_RESULTS:
            self.flush()

    def flush_if_due(self) -> None:
        if time.monotonic() - self._written >= _FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        answers = self._cache.drain()
        if answers:
            self._campaigns.keep_artefacts(answers)
        if self._results:
            self._campaigns.write(self._campaign, self._results)
            self._results = []
        self._written = time.monotonic()


def run_campaign(
    workspace: Workspace, config: Config, settings: Settings, order: Callable[[], Iterable[tuple[str, Instance]]], progress: Progress
) -> Summary:
    """Runs, or continues, the campaign that *settings* describe.

    Args:
        workspace: Open for writing.
        config: Says which interpreters to use.
        settings: The campaign's arguments.
        order: Gives hash and instance of the corpus in ranked order; called once the workers are known to work.
        progress: Is told how it goes.

    Raises:
        EnvironmentBroken: an adapter does not work.
        NothingSelected: no test is left after the selection.
    """
    wanted = selector(settings.keyword)
    started = time.monotonic()
    for leftover in workspace.scratch.iterdir():
        shutil.rmtree(leftover, ignore_errors=True)
    rig = Rig(settings, config, workspace.cache, Path(tempfile.mkdtemp(prefix="crew-", dir=workspace.scratch)))
    with _Stop() as stop:
        try:
            return _Campaign(workspace, settings, rig, stop, progress, started).run(make_order=order, wanted=wanted)
        finally:
            rig.crew.close()
            progress.ended()


class _Campaign:
    def __init__(self, workspace: Workspace, settings: Settings, rig: Rig, stop: _Stop, progress: Progress, started: float) -> None:
        self._campaigns = Campaigns(workspace)
        self._corpus = Corpus(workspace)
        self._settings = settings
        self._rig = rig
        self._stop = stop
        self._progress = progress
        self._started = started
        self._found: set[str] = set()

    def run(self, *, make_order: Callable[[], Iterable[tuple[str, Instance]]], wanted: Callable[[str], bool]) -> Summary:
        identity = self._rig.prove(lambda: self._stop.reason is not None)
        seeds = range(self._settings.seed, self._settings.seed + self._settings.seeds)
        tests = make_plan(
            make_order(), identity, self._settings.forms, wanted, seeds=seeds, limit=self._settings.limit, cap=self._settings.cap
        )
        if not tests:
            raise NothingSelected(f"no {self._rig.route.library} instance is selected; check -k, or extract more")
        versions = {
            "template": identity.template,
            "library": dict(identity.library),
            "compiler": dict(identity.versions),
            "route": identity.route.name,
            "adapter": self._rig.adapter.declarations(),
        }
        campaign = self._campaigns.begin(
            self._settings.campaign(versions), self._settings.compiler, self._settings.frontend, self._settings.selection(), versions
        )
        self._known = campaign.known
        finished = self._campaigns.finished_tests()
        self._campaigns.adopt(campaign.id, [(test.place, test.id) for test in tests if test.id in finished])
        todo = [test for test in tests if test.id not in finished]
        self._found = {result.fingerprint for result in self._campaigns.results(campaign.id, failures=True) if result.fingerprint}
        self._progress.began(campaign.id, len(tests), len(tests) - len(todo))
        cache = Cache(self._campaigns.artefact)
        self._ledger = _Ledger(self._campaigns, cache, campaign.id)
        try:
            complete = self._work(todo, cache)
        finally:
            self._ledger.flush()
            stopped_by = self._stop.reason
            self._campaigns.pause(campaign.id, time.monotonic() - self._started, complete=not self._left(tests), stopped_by=stopped_by)
        if complete and stopped_by is None and self._settings.limit is not None and len(tests) == self._settings.limit:
            stopped_by = "limit"
        return self._summary(campaign.id, len(tests), complete, stopped_by, versions)

    def _left(self, tests: list[Test]) -> bool:
        finished = self._campaigns.finished_tests()
        return any(test.id not in finished for test in tests)

    def _work(self, todo: list[Test], cache: Cache) -> bool:
        """Runs what is to do; returns whether all of it was done."""
        tasks = self._rig.tasks(self._document)
        scheduler = Scheduler(
            todo,
            self._rig.crew,
            tasks,
            cache,
            subject=self._settings.subject,
            slots=self._settings.jobs,
            on_result=self._result,
            confirm=self._settings.confirm,
        )
        while not scheduler.finished:
            if self._stop.reason is None:
                self._stop.reason = self._reason_to_stop()
            if self._stop.reason is not None:
                return False
            scheduler.step()
            self._ledger.flush_if_due()
            self._progress.tick([(role.value, job.test.api, stage) for role, job, stage in self._rig.crew.jobs()])
        return True

    def _document(self, key: str) -> Any:
        return json.loads(self._corpus.document(key))

    def _reason_to_stop(self) -> str | None:
        if self._settings.budget is not None and time.monotonic() - self._started >= self._settings.budget:
            return "budget"
        if self._settings.maxfail is not None and len(self._found) >= self._settings.maxfail:
            return "maxfail"
        return None

    def _result(self, test: Test, judgement: Judgement) -> None:
        fingerprint = judgement.symptom(self._settings.subject).fingerprint if judgement.verdict.is_failure else None
        result = StoredResult(
            test.id, test.instance, self._settings.compiler, self._settings.frontend, self._rig.route.name, test.form.value,
            test.seed, judgement.verdict, judgement.stage, judgement.reason, judgement.converter, fingerprint,
            {**judgement.detail, **({"exporter": judgement.exporter} if judgement.exporter else {})}, judgement.seconds,
        )  # fmt: skip
        is_new = fingerprint is not None and fingerprint not in self._found and fingerprint not in self._known
        if fingerprint is not None:
            self._found.add(fingerprint)
        self._ledger.add(test.place, result)
        self._progress.result(result, test.api, new_finding=is_new)

    def _summary(self, campaign: str, planned: int, complete: bool, stopped_by: str | None, versions: dict[str, Any]) -> Summary:
        stored = self._campaigns.get(campaign)
        assert stored is not None
        verdicts = self._campaigns.verdicts(campaign)
        return Summary(
            campaign, sum(verdicts.values()), planned, stored.seconds, verdicts, len(self._found), len(self._found - self._known),
            complete, stopped_by, versions,
        )  # fmt: skip
