"""`opera export`: writes a corpus or a ranking to a file, or findings as a suite of tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from opera.cli.help import HeadedCommand
from opera.cli.lazy import LazyGroup
from opera.cli.names import COMPILER, FRONTEND, LIBRARY, SOURCE, STRATEGY
from opera.cli.options import Count, Pattern, Size, common
from opera.console import STDOUT, check_outputs, option, plural, print_json, quoted, say, write
from opera.corpus.files import export
from opera.corpus.selection import Selection
from opera.errors import Exit, UserError
from opera.instance import Outcome
from opera.store import Corpus
from opera.store.database import open_workspace

SCHEMA = "export/1"
RANKING_SCHEMA = "ranking/1"


class _ExportGroup(LazyGroup):
    command_class = HeadedCommand


@click.group("export", cls=_ExportGroup, own={}, below="export")
def command() -> None:
    """Write a corpus, a ranking, or suites of tests."""


def selecting(function: Any) -> Any:
    """Adds the options that select instances."""
    options = (
        click.option("--source", type=SOURCE, metavar="NAME", help="Select only instances of this source."),
        click.option("-k", "keyword", metavar="EXPR", help="Select only APIs whose name matches, e.g. -k 'conv and not transpose'."),
        click.option("--test", type=Pattern(), metavar="PATTERN", help="Select only instances of tests that match this shell pattern."),
        click.option("--outcome", type=click.Choice([each.value for each in Outcome]), help="Select only calls with this outcome."),
        click.option(
            "--cap", type=Count(), metavar="N", help="Write at most N instances of each operator, chosen for variety; by default all."
        ),
        click.option("--limit", type=Count(), metavar="N", help="Write at most N instances, chosen for variety; by default all."),
        click.option("--max-size", type=Size(), help="Leave out instances whose document is larger than this, e.g. 4K; by default none."),
    )
    for each in reversed(options):
        function = each(function)
    return function


@command.command("jsonl")
@click.argument("file", metavar="FILE|-")
@click.option("--lib", "library", type=LIBRARY, metavar="NAME", help="Select only instances of this library.")
@selecting
@common
def jsonl(
    file: str,
    library: str | None,
    source: str | None,
    keyword: str | None,
    test: str | None,
    outcome: str | None,
    cap: int | None,
    limit: int | None,
    max_size: int | None,
    workspace: Path,
    seed: int,
    as_json: bool,
) -> int:
    """Write instances, with their tensors, as JSON Lines.

    `opera import` reads such a file. A FILE that ends in .gz is compressed; - is standard output. The same workspace and options give the
    same bytes.
    """
    check_outputs(as_json, Path(file))
    if Path(file).is_dir():
        raise UserError(f"{file} is a folder; name a file, e.g. {Path(file) / 'corpus.jsonl'}")
    selection = Selection(library, source, keyword, test, outcome, cap, limit, max_size)
    with open_workspace(workspace, write=False) as space:
        first = export(space, selection, seed, file)
    if as_json:
        print_json({"schema": SCHEMA, "file": file, **{name: first[name] for name in ("instances", "operators", "sources", "selection")}})
    else:
        target = "standard output" if Path(file) == STDOUT else file
        say(f"{plural(first['instances'], 'instance')} of {plural(first['operators'], 'operator')} written to {target}")
    return Exit.CLEAN


@command.command("ranking")
@click.argument("file", metavar="FILE|-")
@click.option("--compiler", type=COMPILER, metavar="NAME", required=True, help="Compiler of the ranking.")
@click.option("--frontend", type=FRONTEND, metavar="NAME", required=True, help="Model format of the ranking.")
@click.option("--strategy", type=STRATEGY, metavar="NAME", help="Strategy of the ranking; by default the strategy of the newest ranking.")
@common
def ranking(file: str, compiler: str, frontend: str, strategy: str | None, workspace: Path, seed: int, as_json: bool) -> int:
    """Write the newest ranking of a subject as JSON Lines.

    The first line is a header; each other line has place, instance, operator and score. OPERA takes only rankings that were made with the
    same --seed. The same corpus, strategy and seed give the same bytes.
    """
    check_outputs(as_json, Path(file))
    with open_workspace(workspace, write=False) as space:
        corpus = Corpus(space)
        found = corpus.newest_ranking(frontend, compiler, seed, strategy)
        if found is None:
            named = (("compiler", compiler), ("frontend", frontend), ("seed", str(seed)), ("strategy", strategy))
            options = "".join(f" --{name} {quoted(value)}" for name, value in named if value is not None)
            raise UserError(f"the workspace has no such ranking; make one with `opera prioritize{options}{option(workspace)}`")
        rows = corpus.placed(found.id)
    head = {
        "schema": RANKING_SCHEMA,
        "compiler": compiler,
        "frontend": frontend,
        "strategy": found.strategy,
        "seed": seed,
        "ranked": len(rows),
    }
    lines = [head, *({"place": place, "instance": key, "api": api, "score": score} for place, (key, api, score) in enumerate(rows, 1))]
    write(Path(file), "".join(json.dumps(line) + "\n" for line in lines))
    if Path(file) != STDOUT:
        say(f"{plural(len(rows), 'place')} written to {file}")
    if as_json:
        print_json({**head, "file": file})
    return Exit.CLEAN
