"""`python -m opera.extract`: watches a library's own tests and records their operator instances into the workspace."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from opera.config import load_config
from opera.errors import Exit, NothingSelected
from opera.instance import Instance, Occurrence
from opera.options import common, print_json, say, stage
from opera.report.tables import print_table
from opera.sources import Item, Progress, Recorded, SourceSummary, extract
from opera.store import Corpus, Workspace
from opera.store.corpus import Extraction
from opera.store.database import open_workspace

SCHEMA = "extract/1"
_BATCH = 500


@click.command("extract")
@click.option("--lib", "library", required=True, help="Library whose tests to watch: onnx, pytorch.")
@click.option("--source", "sources", multiple=True, help="Only this source (repeatable), e.g. node-tests, opinfo, moduleinfo.")
@click.option("--only", multiple=True, metavar="PATTERN", help="Only entries of the sources that match this shell pattern (repeatable).")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An argument of the sources, e.g. dtypes=float32,int64.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=2, show_default=True, help="Test processes at a time.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@common
def command(
    library: str, sources: tuple[str, ...], only: tuple[str, ...], options: tuple[str, ...], jobs: int, quiet: bool, workspace: Path,
    seed: int, as_json: bool,
) -> int:  # fmt: skip
    """Records the operator instances that a library's own tests use."""
    overrides = dict(_option(text) for text in options)
    with open_workspace(workspace, write=True) as space, tempfile.TemporaryDirectory(dir=space.scratch) as scratch:
        watcher = None if quiet else _Watcher(library)
        items = extract(
            library, scratch=Path(scratch), sources=sources or None, python=load_config().python("library", library), jobs=jobs, seed=seed,
            only=only, options=overrides, progress=watcher,
        )  # fmt: skip
        summaries = list(_store(space, library, items))
        instances, operators = Corpus(space).counts(library)
    document: dict[str, Any] = {
        "schema": SCHEMA, "library": library, "instances": instances, "operators": operators,
        "sources": {
            each.source: {
                "calls": each.calls, "distinct": each.distinct, "operators": each.operators, "dropped": dict(each.dropped),
                "seconds": round(each.seconds, 3),
                "failed": [{"shard": f.shard, "cause": f.cause, "entry": f.entry, "resumed": f.resumed} for f in each.failed_shards],
            }
            for each in summaries
        },
    }  # fmt: skip
    if as_json:
        print_json(document)
    else:
        _print(library, instances, operators, summaries)
    if instances == 0:
        raise NothingSelected(f"no {library} instance was recorded; check --only and --source")
    return Exit.CLEAN


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--option")
    return name, value


def _store(space: Workspace, library: str, items: Iterator[Item]) -> Iterator[SourceSummary]:
    """Writes what was recorded, in batches, and passes the summaries on."""
    corpus = Corpus(space)
    for batch in _batched(items):
        fresh: list[tuple[Instance, Occurrence]] = []
        again: list[tuple[str, Occurrence]] = []
        summaries: list[SourceSummary] = []
        for item in batch:
            if isinstance(item, Recorded):
                fresh.append((item.instance, item.occurrence))
            elif isinstance(item, SourceSummary):
                summaries.append(item)
            else:
                again.append((item.digest, item.occurrence))
        corpus.add(fresh)
        corpus.add_occurrences(again)
        for each in summaries:
            corpus.record_extraction(
                Extraction(library, each.source, "", each.calls, each.distinct, each.operators, dict(each.dropped), each.seconds)
            )
            yield each


def _batched(items: Iterator[Item]) -> Iterator[tuple[Item, ...]]:
    while batch := tuple(itertools.islice(items, _BATCH)):
        yield batch


class _Watcher:
    """A line every two seconds on standard error while sources run."""

    def __init__(self, library: str) -> None:
        self._library = library
        self._said = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._said >= 2.0:
            self._said = now
            shards = f"{progress.shards_done}/{progress.shards} shards"
            say(f"{self._library}/{progress.source}: {progress.calls} calls, {shards}, {progress.entry}".rstrip(", "))


def _print(library: str, instances: int, operators: int, summaries: list[SourceSummary]) -> None:
    rows = [
        [
            each.source,
            f"{each.calls:,}",
            f"{each.distinct:,}",
            f"{each.operators:,}",
            f"{sum(each.dropped.values()):,}",
            f"{each.seconds:.1f}",
        ]
        for each in summaries
    ]
    print_table(["source", "calls seen", "distinct", "operators", "dropped", "seconds"], rows)
    for each in summaries:
        for reason, count in sorted(each.dropped.items(), key=lambda item: (-item[1], item[0])):
            click.echo(f"  {each.source}: dropped {count:,} calls: {reason}")
        for failed in each.failed_shards:
            outcome = "the entries after it were run" if failed.resumed else "what it had recorded is kept"
            click.echo(f"  {each.source}: shard {failed.shard} ended early in {failed.entry or 'its start'} ({failed.cause}); {outcome}")
    click.echo(f"{library}: {instances:,} distinct instances over {operators:,} operators in the workspace")


main = stage(command, "opera.extract")

if __name__ == "__main__":
    main()
