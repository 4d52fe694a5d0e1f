"""Runs the sources of a library and yields the operator instances that their recorders saw."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from opera.errors import UserError
from opera.extract import source
from opera.extract.description import describe, unknown
from opera.extract.host import check_modules
from opera.extract.items import Again, FileEnded, Item, Progress, Recorded, SourceSummary, SourceTally
from opera.extract.recording import Dropped, Repeated, Seen, Tested, Unreadable
from opera.extract.shards import FileDone, RecordingLine, Shards
from opera.extract.source import DeclaredSource, Request, Source, select
from opera.instance import Occurrence, decode_instance, digest
from opera.untrusted import Malformed
from opera.workers.supervision import supervised

PROGRESS_SECONDS = 0.25

Report = Callable[[Progress], None]


class Ended(Protocol):
    """A file that an earlier extraction has behind it; see `FileEnded`."""

    @property
    def mark(self) -> str: ...

    @property
    def facts(self) -> Mapping[str, Any]: ...

    @property
    def digests(self) -> frozenset[bytes]: ...


@dataclass(frozen=True)
class ExtractOptions:
    """How sources are run.

    Attributes:
        python: The interpreter of the environment that has the library.
        jobs: The most hosts that run at a time.
        seed: Seed of the samples that sources draw.
        only: Shell patterns; entries of the sources that match none are left out.
        options: Arguments of the hosts that override those of the description (`dtypes`).
        suite: The folder or file whose tests are run, for sources whose entries are files.
        runner: What runs such files; empty for what the description says.
        arguments: Arguments of pytest.
        timeout: Seconds per host; None for what the description says.
        ended: What an interrupted extraction of that source has behind it, by path.
    """

    python: str = sys.executable
    jobs: int = 1
    seed: int = 0
    only: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    suite: Path | None = None
    runner: str = ""
    arguments: tuple[str, ...] = ()
    timeout: float | None = None
    ended: Callable[[str], Mapping[str, Ended]] = lambda source: {}


def extract(
    library: str, *, scratch: Path, sources: Sequence[str] | None = None, how: ExtractOptions | None = None, progress: Report | None = None
) -> Iterator[Item]:
    """Extracts operator instances from *library*.

    Args:
        library: `pytorch`, `onnx` ...
        scratch: An existing folder for recordings and logs; recordings of hosts that ended well are removed.
        sources: Names of sources; all but those on request when None.
        how: How they are run.
        progress: Called a few times a second.

    Yields:
        `Recorded` once per distinct instance, `Again` for every further occurrence, `FileEnded` after each file of a suite, and after
        each source its `SourceSummary`.

    Raises:
        UserError: unknown library, source or option; a suite that does not exist.
        EnvironmentBroken: the library is not importable in the interpreter.
    """
    how = how or ExtractOptions()
    if how.jobs < 1:
        raise UserError(f"the number of jobs must be at least 1, not {how.jobs}")
    description = describe(library)
    chosen = chosen_sources(library, sources, how.options)
    modules = dict.fromkeys([*description.modules, *(module for source in chosen for module in source.description.modules)])
    with supervised():
        check_modules(how.python, list(modules), description.install, scratch)
    return _run(chosen, how, scratch.resolve(), progress)


def _run(chosen: Sequence[Source], how: ExtractOptions, scratch: Path, progress: Report | None) -> Iterator[Item]:
    known: set[bytes] = set()
    with supervised():
        for source in chosen:
            yield from _Extraction(source, how, known, progress).run(scratch)


def chosen_sources(library: str, names: Sequence[str] | None, options: Mapping[str, str]) -> list[Source]:
    """The sources of *library* called *names*, all but those on request when None.

    Raises:
        UserError: there is no such library or source, or no source has one of the *options*.
    """
    chosen = select(describe(library), names)
    valid = {name for source in chosen for name in source.description.options}
    for name in options:
        if name not in valid:
            raise unknown(f"{', '.join(source.name for source in chosen)} has no option", name, valid)
    return chosen


class _Extraction:
    """One source: counts while it turns rows into items."""

    def __init__(self, source: Source, how: ExtractOptions, known: set[bytes], progress: Report | None) -> None:
        self._source = source
        self._how = how
        self._known = known
        self._progress = progress
        self._tally = SourceTally()
        self._file = SourceTally()
        self._numbered: dict[str, list[bytes | str]] = {}
        """By recording, of each instance in order its digest, or the reason why it was dropped."""
        self._entry = ""
        self._told = 0.0
        self._version = ""

    def run(self, scratch: Path) -> Iterator[Item]:
        """All items of the source, its summary last."""
        began = time.monotonic()
        request = _request_for(self._source, self._how, scratch)
        suite = self._source.description.suite
        count = kept = 0
        if suite is None or not isinstance(self._source, DeclaredSource):
            yield from self._follow(Shards(self._source, request, self._how.jobs))
        else:
            found = source.find_files(self._source, suite, request)
            count = len(found.names)
            settings = source.settings_of(request)
            marks = {name: found.mark(name, settings) for name in found.names}
            waiting = {number: name for number, name in enumerate(found.names) if not self._has_ended(name, marks[name])}
            kept = count - len(waiting)
            runs = source.FileSource(self._source, suite, found)
            yield from self._follow(Shards(runs, source.part(request, found), self._how.jobs, waiting), marks)
        yield self._summary(time.monotonic() - began, count, kept)

    def _follow(self, shards: Shards, marks: Mapping[str, str] | None = None) -> Iterator[Item]:
        """The items of all shards; with *marks*, those of the files."""
        with shards:
            for row in shards.rows(lambda: self._tell(shards)):
                self._entry = row.name
                if isinstance(row.line, FileDone):
                    yield self._end_of_file(row, (marks or {})[row.name], shards)
                else:
                    yield from self._items(row)
                self._tell(shards)
            self._told = 0.0
            self._tell(shards)
            self._version = next((shard.version for shard in shards.all if shard.version), "")
            if marks is None:
                self._file.failures = [failure for shard in shards.all for failure in shard.failures]
                self._tally.add(self._file)

    def _has_ended(self, name: str, mark: str) -> bool:
        """Whether an earlier extraction has the file behind it, under the same settings; then its counts are taken over."""
        ended = self._how.ended(self._source.name).get(name)
        if ended is None or ended.mark != mark:
            return False
        try:
            self._tally.add(SourceTally.of_facts(ended.facts, ended.digests))
        except Malformed:
            return False
        self._known.update(ended.digests)
        return True

    def _end_of_file(self, row: RecordingLine, mark: str, shards: Shards) -> FileEnded:
        done = self._file
        done.failures = [failure for shard in shards.all if shard.done for failure in shard.failures if failure.entry == row.name]
        self._tally.add(done)
        self._file = SourceTally()
        self._numbered.pop(row.recording, None)
        return FileEnded(self._source.name, row.name, mark, done.facts(), frozenset(done.digests))

    def _summary(self, seconds: float, count: int, kept: int) -> SourceSummary:
        tally = self._tally
        return SourceSummary(
            source=self._source.name,
            calls=tally.calls,
            distinct=len(tally.digests),
            operators=len(tally.operators),
            dropped=dict(tally.dropped.most_common()),
            drops=dict(tally.drops),
            failed_shards=tuple(tally.failures),
            seconds=seconds,
            version=self._version,
            files=count,
            kept=kept,
            tests=tally.tests(),
        )

    def _items(self, row: RecordingLine) -> Iterator[Item]:
        line = row.line
        if isinstance(line, Seen):
            yield from self._instance(row.recording, line)
        elif isinstance(line, Unreadable):
            self._numbered.setdefault(row.recording, []).append("malformed-line")
        elif isinstance(line, Repeated):
            self._file.calls += line.calls
            numbers = self._numbered.get(row.recording, [])
            known = numbers[line.again] if line.again < len(numbers) else "malformed-line"
            if isinstance(known, str):
                self._file.dropped[known] += line.calls
            else:
                yield Again(known.hex(), Occurrence(self._source.name, line.test, line.calls))
        elif isinstance(line, Dropped):
            self._file.calls += line.calls
            self._file.drop(line.dropped, line.api, line.calls)
        elif isinstance(line, Tested):
            self._file.test(line.outcome, line.test, line.message)

    def _instance(self, recording: str, line: Seen) -> Iterator[Item]:
        self._file.calls += 1
        numbers = self._numbered.setdefault(recording, [])
        try:
            instance = decode_instance(line.instance)
            text = digest(instance)
        except (ValueError, RecursionError):
            self._file.dropped["malformed-instance"] += 1
            numbers.append("malformed-instance")
            return
        key = bytes.fromhex(text)
        numbers.append(key)
        self._file.digests.add(key)
        self._file.operators.add(instance.api)
        occurrence = Occurrence(self._source.name, line.test)
        if key in self._known:
            yield Again(text, occurrence)
        else:
            self._known.add(key)
            yield Recorded(text, instance, occurrence)

    def _tell(self, shards: Shards) -> None:
        now = time.monotonic()
        if self._progress is None or now - self._told < PROGRESS_SECONDS:
            return
        self._told = now
        done = sum(shard.done for shard in shards.all)
        calls = self._tally.calls + self._file.calls
        self._progress(Progress(self._source.name, calls, self._entry, done, len(shards.all), self._source.description.suite is not None))


def _request_for(source: Source, how: ExtractOptions, scratch: Path) -> Request:
    """The request for one source: a folder of its own, and only the options that it has."""
    folder = scratch / source.name
    folder.mkdir(parents=True, exist_ok=True)
    options = {name: value for name, value in how.options.items() if name in source.description.options}
    suite = source.description.suite
    named = options.pop(suite.option, None) if suite is not None else None  # a file counts by its content, wherever it is
    shards = min(how.jobs, source.description.shards)
    return Request(
        python=how.python,
        recording=folder / source.name,
        scratch=folder,
        seed=how.seed,
        shards=shards,
        only=tuple(how.only),
        options=options,
        suite=Path(named) if named else how.suite,
        runner=how.runner,
        arguments=how.arguments,
        timeout=how.timeout,
    )
