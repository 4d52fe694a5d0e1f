"""Shows the progress of a campaign: on the terminal, and in the files of the workspace."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

from opera.difftest.settings import Settings
from opera.run.status import Status
from opera.store import StoredResult, Workspace
from opera.workers.pool_protocol import PoolProtocol

_LOOK = 0.1
"""Seconds between two looks at what the workers do."""


class ProgressListener(Protocol):
    """Is told how a campaign goes, to tell a person."""

    def began(self, campaign: str, total: int, verdicts: Mapping[str, int], new_findings: int, products: str | None) -> None:
        """The plan stands: it has *total* tests.

        Args:
            campaign: Its id.
            total: Number of tests.
            verdicts: Verdicts of the tests that have results already.
            new_findings: Those that earlier parts of the campaign found.
            products: Format in which the compiler computed products of float32 when the campaign began; None if nothing says it.
        """
        ...

    def result(self, result: StoredResult, api: str, call: str | None) -> None:
        """A test has its result; *call* is its call, readable, if nothing with its fingerprint was known."""
        ...

    def tick(self, busy: list[tuple[str, str, str]]) -> None:
        """Called ten times a second, with role, API and stage of what is in progress."""
        ...

    def ended(self) -> None:
        """The campaign has ended, for any reason."""
        ...


class Watch:
    """Watches one campaign: its progress, its status file and its pool of workers."""

    def __init__(self, workspace: Workspace, settings: Settings, pool: PoolProtocol, progress: ProgressListener) -> None:
        self._pool = pool
        self._progress = progress
        self._status = Status(workspace.folder, settings, pool)
        self._looked = 0.0
        self._complete = False
        self._stopped_by: str | None = None

    def began(self, campaign: str, total: int, verdicts: Mapping[str, int], new_findings: int, products: str | None) -> None:
        """The plan stands; *verdicts* and *new_findings* are those of the earlier parts of the campaign."""
        self._status.began(campaign, total, verdicts, new_findings)
        self._progress.began(campaign, total, verdicts, new_findings, products)

    def result(self, result: StoredResult, api: str, call: str | None) -> None:
        """A test has its result; *call* is its call, readable, if it is a new finding."""
        self._status.result(result, api, new_finding=call is not None)
        self._progress.result(result, api, call)

    def tick(self) -> None:
        """Called as often as there is time."""
        now = time.monotonic()
        if now - self._looked >= _LOOK:
            self._looked = now
            self._progress.tick([(role.value, job.test.api, stage) for role, job, stage in self._pool.jobs()])
            self._status.write_if_due()

    def finishing(self, *, complete: bool, stopped_by: str | None) -> None:
        """The last result is in."""
        self._complete, self._stopped_by = complete, stopped_by

    def ended(self) -> None:
        """The workers are gone."""
        self._status.ended(complete=self._complete, stopped_by=self._stopped_by)
        self._progress.ended()
