"""`opera upstream`: which issues of a compiler's tracker may be about recorded findings, and what a person said of them."""

from __future__ import annotations

import datetime
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import click
import msgspec

from opera.cli.help import HeadedCommand
from opera.cli.names import COMPILER
from opera.cli.options import Count, common
from opera.console import complain, echo, one_line, plural, print_json, say, terminal_width
from opera.corpus.selection import selector
from opera.errors import Exit, NothingSelected, UserError
from opera.extensions.findings.families import Families, Known, Link, families, remember
from opera.extensions.findings.recorded import Row, Table, tables, title_of
from opera.untrusted import JsonObject, Malformed, from_json, lines_of

SCHEMA = "upstream/1"
_SHOWN = 3
_BODY = 20_000
"""Characters of an issue's text that are searched."""
_WORDS = 24
"""Words of a finding that are looked for."""
_WORD = re.compile(r"[A-Za-z]\w{2,}")
_ADDRESS = re.compile(r"https://[\w.-]+/[\w./#-]+", re.ASCII)
_COMMON = frozenset(
    ["and", "are", "for", "not", "the", "that", "this", "with", "when", "where", "has", "its", "other", "than", "one", "two", "another",
     "assertionerror", "runtimeerror", "expected", "got", "error", "result", "results", "wrong", "crash", "input", "output", "tensor",
     "from", "call", "calls", "given", "value", "values", "check", "failed", "float32"]
)  # fmt: skip
"""Words of nearly every finding or issue."""


class Filed(msgspec.Struct, frozen=True):
    """An issue or a pull request, as GitHub's REST API gives it: the keys that are read.

    Attributes:
        number: Its number.
        title: Its title.
        state: `open` or `closed`.
        html_url: Its address.
        body: Its text, None if it has none.
        updated_at: When it changed last, as a date of ISO 8601.
    """

    number: int
    title: str
    state: str = ""
    html_url: str = ""
    body: str | None = None
    updated_at: str = ""


@click.command("upstream", cls=HeadedCommand)
@click.argument("dump", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--findings", "folder", type=click.Path(path_type=Path, file_okay=False), default=Path("data/findings"), show_default=True,
              help="Folder with the tables of findings.")  # fmt: skip
@click.option("--compiler", type=COMPILER, metavar="NAME", help="Select only findings of this compiler or exporter.")
@click.option("-k", "keyword", metavar="EXPR", help="Select only APIs whose name matches, e.g. -k 'conv and not transpose'.")
@click.option("--about", metavar="SUBJECT/NAME", help="Select only this finding.")
@click.option(
    "--store",
    type=Count(0, 2**31),
    metavar="NUMBER",
    help="Keep this issue as the one about --about, 0 for none; by default nothing is kept.",
)
@click.option("--as", "kind", type=click.Choice([each.value for each in Known]), default=Known.KNOWN.value, show_default=True,
              help="Relation of the issue to the finding.")  # fmt: skip
@common
def command(
    dump: Path, folder: Path, compiler: str | None, keyword: str | None, about: str | None, store: int | None, kind: str, as_json: bool
) -> int:
    """Search the issues of a tracker for recorded findings, and keep what you confirm.

    FILE has an issue or a pull request a line, as GitHub's REST API gives it. OPERA shows the three that are most like each finding, by
    operator, condition and message. With --store, families/upstream.toml of the folder gets address, state and date.
    """
    if store is not None and about is None:
        raise UserError("--store needs --about SUBJECT/NAME: say which finding the issue is about")
    wanted = selector(keyword)
    rows = [(table, row) for table in tables(folder) for row in table.finding]
    chosen = [
        (table, row)
        for table, row in rows
        if compiler in (None, table.compiler) and about in (None, _name(table, row)) and any(map(wanted, row.operators))
    ]
    if not chosen:
        raise NothingSelected(f"no finding of {folder} is selected")
    known = families(folder)
    with closing(_index(dump)) as index:
        if store is not None:
            return _store(index, folder, known, chosen[0][1], store, Known(kind))
        found = [(_name(table, row), _hits(index, folder, table, row), known.link(row)) for table, row in chosen]
    if as_json:
        print_json(_document(found))
        return Exit.CLEAN
    for name, hits, link in found:
        echo(name if link is None else f"{name}: {link}")
        for each in hits:
            before = f"  {each.number}  {one_line(each.state, 10)}  "
            echo(before + one_line(each.title, max(20, terminal_width() - len(before))))
    say(f"{plural(len(found), 'finding')}, {sum(bool(hits) for _, hits, _ in found):,} of them with issues that share words")
    return Exit.CLEAN


