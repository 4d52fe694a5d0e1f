"""Reads the files of a suite with what they include, and collects what is wrong.

Included files lie in the folder of a file that the user has named, or below; links are resolved first. Messages quote the content of a file
that the user has not named only if it looks like a suite.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opera.console import one_line
from opera.extensions.opidiff.fields import Fields, Wrong, shown
from opera.extensions.opidiff.problems import MOST_PROBLEMS, SuiteProblem, one_of
from opera.extensions.opidiff.table import DOCUMENT
from opera.extensions.opidiff.tree import Budget, Items, Mapping, Place, Scalar, Tree, Unreadable, content_of, parts_of, read_tree

_MOST_FILES = 1_000
_MOST_INCLUDES = 50
"""Files that include each other in a chain."""


class TooManyProblems(Exception):
    """Enough errors were found; what follows is not read."""


@dataclass
class Problems:
    """Collects errors and warnings.

    Attributes:
        files: All files, in the order of loading, as they are shown.
        found: In the order of reading.
        errors: How many of them are errors.
        test, operator: Where the reader is.
    """

    files: list[str] = field(default_factory=list[str])
    found: list[SuiteProblem] = field(default_factory=list[SuiteProblem])
    errors: int = 0
    test: str | None = None
    operator: str | None = None
    _seen: set[tuple[Place, str]] = field(default_factory=set[tuple[Place, str]])
    _reports: int = 0

    def report(self, place: Place, where: str, message: str, warning: bool) -> None:
        """Adds a problem once. Raises `TooManyProblems` after the last error that is collected."""
        self._reports += not warning
        if (place, message) not in self._seen and not (warning and self.many_warnings):
            self._seen.add((place, message))
            file, line, column = parts_of(place)
            self.add(SuiteProblem(file, line, column, self.files[file], message, self.test, self.operator, where or None, warning))
        if self.errors >= MOST_PROBLEMS or self._reports >= 10 * MOST_PROBLEMS:
            raise TooManyProblems

    def add(self, problem: SuiteProblem) -> None:
        """Adds an error or a warning to the list."""
        self.found.append(problem)
        self.errors += not problem.warning

    @property
    def many_warnings(self) -> bool:
        """Whether further warnings are left out."""
        return len(self.found) - self.errors >= MOST_PROBLEMS


@dataclass
class Definitions:
    """What all files define together: for each name, the place of its key and its tree."""

    dims: dict[str, int] = field(default_factory=dict[str, int])
    presets: dict[str, Tree] = field(default_factory=dict[str, Tree])
    tests: list[Tree] = field(default_factory=list[Tree])
    places: dict[tuple[str, str], Place] = field(default_factory=dict[tuple[str, str], Place])


class SuiteFiles:
    """Reads files into *definitions*."""

    def __init__(self, definitions: Definitions, reader: Fields, problems: Problems, budget: Budget) -> None:
        self._all = definitions
        self._reader = reader
        self._problems = problems
        self._budget = budget
        self._paths: dict[str, str] = {}
        self._named: set[str] = set()
        self._bounds: set[str] = set()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of the files."""
        return tuple(dict.fromkeys(Path(each).parent for each in self._paths))

    def read(self, paths: Sequence[Path]) -> None:
        """Reads *paths* and what they include."""
        for path in paths:
            real = os.path.realpath(path)
            self._named.add(real)
            self._bounds |= {os.path.dirname(real), os.path.realpath(path.parent)}
        for path in paths:
            self._file(path, str(path), [], None)

    def _error(self, tree: Tree | Place, where: str, message: str) -> Wrong:
        return self._reader.fail(tree, where, message)

    def _may_read(self, real: str) -> bool:
        """Whether a file may include the one at *real*."""
        return real in self._named or any(os.path.commonpath([real, each]) == each for each in self._bounds)

    def _file(self, path: Path, name: str, chain: list[str], include: Tree | None) -> None:
        real = os.path.realpath(path)
        if include is not None and not self._may_read(real):
            why = "lies outside of the suite's folder; copy it there, or name it on the command line"
            self._error(include, "include", f"the file {one_line(name, 120)!r} {why}")
            return
        if include is not None and real in chain:
            names = " -> ".join(self._paths[each] for each in [*chain[chain.index(real) :], real])
            self._error(include, "include", f"the files include each other: {one_line(names, 300)}")
            return
        if real in self._paths:
            return
        if include is not None and (len(chain) >= _MOST_INCLUDES or len(self._problems.files) >= _MOST_FILES):
            self._error(include, "include", f"more than {_MOST_INCLUDES} files in a chain of includes, or {_MOST_FILES:,} in all")
            return
        if include is not None and not path.exists():
            self._error(include, "include", f"there is no file {one_line(name, 120)!r}; paths are relative to the file that includes them")
            return
        number = len(self._problems.files)
        try:
            data = content_of(Path(real))
        except ValueError as error:
            if include is not None:
                self._error(include, "include", f"the file {one_line(name, 120)!r} {error}")
                return
            self._problems.files.append(name)
            self._problems.add(SuiteProblem(number, 1, 1, name, f"the file {error}"))
            return
        self._problems.files.append(name)
        self._paths[real] = name
        try:
            tree = self._tree(data, name, number, named=real in self._named)
            self._document(tree, path, name, [*chain, real])
        except Unreadable as error:
            self._problems.add(error.problem)
        except Wrong:
            return

    def _tree(self, data: bytes, name: str, number: int, *, named: bool) -> Tree:
        """The document of a file; of one that the user has not named, only if it looks like a suite."""
        tree = read_tree(data, name, number, self._budget, lambda place, text: self._problems.report(place, "", text, False), named=named)
        if not named:
            strange = () if isinstance(tree, Mapping) else (tree.place,)
            if isinstance(tree, Mapping):
                strange = tuple(place for key, (place, _) in tree.entries.items() if key not in DOCUMENT.names)
            if strange:
                raise self._error(strange[0], "", f"this is no suite: the keys at the top of one are {one_of(DOCUMENT.names)}")
        return tree

    def _document(self, tree: Tree, path: Path, name: str, chain: list[str]) -> None:
        document = self._reader.mapping(tree, "", "a suite")
        self._reader.check_fields(document, DOCUMENT, "")
        include = document.get("include")
        if include is not None:
            for each in include.items if isinstance(include, Items) else [include]:
                if not isinstance(each, Scalar) or not isinstance(each.value, str) or "\0" in each.text:
                    self._error(each, "include", f"include is a file name or a list of file names, not {shown(each)}")
                    continue
                target = path.parent / each.text
                self._file(target, os.path.normpath(os.path.join(os.path.dirname(name), each.text)), chain, each)
        for section in ("dims", "presets"):
            part = document.get(section)
            if part is not None and not is_null(part):
                self._define(section, part)
        tests = document.get("tests")
        if tests is not None and not is_null(tests):
            try:
                self._all.tests.extend(self._reader.items(tests, "tests", "tests"))
            except Wrong:
                return
        elif tests is not None:
            self._error(tests, "tests", "tests is a list, not null; write `tests: []` for no tests")

    def _define(self, section: str, part: Tree) -> None:
        try:
            entries = self._reader.mapping(part, section, section).entries
        except Wrong:
            return
        for name, (place, tree) in entries.items():
            earlier = self._all.places.setdefault((section, name), place)
            if earlier != place:
                file, line, _ = parts_of(earlier)
                what = "dimension" if section == "dims" else "preset"
                self._error(
                    place, section, f"the {what} {one_line(name, 60)!r} is defined twice, first in {self._problems.files[file]}:{line}"
                )
            elif section == "presets":
                self._all.presets[name] = tree
            else:
                self._dimension(name, place, tree)

    def _dimension(self, name: str, place: Place, tree: Tree) -> None:
        value = tree.value if isinstance(tree, Scalar) else None
        self._all.dims[name] = 1  # so that its uses are no errors, where its value is one
        if not name or not isinstance(Scalar(place, name, True).value, str):
            self._error(place, "dims", f"{one_line(name, 60)!r} is no name of a dimension; use a word, because numbers are sizes")
        elif isinstance(value, bool) or not isinstance(value, int):
            self._error(tree, f"dims.{name}", f"a dimension is an integer, not {shown(tree)}")
        elif not 0 <= value < 2**63:
            self._error(tree, f"dims.{name}", f"the dimension {value} is {'negative' if value < 0 else 'too large'}")
        else:
            self._all.dims[name] = value


def is_null(tree: Tree) -> bool:
    """Whether *tree* is null."""
    return isinstance(tree, Scalar) and tree.value is None
