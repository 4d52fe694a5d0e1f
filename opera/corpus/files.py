"""Corpus files, `corpus/1`: JSON Lines, a header first, then one instance per line; compressed if the name ends in `.gz`.

Reading a line trusts nothing in it.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict, cast

import msgspec

from opera import __version__
from opera.atomic import output
from opera.corpus.selection import Chosen, Selection, choose
from opera.errors import UserError
from opera.instance import Instance, Occurrence, Opaque, decode_instance, digest, encode_instance
from opera.instance.identity import VERSION
from opera.instance.values import walk
from opera.instrumentation import wire
from opera.store import Corpus, Workspace, queries
from opera.untrusted import MOST_NUMBER, Document, JsonObject, Line, Malformed, Name, lines_of, parsed_json, typed


@dataclass(frozen=True)
class Entry:
    """An instance with its provenance, at least one occurrence."""

    instance: Instance
    provenance: tuple[Occurrence, ...]


def dump(document: Any) -> str:
    """*document* as JSON on one line, in ASCII."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def parse(text: bytes) -> Document:
    """The JSON object that *text* is; raises Malformed for anything else, NaN among it."""
    tree = parsed_json(text)
    if not isinstance(tree, dict):
        raise Malformed("not a JSON object")
    return cast(Document, tree)


def encode_entry(entry: Entry) -> JsonObject:
    """The document of *entry*, all tensors inside."""
    provenance = [{"source": each.source, "test": each.test, "calls": each.calls} for each in entry.provenance]
    return {"id": digest(entry.instance), "instance": encode_instance(entry.instance), "provenance": provenance}


def decode_entry(document: Document, place: str) -> Entry:
    """Inverse of `encode_entry`. The `id` is not looked at: an identity is what the content hashes to.

    Args:
        document: A JSON object.
        place: The test to name where the document has no provenance, with source `imported`.

    Raises:
        ValueError: it is no entry, or its instance could not be stored or called; the message says what is wrong.
    """
    if "instance" not in document:
        raise Malformed("no `instance`")
    instance = decode_instance(document["instance"])
    check_instance(instance)
    rows = document.get("provenance")
    try:
        found = [] if rows is None else typed(rows, list[_Provenance])
    except Malformed as error:
        raise Malformed(f"malformed `provenance`: {error}") from error
    return Entry(instance, tuple(each.occurrence() for each in found) or (Occurrence("imported", place),))


class _Provenance(msgspec.Struct):
    """One entry of `provenance`."""

    source: Name
    test: Line
    calls: Annotated[int, msgspec.Meta(ge=1, le=MOST_NUMBER)] = 1

    def occurrence(self) -> Occurrence:
        """Raises ValueError for text that cannot be written as UTF-8."""
        (self.source + self.test).encode("utf-8")
        return Occurrence(self.source, self.test, self.calls)


def check_instance(instance: Instance) -> None:
    """Raises ValueError for a valid value that OPERA cannot call or store."""
    for text in (instance.api, *(argument.name for argument in instance.arguments())):
        wire.text(text)
    for value in (*(argument.value for argument in instance.arguments()), *(value for _, value in instance.context)):
        for part in walk(value):
            if isinstance(part, Opaque):
                raise ValueError(f"it holds a value that cannot be rebuilt ({part.type}: {part.reason})")
    digest(instance)


SCHEMA = "corpus/1"
STDOUT = "-"


@dataclass(frozen=True)
class Problem:
    """A problem and its place. *line* counts from 1; None for the whole file."""

    file: str
    line: int | None
    what: str

    @property
    def text(self) -> str:
        """The problem as one line, e.g. `corpus.jsonl:17: not JSON`."""
        return f"{self.file}{'' if self.line is None else f':{self.line}'}: {self.what}"


def write_corpus(path: str, header: Mapping[str, object], entries: Iterable[Entry]) -> None:
    """Writes a corpus file: the same entries give the same bytes, and a file that was not finished is never seen.

    Args:
        path: Where to; `-` is standard output.
        header: Its first line.
        entries: In the order of the lines.
    """
    lines = (f"{dump(document)}\n".encode("ascii") for document in _documents(header, entries))
    if path == STDOUT:
        for line in lines:
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return
    with output(Path(path)) as file:
        if path.endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                packed.writelines(lines)
        else:
            file.writelines(lines)