def _name(table: Table, row: Row) -> str:
    return f"{table.subject}/{row.name}"


def _index(dump: Path) -> sqlite3.Connection:
    """A full-text index of the issues in *dump*; raises UserError if it has none."""
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE filed USING fts5(title, body, document UNINDEXED, tokenize = \"unicode61 tokenchars '_'\")")
    wrong: list[str] = []
    count = 0
    try:
        for number, line in lines_of(dump):
            try:
                for each in _filed(line):
                    index.execute("INSERT INTO filed VALUES (?, ?, ?)", (each.title, (each.body or "")[:_BODY], msgspec.json.encode(each)))
                    count += 1
            except Malformed as error:
                wrong.append(f"line {number}: {one_line(str(error))}")
    except Malformed as error:
        wrong.append(one_line(str(error)))
    except OSError as error:
        raise UserError(f"{dump} cannot be read: {error.strerror}") from error
    if wrong:
        complain(f"{dump}: {plural(len(wrong), 'line')} left out; {wrong[0]}")
    if not count:
        raise UserError(f"{dump} has no issue; a line is one issue as GitHub's REST API gives it, with `number`, `title` and `body`")
    return index


def _filed(line: bytes) -> list[Filed]:
    return from_json(line, list[Filed]) if line.lstrip()[:1] == b"[" else [from_json(line, Filed)]


def _hits(index: sqlite3.Connection, folder: Path, table: Table, row: Row) -> list[Filed]:
    """The issues that are most like *row*, the likeliest first."""
    words = list(_words_of(folder, table, row))
    if not words:
        return []
    query = " OR ".join(f'"{each}"' for each in words)
    statement = "SELECT document FROM filed WHERE filed MATCH ? ORDER BY bm25(filed, 4.0, 1.0) LIMIT ?"
    return [msgspec.json.decode(document, type=Filed) for (document,) in index.execute(statement, (query, _SHOWN))]


def _words_of(folder: Path, table: Table, row: Row) -> Iterator[str]:
    """The telling words of *row*: its operators first, then its condition and its message."""
    seen: set[str] = set()
    operators = [part for api in row.operators for part in (api.rsplit(".", 1)[-1], row.converter)]
    texts = [*operators, title_of(folder / table.subject / f"{row.name}.py"), row.summary, row.trigger]
    for text in texts:
        for word in _WORD.findall(text):
            if len(seen) < _WORDS and word.lower() not in seen | _COMMON:
                seen.add(word.lower())
                yield word


def _store(index: sqlite3.Connection, folder: Path, known: Families, row: Row, number: int, kind: Known) -> int:
    """Keeps what the issue *number* is to the issue that *row* belongs to."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    link = Link(known.issue(row), Known.NOT_FOUND, date=today)
    if number:
        documents = (document for (document,) in index.execute("SELECT document FROM filed"))
        found = next((each for each in (msgspec.json.decode(one, type=Filed) for one in documents) if each.number == number), None)
        if found is None:
            raise UserError(f"the file has no issue {number}")
        if not _ADDRESS.fullmatch(found.html_url):
            raise UserError(f"the issue {number} has no address `html_url` that begins with https://")
        link = Link(link.issue, kind, found.html_url, one_line(found.state, 20), today)
    remember(folder, link)
    say(f"{link.issue}: {link}")
    return Exit.CLEAN


def _document(found: Sequence[tuple[str, list[Filed], Link | None]]) -> JsonObject:
    rows = [
        {
            "name": name,
            "upstream": None if link is None else str(link),
            "issues": [{"number": each.number, "title": each.title, "state": each.state, "url": each.html_url} for each in hits],
        }
        for name, hits, link in found
    ]
    return {"schema": SCHEMA, "findings": rows}
