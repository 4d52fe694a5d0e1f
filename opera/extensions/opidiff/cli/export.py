"""`opera export opidiff`: instances of PyTorch as an OpiDiff suite."""

from __future__ import annotations

from pathlib import Path

import click

from opera.cli.export import selecting
from opera.cli.help import HeadedCommand
from opera.cli.options import OutputFile, common
from opera.console import one_line, plural, print_json, say, write
from opera.corpus.readers import given_ids
from opera.corpus.selection import Selection, choose, selector
from opera.errors import Exit, NothingSelected, UserError
from opera.extensions.opidiff.companion import NAME, content
from opera.extensions.opidiff.export import Form
from opera.extensions.opidiff.export import export as exported_suites
from opera.extensions.opidiff.text import index_of
from opera.store import Corpus
from opera.store.database import open_workspace

SCHEMA = "export-opidiff/1"
LIBRARY_OF_SUITES = "pytorch"


@click.command("opidiff", cls=HeadedCommand)
@click.argument("file", metavar="FILE", type=OutputFile())
@selecting
@click.option("--companion/--no-companion", default=True, show_default=True, help="Write calls that YAML cannot say with a companion file.")
@common
def command(
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
        ids = {each.id: given_ids(corpus, each.id) for each in rows}
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
        print_json({"schema": SCHEMA, **document, "tests": count, "forms": exported.forms, "left_out": exported.left_out})
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
