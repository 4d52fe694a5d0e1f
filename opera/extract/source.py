"""The plug-in interface of a source, the built-in sources that corpora/*.toml describe, and sources whose entries are files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from opera.errors import EnvironmentBroken, UserError
from opera.extract.description import INSTRUMENTATION, LibraryDescription, SourceDescription, SuiteDescription, unknown
from opera.extract.host import answer
from opera.untrusted import JsonObject

GROUP = "opera.sources"


@dataclass(frozen=True)
class Request:
    """The request to a host.

    Attributes:
        python: The library's interpreter.
        recording: The file that the host writes, in the format of `opera.instrumentation.stream`.
        scratch: A folder for whatever else the host needs.
        seed: Seed of everything random.
        shard: Which part of the source, counted from 0.
        shards: How many parts there are.
        after: Run only entries with a higher number than this.
        only: Run only entries that match one of these patterns; all when empty.
        options: Arguments of the host, overriding its defaults.
        suite: The folder or file that the user named, for a source whose entries are files.
        runner: What runs such files, in place of what the description says; empty for that.
        arguments: Arguments of pytest, in addition to the description's arguments.
        timeout: Seconds that one host may take, in place of what the description says.
    """

    python: str
    recording: Path
    scratch: Path
    seed: int = 0
    shard: int = 0
    shards: int = 1
    after: int = -1
    only: tuple[str, ...] = ()
    options: Mapping[str, str] | None = None
    suite: Path | None = None
    runner: str = ""
    arguments: tuple[str, ...] = ()
    timeout: float | None = None


@runtime_checkable
class Source(Protocol):
    """Where a library's tests come from. Third parties register one under the entry-point group `opera.sources`.

    A source only says which command to run; starting, watching and killing it, and reading what it wrote, is the driver's part.
    """

    @property
    def library(self) -> str:
        """The library whose tests these are, e.g. `pytorch`."""
        ...

    @property
    def name(self) -> str:
        """How users call it."""
        ...

    @property
    def description(self) -> SourceDescription:
        """Limits and options of the source."""
        ...

    def command(self, request: Request) -> Sequence[str]:
        """The command that runs one shard and writes `request.recording`."""
        ...


@dataclass(frozen=True)
class DeclaredSource:
    """A built-in source: one of the hosts, as corpora/*.toml describes it."""

    owner: LibraryDescription
    description: SourceDescription

    @property
    def library(self) -> str:
        return self.owner.library

    @property
    def name(self) -> str:
        return self.description.name

    def command(self, request: Request) -> list[str]:
        """The command line of the host; writes its filters next to the recording."""
        options = {**self.description.options, **(request.options or {})}
        filters = request.recording.with_suffix(".filters.json")
        filters.write_text(json.dumps(self.filters()), encoding="utf-8")
        command = [request.python, str(INSTRUMENTATION / "__main__.py"), self.description.host]
        command += ["--recording", str(request.recording), "--source", self.name, "--seed", str(request.seed)]
        command += ["--shard", f"{request.shard}/{request.shards}", "--after", str(request.after), "--filters", str(filters)]
        command += [f"--only={pattern}" for pattern in request.only]
        shown = "".join(self.description.environment.values())
        command += [f"--{name}={value}" for name, value in options.items() if f"{{{name}}}" not in shown]
        return command

    def environment(self, request: Request) -> dict[str, str]:
        """Environment variables of the host."""
        options = {**self.description.options, **(request.options or {})}
        return {name: value.format_map(options) for name, value in self.description.environment.items()}

    def filters(self) -> JsonObject:
        """Noise and exclusions in the form that hosts read."""
        return {
            "noise": [[api, row.group] for row in self.owner.noise for api in row.apis],
            "exclude": [entry for row in self.description.exclude for entry in row.entries],
        }


def sources_of(description: LibraryDescription) -> dict[str, Source]:
    """All sources of a library by name: the declared ones, then those of third parties."""
    found: dict[str, Source] = {source.name: DeclaredSource(description, source) for source in description.sources}
    for name, source in _plugins():
        if isinstance(source, Exception):
            continue
        if source.library == description.library:
            found.setdefault(name, source)
    return found


def select(description: LibraryDescription, names: Sequence[str] | None) -> list[Source]:
    """The sources called *names*, all but those on request when None.

    Raises:
        UserError: there is no such source.
        EnvironmentBroken: a third party's source of that name does not load.
    """
    known = sources_of(description)
    broken = {name: error for name, error in _plugins() if isinstance(error, Exception)}
    chosen: list[Source] = []
    for name in [name for name in known if not known[name].description.on_request] if names is None else dict.fromkeys(names):
        if name not in known and name in broken:
            raise EnvironmentBroken(f"the source {name!r} is installed but does not load: {broken[name]}")
        if name not in known:
            raise unknown(f"{description.library} has no source", name, known)
        chosen.append(known[name])
    return chosen


def _plugins() -> list[tuple[str, Source | Exception]]:
    """The sources of third parties; a broken one is an exception in its place and breaks nothing else."""
    found: list[tuple[str, Source | Exception]] = []
    for entry in entry_points(group=GROUP):
        try:
            loaded: Any = entry.load()
            source = loaded() if isinstance(loaded, type) else loaded
            if not isinstance(source, Source):
                raise TypeError(f"{entry.value} is no source: see opera.extract.Source")
            found.append((source.name, source))
        except Exception as error:
            found.append((entry.name, error))
    return found


_NOT_RUN = ("__init__.py", "conftest.py")
"""Files that Python and pytest load by themselves."""
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
        wanted = "--model PATH" if suite.option else "--suite DIR or --scripts DIR"
        raise UserError(f"{source.library}/{source.name} needs a folder; add {wanted}")
    if not named.exists():
        raise UserError(f"{named} does not exist; name a folder, or one file")
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
    """A source as a list of files: the number of a shard is the number of a file."""

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

    def warm_command(self, request: Request) -> list[str]:
        """The command line of a process that imports what all files need, and runs each in a copy of itself."""
        line = [request.python, str(INSTRUMENTATION / "__main__.py"), self.description.host, "--library", self.library]
        line += ["--shim", self.suite.shim] if self.suite.shim else []
        return [*line, *(f"--import={module}" for module in self.suite.imports)]


def settings_of(request: Request) -> str:
    """All settings that decide the instances of a file, as text."""
    parts = [request.python, request.seed, request.runner, list(request.arguments), sorted((request.options or {}).items())]
    return json.dumps(parts)


def part(request: Request, files: Files) -> Request:
    """The request with one shard per file."""
    return replace(request, shards=len(files.names), only=())


def _matching(folder: Path, root: Path, suite: SuiteDescription) -> list[str]:
    found: list[str] = []
    for path in folder.rglob("*"):
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
        raise EnvironmentBroken(f"{python} has no package {package} with test files; install the package there")
    return path
