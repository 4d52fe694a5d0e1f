"""`opera opidiff`: checks, expands and runs suites of the OpiDiff format."""

from __future__ import annotations

from pathlib import Path

import click

from opera.cli.help import HeadedGroup, heading
from opera.cli.names import Names
from opera.cli.options import JOBS, SEEDS, Count, Duration, OutputFile, Pattern, Size, common
from opera.cli.trusting import trust_options, trusting, with_trust
from opera.config import load_config
from opera.console import check_outputs, echo, option, plural, print_json, say, write
from opera.difftest.settings import Settings
from opera.errors import Exit
from opera.extensions.opidiff.instances import Scalars, classes_of
from opera.extensions.opidiff.problems import InvalidSuite, SuiteProblem
from opera.extensions.opidiff.report import SuiteReport
from opera.extensions.opidiff.running import LIBRARY, SuiteRunner, backends_of, selected
from opera.extensions.opidiff.schema import json_schema
from opera.extensions.opidiff.suite import Suite, load_suite
from opera.report.details import described
from opera.run.progress import CampaignProgress
from opera.store.database import open_workspace
from opera.workers.cores import usable_cores

CHECK_SCHEMA = "opidiff-check/1"
EXPAND_SCHEMA = "opidiff-expand/1"
RUN_SCHEMA = "opidiff-run/1"
_SHOWN = 100

_files = click.argument("files", metavar="FILE...", type=click.Path(path_type=Path), nargs=-1, required=True)


@click.group("opidiff", cls=HeadedGroup)
def command() -> None:
    """Use declarative YAML suites of PyTorch operators and modules."""


@command.command("check")
@_files
@common
def check(files: tuple[Path, ...], as_json: bool) -> int:
    """Check suites, and list every error with its place.

    Nothing in the files is executed or imported. Several files are one suite. Exit with 2 when there are errors.
    """
    try:
        suite = load_suite(files)
    except InvalidSuite as error:
        _complain(error.problems, as_json)
        return Exit.USER_ERROR
    pairs = len({each.pair for each in suite.tests if each.pair is not None})
    if as_json:
        print_json(_document((), suite.warnings, len(suite.tests), pairs))
    else:
        _print(suite.warnings)
        echo(f"{plural(len(suite.tests), 'test')} in {plural(len(suite.files), 'file')}, no errors")
    return Exit.CLEAN


@command.command("expand")
@_files
@common
def expand(files: tuple[Path, ...], as_json: bool) -> int:
    """List the ids of all tests, templates expanded.

    The two sides of a pair are two tests. Nothing in the files is executed or imported.
    """
    try:
        suite = load_suite(files)
    except InvalidSuite as error:
        _complain(error.problems, as_json)
        return Exit.USER_ERROR
    if as_json:
        print_json({"schema": EXPAND_SCHEMA, "tests": [_row(suite, number) for number in range(len(suite.tests))]})
    else:
        for each in suite.tests:
            echo(each.id)
    return Exit.CLEAN


def _row(suite: Suite, number: int) -> dict[str, str | int | bool | None]:
    test = suite.tests[number]
    file, line = suite.line(test)
    return {
        "id": test.id,
        "operator": test.operator,
        "impl": test.impl,
        "device": test.device,
        "cast_input0_to_complex": test.packed,
        "inputs": len(test.inputs),
        "kwargs": len(test.kwargs),
        "pair": test.pair,
        "side": test.side,
        "file": file,
        "line": line,
    }


@command.command("schema")
@common
def schema(as_json: bool) -> int:
    """Print the JSON Schema of the format, for editors.

    The validator and the schema come from one table.
    """
    print_json(json_schema())
    return Exit.CLEAN


def _document(
    problems: tuple[SuiteProblem, ...], warnings: tuple[SuiteProblem, ...], tests: int | None, pairs: int | None
) -> dict[str, object]:
    return {
        "schema": CHECK_SCHEMA,
        "errors": [each.document() for each in problems],
        "warnings": [each.document() for each in warnings],
        "tests": tests,
        "pairs": pairs,
    }


def _complain(problems: tuple[SuiteProblem, ...], as_json: bool) -> None:
    errors = tuple(each for each in problems if not each.warning)
    if as_json:
        print_json(_document(errors, tuple(each for each in problems if each.warning), None, None))
    else:
        _print(problems)
    say(f"opera: {plural(len(errors), 'error')} in the suite; correct each place above")


def _print(problems: tuple[SuiteProblem, ...]) -> None:
    for each in problems[:_SHOWN]:
        echo(each.text, err=True)
    if len(problems) > _SHOWN:
        say(f"… {len(problems) - _SHOWN:,} more; --json lists them")


_which = heading("What to run")
_workers = heading("Workers")
_output = heading("Output")


