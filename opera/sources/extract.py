"""Runs the sources of a library and yields the operator instances that their recorders saw."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from opera.errors import UserError
from opera.instance import Occurrence, decode_instance, digest
from opera.sources.description import describe, unknown
from opera.sources.host import check_modules
from opera.sources.items import Again, Item, Progress, Recorded, SourceSummary
from opera.sources.shards import Row, Shards
from opera.sources.source import Request, Source, select

PROGRESS_SECONDS = 0.25

Report = Callable[[Progress], None]


def extract(
    library: str,
    *,
    scratch: Path,
    sources: Sequence[str] | None = None,
    python: str = sys.executable,
    jobs: int = 1,
    seed: int = 0,
    only: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    progress: Report | None = None,
) -> Iterator[Item]:
    """Extracts operator instances from *library*.

    Args:
        library: `pytorch`, `onnx` ...
        scratch: An existing folder for recordings and logs; recordings of hosts that ended well are removed.
        sources: Names of sources; all when None.
        python: The interpreter of the environment that has the library.
        jobs: The most hosts that run at a time.
        seed: Of the samples that sources draw.
        only: Shell patterns; entries of the sources that match none are left out.
        options: Arguments of the hosts that override those of the description (`dtypes`).
        progress: Called a few times a second.

    Yields:
        `Recorded` once per distinct instance, `Again` for every further occurrence, and after each source its `SourceSummary`.

    Raises:
        UserError: unknown library, source or option.
        EnvironmentBroken: the library is not importable in *python*.
    """
    description = describe(library)
    chosen = select(description, sources)
    _check_options(chosen, options or {})
    modules = dict.fromkeys([*description.modules, *(module for source in chosen for module in source.description.modules)])
    check_modules(python, list(modules), description.install)
    return _run(chosen, Request(python, scratch.resolve(), scratch.resolve(), seed, only=tuple(only), options=options), jobs, progress)


def _run(chosen: Sequence[Source], request: Request, jobs: int, progress: Report | None) -> Iterator[Item]:
    known: set[str] = set()
    for source in chosen:
        yield from _Extraction(source, known, progress).run(request, jobs)


def _check_options(chosen: Sequence[Source], options: Mapping[str, str]) -> None:
    """Every option must be one of some source."""
    valid = {name for source in chosen for name in source.description.options}
    for name in options:
        if name not in valid:
            raise unknown(f"{', '.join(source.name for source in chosen)} has no option", name, valid)


class _Extraction:
    """One source: counts while it turns rows into items."""

    def __init__(self, source: Source, known: set[str], progress: Report | None) -> None:
        self._source = source
        self._known = known
        self._progress = progress
        self._own: set[str] = set()
        self._operators: set[str] = set()
        self._dropped: Counter[str] = Counter()
        self._calls = 0
        self._digests: dict[str, list[str | None]] = {}
        self._entry = ""
        self._told = 0.0

    def run(self, request: Request, jobs: int) -> Iterator[Item]:
        """All items of the source, its summary last."""
        began = time.monotonic()
        if jobs < 1:
            raise UserError(f"the number of jobs must be at least 1, not {jobs}")
        request = _request_for(self._source, request, min(jobs, self._source.description.shards))
        with Shards(self._source, request, jobs) as shards:
            for row in shards.rows(lambda: self._tell(shards)):
                self._entry = row.name
                yield from self._items(row)
                self._tell(shards)
            self._told = 0.0
            self._tell(shards)
            failures = tuple(failure for shard in shards.all for failure in shard.failures)
        yield SourceSummary(
            source=self._source.name,
            calls=self._calls,
            distinct=len(self._own),
            operators=len(self._operators),
            dropped=dict(self._dropped.most_common()),
            failed_shards=failures,
            seconds=time.monotonic() - began,
        )

    def _items(self, row: Row) -> Iterator[Item]:
        line = row.line
        if "instance" in line:
            yield from self._instance(row)
        elif "again" in line:
            calls = int(line["calls"])
            self._calls += calls
            key = self._digests[row.recording][int(line["again"])]
            if key is not None:
                yield Again(key, Occurrence(self._source.name, str(line["test"]), calls))
        elif "dropped" in line:
            self._calls += int(line["calls"])
            self._dropped[str(line["dropped"])] += int(line["calls"])

    def _instance(self, row: Row) -> Iterator[Item]:
        self._calls += 1
        numbers = self._digests.setdefault(row.recording, [])
        try:
            instance = decode_instance(row.line["instance"])
            key = digest(instance)
        except ValueError:
            self._dropped["malformed-instance"] += 1
            numbers.append(None)
            return
        numbers.append(key)
        self._own.add(key)
        self._operators.add(instance.api)
        occurrence = Occurrence(self._source.name, str(row.line["test"]))
        if key in self._known:
            yield Again(key, occurrence)
        else:
            self._known.add(key)
            yield Recorded(key, instance, occurrence)

    def _tell(self, shards: Shards) -> None:
        now = time.monotonic()
        if self._progress is None or now - self._told < PROGRESS_SECONDS:
            return
        self._told = now
        done = sum(shard.done for shard in shards.all)
        self._progress(Progress(self._source.name, self._calls, self._entry, done, len(shards.all)))


def _request_for(source: Source, request: Request, shards: int) -> Request:
    """The request for one source: a folder of its own, and only the options that it has."""
    folder = request.scratch / source.name
    folder.mkdir(parents=True, exist_ok=True)
    options = {name: value for name, value in (request.options or {}).items() if name in source.description.options}
    return replace(request, recording=folder / source.name, scratch=folder, shards=shards, options=options)
