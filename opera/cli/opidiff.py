"""`opera opidiff`: checks, expands and runs suites of the OpiDiff format."""

from __future__ import annotations

from pathlib import Path

import click

from opera.cli.help import HeadedGroup
from opera.cli.options import common
from opera.console import echo, plural, print_json, say
from opera.errors import Exit
from opera.opidiff.problems import InvalidSuite, SuiteProblem
from opera.opidiff.schema import json_schema
from opera.opidiff.suite import Suite, load_suite

CHECK_SCHEMA = "opidiff-check/1"
EXPAND_SCHEMA = "opidiff-expand/1"
_SHOWN = 100

_files = click.argument("files", metavar="FILE...", type=click.Path(path_type=Path), nargs=-1, required=True)


@click.group("opidiff", cls=HeadedGroup)
def command() -> None:
    """Use declarative YAML suites of PyTorch operators and modules."""


@command.command("check")
@_files
@common
def check(files: tuple[Path, ...], workspace: Path, seed: int, as_json: bool) -> int:
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
def expand(files: tuple[Path, ...], workspace: Path, seed: int, as_json: bool) -> int:
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
def schema(workspace: Path, seed: int, as_json: bool) -> int:
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
