"""`opera export`: writes a corpus or a ranking to a file, or findings as a suite of tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from opera.cli import export_pytest, export_stablehlo
from opera.cli.help import HeadedGroup
from opera.cli.names import COMPILER, FRONTEND, LIBRARY, SOURCE, STRATEGY
from opera.cli.options import Count, OutputFile, Pattern, Size, common
from opera.console import STDOUT, check_outputs, one_line, option, plural, print_json, quoted, say, write
from opera.corpus.files import export
from opera.corpus.readers import suite_ids
from opera.corpus.selection import Selection, choose, selector
from opera.errors import Exit, NothingSelected, UserError
from opera.instance import Outcome
from opera.opidiff.companion import NAME, content
from opera.opidiff.export import Form
from opera.opidiff.export import export as exported_suites
from opera.opidiff.text import index_of
from opera.store import Corpus
from opera.store.database import open_workspace

SCHEMA = "export/1"
RANKING_SCHEMA = "ranking/1"
OPIDIFF_SCHEMA = "export-opidiff/1"
LIBRARY_OF_SUITES = "pytorch"


@click.group("export", cls=HeadedGroup)
def command() -> None:
    """Write a corpus, a ranking, or suites of tests."""


command.add_command(export_pytest.command)
command.add_command(export_stablehlo.command)


def _selecting(function: Any) -> Any:
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
@_selecting
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


@command.command("opidiff")
@click.argument("file", metavar="FILE", type=OutputFile())
@_selecting
@click.option("--companion/--no-companion", default=True, show_default=True, help="Write calls that YAML cannot say with a companion file.")
@common
def opidiff(
    file: Path,
    source: str | None,
    keyword: str | None,
    test: str | None,
    outcome: str | None,
    cap: int | None,
    limit: int | None,
    max_size: int | None,
    companion: bool,
    workspace: Path,
    seed: int,
    as_json: bool,
) -> int:
    """Write instances of PyTorch as an OpiDiff suite.

    `opera import` reads it back with the same identities, and `opera opidiff run` runs it. A test that YAML cannot say calls the companion,
    a Python file next to FILE that needs PyTorch only. A suite that is too large for one file is written to FILE-1 and so on, which FILE
    includes.
    """
    if file.suffix not in (".yaml", ".yml"):
        raise UserError(f"{file} does not end in .yaml; name the suite e.g. {file.with_suffix('.yaml')}")
    selector(keyword)
    selection = Selection(LIBRARY_OF_SUITES, source, keyword, test, outcome, cap, limit, max_size)
    with open_workspace(workspace, write=False) as space:
        corpus = Corpus(space)
        rows = choose(space, selection, seed)
        ids = {each.id: suite_ids(corpus, each.id) for each in rows}
        exported = exported_suites((corpus.get(each.id) for each in rows), companion=companion, ids=ids)
    count = sum(exported.forms.values())
    if not count:
        raise NothingSelected("no selected instance can be written; --companion writes more")
    texts = dict(zip(_paths(file, len(exported.texts)), exported.texts, strict=True))
    if len(texts) > 1 and exported.is_one:
        texts = {file: index_of([each.name for each in texts]), **texts}
    paths = list(texts)
    for path, text in texts.items():
        write(path, text)
    helped = count - exported.forms[Form.PLAIN.value]
    if helped:
        write(file.with_name(NAME), content().decode("utf-8"))
    if as_json:
        document = {"files": [str(each) for each in paths], "companion": str(file.with_name(NAME)) if helped else None}
        print_json({"schema": OPIDIFF_SCHEMA, **document, "tests": count, "forms": exported.forms, "left_out": exported.left_out})
        return Exit.CLEAN
    say(f"{plural(count, 'test')} written to {', '.join(map(str, paths))}, {helped:,} of them with {NAME}")
    if not exported.is_one:
        say(
            f"the tests are too many for one suite; give {file.stem}-1{file.suffix} and so on to `opera import`, or export fewer with --cap"
        )
    for reason, number in exported.left_out.most_common():
        say(f"left out: {number:,}: {one_line(reason)}")
    return Exit.CLEAN


def _paths(file: Path, count: int) -> list[Path]:
    """The files for *count* texts."""
    return [file] if count == 1 else [file.with_stem(f"{file.stem}-{number}") for number in range(1, count + 1)]


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