def _documents(header: Mapping[str, object], entries: Iterable[Entry]) -> Iterator[Mapping[str, object]]:
    yield header
    yield from (encode_entry(entry) for entry in entries)


def read_header(path: Path) -> Document:
    """The header of a corpus file; raises UserError if *path* is not a corpus file."""
    try:
        _, line = next(lines_of(path), (0, b""))
        header = parse(line)
    except ValueError as error:
        raise UserError(
            f"{path} is not a corpus file: its first line is not a header ({error}); `opera export jsonl` writes a corpus file"
        ) from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    if header.get("schema") != SCHEMA:
        hint = "it holds a recording, not a corpus" if "recording" in header else f"its schema is {str(header.get('schema'))[:80]!r}"
        raise UserError(
            f"{path} is not a corpus file of this version: {hint} instead of {SCHEMA!r}; `opera export jsonl` writes a corpus file"
        )
    return header


def read_corpus(path: Path) -> Iterator[Entry | Problem]:
    """The entries of a corpus file, with a problem in place of each line that holds none, and at the end where lines are missing.

    Files that were put one behind the other are read as one. Nothing in them is executed.
    """
    announced = found = 0
    try:
        for number, line in lines_of(path):
            found += 1
            try:
                document = parse(line)
                if document.get("schema") == SCHEMA:
                    announced += _count(document)
                    found -= 1
                    continue
                yield decode_entry(document, path.name)
            except ValueError as error:
                yield Problem(str(path), number, str(error)[:300])
    except (Malformed, OSError) as error:
        yield Problem(str(path), None, str(error))
        return
    if found < announced:
        yield Problem(str(path), None, f"the header announces {announced:,} instances, and there are {found:,}: the file was cut")


def _count(header: Document) -> int:
    count = header.get("instances")
    return count if type(count) is int and count > 0 else 0


class CorpusHeader(TypedDict):
    """The first line of a corpus file."""

    schema: str
    opera: str
    identity: int
    instances: int
    operators: int
    sources: Sequence[JsonObject]
    selection: JsonObject


def header(workspace: Workspace, rows: list[Chosen], selection: Selection, seed: int) -> CorpusHeader:
    """The header of a corpus file with the instances *rows*."""
    return {
        "schema": SCHEMA,
        "opera": __version__,
        "identity": VERSION,
        "instances": len(rows),
        "operators": len({(row.library, row.api) for row in rows}),
        "sources": _sources(workspace, rows),
        "selection": {**selection.document(), "seed": seed},
    }


def versions(workspace: Workspace) -> dict[tuple[str, str], str]:
    """The version of the library in the newest extraction of each library and source, where it is known."""
    return {(each.library, each.source): each.version for each in queries.extractions(workspace) if each.version}


def _sources(workspace: Workspace, rows: Iterable[Chosen]) -> list[JsonObject]:
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        for source in queries.sources_of(workspace, row.id):
            counts[row.library, source] = counts.get((row.library, source), 0) + 1
    known = versions(workspace)
    return [
        {"library": library, "source": source, "version": known.get((library, source)), "instances": count}
        for (library, source), count in sorted(counts.items())
    ]


def export(workspace: Workspace, selection: Selection, seed: int, path: str) -> CorpusHeader:
    """Writes the selected instances to *path*, tensors included; `-` is standard output. Returns the header of the file.

    Raises:
        UserError: there is no such library or source, or the keyword is no expression.
        NothingSelected: no instance is selected.
    """
    rows = choose(workspace, selection, seed)
    first = header(workspace, rows, selection, seed)
    write_corpus(path, first, _entries(workspace, rows))
    return first


def _entries(workspace: Workspace, rows: list[Chosen]) -> Iterator[Entry]:
    corpus = Corpus(workspace)
    for row in rows:
        yield Entry(corpus.get(row.id), tuple(corpus.provenance(row.id)))