@command.command("run")
@_files
@_which("--backend", "names", type=Names(), metavar="NAMES", required=True, help="Backends with commas between: tvm, or tvm/ROUTE.")
@_which("--baseline", default=LIBRARY, show_default=True, metavar="NAME", help="Compare with this: pytorch, or one of the backends.")
@_which("--id", "patterns", type=Pattern(), multiple=True, metavar="PATTERN", help="Run only tests whose id matches, e.g. 'linear*'.")
@_which("--seeds", type=SEEDS, metavar="N", default=1, show_default=True, help="Number of seeds, from --seed on.")
@_which("--repeats", type=Count(0), metavar="N", default=0, show_default=True, help="Time N warm calls of each passing test.")
@_which(
    "--scalars",
    type=click.Choice([each.value for each in Scalars]),
    help="Give scalars among the inputs as tensors or as Python constants; by default as tensors where models are exported.",
)
@trusting
@_workers("-j", "--jobs", type=JOBS, metavar="N", default=usable_cores, show_default="cores", help="Number of parallel workers.")
@_workers("--timeout", type=Duration(), default=60.0, show_default="60s", help="Time limit of each stage of a test.")
@_workers("--memory", type=Size(), default=4 * 2**30, show_default="4G", help="Memory limit of each worker.")
@_output("--csv", "csv_file", type=OutputFile(), metavar="FILE", help="Write a line for each test, seed and backend.")
@_output("--junit", "junit_file", type=OutputFile(), metavar="FILE", help="Write JUnit XML: a suite for each backend.")
@_output("--exit-zero", is_flag=True, help="Exit with 0 even if tests fail.")
@_output("-q", "--quiet", is_flag=True, help="Show no progress.")
@common
def run(
    files: tuple[Path, ...],
    names: list[str],
    baseline: str,
    patterns: tuple[str, ...],
    seeds: int,
    repeats: int,
    scalars: str | None,
    trusted: tuple[str, ...],
    root: Path | None,
    jobs: int,
    timeout: float,
    memory: int,
    csv_file: Path | None,
    junit_file: Path | None,
    exit_zero: bool,
    quiet: bool,
    workspace: Path,
    seed: int,
    as_json: bool,
) -> int:
    """Run the tests of suites on backends, and give a result for each id.

    The same command, typed again, continues. `opera triage`, `opera report` and `opera reproduce` go on from there. Exit with 1 when a test
    fails, and with 4 when nothing was compared on a backend, also with --exit-zero. Classes that are not PyTorch's are loaded only with
    --trust, from below --root, by default the current folder, and then from the folder of the suite.
    """
    check_outputs(as_json, csv_file, junit_file)
    try:
        suite = load_suite(files)
    except InvalidSuite as error:
        _complain(error.problems, as_json)
        return Exit.USER_ERROR
    tests = selected(suite.tests, patterns, files)
    config = with_trust(load_config(), LIBRARY, trusted, root, suite.folders)
    backends = backends_of([*names, *([] if baseline in (LIBRARY, *names) else [baseline])], config)
    form = None if scalars is None else Scalars(scalars)
    base = Settings("", LIBRARY, seed=seed, seeds=seeds, jobs=jobs, timeout=timeout, memory=memory)
    with open_workspace(workspace, write=True) as space:
        runner = SuiteRunner(space, config, base, form, classes_of(suite, config.trust))
        outcome = runner.run(
            tests, backends, baseline, lambda subject: CampaignProgress(subject, str(workspace), quiet=quiet, describe=described)
        )
        latency = runner.latency(outcome, backends, baseline, repeats) if repeats and not outcome.interrupted else {}
    report = SuiteReport(suite, outcome.rows, baseline, latency)
    for path, text in ((csv_file, report.csv), (junit_file, report.junit)):
        if path is not None:
            write(path, text)
    failed = any(each.verdict is not None and each.verdict.is_failure for each in outcome.rows)
    if as_json:
        campaigns = [each.campaign for each in outcome.summaries]
        found = {"baseline": baseline, "campaigns": campaigns, "compared": report.compared(), "results": report.documents()}
        print_json({"schema": RUN_SCHEMA, **found})
    else:
        _print(suite.warnings)
        report.print()
        for line in (*report.remarks(), *report.totals()):
            echo(line)
        if failed:
            echo(f"group failures by root cause: opera triage{option(workspace)}{trust_options(trusted, root)}")
    if outcome.interrupted:
        return Exit.INTERRUPTED
    nothing = report.not_compared()
    for each in nothing.values():
        say(f"opera: {each}")
    if failed and not exit_zero:
        return Exit.NEW_FINDINGS
    return Exit.NOTHING_SELECTED if nothing else Exit.CLEAN
