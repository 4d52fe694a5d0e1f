"""`python -m opera.extract`: watches a library's own tests and records their operator instances into the workspace."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from opera.cli.options import JOBS, Duration, Pattern, common
from opera.config import load_config
from opera.console import plural, print_json, say
from opera.corpus.replayable import write_replayable
from opera.errors import Exit, NothingSelected, UserError
from opera.extract import FileEnded, Item, Options, Progress, Recorded, SourceSummary, describe, extract, libraries
from opera.extract.constraints import read_constraints
from opera.extract.description import RUNNERS
from opera.instance import Instance, Occurrence
from opera.report.extraction import document, show
from opera.store import Corpus, Workspace
from opera.store.corpus import EndedFile, Extraction, ExtractionProgress
from opera.store.database import open_workspace
from opera.workers.supervision import working_folder

_BATCH = 500
_INSTANCES = "instances"
_FILES = ("constraints", _INSTANCES)
"""Options that name a file. Each host runs in its own folder, so it gets absolute paths."""
_FOLDER = click.Path(path_type=Path)


@click.command("extract")
@click.option("--lib", "library", metavar="NAME", required=True, help=f"Library whose tests to record: {', '.join(libraries())}.")
@click.option(
    "--source",
    "sources",
    metavar="NAME",
    multiple=True,
    help="Record only this source, e.g. opinfo (repeatable); by default all that do not run on request.",
)
@click.option("--suite", type=_FOLDER, metavar="DIR", help="Test suite to run, a folder or one file. Implies --source suite.")
@click.option("--scripts", type=_FOLDER, metavar="DIR", help="Folder of Python, unittest or pytest files to run. Implies --source scripts.")
@click.option("--docstrings", is_flag=True, help="Run the examples in the library's documentation. The same as --source docstrings.")
@click.option(
    "--only",
    multiple=True,
    type=Pattern(),
    metavar="PATTERN",
    help="Record only entries that match this shell pattern (repeatable).",
)
@click.option(
    "--option", "options", multiple=True, metavar="NAME=VALUE", help="Argument of the sources, e.g. dtypes=float32,int64 (repeatable)."
)
@click.option("--constraints", type=_FOLDER, metavar="DIR", help="Folder of DocTer's constraint files, for the source docter.")
@click.option(
    "--runner", type=click.Choice(RUNNERS[1:]), help="Program that runs the files of a suite; by default the one that fits each file."
)
@click.option("--timeout", type=Duration(), help="Time limit of one test file, or of one process of a source, e.g. 10m.")
@click.option("--fresh", is_flag=True, help="Run all files of a suite again, also those that an interrupted extraction has finished.")
@click.option("-j", "--jobs", type=JOBS, metavar="N", default=2, show_default=True, help="Number of parallel test processes.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- PYTEST ARGUMENTS]")
@common
def command(
    library: str,
    sources: tuple[str, ...],
    suite: Path | None,
    scripts: Path | None,
    docstrings: bool,
    only: tuple[str, ...],
    options: tuple[str, ...],
    constraints: Path | None,
    runner: str | None,
    timeout: float | None,
    fresh: bool,
    jobs: int,
    quiet: bool,
    arguments: tuple[str, ...],
    workspace: Path,
    seed: int,
    as_json: bool,
) -> int:
    """Record the operator instances that a library's own tests use.

    The same command, typed again, continues an interrupted suite with the first file that is not finished. Arguments after -- go to
    pytest, or to the program that --runner names.
    """
    if suite is not None and scripts is not None:
        raise UserError("give one of --suite and --scripts at a time")
    named = [*sources, *(["suite"] if suite else []), *(["scripts"] if scripts else []), *(["docstrings"] if docstrings else [])]
    with open_workspace(workspace, write=True) as space, working_folder("extract", space.scratch) as scratch:
        progress = _Progress(space, library)
        if fresh:
            progress.forget(named or ["suite", "scripts"])
        overrides = dict(_option(text) for text in options)
        if constraints is not None:
            overrides["constraints"] = str(_constraints(constraints, library, scratch / "constraints.json"))
        if not overrides.get(_INSTANCES) and (replaying := _replaying(library, named)):
            overrides[_INSTANCES] = str(_instances(space, library, replaying, seed, scratch / "instances.jsonl"))
        how = Options(
            python=load_config().python("library", library),
            jobs=jobs,
            seed=seed,
            only=only,
            options=overrides,
            suite=suite or scripts,
            runner=runner or "",
            arguments=arguments,
            timeout=timeout,
            ended=progress.ended,
        )
        watcher = None if quiet else _Watcher(library)
        items = extract(library, scratch=scratch, sources=list(dict.fromkeys(named)) or None, how=how, progress=watcher)
        summaries = list(_store(space, library, items, progress))
        corpus = Corpus(space)
        instances, operators = corpus.counts(library)
    if as_json:
        print_json(document(library, instances, operators, summaries))
    else:
        show(library, instances, operators, summaries)
    if not any(each.distinct for each in summaries):
        raise NothingSelected(
            f"no {library} instance was recorded; see above what was dropped or failed, and check --only, --source and --option"
        )
    return Exit.CLEAN


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--option")
    if name in _FILES and value:
        if not Path(value).is_file():
            raise UserError(f"--option {name}: there is no file {value}")
        value = str(Path(value).resolve())
    return name, value


def _constraints(folder: Path, library: str, path: Path) -> Path:
    """Turns DocTer's files in *folder* into the file at *path*, and counts the constraints that were not understood."""
    found = read_constraints(folder, library)
    found.write(path)
    say(f"constraints of {len(found.apis)} APIs; {sum(found.ignored.values())} constraints were not understood and are left out")
    return path


