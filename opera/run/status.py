"""The state of a campaign: `status.json` in the workspace, and the journal of events `log.jsonl`."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from datetime import UTC, datetime
from heapq import nlargest
from operator import itemgetter
from pathlib import Path
from typing import TypedDict, cast

from opera.atomic import append, replacing
from opera.bounded_json import parsed_json
from opera.difftest.settings import Settings
from opera.errors import UserError
from opera.run.disk import WorkspacePlace
from opera.store import StoredResult
from opera.untrusted import Malformed, read_file
from opera.workers.pool_protocol import PoolProtocol, WorkerFacts
from opera.workers.processes import most_resident

JOURNAL = "log.jsonl"
EARLIER = "log.1.jsonl"
LARGEST = 64 * 2**20
"""Bytes after which a new file is begun; the one before the earlier one goes."""


class Journal:
    """Open for appending. A line that cannot be written is left out: a full disk shall not end what the journal only tells of."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: list[str] = []

    def note(self, event: str, **fields: object) -> None:
        """Notes an event; it is written with the next `flush`."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._lines.append(json.dumps({"time": now, "event": event, **fields}))

    def flush(self) -> None:
        """Writes what was noted since the last time."""
        if not self._lines:
            return
        data = "".join(line + "\n" for line in self._lines).encode()
        self._lines.clear()
        path = self._folder / JOURNAL
        with contextlib.suppress(OSError):
            if path.exists() and path.stat().st_size + len(data) > LARGEST:
                os.replace(path, self._folder / EARLIER)
            append(path, data)


SCHEMA = "status/1"
NAME = "status.json"
EVERY = 1.0
"""Seconds between two versions of the file."""
_RECENT = 60.0
"""Seconds that the present rate is taken over."""
_OPERATORS = 20
_FINDINGS = 10
_MOST_BYTES = 2**22
_TEXT, _NUMBER, _MAYBE_TEXT, _MAYBE_NUMBER = "text", "number", "text?", "number?"
_SHAPE: dict[str, object] = {
    "state": _TEXT, "stopped_by": _MAYBE_TEXT, "campaign": _MAYBE_TEXT, "subject": _TEXT, "shard": _MAYBE_TEXT, "pid": _MAYBE_NUMBER,
    "seconds": _NUMBER, "tests": {"total": _NUMBER, "done": _NUMBER, "before": _NUMBER}, "rate": {"now": _NUMBER, "mean": _NUMBER},
    "seconds_left": _MAYBE_NUMBER, "verdicts": {"*": _NUMBER}, "new_findings": _NUMBER, "findings": [{"api": _TEXT}],
    "workers": [
        {
            "label": _TEXT, "role": _TEXT, "pid": _MAYBE_NUMBER, "state": _TEXT, "api": _MAYBE_TEXT, "stage": _TEXT, "seconds": _NUMBER,
            "resident": _NUMBER, "tasks": _NUMBER,
        }
    ],
    "cost": {"stages": {"*": _NUMBER}, "operators": [{"api": _TEXT, "seconds": _NUMBER, "tests": _NUMBER}]},
}  # fmt: skip
"""What readers of the file rely on; `*` is any key."""


class TestFigures(TypedDict):
    """Tests of a campaign: all, those with a result, and those that had it before."""

    total: int
    done: int
    before: int


class RateFigures(TypedDict):
    """Tests per second, in the last minute and from the beginning."""

    now: float
    mean: float


class FindingFacts(TypedDict):
    """A finding that is new in this campaign."""

    finding: str | None
    api: str
    verdict: str


class OperatorFigures(TypedDict):
    """What an operator has cost."""

    api: str
    seconds: float
    tests: int


class CostFigures(TypedDict):
    """Where the time goes."""

    stages: dict[str, float]
    operators: list[OperatorFigures]


class StatusDocument(TypedDict):
    """The status of a campaign, a document `status/1`."""

    schema: str
    state: str
    stopped_by: str | None
    campaign: str | None
    subject: str
    shard: str | None
    pid: int | None
    started: str
    updated: str | None
    seconds: float
    tests: TestFigures
    rate: RateFigures
    seconds_left: float | None
    verdicts: dict[str, int]
    new_findings: int
    findings: list[FindingFacts]
    workers: list[WorkerFacts]
    cost: CostFigures
    driver: dict[str, float] | None


def read_status(folder: Path) -> StatusDocument:
    """The status in the workspace *folder*.

    Raises:
        UserError: the file does not exist, another version wrote it, or it is damaged.
    """
    path = folder / NAME
    try:
        status = parsed_json(read_file(path, _MOST_BYTES))
    except FileNotFoundError as error:
        raise UserError(f"no campaign has run in {folder}; `opera run` starts one") from error
    except (IsADirectoryError, Malformed) as error:
        raise _damaged(path) from error
    if _schema_of(status) != SCHEMA:
        raise UserError(f"{path} was written by another version of OPERA; run `opera run` with this version")
    if not _has_shape(status, _SHAPE):
        raise _damaged(path)
    return cast(StatusDocument, status)


def is_alive(status: StatusDocument) -> bool:
    """Whether the process that writes *status* is there, and at work on a campaign."""
    return status["state"] in ("starting", "running") and Path(f"/proc/{status['pid']}").exists()


def running_campaign(folder: Path) -> str | None:
    """The campaign that a process is at work on in the workspace *folder*; None without one."""
    try:
        status = read_status(folder)
    except UserError:
        return None
    return status["campaign"] if is_alive(status) else None


def _schema_of(status: object) -> object:
    """The schema that *status* names; ours where it names none."""
    return cast("dict[str, object]", status).get("schema", SCHEMA) if isinstance(status, dict) else SCHEMA


def _damaged(path: Path) -> UserError:
    return UserError(f"{path} is damaged; remove it: `opera run` writes it again, and `opera top CAMPAIGN` shows an earlier campaign")


def _has_shape(value: object, shape: object) -> bool:
    if isinstance(shape, list):
        return isinstance(value, list) and all(_has_shape(item, cast("list[object]", shape)[0]) for item in cast("list[object]", value))
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return False
        found, wanted = cast("dict[str, object]", value), cast("dict[str, object]", shape)
        if "*" in wanted:
            return all(_has_shape(item, wanted["*"]) for item in found.values())
        return all(name in found and _has_shape(found[name], inner) for name, inner in wanted.items())
    if value is None:
        return shape in (_MAYBE_TEXT, _MAYBE_NUMBER)
    if shape in (_TEXT, _MAYBE_TEXT):
        return isinstance(value, str)
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e15


class Status:
    """Keeps the status of a running campaign. `due` says when it is time for `write`."""

    def __init__(self, folder: Path, settings: Settings, pool: PoolProtocol) -> None:
        self.journal = Journal(folder)
        self._path = folder / NAME
        self._place = WorkspacePlace(folder)
        self._settings = settings
        self._pool = pool
        self._began = self._written = time.monotonic()
        self._idle = time.thread_time()
        self._started = _now()
        self._campaign: str | None = None
        self._total = self._done = self._before = 0
        self._verdicts: Counter[str] = Counter()
        self._findings: deque[FindingFacts] = deque(maxlen=_FINDINGS)
        self._new = 0
        self._stages: Counter[str] = Counter()
        self._operators: dict[str, float] = defaultdict(float)
        self._tests: Counter[str] = Counter()
        self._pace: deque[tuple[float, int]] = deque()
        pool.listener = self.journal.note
        self.journal.note("campaign-starting", subject=settings.subject, pid=os.getpid())
        self.write("starting")

    def began(self, campaign: str, total: int, verdicts: Mapping[str, int], new_findings: int) -> None:
        """The plan stands; *verdicts* and *new_findings* are those of the earlier parts of the campaign."""
        self._new = new_findings
        self._campaign, self._total = campaign, total
        self._before = self._done = sum(verdicts.values())
        self._verdicts.update(verdicts)
        self._began, self._idle = time.monotonic(), time.thread_time()
        self.journal.note("campaign-began", campaign=campaign, tests=total, done=self._done)
        self.write("running")

    def result(self, result: StoredResult, api: str, *, new_finding: bool) -> None:
        """A test has its result."""
        seconds = sum(result.seconds.values())
        self._done += 1
        self._verdicts[result.verdict.value] += 1
        self._stages.update(result.seconds)
        self._operators[api] += seconds
        self._tests[api] += 1
        self.journal.note("result", test=result.test, api=api, verdict=result.verdict.value, seconds=round(seconds, 4))
        if new_finding:
            self._new += 1
            self._findings.append({"finding": result.fingerprint, "api": api, "verdict": result.verdict.value})
            self.journal.note("finding", finding=result.fingerprint, test=result.test, api=api)

    def write_if_due(self) -> None:
        """Writes the file if the last one is `EVERY` seconds old."""
        if time.monotonic() - self._written >= EVERY:
            self.write("running")

    def ended(self, *, complete: bool, stopped_by: str | None) -> None:
        """The campaign is over, or stopped."""
        state = "complete" if complete else "stopped"
        self.journal.note("campaign-ended", campaign=self._campaign, state=state, stopped_by=stopped_by, done=self._done)
        self.write(state, stopped_by)

    def write(self, state: str, stopped_by: str | None = None) -> None:
        """Writes file and journal. Where the disk takes nothing, the campaign will find out by itself."""
        self._written = time.monotonic()
        if not self._place.holds:
            return
        document = self._document(state, stopped_by)
        with contextlib.suppress(OSError), replacing(self._path) as file:
            file.write(json.dumps(document, indent=1).encode() + b"\n")
        self.journal.flush()

    def _document(self, state: str, stopped_by: str | None) -> StatusDocument:
        elapsed = self._written - self._began
        rate = self._rate()
        left = self._total - self._done
        return {
            "schema": SCHEMA,
            "state": state,
            "stopped_by": stopped_by,
            "campaign": self._campaign,
            "subject": self._settings.subject,
            "shard": None if self._settings.shard is None else str(self._settings.shard),
            "pid": os.getpid(),
            "started": self._started,
            "updated": _now(),
            "seconds": round(elapsed, 3),
            "tests": {"total": self._total, "done": self._done, "before": self._before},
            "rate": {"now": round(rate, 3), "mean": round((self._done - self._before) / elapsed, 3) if elapsed > 0 else 0.0},
            "seconds_left": round(left / rate) if rate > 0 and state == "running" else None,
            "verdicts": dict(sorted(self._verdicts.items())),
            "new_findings": self._new,
            "findings": list(self._findings),
            "workers": self._pool.workers() if state in ("starting", "running") else [],
            "cost": {
                "stages": {stage: round(seconds, 3) for stage, seconds in self._stages.most_common()},
                "operators": [
                    {"api": api, "seconds": round(seconds, 3), "tests": self._tests[api]}
                    for api, seconds in nlargest(_OPERATORS, self._operators.items(), key=itemgetter(1))
                ],
            },
            "driver": {
                "resident": most_resident(),
                "cpu_seconds": round(time.process_time(), 3),
                "busy_seconds": round(time.thread_time() - self._idle, 3),
            },
        }

    def _rate(self) -> float:
        """Tests per second in the last minute."""
        now = time.monotonic()
        self._pace.append((now, self._done))
        while len(self._pace) > 2 and now - self._pace[0][0] > _RECENT:
            self._pace.popleft()
        since, done = self._pace[0] if len(self._pace) > 1 else (self._began, self._before)
        return (self._done - done) / (now - since) if now > since else 0.0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
