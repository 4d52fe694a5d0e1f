"""Findings counted as maintainers count them: by the change that mends them, and by the issue that asks for it."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from opera.atomic import replacing
from opera.console import one_line
from opera.errors import UserError
from opera.untrusted import read_file

_T = TypeVar("_T")
FIXES = Path("families") / "fixes.toml"
UPSTREAM = Path("families") / "upstream.toml"


class Known(enum.Enum):
    """What an issue of a project's tracker is to a finding."""

    KNOWN = "known"
    FAMILY = "family known"
    FIXED = "fixed"
    NOT_FOUND = "not found"


class Link(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person found in a tracker.

    Attributes:
        issue: Issue of ours, as a key.
        kind: What the one of the tracker is to it.
        url: Its address; empty where none was found.
        state: Its state on that day.
        date: Day of the look.
    """

    issue: str
    kind: Known
    url: str = ""
    state: str = ""
    date: str = ""

    def __str__(self) -> str:
        where = f", {self.url} ({self.state})" if self.url else ""
        return f"{self.kind.value}{where}, {self.date}"


class Fix(msgspec.Struct, frozen=True):
    """A change at one place of a compiler that mends findings of several causes.

    Attributes:
        name: Its key.
        title: What is wrong, in at most 90 characters.
        causes: Causes that it mends.
        place: File and function, where they are known.
        change: The change in one sentence.
        issue: Issue that asks for it; by default one of its own.
        shown: What a repair of this place has shown; empty where none was tried.
    """

    name: str
    title: str
    causes: tuple[str, ...]
    place: str = ""
    change: str = ""
    issue: str = ""
    shown: str = ""


class Issue(msgspec.Struct, frozen=True):
    """What one issue of a project asks for: the same mistake at several places.

    Attributes:
        name: Its key.
        title: What is wrong, in at most 90 characters.
        causes: Causes of its findings that no fix of several causes mends.
    """

    name: str
    title: str
    causes: tuple[str, ...] = ()


class _Links(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    link: tuple[Link, ...] = ()


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    fix: tuple[Fix, ...] = ()
    issue: tuple[Issue, ...] = ()


class Caused(Protocol):
    """A finding with a name and a root cause, if it has one."""

    @property
    def name(self) -> str: ...

    @property
    def cause(self) -> str | None: ...


@dataclass(frozen=True)
class Families:
    """Which findings belong together. A cause of which nothing is said is a fix and an issue of its own.

    Attributes:
        fixes: By cause.
        issues: By cause.
        links: By issue.
        named: Issues by their keys.
    """

    fixes: dict[str, Fix] = field(default_factory=dict[str, Fix])
    issues: dict[str, Issue] = field(default_factory=dict[str, Issue])
    links: dict[str, Link] = field(default_factory=dict[str, Link])
    named: dict[str, Issue] = field(default_factory=dict[str, Issue])

    def fix(self, row: Caused) -> str:
        """Key of the change that mends *row*."""
        found = self.fixes.get(row.cause or "")
        return found.name if found is not None else row.cause or row.name

    def issue(self, row: Caused) -> str:
        """Key of the issue that asks for that change."""
        found = self.fixes.get(row.cause or "")
        alone = self.issues.get(row.cause or "")
        return alone.name if alone is not None else found.issue or found.name if found is not None else self.fix(row)

    def repair(self, row: Caused) -> Fix | None:
        """The change that mends *row* and findings of other causes; None if only its own cause is known."""
        return self.fixes.get(row.cause or "")

    def title(self, row: Caused) -> str:
        """What is wrong in all findings of the issue of *row*; empty if nobody has said it."""
        name = self.issue(row)
        return next((each.title for each in (*self.issues.values(), *self.named.values(), *self.fixes.values()) if each.name == name), "")

    def link(self, row: Caused) -> Link | None:
        """What a person found upstream about the issue of *row*; None if nobody looked."""
        return self.links.get(self.issue(row))


def families(folder: Path) -> Families:
    """The families of the findings in *folder*; none where its files are missing.

    Raises:
        UserError: the file has another form, or a cause stands in it twice.
    """
    file = _read(folder / FIXES, _File)
    path = folder / FIXES
    fixes = {cause: each for each in file.fix for cause in each.causes}
    issues = {cause: each for each in file.issue for cause in each.causes}
    named = {each.name: each for each in file.issue}
    twice = sum(len(each.causes) for each in file.fix) > len(fixes) or sum(len(each.causes) for each in file.issue) > len(issues)
    unknown = next((each.issue for each in file.fix if each.issue and each.issue not in named), None)
    if twice or fixes.keys() & issues.keys() or unknown is not None:
        raise UserError(f"{path}: {'a cause stands in it twice' if unknown is None else f'no issue is called {one_line(unknown)!r}'}")
    return Families(fixes, issues, {each.issue: each for each in _read(folder / UPSTREAM, _Links).link}, named)


def remember(folder: Path, link: Link) -> None:
    """Writes *link* into the file of links, in place of an earlier one of its issue."""
    links = {each.issue: each for each in _read(folder / UPSTREAM, _Links).link} | {link.issue: link}
    rows = ["\n".join(["[[link]]", *(f"{name} = {json.dumps(text)}" for name, text in _texts(each))]) for _, each in sorted(links.items())]
    path = folder / UPSTREAM
    path.parent.mkdir(exist_ok=True)
    with replacing(path) as file:
        file.write(("\n\n".join(rows) + "\n").encode())


def _texts(link: Link) -> Iterator[tuple[str, str]]:
    for name, text in msgspec.structs.asdict(link).items():
        if text:
            yield name, text.value if isinstance(text, Known) else text


def _read(path: Path, kind: type[_T]) -> _T:
    if not path.is_file():
        return kind()
    try:
        return msgspec.toml.decode(read_file(path), type=kind)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise UserError(f"{path} is damaged, or of another form: {one_line(str(error))}") from error


@dataclass(frozen=True)
class Counts:
    """How many findings, fixes and issues there are."""

    findings: int
    fixes: int
    issues: int


def counts(rows: Iterable[Caused], known: Families) -> Counts:
    """The counts of *rows*."""
    every = list(rows)
    return Counts(len(every), len({known.fix(row) for row in every}), len({known.issue(row) for row in every}))
