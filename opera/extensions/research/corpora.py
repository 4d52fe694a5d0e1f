"""Compares two corpora: new, gone and common operators and instances, and changed defaults."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import msgspec

from opera.corpus.files import Problem, read_corpus, read_header
from opera.errors import UserError
from opera.instance import digest, encode_value
from opera.store.database import DATABASE, open_workspace
from opera.store.rows import checked_rows
from opera.untrusted import Malformed, Name, from_json, inflated, typed

Operator = tuple[str, str]
"""Library and API of an operator."""


@dataclass
class CorpusSide:
    """The content of one of the two corpora.

    Attributes:
        path: Where it lies.
        instances: Hashes by operator.
        defaults: Defaults of the parameters of each operator, as JSON text; of the instance with the smallest hash where they disagree.
        versions: Versions of the library, by library and source, where known.
        problems: What could not be read.
    """

    path: Path
    instances: dict[Operator, set[str]] = field(default_factory=dict[Operator, set[str]])
    defaults: dict[Operator, dict[str, str]] = field(default_factory=dict[Operator, dict[str, str]])
    versions: dict[tuple[str, str], str | None] = field(default_factory=dict[tuple[str, str], str | None])
    problems: list[Problem] = field(default_factory=list[Problem])

    def add(self, operator: Operator, key: str, defaults: list[tuple[str, str]]) -> None:
        """Adds an instance; give them in the order of their hashes."""
        self.instances.setdefault(operator, set()).add(key)
        known = self.defaults.setdefault(operator, {})
        for name, value in defaults:
            known.setdefault(name, value)


@dataclass(frozen=True)
class Change:
    """How an operator's instances differ: numbers on either side, and how many only one side has."""

    api: str
    a: int
    b: int
    new: int
    gone: int


@dataclass(frozen=True)
class DefaultChange:
    """A parameter whose default differs, as JSON; None where that side has no default for it."""

    api: str
    parameter: str
    a: str | None
    b: str | None


@dataclass(frozen=True)
class LibraryDifference:
    """One library on both sides: every operator of either, with its instances; changes of defaults of the common ones."""

    library: str
    new: tuple[Change, ...]
    gone: tuple[Change, ...]
    common: tuple[Change, ...]
    defaults: tuple[DefaultChange, ...]

    @property
    def instances(self) -> tuple[int, int, int]:
        """New, gone and common instances."""
        rows = (*self.new, *self.gone, *self.common)
        return sum(row.new for row in rows), sum(row.gone for row in rows), sum(row.b - row.new for row in rows)


def read_side(path: Path, wanted: Callable[[str, str], bool]) -> CorpusSide:
    """Reads a workspace or a corpus file; *wanted* says of library and API whether they count.

    Raises:
        UserError: *path* is neither.
    """
    if not path.exists():
        raise UserError(f"{path} does not exist; give a workspace folder or a corpus file")
    if path.is_dir():
        if not (path / DATABASE).is_file():
            raise UserError(f"{path} is not a workspace, because it has no {DATABASE}; give a workspace folder or a corpus file")
        return _workspace(path, wanted)
    return _file(path, wanted)


def compare(a: CorpusSide, b: CorpusSide) -> list[LibraryDifference]:
    """How *b* differs from *a*, by library."""
    operators = sorted({*a.instances, *b.instances})
    return [_difference(a, b, library, [each for each in operators if each[0] == library]) for library in _libraries(operators)]


def _libraries(operators: list[Operator]) -> list[str]:
    return list(dict.fromkeys(library for library, _ in operators))


def _difference(a: CorpusSide, b: CorpusSide, library: str, operators: list[Operator]) -> LibraryDifference:
    rows = [(each, _change(each[1], a.instances.get(each, set()), b.instances.get(each, set()))) for each in operators]
    both = [each for each, row in rows if row.a and row.b]
    return LibraryDifference(
        library,
        new=_largest(row for _, row in rows if not row.a),
        gone=_largest(row for _, row in rows if not row.b),
        common=_largest(row for _, row in rows if row.a and row.b),
        defaults=tuple(change for each in both for change in _defaults(each[1], a.defaults[each], b.defaults[each])),
    )


def _change(api: str, a: set[str], b: set[str]) -> Change:
    return Change(api, len(a), len(b), len(b - a), len(a - b))


def _largest(rows: Iterator[Change]) -> tuple[Change, ...]:
    return tuple(sorted(rows, key=lambda row: (-row.new - row.gone, row.api)))


def _defaults(api: str, a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[DefaultChange]:
    for name in sorted({*a, *b}):
        if a.get(name) != b.get(name):
            yield DefaultChange(api, name, a.get(name), b.get(name))


class _SourceVersion(msgspec.Struct):
    """A header's entry for a source."""

    library: Name
    source: Name
    version: str | None = None


class _Defaults(msgspec.Struct):
    """The part of an instance document that is compared."""

    defaults: list[tuple[str, object]] = []


def _workspace(path: Path, wanted: Callable[[str, str], bool]) -> CorpusSide:
    side = CorpusSide(path)
    with open_workspace(path, write=False, foreign=True, checked=False) as space:
        for values, bad in checked_rows(space.database, "extractions"):
            if bad is None:
                library, source, version, *_ = values
                side.versions[str(library), str(source)] = str(version) or None
        for values, bad in checked_rows(space.database, "instances"):
            key, library, api = (str(each) for each in values[:3])
            if bad is None and not wanted(library, api):
                continue
            try:
                if bad is not None:
                    raise Malformed(bad.what)
                document = from_json(inflated(cast(bytes, values[5])), _Defaults)
                side.add((library, api), key, [(name, _text(value)) for name, value in document.defaults])
            except Malformed as error:
                side.problems.append(Problem(f"{path}: instance {key[:12]}", None, str(error)))
    return side


def _file(path: Path, wanted: Callable[[str, str], bool]) -> CorpusSide:
    side = CorpusSide(path)
    with contextlib.suppress(Malformed):
        for row in typed(read_header(path).get("sources", []), list[_SourceVersion]):
            side.versions[row.library, row.source] = row.version or None
    read: list[tuple[str, Operator, list[tuple[str, str]]]] = []
    for entry in read_corpus(path):
        if isinstance(entry, Problem):
            side.problems.append(entry)
        elif wanted(entry.instance.library, entry.instance.api):
            defaults = [(name, _text(encode_value(value))) for name, value in entry.instance.defaults]
            read.append((digest(entry.instance), (entry.instance.library, entry.instance.api), defaults))
    for key, operator, defaults in sorted(read):
        side.add(operator, key, defaults)
    return side


def _text(tree: Any) -> str:
    return json.dumps(tree, sort_keys=True)
