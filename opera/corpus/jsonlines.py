"""Corpus files, `corpus/1`: JSON Lines, a header first, then one instance per line; compressed where the name ends in `.gz`."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opera.atomic import replacing
from opera.corpus.entry import Entry, decode_entry, dump, encode_entry, parse
from opera.errors import UserError
from opera.untrusted import Document, Malformed, lines_of

SCHEMA = "corpus/1"
STDOUT = "-"


@dataclass(frozen=True)
class Problem:
    """What is wrong, and where. *line* counts from 1; None where the whole is meant."""

    file: str
    line: int | None
    what: str

    @property
    def text(self) -> str:
        """`corpus.jsonl:17: not JSON`."""
        return f"{self.file}{'' if self.line is None else f':{self.line}'}: {self.what}"


def write_corpus(path: str, header: dict[str, Any], entries: Iterable[Entry]) -> None:
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
    with replacing(Path(path)) as file:
        if path.endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                packed.writelines(lines)
        else:
            file.writelines(lines)


def _documents(header: dict[str, Any], entries: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    yield header
    yield from (encode_entry(entry) for entry in entries)


def read_header(path: Path) -> Document:
    """The header of a corpus file; raises UserError where *path* is none."""
    try:
        _, line = next(lines_of(path), (0, b""))
        header = parse(line)
    except ValueError as error:
        raise UserError(f"{path} is no corpus file: its first line is no header ({error}); `opera export jsonl` writes one") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    if header.get("schema") != SCHEMA:
        hint = "it holds a recording, not a corpus" if "recording" in header else f"its schema is {str(header.get('schema'))[:80]!r}"
        raise UserError(f"{path} is no corpus file that this version reads: {hint}, and {SCHEMA!r} is expected")
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
