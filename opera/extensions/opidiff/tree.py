"""A YAML file as a tree of scalars, lists and mappings that know their places.

libyaml parses; this module builds the tree from its events, because PyYAML's own nodes resolve scalars by YAML 1.1, let later duplicate
keys win, and follow nested and shared nodes without a limit. Scalars are read by the core schema of YAML 1.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from opera.console import one_line
from opera.extensions.opidiff.problems import SuiteProblem
from opera.untrusted import Malformed, read_file

MOST_BYTES = 16 * 2**20
"""Most bytes of a file."""
MOST_NODES = 5_000_000
"""Values of all files together, those that aliases repeat included."""
MOST_WORK = 20_000_000
"""Steps for all files together: what templates write out, what tests make of their nodes, and an eighth of a step for each byte."""
MOST_DEPTH = 40
_LINE_BITS = 24
_COLUMN = (1 << _LINE_BITS) - 1
_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NULL = frozenset(["", "~", "null", "Null", "NULL"])
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_SPECIAL = {
    **{f"{sign}.{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")},
    **{f".{word}": float("nan") for word in ("nan", "NaN", "NAN")},
}
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_BEGINS = frozenset("-+.0123456789~nNtTfF")
_MOST_DIGITS = 300
"""Characters of a number: more is no number that anything could use."""

Place = int
"""A file, a line and a column in one number, so that places sort as a reader meets them."""


def place_of(file: int, line: int, column: int) -> Place:
    """The place; *line* and *column* count from 0."""
    return (file << (2 * _LINE_BITS)) | (min(line, _COLUMN) << _LINE_BITS) | min(column, _COLUMN)


def parts_of(place: Place) -> tuple[int, int, int]:
    """File, line and column; these two count from 1."""
    return place >> (2 * _LINE_BITS), ((place >> _LINE_BITS) & _COLUMN) + 1, (place & _COLUMN) + 1


class Scalar:
    """A scalar: its text, and whether it stands there without quotes."""

    __slots__ = ("place", "plain", "text", "value")

    def __init__(self, place: Place, text: str, plain: bool) -> None:
        self.place = place
        self.text = text
        self.plain = plain
        self.value: bool | int | float | str | None = resolved(text) if plain else text


class Items:
    """A sequence of YAML, with its place."""

    __slots__ = ("items", "place")

    def __init__(self, place: Place, items: list[Tree]) -> None:
        self.place = place
        self.items = items


class Mapping:
    """A mapping: for each key, its place and its value."""

    __slots__ = ("entries", "place")

    def __init__(self, place: Place, entries: dict[str, tuple[Place, Tree]]) -> None:
        self.place = place
        self.entries = entries

    def get(self, key: str) -> Tree | None:
        """The value of *key*; None without it."""
        entry = self.entries.get(key)
        return None if entry is None else entry[1]


Tree = Scalar | Items | Mapping


def resolved(text: str) -> bool | int | float | str | None:
    """The value of a scalar without quotes, by the core schema of YAML 1.2."""
    if text[:1] not in _BEGINS:
        return text or None
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if len(text) > _MOST_DIGITS:
        return text
    if _INTEGER.match(text):
        return int(text)
    if _BASED.match(text):
        return int(text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.match(text):
        return float(text)
    return _SPECIAL.get(text, text)


class Unreadable(Exception):
    """A file that is no YAML of the accepted form. *problem* says why, and where."""

    def __init__(self, problem: SuiteProblem) -> None:
        super().__init__(problem.text)
        self.problem = problem


def size_of(tree: Tree) -> int:
    """The steps to copy *tree*: its nodes, and a step for each 64 characters of a text."""
    if isinstance(tree, Scalar):
        return 1 + len(tree.text) // 64
    parts = tree.items if isinstance(tree, Items) else [each for _, each in tree.entries.values()]
    return 1 + sum(map(size_of, parts))


@dataclass
class Budget:
    """What a suite may still cost.

    Attributes:
        left: Values that may still be read.
        work: Steps that may still be done with them.
    """

    left: int = MOST_NODES
    work: int = MOST_WORK

    def spend(self, steps: int) -> bool:
        """Takes *steps*; returns whether they were left."""
        self.work -= steps
        return self.work >= 0


def content_of(path: Path) -> bytes:
    """The bytes of a file of a suite.

    Raises:
        ValueError: it is no regular file, or too large; the message says so.
    """
    try:
        return read_file(path, MOST_BYTES)
    except Malformed as error:
        raise ValueError(f"cannot be used: {error}{'; split the suite with `include`' if path.is_file() else ''}") from error
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from error


def read_tree(data: bytes, shown: str, file: int, budget: Budget, repeated: Callable[[Place, str], None], *, named: bool = True) -> Tree:
    """The one document of a file.

    Args:
        data: The content of the file.
        shown: Its name in messages.
        file: Its number among the files of the suite.
        budget: What is left of the limits.
        repeated: Is told the place of each key that its mapping has already, and a message; the first value stays.
        named: Whether the user has named the file, so that messages may quote its content.

    Raises:
        Unreadable: it is not UTF-8, not YAML, or uses what the format excludes: tags, several documents, keys that are not text, deep
            nesting, aliases that repeat too much.
    """

    def fail(message: str, line: int = 0, column: int = 0) -> Unreadable:
        return Unreadable(SuiteProblem(file, line + 1, column + 1, shown, message))

    if not budget.spend(len(data) // 8):
        raise fail("the files of the suite are too large together; split the suite")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        start = before.rfind(b"\n") + 1
        raise fail("the file is not UTF-8 text", before.count(b"\n"), len(before[start:].decode("utf-8", "replace"))) from error
    strange = _UNREADABLE.search(text)
    if strange is not None:
        before = text[: strange.start()]
        line = before.count("\n")
        raise fail(f"the character U+{ord(strange[0]):04X} is not allowed in YAML", line, len(before) - (before.rfind("\n") + 1))
    try:
        return _Builder(text, file, budget, fail, repeated, named=named).document()
    except yaml.MarkedYAMLError as error:
        mark = cast(Any, error.problem_mark or error.context_mark)
        line, column = getattr(mark, "line", 0), getattr(mark, "column", 0)
        what = one_line(str(error.problem or error.context or "not YAML"))
        if text.split("\n")[line : line + 1] and text.split("\n")[line][column : column + 1] == "\t":
            what = "a tab cannot indent; use spaces"
        raise fail(f"not valid YAML: {what}", line, column) from error
    except yaml.YAMLError as error:
        raise fail(f"not valid YAML: {one_line(str(error))}") from error


class _Builder:
    """Builds a tree from libyaml's events."""

    def __init__(self, text: str, file: int, budget: Budget, fail: Any, repeated: Callable[[Place, str], None], *, named: bool) -> None:
        self._loader: Any = yaml.CSafeLoader(text)
        self._next: Any = self._loader.get_event
        self._file = file << (2 * _LINE_BITS)
        self._budget = budget
        self._fail = fail
        self._repeated = repeated
        self._named = named
        self._anchors: dict[str, tuple[Tree, int, int] | None] = {}

    def document(self) -> Tree:
        try:
            self._next()  # the start of the stream
            event = self._next()
            if isinstance(event, yaml.StreamEndEvent):
                raise self._fail("the file is empty; write at least `tests: []`")
            tree, _ = self._node(self._next(), 1)
            self._next()  # the end of the document
            event = self._next()
            if not isinstance(event, yaml.StreamEndEvent):
                raise self._error(event, "a second document in one file; keep one document in each file")
            return tree
        finally:
            self._loader.dispose()

    def _quoted(self, text: str) -> str:
        """*text* as a message quotes it."""
        return repr(one_line(text, 60)) if self._named else "…"

    def _error(self, event: Any, message: str) -> Unreadable:
        return self._fail(message, event.start_mark.line, event.start_mark.column)

    def _node(self, event: Any, depth: int) -> tuple[Tree, int]:
        """The node that begins with *event*, and how deep it is nested in itself."""
        kind = cast(object, type(event))
        mark = event.start_mark
        budget = self._budget
        budget.left -= 1
        if budget.left < 0:
            raise self._error(event, f"the suite has more than {MOST_NODES:,} values, aliases resolved; use templates, or split it")
        if depth > MOST_DEPTH:
            raise self._error(event, f"nested deeper than {MOST_DEPTH} levels")
        if kind is yaml.AliasEvent:
            return self._alias(event, depth)
        if event.tag is not None:
            raise self._error(event, f"the tag {self._quoted(str(event.tag))} is not allowed; remove it")
        place = self._file | (min(mark.line, _COLUMN) << _LINE_BITS) | min(mark.column, _COLUMN)
        if kind is yaml.ScalarEvent:
            tree: Tree = Scalar(place, event.value, event.implicit[0])
            if event.anchor is not None:
                self._anchors[event.anchor] = tree, 1, 1
            return tree, 1
        before = budget.left
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        if kind is yaml.SequenceStartEvent:
            tree, height = self._items(place, depth)
        else:
            tree, height = self._mapping(place, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = tree, before - budget.left + 1, height
        return tree, height

    def _alias(self, event: Any, depth: int) -> tuple[Tree, int]:
        name = event.anchor
        shown = one_line(name, 60) if self._named else "…"
        if name not in self._anchors:
            raise self._error(event, f"the alias *{shown} has no anchor before it")
        found = self._anchors[name]
        if found is None:
            raise self._error(event, f"the alias *{shown} stands inside its own anchor")
        tree, count, height = found
        self._budget.left -= count
        if self._budget.left < 0:
            raise self._error(event, f"the alias *{shown} makes the suite larger than {MOST_NODES:,} values")
        if depth + height - 1 > MOST_DEPTH:
            raise self._error(event, f"the alias *{shown} makes the nesting deeper than {MOST_DEPTH} levels")
        return tree, height

    def _items(self, place: Place, depth: int) -> tuple[Tree, int]:
        items: list[Tree] = []
        highest = 0
        get = self._next
        while type(event := get()) is not yaml.SequenceEndEvent:
            item, height = self._node(event, depth + 1)
            items.append(item)
            highest = max(highest, height)
        return Items(place, items), highest + 1

    def _mapping(self, place: Place, depth: int) -> tuple[Tree, int]:
        entries: dict[str, tuple[Place, Tree]] = {}
        highest = 0
        get = self._next
        while type(event := get()) is not yaml.MappingEndEvent:
            if type(event) is not yaml.ScalarEvent:
                raise self._error(event, "a key is a text, not an alias, a list or a mapping")
            key = event.value
            child, _ = self._node(event, depth + 1)
            if key in entries:
                line = parts_of(entries[key][0])[1]
                self._repeated(child.place, f"the key {self._quoted(key)} stands twice in one mapping, first in line {line}")
            value, height = self._node(get(), depth + 1)
            entries.setdefault(key, (child.place, value))
            highest = max(highest, height)
        return Mapping(place, entries), highest + 1
