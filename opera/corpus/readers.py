"""Readers for `opera import`: corpus files, other workspaces, and what extensions read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from opera.corpus.files import Entry, Problem, check_instance, read_corpus, read_header
from opera.errors import UserError
from opera.instance import Occurrence, decode_instance
from opera.plugins import load, loaded, registered
from opera.store import Corpus
from opera.store.corpus import OTHER_TESTS
from opera.store.database import DATABASE, open_workspace
from opera.store.rows import checked_rows
from opera.untrusted import Count, Line, Malformed, Name, inflated, parsed_json, typed

GROUP = "opera.readers"
AUTO = "auto"
JSONL = "jsonl"
WORKSPACE = "workspace"


def _never(_: Path) -> bool:
    return False


def _nothing(_: Path) -> None:
    pass


@dataclass(frozen=True)
class Reader:
    """Reads files of one format; an entry point of `opera.readers` names one, under the name of the format.

    Attributes:
        entries: Gives the entries of a file or folder, with a problem in place of every invalid one. The library is the one that the user
            names, or None.
        holds: Whether a file is of this format, for the format `auto`.
        check: Raises UserError if a file or folder cannot be read at all.
        gives_ids: Whether the format gives each test an id, which provenance keeps under the name of the format.
    """

    entries: Callable[[Path, str | None], Iterator[Entry | Problem]]
    holds: Callable[[Path], bool] = _never
    check: Callable[[Path], None] = _nothing
    gives_ids: bool = False


@dataclass(frozen=True)
class ImportOrigin:
    """A file or folder to import from, its format, and the library that the user names."""

    path: Path
    format: str
    library: str | None = None

    def entries(self) -> Iterator[Entry | Problem]:
        """The entries, with a problem in place of every invalid one."""
        if self.format == JSONL:
            return read_corpus(self.path)
        return _workspace(self.path) if self.format == WORKSPACE else _reader(self.format).entries(self.path, self.library)


def formats() -> list[str]:
    """The names of all formats, without `auto`."""
    return [JSONL, WORKSPACE, *registered(GROUP)]


def _reader(name: str) -> Reader:
    found: Reader = load(GROUP, name)
    return found


def origin(path: Path, format: str, target: Path, library: str | None = None) -> ImportOrigin:
    """The reader for *path*, by *format*, or by its content for `auto`; *library* is the one that the user names.

    Raises:
        UserError: it is not there, it is not of that format, or it is the workspace *target* itself.
    """
    if not path.exists():
        raise UserError(f"{path} does not exist; give a file or a folder")
    if format == WORKSPACE or (format == AUTO and path.is_dir()):
        if not (path / DATABASE).is_file():
            raise UserError(f"{path} is not a workspace, because it has no {DATABASE}; name the format of other folders with --format")
        if path.resolve() == target.resolve():
            raise UserError(f"{path} is the target workspace itself; give another workspace")
        return ImportOrigin(path, WORKSPACE)
    if format == AUTO:
        readers: dict[str, Reader] = loaded(GROUP)
        format = next((name for name, reader in readers.items() if reader.holds(path)), JSONL)
    if format == JSONL:
        read_header(path)
    else:
        _reader(format).check(path)
    return ImportOrigin(path, format, library)


def given_ids(corpus: Corpus, instance: str) -> list[str]:
    """The ids that files gave to the instance of this identity, sorted."""
    formats: dict[str, Reader] = loaded(GROUP)
    named = {name for name, reader in formats.items() if reader.gives_ids}
    return [each.test for each in corpus.provenance(instance) if each.source in named and each.test != OTHER_TESTS]


def _workspace(path: Path) -> Iterator[Entry | Problem]:
    with open_workspace(path, write=False, foreign=True, checked=False) as space:
        corpus = Corpus(space)
        for values, bad in checked_rows(space.database, "instances"):
            key = str(values[0])
            try:
                if bad is not None:
                    raise Malformed(bad.what)
                instance = decode_instance(parsed_json(inflated(cast(bytes, values[5]))), space.get_blob)
                check_instance(instance)
                yield Entry(instance, tuple(_sound(each) for each in corpus.provenance(key)) or (Occurrence("imported", path.name),))
            except (ValueError, TypeError, RecursionError) as error:
                yield Problem(f"{path}: instance {key[:12]}", None, str(error)[:300])


def _sound(occurrence: Occurrence) -> Occurrence:
    """*occurrence* where its parts are of the right types; raises Malformed."""
    typed((occurrence.source, occurrence.test, occurrence.calls), tuple[Name, Line, Count])
    return occurrence
