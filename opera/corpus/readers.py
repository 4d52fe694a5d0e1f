"""Readers for `opera import`: corpus files, other workspaces, records of other tools."""

from __future__ import annotations

import enum
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from opera.console import plural
from opera.corpus.files import Entry, Problem, check_instance, read_corpus, read_header
from opera.corpus.programs import holds_programs, read_programs
from opera.errors import UserError
from opera.instance import Instance, Occurrence, decode_instance
from opera.opidiff.instances import Scalars, classes_of, instance_of, objections
from opera.opidiff.problems import InvalidSuite
from opera.opidiff.suite import load_suite
from opera.store import Corpus
from opera.store.corpus import OTHER_TESTS
from opera.store.database import DATABASE, open_workspace
from opera.store.rows import checked_rows
from opera.untrusted import Count, Line, Malformed, Name, inflated, parsed_json, typed

SUITE = "opidiff"
"""The source of instances that suites declare; what they call a test is its id."""
_RECORDS = "opera.extract.freefuzz"
_SUITES = (".yaml", ".yml")


class RecordedCalls(Protocol):
    """Iterates over the calls that another tool recorded; counts in *dropped*, by reason, what cannot be rebuilt."""

    dropped: Mapping[str, int]

    def __iter__(self) -> Iterator[tuple[Instance, Occurrence]]: ...


class Format(enum.Enum):
    """The content of a file or folder."""

    JSONL = "jsonl"
    WORKSPACE = "workspace"
    FREEFUZZ = "freefuzz"
    DEEPREL = "deeprel"
    OPIDIFF = "opidiff"
    PROGRAMS = "programs"


@dataclass(frozen=True)
class ImportOrigin:
    """Something to import from."""

    path: Path
    format: Format
    library: str | None = None
    """The library that the user names; programs are printed in its language."""

    def entries(self) -> Iterator[Entry | Problem]:
        """The entries, with a problem in place of every invalid one."""
        if self.format is Format.JSONL:
            return read_corpus(self.path)
        if self.format is Format.PROGRAMS:
            return read_programs(self.path, self.library)
        if self.format is Format.OPIDIFF:
            return _suite(self.path)
        return _workspace(self.path) if self.format is Format.WORKSPACE else _records(self.path, self.format)


def origin(path: Path, format: str, target: Path, library: str | None = None) -> ImportOrigin:
    """The reader for *path*, by *format*, or by its content for `auto`; *library* is the one that the user names.

    Raises:
        UserError: it is not there, it is not of that format, or it is the workspace *target* itself.
    """
    if not path.exists():
        raise UserError(f"{path} does not exist; give a file or a folder")
    if format in (Format.FREEFUZZ.value, Format.DEEPREL.value):
        _recorded_calls(path, Format(format))
        return ImportOrigin(path, Format(format))
    if format == Format.WORKSPACE.value or (format == "auto" and path.is_dir()):
        if not (path / DATABASE).is_file():
            raise UserError(f"{path} is not a workspace, because it has no {DATABASE}; for records of FreeFuzz, add --format freefuzz")
        if path.resolve() == target.resolve():
            raise UserError(f"{path} is the target workspace itself; give another workspace")
        return ImportOrigin(path, Format.WORKSPACE)
    if format == Format.OPIDIFF.value or (format == "auto" and path.suffix in _SUITES):
        return ImportOrigin(path, Format.OPIDIFF)
    if format == Format.PROGRAMS.value or (format == "auto" and holds_programs(path)):
        return ImportOrigin(path, Format.PROGRAMS, library)
    read_header(path)
    return ImportOrigin(path, Format.JSONL)


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


def _suite(path: Path) -> Iterator[Entry | Problem]:
    """The tests of an OpiDiff suite; one with errors gives the errors alone. Scalars are constants: nothing is exported here."""
    try:
        suite = load_suite([path])
    except InvalidSuite as error:
        yield from (Problem(f"{each.file}:{each.line}:{each.column}", None, each.message) for each in error.problems if not each.warning)
        return
    classes = classes_of(suite)
    for test in suite.tests:
        file, line = suite.line(test)
        try:
            if objections(test, classes):
                raise Malformed(f"test {test.id} needs a class that is not PyTorch's; `opera opidiff run --trust DIR` runs it")
            instance = instance_of(test, scalars=Scalars.PYTHON, classes=classes)
            check_instance(instance)
            yield Entry(instance, (Occurrence(SUITE, test.id),))
        except (ValueError, RecursionError) as error:
            yield Problem(file, line, str(error)[:300])


def suite_ids(corpus: Corpus, instance: str) -> list[str]:
    """The ids that the instance of this identity has in the OpiDiff suites that it came from, sorted."""
    return [each.test for each in corpus.provenance(instance) if each.source == SUITE and each.test != OTHER_TESTS]


def _sound(occurrence: Occurrence) -> Occurrence:
    """*occurrence* where its parts are of the right types; raises Malformed."""
    typed((occurrence.source, occurrence.test, occurrence.calls), tuple[Name, Line, Count])
    return occurrence


def _recorded_calls(path: Path, format: Format) -> RecordedCalls:
    """The reader of records; imported only when there are some. Raises UserError where *path* holds none."""
    return cast(RecordedCalls, importlib.import_module(_RECORDS).FreeFuzzCalls(path, format.value))


def _records(path: Path, format: Format) -> Iterator[Entry | Problem]:
    calls = _recorded_calls(path, format)
    records = iter(calls)
    while True:
        try:
            instance, occurrence = next(records)
        except StopIteration:
            break
        except (UserError, ValueError) as error:
            yield Problem(str(path), None, f"{str(error)[:300]}; nothing after it is read")
            break
        try:
            check_instance(instance)
            yield Entry(instance, (occurrence,))
        except (ValueError, TypeError) as error:
            yield Problem(f"{path}: {occurrence.test}", None, str(error)[:300])
    for reason, count in sorted(calls.dropped.items()):
        yield Problem(str(path), None, f"{plural(count, 'call')} cannot be rebuilt: {reason}")
