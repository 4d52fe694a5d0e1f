"""`opera equipped`: counts the operators and settings that a compiler's own frontend tests cover."""

from __future__ import annotations

import datetime
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import COMPILER, FRONTEND
from opera.cli.options import JOBS, Duration, OutputFile, Pattern, common
from opera.config import load_config
from opera.console import check_outputs, echo, print_json, print_table, say, write
from opera.errors import Exit, NothingSelected
from opera.extract import Again, ExtractOptions, Item, Recorded, SourceSummary, extract
from opera.instance import Instance, Tensor, digest
from opera.untrusted import JsonObject
from opera.workers.supervision import working_folder

SCHEMA = "equipped-counts/1"
SOURCE = "frontend-tests"


@click.command("equipped", cls=HeadedCommand)
@click.option("--compiler", type=COMPILER, metavar="NAME", required=True, help="Compiler whose tests to run, e.g. tvm.")
@click.option("--frontend", type=FRONTEND, metavar="NAME", required=True, help="Model format that the tests load, e.g. onnx.")
@click.option(
    "--suite", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Frontend tests of the compiler: a folder or one file."
)
@click.option(
    "--only",
    multiple=True,
    type=Pattern(),
    metavar="PATTERN",
    help="Run only files that match this shell pattern, e.g. test_frontend_onnx.py (repeatable).",
)
@click.option("--origin", metavar="TEXT", default="", help="Origin of the tests, stored with the counts.")
@click.option("--compiler-version", "version", metavar="TEXT", default="", help="Version of the compiler, stored with the counts.")
@click.option("--output", type=OutputFile(), help="Write the counts to this file.")
@click.option("--timeout", type=Duration(), help="Time limit of one test file; by default none.")
@click.option("-j", "--jobs", type=JOBS, metavar="N", default=2, show_default=True, help="Number of parallel test processes.")
@common
def command(
    compiler: str,
    frontend: str,
    suite: Path,
    only: tuple[str, ...],
    origin: str,
    version: str,
    output: Path | None,
    timeout: float | None,
    jobs: int,
    seed: int,
    as_json: bool,
) -> int:
    """Run the frontend tests of a compiler under the recorder, and count tests and settings of each operator.

    The command writes nothing into the workspace. Exit with 4 when no test called an operator of the library.
    """
    check_outputs(as_json, output)
    how = ExtractOptions(python=load_config().python("library", frontend), jobs=jobs, seed=seed, only=only, suite=suite, timeout=timeout)
    counts = _Counts()
    with working_folder("equipped") as scratch:
        items = extract(frontend, scratch=scratch, sources=[SOURCE], how=how)
        for item in items:
            counts.add(item)
    tests, settings = counts.tests(), counts.settings()
    document: JsonObject = {
        "schema": SCHEMA,
        "compiler": compiler,
        "frontend": frontend,
        "origin": origin,
        "compiler_version": version,
        "date": datetime.date.today().isoformat(),
        "tests": counts.outcomes,
        "counts": tests,
        "settings": settings,
    }
    if not tests:
        raise NothingSelected(f"no test under {suite} called an operator of {frontend}; {counts.outcomes or 'no test ran'}")
    if output is not None:
        write(output, json.dumps(document, indent=1) + "\n")
        say(f"wrote {output}")
    if as_json:
        print_json(document)
    else:
        _print(tests, settings, counts.outcomes)
    return Exit.CLEAN


class _Counts:
    """Tests and distinct parameter settings by operator."""

    def __init__(self) -> None:
        self._operators: dict[str, str] = {}
        self._tests: dict[str, set[str]] = defaultdict(set)
        self._settings: dict[str, set[str]] = defaultdict(set)
        self.outcomes: dict[str, int] = {}

    def add(self, item: Item) -> None:
        """Counts one item of an extraction."""
        if isinstance(item, Recorded):
            self._operators[item.digest] = item.instance.operator
            self._tests[item.instance.operator].add(item.occurrence.test)
            self._settings[item.instance.operator].add(setting(item.instance))
        elif isinstance(item, Again):
            self._tests[self._operators[item.digest]].add(item.occurrence.test)
        elif isinstance(item, SourceSummary) and item.tests is not None:
            self.outcomes = dict(item.tests.outcomes)

    def tests(self) -> dict[str, int]:
        """Number of tests that call each operator, most first."""
        return _counted(self._tests.items())

    def settings(self) -> dict[str, int]:
        """Number of distinct parameter settings of each operator, most first."""
        return _counted(self._settings.items())


def setting(instance: Instance) -> str:
    """The part of an instance that distinguishes parameter settings: all arguments that are not tensors."""
    call = tuple(argument for argument in instance.call if not isinstance(argument.value, Tensor))
    return digest(replace(instance, call=call, context=()))


def _counted(items: Iterable[tuple[str, set[str]]]) -> dict[str, int]:
    return dict(sorted(((name, len(found)) for name, found in items), key=lambda item: (-item[1], item[0])))


def _print(counts: Mapping[str, int], settings: Mapping[str, int], tests: Mapping[str, int]) -> None:
    print_table(["operator", "tests", "settings"], [[name, f"{count:,}", f"{settings[name]:,}"] for name, count in counts.items()])
    outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in tests.items())
    echo(f"{len(counts)} operators; tests: {outcomes}")
