"""Classes outside of the library that the user trusts: where they are, what their source is, and how a worker loads them.

A path is `file:FILE.py::NAME`, or a dotted name such as `package.module.NAME`. Only the worker imports anything, and only after the user
has named the folder or the package; the driver reads source and hashes it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import operator
import os
import re
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opera.atomic import read_file
from opera.bounded_json import Malformed

SOURCE = "source"
"""The context fact of an instance with such classes: the hash of their source."""
FILE_PATH = re.compile(r"file:(?P<file>[^\x00-\x1f]+\.py)::(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)", re.ASCII)
LIBRARY_HEADS = ("torch", "builtins", "math", "operator")
"""How the paths begin that PyTorch's list of operators decides on."""
_MOST_BYTES = 8 * 2**20
"""Most bytes of a source file; a longer one is no class that a person wrote."""
_MOST_FILES = 2_000


class Unfit(Exception):
    """A path that cannot be used; the message says why, and what to do."""


@dataclass(frozen=True)
class Located:
    """The file that has a class, as a module.

    Attributes:
        file: Real path.
        module: Its name below one of the folders on the search path; None where it has none.
        name: Name of the class in the module, with dots.
    """

    file: Path
    module: str | None
    name: str


@dataclass(frozen=True)
class Trust:
    """The folders and files whose code the user lets run.

    Attributes:
        folders: Real paths of the trusted folders and files.
        roots: Real paths of the folders from which `file:` paths and imports are looked up, the first one first.
        bases: The folders that hold trusted packages, where only these are looked up.
    """

    folders: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()

    def message(self) -> dict[str, list[str]]:
        """The form that a worker is sent."""
        return {"folders": list(self.folders), "roots": list(self.roots), "bases": list(self.bases)}

    @staticmethod
    def of(message: Mapping[str, Any] | None) -> Trust:
        """The trust that `message` has written."""
        return Trust() if not message else Trust(*(tuple(message[each]) for each in ("folders", "roots", "bases")))

    def covers(self, path: str) -> bool:
        """Whether the class at *path* is the user's own, and trusted."""
        try:
            self.located(path)
        except Unfit:
            return False
        return True

    def located(self, path: str) -> Located:
        """The module and the name of *path*.

        Raises:
            Unfit: it is the library's, it is not found, or its file is not trusted.
        """
        if not is_foreign(path):
            raise Unfit(f"{path} belongs to the library")
        if is_standard(path):
            raise Unfit(f"{path} belongs to Python's standard library, which has no classes of models; remove it")
        match = FILE_PATH.fullmatch(path)
        found = next(self._dotted(path) if match is None else self._in_file(match["file"], match["name"]), None)
        if found is None:
            raise Unfit(f"{path} is not found below {', '.join(self.roots)}; name its folder with --root")
        if not self.has(found.file):
            raise Unfit(f"{path} is not trusted; if you trust its code, add --trust {found.file.parent}")
        return found

    def has(self, file: Path) -> bool:
        """Whether *file*, a real path, is trusted."""
        return any(file == Path(each) or Path(each) in file.parents for each in self.folders)

    def _in_file(self, file: str, name: str) -> Iterator[Located]:
        for root in self.roots:
            candidate = Path(root) / file
            if candidate.is_file():
                real = candidate.resolve()
                yield Located(real, self._module(real), name)

    def _module(self, file: Path) -> str | None:
        for root in self.roots:
            if Path(root) in file.parents:
                parts = file.relative_to(root).with_suffix("").parts
                if all(each.isidentifier() for each in parts):
                    return ".".join(parts)
        return None

    def _dotted(self, path: str) -> Iterator[Located]:
        parts = path.split(".")
        for root in (*self.roots, *self.bases):
            found = _module_below(Path(root), parts[:-1])
            if found is not None and (root in self.roots or self.has(found[0].resolve())):
                file, length = found
                yield Located(file.resolve(), ".".join(parts[:length]), ".".join(parts[length:]))

    def sources(self, paths: Iterable[str]) -> list[Path]:
        """The files of the classes at *paths* and of the modules below the roots that they import, sorted.

        Raises:
            Unfit: as `located`, or there are too many.
        """
        pending = [self.located(each).file for each in paths]
        found: set[Path] = set()
        while pending:
            file = pending.pop()
            if file in found:
                continue
            found.add(file)
            if len(found) > _MOST_FILES:
                raise Unfit(f"{pending[0] if pending else file} and what it imports are more than {_MOST_FILES:,} files")
            pending += self._imported(file)
        return sorted(found)

    def _imported(self, file: Path) -> Iterator[Path]:
        """The files below the roots that *file* imports, wherever in it the import stands."""
        try:
            tree = ast.parse(_content(file))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                wanted = [each.name.split(".") for each in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = (node.module or "").split(".") if node.module else []
                wanted = [[*base, each.name] for each in node.names]
            else:
                continue
            folders = [Path(each) for each in (*self.roots, *self.bases)]
            if isinstance(node, ast.ImportFrom) and node.level:
                folders = [file.parents[node.level - 1]] if node.level <= len(file.parents) else []
            for parts in wanted:
                for folder in folders:
                    yield from (each for each in _files_below(folder, parts) if str(folder) not in self.bases or self.has(each))

    def hash(self, paths: Iterable[str]) -> str:
        """Hash of the source of the classes at *paths*: 64 hexadecimal digits. Where the files lie does not enter.

        Raises:
            Unfit: as `sources`, or a file cannot be read.
        """
        digest = hashlib.sha256()
        for content in sorted(hashlib.sha256(_content(each)).digest() for each in self.sources(paths)):
            digest.update(content)
        return digest.hexdigest()


def is_foreign(path: str) -> bool:
    """Whether *path* names something that is not the library's own."""
    return path.startswith("file:") or path.partition(".")[0] not in LIBRARY_HEADS


def is_standard(path: str) -> bool:
    """Whether *path* names something of Python's standard library."""
    return path.partition(".")[0] in sys.stdlib_module_names and not path.startswith("file:")


def package_below(folder: Path, name: str) -> tuple[Path, Path] | None:
    """The folder or file of the package *name*, and the folder that has it, *folder*; None where it is not there."""
    place = folder.joinpath(*name.split("."))
    found = place if place.is_dir() else place.with_name(f"{place.name}.py")
    return (found, folder) if found.exists() else None


def _content(file: Path) -> bytes:
    try:
        return read_file(file, _MOST_BYTES)
    except Malformed as error:
        raise Unfit(f"{file} cannot be used: {error}") from error
    except OSError as error:
        raise Unfit(f"{file} cannot be read: {error.strerror or error}") from error


def _module_below(folder: Path, parts: list[str]) -> tuple[Path, int] | None:
    """The file of the module that *parts* begin with, and how many of them name it."""
    for length, part in enumerate(parts, 1):
        if (folder / f"{part}.py").is_file():
            return folder / f"{part}.py", length
        folder = folder / part
        if not folder.is_dir():
            break
        if length == len(parts) and (folder / "__init__.py").is_file():
            return folder / "__init__.py", length
    else:
        return None
    above = folder.parent / "__init__.py"
    return (above, length - 1) if length > 1 and above.is_file() else None


def _files_below(folder: Path, parts: list[str]) -> Iterator[Path]:
    """The files that an import of *parts* runs: of the packages, and of the module."""
    for length in range(1, len(parts) + 1):
        place = folder.joinpath(*parts[:length])
        for file in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
            if file.is_file():
                yield file.resolve()


@dataclass
class _Granted:
    """What this process may load."""

    trust: Trust = field(default_factory=Trust)
    modules: dict[Path, types.ModuleType] = field(default_factory=dict[Path, types.ModuleType])


_GRANTED = _Granted()


def grant(trust: Trust) -> None:
    """Lets this process, a worker, load what *trust* covers."""
    _GRANTED.trust = trust
    sys.path += [each for each in trust.roots if each not in sys.path]


def granted() -> Trust:
    """What this process may load; nothing in the driver."""
    return _GRANTED.trust


def load(path: str) -> Any:
    """The class or function at *path*. Runs the code of its module.

    Raises:
        Unfit: as `Trust.located`, or the name means something that the module took from elsewhere.
        ImportError: the module cannot be imported.
        AttributeError: it lacks the name.
    """
    place = _GRANTED.trust.located(path)
    module = _GRANTED.modules.get(place.file) or _imported_module(place)
    _GRANTED.modules[place.file] = module
    found = operator.attrgetter(place.name)(module)
    home = sys.modules.get(str(getattr(found, "__module__", None)))
    own = getattr(home, "__file__", None)
    if not isinstance(found, (type, types.FunctionType)) or own is None or not _GRANTED.trust.has(Path(own).resolve()):
        raise Unfit(f"{path} is no class or function of a trusted file; name it where it is defined")
    return found


def _imported_module(place: Located) -> types.ModuleType:
    """The module of a file: by its own name, so that its neighbours get the same one; by another where that name is taken."""
    if place.module is not None:
        module = importlib.import_module(place.module)
        if os.path.realpath(str(getattr(module, "__file__", ""))) == str(place.file):
            return module
    name = f"_trusted_{hashlib.sha256(str(place.file).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, place.file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{place.file} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
