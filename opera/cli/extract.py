"""`python -m opera.extract`: watches a library's own tests and records their operator instances into the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from opera.cli.help import HeadedCommand, heading
from opera.cli.names import LIBRARY, SOURCE
from opera.cli.options import JOBS, Duration, Pattern, common
from opera.config import load_config
from opera.console import doing, echo, one_line, plural, print_json, print_table
from opera.corpus.record import INSTANCES, record
from opera.errors import EnvironmentBroken, Exit, NothingSelected, UserError
from opera.extract import ExtractOptions, FailedShard, Progress, SourceSummary, libraries
from opera.extract.description import RUNNERS, describe
from opera.extract.extraction import chosen_sources
from opera.store import Corpus
from opera.store.database import open_workspace
from opera.untrusted import JsonObject

SCHEMA = "extract/1"
REASONS = 12
"""Reasons of dropped calls that are printed of each source."""
_FILES = ("constraints", INSTANCES)
"""Options that name a file. Each host runs in its own folder, so it gets absolute paths."""
_FOLDER = click.Path(path_type=Path)
_tests = heading("What to record")
_running = heading("How to run it")
_output = heading("Output")


@click.command("extract", cls=HeadedCommand)
@_tests("--lib", "library", type=LIBRARY, metavar="NAME", required=True, help=f"Library whose tests to record: {', '.join(libraries())}.")
@_tests(
    "--source",
    "sources",
    type=SOURCE,
    metavar="NAME",
    multiple=True,
    help="Record only this source, e.g. opinfo (repeatable); by default all that do not run on request.",
)
@_tests("--suite", type=_FOLDER, metavar="DIR", help="Test suite to run, a folder or one file. Implies --source suite.")
@_tests("--scripts", type=_FOLDER, metavar="DIR", help="Folder of Python, unittest or pytest files to run. Implies --source scripts.")
@_tests(
    "--programs", "--model", "programs", type=_FOLDER, metavar="PATH",
    help="Program or model to read, or a folder of them. Implies the source that reads them.",
)  # fmt: skip
@_tests("--docstrings", is_flag=True, help="Run the examples in the library's documentation. The same as --source docstrings.")
@_tests(
    "--only",
    multiple=True,
    type=Pattern(),
    metavar="PATTERN",
    help="Record only entries that match this shell pattern, e.g. '*Pool*' (repeatable).",
)
@_running(
    "--runner", type=click.Choice(RUNNERS[1:]), help="Program that runs the files of a suite; by default the one that fits each file."
)
@_running(
    "--option", "options", multiple=True, metavar="NAME=VALUE", help="Argument of the sources, e.g. dtypes=float32,int64 (repeatable)."
)
@_running("--constraints", type=_FOLDER, metavar="DIR", help="Folder of DocTer's constraint files, for the source docter.")
@_running("--timeout", type=Duration(), help="Time limit of one test file, or of one process of a source, e.g. 10m; by default none.")
@_running("-j", "--jobs", type=JOBS, metavar="N", default=2, show_default=True, help="Number of parallel test processes.")
@_running("--fresh", is_flag=True, help="Run all files of a suite again, also those that an interrupted extraction has finished.")
@_output("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- PYTEST ARGUMENTS]")
@common
def command(
    library: str,
    sources: tuple[str, ...],
    suite: Path | None,
    scripts: Path | None,
    programs: Path | None,
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
        raise UserError("--suite and --scripts exclude each other; give one of them")
    implied = {"suite": suite, "scripts": scripts, "docstrings": docstrings, **({_reader(library): programs} if programs else {})}
    named = [*sources, *(name for name, given in implied.items() if given)]
    given = {"root": programs, "constraints": constraints}
    paths = {name: str(path.resolve()) for name, path in given.items() if path is not None}
    how = ExtractOptions(
        python=load_config().python("library", library),
        jobs=jobs,
        seed=seed,
        only=only,
        options=paths | dict(_option(text) for text in options),
        suite=suite or scripts,
        runner=runner or "",
        arguments=arguments,
        timeout=timeout,
    )
    chosen_sources(library, named or None, {name: value for name, value in how.options.items() if name not in given})
    with open_workspace(workspace, write=True) as space:
        summaries = record(space, library, named, how, fresh=fresh, progress=_tell)
        instances, operators = Corpus(space).counts(library)
    if as_json:
        print_json(_document(library, instances, operators, summaries))
    else:
        show(library, instances, operators, summaries)
    if broken := next((each for each in summaries if _is_foreign(each)), None):
        raise EnvironmentBroken(
            f"OPERA's recorder fails on most calls of {library} {broken.version}, which it does not know; install a release that"
            " the subjects page names, and report this one"
        )
    if not any(each.distinct for each in summaries):
        reasons = any(each.dropped or each.failed_shards for each in summaries)
        why = "the reasons are above" if reasons else "what ran called none of its operators"
        raise NothingSelected(f"no {library} instance was recorded: {why}; check --only, --source and --option")
    return Exit.CLEAN


def _is_foreign(each: SourceSummary) -> bool:
    """Whether most calls were lost because the recorder raised: the library is not as the recorder expects it."""
    return 2 * sum(count for reason, count in each.dropped.items() if reason.startswith("recorder-error")) > each.calls


def _reader(library: str) -> str:
    """The source of *library* that reads programs or models. Raises UserError if the library has no such source."""
    found = next((each.name for each in describe(library).sources if "root" in each.options), None)
    if found is None:
        raise UserError(f"no source of {library} reads programs or models; leave --programs out")
    return found


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--option")
    if name in _FILES and value:
        if not Path(value).is_file():
            raise UserError(f"--option {name}: the file {value} does not exist; correct the path")
        value = str(Path(value).resolve())
    return name, value


def _tell(progress: Progress) -> None:
    done = f"{progress.shards_done} of {progress.shards} {'files' if progress.files else 'shards'}"
    doing(f"{progress.source}: {done}, {progress.calls:,} calls, {progress.entry}".rstrip(", "))


def _document(library: str, instances: int, operators: int, summaries: Sequence[SourceSummary]) -> JsonObject:
    """The document of `opera extract --json`."""
    return {
        "schema": SCHEMA,
        "library": library,
        "instances": instances,
        "operators": operators,
        "sources": {each.source: _source(each) for each in summaries},
    }


def _source(each: SourceSummary) -> JsonObject:
    found: JsonObject = {
        "calls": each.calls,
        "distinct": each.distinct,
        "operators": each.operators,
        "dropped": dict(each.dropped),
        "seconds": round(each.seconds, 3),
        "version": each.version,
        "failed": [{"shard": f.shard, "cause": f.cause, "entry": f.entry, "resumed": f.resumed} for f in each.failed_shards],
    }
    if each.files:
        found["files"] = {"all": each.files, "kept": each.kept}
    if each.tests is not None:
        found["tests"] = dict(each.tests.outcomes)
        found["errors"] = [{"test": test, "message": message} for test, message in each.tests.errors]
    return found


def show(library: str, instances: int, operators: int, summaries: Sequence[SourceSummary]) -> None:
    """Prints what every source gave, what was dropped and why, and what went wrong."""
    rows = [
        [each.source, *(f"{n:,}" for n in (each.calls, each.distinct, each.operators, sum(each.dropped.values()))), f"{each.seconds:.1f}"]
        for each in summaries
    ]
    print_table(["source", "calls seen", "distinct", "operators", "dropped", "seconds"], rows)
    for each in summaries:
        _print_source(each)
    echo(f"{library}: {plural(instances, 'distinct instance')} over {plural(operators, 'operator')} in the workspace")


def _print_source(each: SourceSummary) -> None:
    if each.files:
        kept = f", {plural(each.kept, 'file')} of them before the interruption" if each.kept else ""
        echo(f"  {each.source}: {plural(each.files, 'file')}{kept}")
    if each.tests is not None:
        echo(f"  {each.source}: {', '.join(f'{count:,} {outcome}' for outcome, count in each.tests.outcomes.items())}")
        for test, message in each.tests.errors:
            echo(f"  {each.source}: not run: {one_line(test, 80)}: {one_line(message, 160)}")
    reasons = sorted(each.dropped.items(), key=lambda item: (-item[1], item[0]))
    for reason, count in reasons[:REASONS]:
        echo(f"  {each.source}: dropped {plural(count, 'call')}: {reason}")
    if len(reasons) > REASONS:
        rest = plural(sum(count for _, count in reasons[REASONS:]), "call")
        echo(f"  {each.source}: dropped {rest}: {plural(len(reasons) - REASONS, 'other reason')}; --json has all reasons")
    for failed in each.failed_shards:
        echo(f"  {each.source}: {_failure(each, failed)}")


def _failure(each: SourceSummary, failed: FailedShard) -> str:
    what = failed.entry if each.files else f"shard {failed.shard} in {failed.entry or 'its start'}"
    outcome = "the entries after it ran" if failed.resumed else "the calls recorded until then are kept"
    said = [line for line in failed.log.splitlines() if line.strip()]
    why = f"; it said: {one_line(said[-1].strip(), 200)}" if said else ""
    return f"{what} ended early ({failed.cause}); {outcome}{why}"
