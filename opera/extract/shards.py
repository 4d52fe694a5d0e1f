"""The shards of one source: at most N hosts at a time, their lines merged into the order of the source's entries.

The merged order does not depend on the number of shards or on timing, so the same seed gives the same corpus byte for byte. Where the
entries are files, each is a shard, and they follow one another.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from opera.extract.copies import WarmProcess
from opera.extract.host import Host
from opera.extract.items import FailedShard
from opera.extract.recording import Dropped, Entered, Line, RecordingReader
from opera.extract.source import DeclaredSource, FileSource, Request, Source

FRUITLESS = 20
"""Hosts in a row that may die in the first entry that they begin; after that the trouble is no matter of single entries."""
RESTARTS = 200
"""Hosts of one shard that may die in all."""
POLL_SECONDS = 0.03


class RecordingLine(NamedTuple):
    """A line of a recording and where it stands: number and name of the entry, and the recording (`again` counts within one).

    After all lines of a file comes `FileDone`.
    """

    entry: int
    name: str
    recording: str
    line: Line | FileDone


class FileDone(NamedTuple):
    """OPERA has read all lines of a file."""


class SourceShard:
    """One part of a source. When its host dies, another goes on after the entry that killed it; a file is not tried again."""

    def __init__(self, source: Source, request: Request, file: str | None = None, warm: WarmProcess | None = None) -> None:
        self.started = False
        self.done = False
        self.failures: list[FailedShard] = []
        self.version = ""
        self._source = source
        self._request = request
        self._host: Host | None = None
        self._file = file
        self._warm = warm
        self._begun = self._fruitless = 0
        self._entry = (request.after if file is None else request.shard, file or "")

    @property
    def running(self) -> bool:
        """Whether it has a host now."""
        return self._host is not None and self._host.poll() is None

    def start(self) -> None:
        """Starts a host for the next entries of this part."""
        self.started = True
        self._begun = 0
        limits = self._source.description
        timeout = self._request.timeout or limits.timeout
        environment = self._source.environment(self._request) if isinstance(self._source, (DeclaredSource, FileSource)) else {}
        if self._warm is not None:
            self._warm.prepare()
        self._host = Host(
            self._source.command(self._request),
            self._request.recording,
            timeout,
            min(limits.stall, timeout),
            environment,
            launch=self._warm.launch if self._warm is not None else None,
        )

    def kill(self) -> None:
        """Kills the host if there is one."""
        if self._host is not None:
            self._host.kill()

    def rows(self, wait: Callable[[], None]) -> Iterator[RecordingLine]:
        """The rows of this shard, of all its hosts; *wait* is called while no row has come."""
        while not self.done:
            while self._host is None:
                wait()
            yield from self._follow(self._host, wait)
        if self._file is not None:
            yield RecordingLine(*self._entry, self._request.recording.name, FileDone())

    def _follow(self, host: Host, wait: Callable[[], None]) -> Iterator[RecordingLine]:
        """The rows of one host, until it has ended and all is read."""
        reader = RecordingReader(self._request.recording)
        while True:
            ended = host.poll()
            line = reader.next()
            if line is None:
                if ended is not None:
                    break
                wait()
            elif isinstance(line, Entered):
                self._entry = (line.entry, line.name) if self._file is None else self._entry
                self._begun += 1
            else:
                yield RecordingLine(*self._entry, self._request.recording.name, line)
        reader.close()
        self.version = reader.version
        if reader.malformed:
            yield RecordingLine(*self._entry, self._request.recording.name, Dropped("malformed-line", reader.malformed))
        self._conclude(host, ended or ("" if reader.complete else "ended without finishing its recording"), reader.complete)

    def _conclude(self, host: Host, cause: str, complete: bool) -> None:
        """Ends the shard, or starts the host that goes on."""
        number, name = self._entry
        resumable = not (self._file or complete or number <= self._request.after or cause.startswith("longer"))
        self._fruitless = self._fruitless + 1 if self._begun <= 1 else 0
        resumable = resumable and self._fruitless <= FRUITLESS and len(self.failures) < RESTARTS
        if cause:
            part = f"{self._request.shard}/{self._request.shards}"
            self.failures.append(FailedShard(part, cause, name, resumable, host.log_tail()))
        if not cause:
            for path in (self._request.recording, self._request.recording.with_suffix(".filters.json")):
                path.unlink(missing_ok=True)
        if cause and resumable:
            self._request = _after(self._request, number)
            self.start()
        else:
            self.done = True


class Shards:
    """All shards of one source; a context manager that leaves no process behind."""

    def __init__(self, source: Source, request: Request, jobs: int, files: Mapping[int, str] | None = None) -> None:
        """Up to *jobs* hosts at a time; *files* are those to run, by shard, where the entries of the source are files."""
        self._warm: WarmProcess | None = None
        if isinstance(source, FileSource) and files is not None and len(files) > 1:
            self._warm = WarmProcess(source.warm_command(request), request.scratch, source.environment(request))
        if files is None:
            self.all = [SourceShard(source, _part(request, index)) for index in range(request.shards)]
        else:
            self.all = [SourceShard(source, _part(request, index), name, self._warm) for index, name in files.items()]
        self._in_turn = files is not None
        self._jobs = jobs
        self._looked = 0.0
        self._heard: Callable[[], None] = lambda: None

    def __enter__(self) -> Shards:
        return self

    def __exit__(self, *_: object) -> None:
        for shard in self.all:
            shard.kill()
        if self._warm is not None:
            self._warm.close()

    def rows(self, heard: Callable[[], None]) -> Iterator[RecordingLine]:
        """The rows of all shards in the order of their entries; *heard* is called whenever there is time."""
        self._heard = heard
        self._fill()
        rows = [shard.rows(self._wait) for shard in self.all]
        for row in itertools.chain.from_iterable(rows) if self._in_turn else heapq.merge(*rows, key=lambda row: row.entry):
            if time.monotonic() - self._looked > POLL_SECONDS:
                self._fill()
            yield row

    def _fill(self) -> None:
        """Looks after the hosts that run, and starts others while there is room."""
        self._looked = time.monotonic()
        free = self._jobs - sum(shard.running for shard in self.all)
        for shard in self.all:
            if free > 0 and not shard.started:
                shard.start()
                free -= 1

    def _wait(self) -> None:
        self._fill()
        self._heard()
        time.sleep(POLL_SECONDS)


def _part(request: Request, index: int) -> Request:
    return replace(request, recording=request.scratch / f"{request.recording.stem}-{index}.jsonl", shard=index)


def _after(request: Request, number: int) -> Request:
    stem = request.recording.stem.split("+")[0]
    return replace(request, recording=request.recording.with_name(f"{stem}+{number}.jsonl"), after=number)
