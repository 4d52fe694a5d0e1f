"""Runs an extraction, and stores in the workspace what it yields.

An extraction of a suite that was interrupted continues with the first file that is not finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

from opera.console import option, plural, say
from opera.corpus.files import export
from opera.corpus.selection import Selection
from opera.errors import NothingSelected, UserError
from opera.extract import ExtractOptions, FileEnded, Item, Progress, Recorded, SourceSummary, describe, extract
from opera.instance import Instance, Occurrence, Outcome
from opera.store import Corpus, Workspace
from opera.store.corpus import EndedFile, Extraction, ExtractionProgress
from opera.workers.supervision import working_folder

PER_OPERATOR = 25
"""Recorded calls of one API that a source makes again."""
MAX_SIZE = 1 << 20
"""Bytes of a document: larger instances take long to replay and show no more."""
INSTANCES = "instances"
"""The option that names a file of recorded calls."""
_BATCH = 500


def record(
    space: Workspace,
    library: str,
    sources: Sequence[str],
    how: ExtractOptions,
    *,
    fresh: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[SourceSummary, ...]:
    """Extracts the instances of *library* into *space*.

    Args:
        space: Open for writing.
        library: `pytorch`, `onnx` ...
        sources: Names of sources; if empty, all that do not run on request.
        how: How the sources run. `ended` is ignored: the workspace knows which files are finished.
        fresh: Whether to run finished files of a suite again.
        progress: Called a few times a second.

    Raises:
        UserError: an unknown library or source, or files that cannot be read.
    """
    names = list(dict.fromkeys(sources))
    with working_folder("extract", space.scratch) as scratch:
        finished = _Finished(space, library)
        if fresh:
            finished.forget(names or [source.name for source in describe(library).sources if not source.on_request])
        options = dict(how.options)
        for option, (target, default) in _preparations(library, names).items():
            if options.setdefault(option, default):
                function: Callable[[Path, str, Path], Path] = resolve_name(target)
                options[option] = str(function(Path(options[option]), library, scratch))
        if not options.get(INSTANCES) and (source := _replaying(library, names)):
            path = scratch / "instances.jsonl"
            count = write_replayable(space, library, source, how.seed, path)
            say(f"{source}: {plural(count, 'recorded call')} of {library} from the workspace")
            options[INSTANCES] = str(path.resolve())
        how = replace(how, options=options, ended=finished.files)
        items = extract(library, scratch=scratch, sources=names or None, how=how, progress=progress)
        return tuple(_stored(space, library, items, finished))


def write_replayable(space: Workspace, library: str, source: str, seed: int, path: Path) -> int:
    """Writes the calls of *library* that returned to *path*, at most `PER_OPERATOR` of each API; returns their number.

    Instances that only *source* has given are left out, so that it gives the same calls when it runs again.

    Raises:
        UserError: the workspace has none.
    """
    selection = Selection(library, outcome=Outcome.RETURNED.value, cap=PER_OPERATOR, max_size=MAX_SIZE, besides=source)
    try:
        if library not in Corpus(space).libraries():
            raise NothingSelected("none at all")
        return int(export(space, selection, seed, str(path))["instances"])
    except NothingSelected as error:
        raise UserError(
            f"the source {source} makes recorded calls of {library} again, and the workspace has none; record some first with"
            f" `opera extract --lib {library}{option(space.folder)}`, or name a file of them with --option instances=FILE"
        ) from error


def _preparations(library: str, named: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The functions that prepare options of the sources called *named*, with the defaults of these options."""
    chosen = [source for source in describe(library).sources if source.name in named]
    return {option: (target, source.options[option]) for source in chosen for option, target in source.prepare.items()}


def _replaying(library: str, named: Sequence[str]) -> str | None:
    """The name of the first source of *named* that makes recorded calls again."""
    return next((source.name for source in describe(library).sources if source.name in named and INSTANCES in source.options), None)


class _Finished:
    """The files of a suite that an interrupted extraction has finished."""

    def __init__(self, space: Workspace, library: str) -> None:
        self._space = space
        self._library = library
        self.continued = False

    def of(self, source: str) -> ExtractionProgress:
        """The progress of one source."""
        return ExtractionProgress(self._space, self._library, source)

    def files(self, source: str) -> Mapping[str, EndedFile]:
        """The files of *source* that need not run again."""
        found = self.of(source).ended()
        self.continued = self.continued or bool(found)
        return found

    def forget(self, sources: Sequence[str]) -> None:
        """Forgets the finished files of *sources*."""
        for source in sources:
            self.of(source).finish()


def _stored(space: Workspace, library: str, items: Iterator[Item], finished: _Finished) -> Iterator[SourceSummary]:
    """Writes instances in batches, and passes the summaries on. A file is finished once all its instances are written."""
    corpus: Corpus | None = None
    for batch in _batched(items):
        corpus = corpus or Corpus(space, continues=finished.continued)
        fresh: list[tuple[str, Instance, Occurrence]] = []
        again: list[tuple[str, Occurrence]] = []
        files: list[FileEnded] = []
        summaries: list[SourceSummary] = []
        for item in batch:
            if isinstance(item, Recorded):
                fresh.append((item.digest, item.instance, item.occurrence))
            elif isinstance(item, SourceSummary):
                summaries.append(item)
            elif isinstance(item, FileEnded):
                files.append(item)
            else:
                again.append((item.digest, item.occurrence))
        corpus.add_identified(fresh)
        corpus.add_occurrences(again)
        with space.transaction():
            for file in files:
                finished.of(file.source).add(EndedFile(file.entry, file.mark, file.facts, file.digests))
        for each in summaries:
            if each.calls or not each.failed_shards:  # else the figures of the last run that got further stay
                found = (each.calls, each.distinct, each.operators, dict(each.dropped), each.seconds)
                corpus.record_extraction(Extraction(library, each.source, each.version, *found), each.drops)
            finished.of(each.source).finish()
            yield each


def _batched(items: Iterator[Item]) -> Iterator[tuple[Item, ...]]:
    """Batches of items. A batch also ends with each file of a suite, so a finished file is stored before the next file ends."""
    batch: list[Item] = []
    for item in items:
        batch.append(item)
        if len(batch) >= _BATCH or isinstance(item, FileEnded):
            yield tuple(batch)
            batch = []
    if batch:
        yield tuple(batch)
