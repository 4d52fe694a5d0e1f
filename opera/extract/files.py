"""Sources whose entries are the files of a folder: a library's test suite, or any folder of tests and scripts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from opera.errors import EnvironmentBroken, UserError
from opera.extract.description import INSTRUMENTATION, SourceDescription, SuiteDescription
from opera.extract.host import answer
from opera.extract.source import DeclaredSource, Request

_NOT_RUN = ("__init__.py", "conftest.py")
"""What Python and pytest load by themselves."""
_FIND = "import importlib.util, sys; print('\\n' + (importlib.util.find_spec(sys.argv[1]).submodule_search_locations or [''])[0])"


@dataclass(frozen=True)
class Files:
    """The files of a suite.

    Attributes:
        root: The folder of the suite.
        names: Paths relative to it, sorted.
    """

    root: Path
    names: tuple[str, ...]

    def mark(self, name: str, settings: str) -> str:
        """Changes with the content of the file and with *settings*."""
        return hashlib.sha256(settings.encode() + b"\0" + (self.root / name).read_bytes()).hexdigest()


def find_files(source: DeclaredSource, suite: SuiteDescription, request: Request) -> Files:
    """The files that *request* asks for.

    Raises:
        UserError: no folder was named, it does not exist, or nothing in it matches.
        EnvironmentBroken: the package that should hold them is not installed.
    """
    named = request.suite if request.suite is not None else _package(request.python, suite.package, request.scratch)
    if named is None:
        raise UserError(f"{source.library}/{source.name} needs a folder: --suite DIR or --scripts DIR")
    if not named.exists():
        raise UserError(f"{named} does not exist; name a folder of tests, or one file")
    root = named.parent if suite.package and request.suite is None else named if named.is_dir() else named.parent
    names = [named.name] if named.is_file() else sorted(_matching(named, root, suite))
    exclude = [pattern for row in source.description.exclude for pattern in row.entries]
    chosen = [name for name in names if _wanted(name, request.only) and not any(fnmatchcase(name, pattern) for pattern in exclude)]
    if not chosen:
        what = f"--only {' '.join(request.only)}" if request.only else " ".join(suite.files)
        raise UserError(f"no file under {named} matches {what}")
    return Files(root.resolve(), tuple(chosen))


@dataclass(frozen=True)
class FileSource:
    """A source as a row of files: the number of a shard is that of a file."""

    base: DeclaredSource
    suite: SuiteDescription
    files: Files

    @property
    def library(self) -> str:
        return self.base.library

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def description(self) -> SourceDescription:
        return self.base.description

    def environment(self, request: Request) -> dict[str, str]:
        """Environment variables of the host."""
        return self.base.environment(request)

    def command(self, request: Request) -> list[str]:
        """The command line that runs one file."""
        filters = request.recording.with_suffix(".filters.json")
        filters.write_text(json.dumps(self.base.filters()), encoding="utf-8")
        line = [request.python, str(INSTRUMENTATION / "__main__.py"), self.description.host, "--library", self.library]
        line += ["--recording", str(request.recording), "--source", self.name, "--seed", str(request.seed), "--filters", str(filters)]
        line += ["--shard", f"{request.shard}/{request.shards}", "--root", str(self.files.root)]
        line += [f"--file={self.files.names[request.shard]}", "--runner", request.runner or self.suite.runner]
        line += ["--shim", self.suite.shim] if self.suite.shim else []
        line += [f"--pytest={argument}" for argument in self.suite.arguments]
        return [*line, "--", *request.arguments]


def settings_of(request: Request) -> str:
    """Everything that decides what a file gives, as text."""
    parts = [request.python, request.seed, request.runner, list(request.arguments), sorted((request.options or {}).items())]
    return json.dumps(parts)


def part(request: Request, files: Files) -> Request:
    """The request with one shard per file."""
    return replace(request, shards=len(files.names), only=())


def _matching(folder: Path, root: Path, suite: SuiteDescription) -> list[str]:
    found: list[str] = []
    for path in folder.rglob("*.py"):
        name = path.relative_to(root)
        hidden = any(piece.startswith(".") or piece == "__pycache__" for piece in name.parts)
        if not hidden and path.name not in _NOT_RUN and path.is_file() and any(fnmatchcase(path.name, pattern) for pattern in suite.files):
            found.append(name.as_posix())
    return found


def _wanted(name: str, only: tuple[str, ...]) -> bool:
    return not only or any(fnmatchcase(name, pattern) or fnmatchcase(Path(name).name, pattern) for pattern in only)


def _package(python: str, package: str, scratch: Path) -> Path | None:
    """The folder of an installed package in the interpreter *python*; it is asked without importing the package."""
    if not package:
        return None
    lines = answer([python, "-c", _FIND, package], scratch).splitlines()
    path = Path(lines[-1]) if lines else Path()
    if not path.is_absolute() or not path.is_dir():
        raise EnvironmentBroken(f"{python} has no package {package} with test files in it")
    return path