def _replaying(library: str, named: Sequence[str]) -> str | None:
    """The name of the first source of *named* that makes recorded calls again."""
    return next((source.name for source in describe(library).sources if source.name in named and _INSTANCES in source.options), None)


def _instances(space: Workspace, library: str, source: str, seed: int, path: Path) -> Path:
    """Writes the calls that *source* makes again to *path*."""
    count = write_replayable(space, library, source, seed, path)
    say(f"{source}: {plural(count, 'recorded call')} of {library} from the workspace")
    return path.resolve()


class _Progress:
    """The files of a suite that an interrupted extraction has finished."""

    def __init__(self, space: Workspace, library: str) -> None:
        self._space = space
        self._library = library
        self.continued = False

    def of(self, source: str) -> ExtractionProgress:
        """The progress of one source."""
        return ExtractionProgress(self._space, self._library, source)

    def ended(self, source: str) -> Mapping[str, EndedFile]:
        """The files of *source* that need not run again."""
        found = self.of(source).ended()
        self.continued = self.continued or bool(found)
        return found

    def forget(self, sources: Sequence[str]) -> None:
        """Forgets the finished files of *sources*."""
        for source in sources:
            self.of(source).finish()


def _store(space: Workspace, library: str, items: Iterator[Item], progress: _Progress) -> Iterator[SourceSummary]:
    """Writes recorded instances in batches, and passes the summaries on. A file is finished once all its instances are written."""
    corpus: Corpus | None = None
    for batch in _batched(items):
        corpus = corpus or Corpus(space, continues=progress.continued)
        fresh: list[tuple[Instance, Occurrence]] = []
        again: list[tuple[str, Occurrence]] = []
        files: list[FileEnded] = []
        summaries: list[SourceSummary] = []
        for item in batch:
            if isinstance(item, Recorded):
                fresh.append((item.instance, item.occurrence))
            elif isinstance(item, SourceSummary):
                summaries.append(item)
            elif isinstance(item, FileEnded):
                files.append(item)
            else:
                again.append((item.digest, item.occurrence))
        corpus.add(fresh)
        corpus.add_occurrences(again)
        with space.transaction():
            for file in files:
                progress.of(file.source).add(EndedFile(file.entry, file.mark, file.facts, file.digests))
        for each in summaries:
            if each.calls or not each.failed_shards:  # else the figures of the last one that got anywhere stay
                found = (each.calls, each.distinct, each.operators, dict(each.dropped), each.seconds)
                corpus.record_extraction(Extraction(library, each.source, each.version, *found))
            progress.of(each.source).finish()
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


class _Watcher:
    """A line every two seconds on standard error while sources run."""

    def __init__(self, library: str) -> None:
        self._library = library
        self._said = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._said >= 2.0:
            self._said = now
            done = f"{progress.shards_done}/{progress.shards} {'files' if progress.files else 'shards'}"
            say(f"{self._library}/{progress.source}: {progress.calls:,} calls, {done}, {progress.entry}".rstrip(", "))
