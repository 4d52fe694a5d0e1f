"""The names of a library that an instance may call: a list with reasons, `corpora/operators/LIBRARY.toml`, for all instances."""

from __future__ import annotations

import functools
import inspect
import keyword
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, cast

from opera.instance import Call, Enum, Instance, Named
from opera.instance.values import walk
from opera.models.template import Invalid
from opera.trust import granted

FOLDER = Path(__file__).resolve().parents[1] / "corpora" / "operators"
NOT_AN_OPERATOR = "not-an-operator"
"""Reason code of an instance that would call what no row admits."""
_SCHEMA = 1
_PATTERN = re.compile(r"[*?\[]")


def not_an_operator(why: str) -> Invalid:
    """The error for an instance that must not be called, with *why* as its cause."""
    error = Invalid(NOT_AN_OPERATOR)
    error.__cause__ = PermissionError(why)
    return error


Row = Mapping[str, Any]
"""A table of such a file."""


@cache
def operators_of(library: str) -> Operators:
    """The list of *library*, read once."""
    return Operators(library, tomllib.loads((FOLDER / f"{library}.toml").read_text(encoding="utf-8")))


class Operators:
    """The rows of one library."""

    def __init__(self, library: str, table: Row) -> None:
        """*table* is what the file holds; raises ValueError for one that is malformed."""
        if table.get("schema") != _SCHEMA or table.get("library") != library:
            raise ValueError(f"{library}.toml: expected schema {_SCHEMA} and library {library!r}")
        if unknown := table.keys() - {"schema", "library", "operators", "values", "refused", "files"}:
            raise ValueError(f"{library}.toml: there is no key {min(unknown)!r}")
        self._library = library
        self._operators = _Names(table.get("operators", ()))
        self._values = _Names(table.get("values", ()))
        self._refused = _Names(table.get("refused", ()))
        self._files = _Names(table.get("files", ()))
        self._objections: dict[tuple[str, bool], str | None] = {}

    def objection(self, path: str, *, called: bool = True) -> str | None:
        """Why the object at the dotted name *path* must not be called, or given as an argument; None where a row admits it."""
        if (path, called) not in self._objections:
            self._objections[path, called] = self._looked_up(path, called)
        return self._objections[path, called]

    def check(self, path: str, *, called: bool = True) -> None:
        """Raises `Invalid` where there is an objection."""
        why = self.objection(path, called=called)
        if why is not None:
            raise not_an_operator(why)

    def guarded(self, path: str, target: Callable[..., Any]) -> Callable[..., Any]:
        """*target*, the object at *path*; where a row says which of its arguments name files, as a function that refuses these."""
        row = self._files.row(path.split("."))
        if row is None:
            return target

        @functools.wraps(target, updated=())
        def call(*positional: Any, **keywords: Any) -> Any:
            signature = inspect.signature(target)
            bound = {**signature.bind(*positional, **keywords).arguments, **keywords}
            for name in row["arguments"]:
                if name not in signature.parameters or isinstance(bound.get(name), (str, bytes, os.PathLike)):
                    raise not_an_operator(f"{path} with a text as {name!r}: {row['reason']}")
            return target(*positional, **keywords)

        return call

    def check_instance(self, instance: Instance) -> None:
        """Raises `Invalid` where *instance* names anything that must not be called, in its API, its arguments or its context."""
        self.check(instance.api)
        self._check_files(instance.api, [(each.name if each.keyword else None, each.value) for each in instance.arguments()])
        given = [*(argument.value for argument in instance.arguments()), *(value for _, value in instance.context)]
        for value in given:
            for each in walk(value):
                self._check_value(each)

    def _check_value(self, value: object) -> None:
        if isinstance(value, Call):
            self.check(value.api)
            self._check_files(value.api, value.arguments)
        elif isinstance(value, (Named, Enum)):
            self.check(value.path, called=False)
        elif isinstance(value, dict) and "class_name" in value:
            self._check_described(cast("dict[object, object]", value))

    def _check_files(self, path: str, arguments: Iterable[tuple[object, object]]) -> None:
        """Refuses a text as an argument that names a file. Which one a positional argument is, only the library knows."""
        row = self._files.row(path.split("."))
        if row is None:
            return
        for name, value in arguments:
            if isinstance(value, (str, bytes)) and (name is None or name in row["arguments"]):
                raise not_an_operator(f"{path} with a text as {name or 'an argument'!r}: {row['reason']}")

    def _check_described(self, description: Mapping[object, object]) -> None:
        """Checks the class or function that a dictionary describes, as Keras writes objects down: Keras would make it."""
        module, name, config = description.get("module"), description["class_name"], description.get("config")
        if name == "function":
            name, config = config, None
        if not isinstance(module, str) or not isinstance(name, str) or description.get("registered_name") is not None:
            raise not_an_operator(f"a dictionary that describes an object of {module!r}.{name!r}, which is no class of {self._library}")
        self.check(f"{module}.{name}")
        if isinstance(config, dict):
            self._check_files(f"{module}.{name}", cast("dict[object, object]", config).items())

    def _looked_up(self, path: str, called: bool) -> str | None:
        if called and granted().covers(path):
            return None
        parts = path.split(".")
        if not all(is_name(part) for part in parts):
            return f"{path!r} is no dotted name"
        refused = next((row for end in range(2, len(parts) + 1) if (row := self._refused.row(parts[:end])) is not None), None)
        if refused is not None:
            return f"{path} is refused: {refused['reason']}"
        if self._operators.row(parts) is not None or (not called and self._values.row(parts) is not None):
            return None
        return f"{path} is in no row of {self._library}.toml in {FOLDER.parent.name}/{FOLDER.name}, which lists what may be called"


class _Names:
    """Rows by the names and patterns that they hold."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._exact: dict[str, Row] = {}
        self._patterns: list[tuple[list[str], Row]] = []
        for row in rows:
            if not row.get("reason"):
                raise ValueError(f"the row of {row.get('below')!r} gives no reason")
            for name in row["names"]:
                path = f"{row['below']}.{name}"
                if _PATTERN.search(name):
                    self._patterns.append((path.split("."), row))
                else:
                    self._exact.setdefault(path, row)

    def row(self, parts: Sequence[str]) -> Row | None:
        """The first row that names *parts*, the components of a name; None if no row does."""
        found = self._exact.get(".".join(parts))
        return found if found is not None else next((row for pattern, row in self._patterns if _matches(pattern, parts)), None)


def _matches(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether every component fits its own pattern; a private one fits only a pattern that begins with as many underscores."""
    return len(pattern) == len(parts) and all(
        fnmatchcase(part, each) and _underscores(part) == _underscores(each) for each, part in zip(pattern, parts, strict=True)
    )


def _underscores(name: str) -> int:
    return min(2, len(name) - len(name.lstrip("_")))


def is_name(text: str) -> bool:
    """Whether *text* can stand in source as a name."""
    return text.isascii() and text.isidentifier() and not keyword.iskeyword(text)
