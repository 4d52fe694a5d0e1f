"""`opera import`: instances from files and other workspaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import LIBRARY
from opera.cli.options import common
from opera.console import echo, one_line, plural, print_json, print_table, say
from opera.corpus.files import Entry, Problem
from opera.corpus.readers import AUTO, ImportOrigin, formats, origin
from opera.errors import Exit, UserError
from opera.instance import digest
from opera.store import Corpus
from opera.store.database import open_workspace
from opera.untrusted import JsonObject

SCHEMA = "import/1"
_BATCH = 500
_PRINTED = 20
_LISTED = 1000


@dataclass
class _Imported:
    """The entries of one file or folder, of *library* if given. *problems* counts all problems; *first* has the first of them."""

    origin: ImportOrigin
    library: str | None
    read: int = 0
    new: int = 0
    problems: int = 0
    first: list[Problem] = field(default_factory=list[Problem])

    def sound(self) -> Iterator[Entry]:
        """The entries that can be stored; counts the others."""
        for each in self.origin.entries():
            if isinstance(each, Problem):
                self.problems += 1
                if self.problems <= _PRINTED:
                    say(one_line(each.text, 400))
                if len(self.first) < _LISTED:
                    self.first.append(each)
            elif self.library in (None, each.instance.library):
                self.read += 1
                yield each
        if self.problems > _PRINTED:
            say(f"… {self.problems - _PRINTED:,} more problems in {self.origin.path}; --json lists them")


@click.command("import", cls=HeadedCommand)
@click.argument("paths", metavar="FILE|DIR...", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--format",
    "format",
    type=click.Choice([AUTO, *formats()]),
    default=AUTO,
    show_default=True,
    help="Format of the files; auto recognises all but records of other tools.",
)
@click.option("--lib", "library", type=LIBRARY, metavar="NAME", help="Select only instances of this library.")
@common
def command(paths: tuple[Path, ...], format: str, library: str | None, workspace: Path, as_json: bool) -> int:
    """Add the instances of corpus files, other workspaces, suites, programs, or records of other tools.

    OPERA checks every line and computes every identity itself. It names and leaves out lines that hold no valid instance, and exits
    with 2 when it imported nothing.
    """
    origins = [origin(path, format, workspace, library) for path in paths]
    done: list[_Imported] = []
    with open_workspace(workspace, write=True) as space:
        for each in origins:
            done.append(_Imported(each, library))
            _store(Corpus(space), done[-1])
        corpus = Corpus(space)
        libraries = {name: corpus.counts(name) for name in corpus.libraries()}
    if as_json:
        print_json(_document(done, libraries))
    else:
        _print(done, libraries)
    if not any(each.read for each in done):
        raise UserError(f"no valid instance in {', '.join(str(path) for path in paths)}; read the problems above")
    return Exit.CLEAN


def _store(corpus: Corpus, imported: _Imported) -> None:
    entries = imported.sound()
    while batch := list(islice(entries, _BATCH)):
        imported.new += corpus.add((each.instance, each.provenance[0]) for each in batch)
        corpus.add_occurrences((digest(each.instance), occurrence) for each in batch for occurrence in each.provenance[1:])


def _document(done: list[_Imported], libraries: dict[str, tuple[int, int]]) -> JsonObject:
    return {
        "schema": SCHEMA,
        "files": [
            {
                "path": str(each.origin.path),
                "format": each.origin.format,
                "read": each.read,
                "new": each.new,
                "problems": {
                    "count": each.problems,
                    "first": [{"file": one.file, "line": one.line, "what": one_line(one.what)} for one in each.first],
                },
            }
            for each in done
        ],
        "libraries": [{"library": name, "instances": counts[0], "operators": counts[1]} for name, counts in libraries.items()],
    }


def _print(done: list[_Imported], libraries: dict[str, tuple[int, int]]) -> None:
    rows = [[str(each.origin.path), each.origin.format, f"{each.read:,}", f"{each.new:,}", f"{each.problems:,}"] for each in done]
    print_table(["from", "format", "read", "new", "problems"], rows)
    for name, (instances, operators) in libraries.items():
        echo(f"{name}: {plural(instances, 'instance')} of {plural(operators, 'operator')} in the workspace")
