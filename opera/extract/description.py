"""The declarative description of a library's sources: corpora/<library>.toml, read and checked."""

from __future__ import annotations

import difflib
import importlib.util
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from opera.errors import UserError
from opera.plugins import registered

PACKAGE = Path(__file__).resolve().parents[1]
CORPORA = PACKAGE / "corpora"
GROUP = "opera.corpora"
"""Entry points of packages with a folder `corpora`: more libraries, or more sources of known ones."""
INSTRUMENTATION = PACKAGE / "instrumentation"
SCHEMA = 1
RUNNERS = ("auto", "pytest", "unittest", "script")


@dataclass(frozen=True)
class NoiseRow:
    """APIs that are no operators of a model; calls of them are counted under `noise:<group>` and not recorded."""

    group: str
    apis: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Exclusion:
    """Entries of a source that are not run."""

    entries: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class SuiteDescription:
    """How the files of a test suite are found and run. Every file runs in a process of its own, and `timeout` is for one file.

    Attributes:
        files: Shell patterns of the names of files.
        package: The package in which they ship; empty where the user names the folder.
        runner: `pytest`, `unittest`, `script`, or `auto`: whichever fits the file.
        arguments: Arguments of pytest.
        shim: A pytest plug-in in instrumentation/shims that stands in for what the suite misses; empty for none.
        imports: Modules that most files import, in addition to the library: they are imported once for all files.
        option: The option of the source that names the folder, where it is neither `--suite` nor `--scripts`; empty for none.
    """

    files: tuple[str, ...]
    package: str = ""
    runner: str = "auto"
    arguments: tuple[str, ...] = ()
    shim: str = ""
    imports: tuple[str, ...] = ()
    option: str = ""


@dataclass(frozen=True)
class SourceDescription:
    """One source of a library.

    Attributes:
        name: `opinfo`, `node-tests` ...
        host: The program in instrumentation/hosts that runs it, or, with dots, a module of an extension.
        summary: What it is, in one line.
        modules: What the host imports beyond the library's own modules.
        shards: The most hosts that are worth starting at a time.
        timeout: Seconds that one host may take.
        stall: Seconds for which one host may write nothing.
        options: Arguments of the host with their defaults.
        prepare: By option, `module:function` that turns what the user gives into what the host reads: path, library and an empty folder to
            the path of a file.
        environment: Environment variables of the host; `{option}` stands for the value of an option.
        exclude: Entries that are left out.
        suite: What a source has whose entries are the files of a folder; None for any other.
        on_request: Whether it runs only when it is asked for.
    """

    name: str
    host: str
    summary: str
    modules: tuple[str, ...] = ()
    shards: int = 1
    timeout: float = 1800.0
    stall: float = 180.0
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    prepare: Mapping[str, str] = field(default_factory=dict[str, str])
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    exclude: tuple[Exclusion, ...] = ()
    suite: SuiteDescription | None = None
    on_request: bool = False


@dataclass(frozen=True)
class LibraryDescription:
    """All sources of a library, with what they have in common.

    Attributes:
        library: `pytorch`, `onnx` ...
        modules: What must be importable in the library's interpreter.
        install: The command that installs them.
        sources: In the order in which they are extracted.
        noise: APIs that are no operators.
    """

    library: str
    modules: tuple[str, ...]
    install: str
    sources: tuple[SourceDescription, ...]
    noise: tuple[NoiseRow, ...]

    def source(self, name: str) -> SourceDescription:
        """The source called *name*; raises UserError with the valid names."""
        found = next((source for source in self.sources if source.name == name), None)
        if found is None:
            raise unknown(f"{self.library} has no source", name, (source.name for source in self.sources))
        return found


def folders() -> tuple[Path, ...]:
    """OPERA's folder of descriptions, then those of extensions; a package that is gone has none."""
    found = [CORPORA]
    for package in registered(GROUP).values():
        with suppress(ImportError):
            spec = importlib.util.find_spec(package)
            if spec is not None and spec.origin is not None:
                found.append(Path(spec.origin).parent / "corpora")
    return tuple(found)


def libraries(*places: Path) -> tuple[str, ...]:
    """The libraries that have a description in *places*, or else anywhere, in alphabetical order."""
    return tuple(sorted({path.stem for folder in places or folders() for path in folder.glob("*.toml")}))


def describe(library: str, *places: Path) -> LibraryDescription:
    """Reads the description of *library* in *places*, or else anywhere. Further files of that name add sources.

    Raises:
        UserError: the library has no description, or it is malformed; the message names file and row.
    """
    paths = [path for folder in places or folders() if (path := folder / f"{library}.toml").is_file()]
    if not paths:
        raise unknown("unknown library", library, libraries(*places))
    first, *others = (_read(path) for path in paths)
    description = _library(first)
    return replace(description, sources=(*description.sources, *(each for row in others for each in _more_sources(row))))


def _read(path: Path) -> _Row:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path.name}: not a TOML file: {error}") from error
    return _Row(path.name, table)


def unknown(problem: str, name: str, valid: Iterable[str]) -> UserError:
    """The error for a name that does not exist, with the nearest that does."""
    names = sorted(valid)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return UserError(f"{problem} {name!r}{hint}; choose one of: {', '.join(names) or 'none'}")


class _Row:
    """A TOML table with the place where it stands, for messages."""

    def __init__(self, place: str, table: Mapping[str, Any]) -> None:
        self.place = place
        self._table = table
        self._read: set[str] = set()

    def text(self, key: str, default: str | None = None) -> str:
        """A string that is not empty."""
        value = self._get(key, default)
        if not isinstance(value, str) or not value.strip():
            raise UserError(f"{self.place}: {key!r} must be a non-empty text, found {value!r}")
        return value

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of strings."""
        value = self._get(key, None if default is None else list(default))
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in cast("list[Any]", value)):
            raise UserError(f"{self.place}: {key!r} must be a list of texts, found {value!r}")
        if not value and default is None:
            raise UserError(f"{self.place}: {key!r} must not be empty")
        return tuple(cast("list[str]", value))

    def number(self, key: str, default: float) -> float:
        """The number under *key*, which must be positive."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
            raise UserError(f"{self.place}: {key!r} must be a positive number, found {value!r}")
        return value

    def version(self, key: str, expected: int) -> None:
        """Raises unless *key* is the version that this code reads."""
        if self._get(key, 0) != expected:
            raise UserError(f"{self.place}: {key!r} must be {expected}, found {self._table.get(key)!r}")

    def switch(self, key: str) -> bool:
        """True or false; false when it is left out."""
        value = self._get(key, False)
        if not isinstance(value, bool):
            raise UserError(f"{self.place}: {key!r} must be true or false, found {value!r}")
        return value

    def table(self, key: str) -> _Row | None:
        """A table inside this one."""
        value = self._get(key, {})
        if not isinstance(value, dict):
            raise UserError(f"{self.place}: {key!r} must be a table, found {value!r}")
        return _Row(f"{self.place}: {key}", cast("dict[str, Any]", value)) if value else None

    def options(self, key: str) -> dict[str, str]:
        """A table of texts by name."""
        value = self._get(key, {})
        if not isinstance(value, dict):
            raise UserError(f"{self.place}: {key!r} must be a table, found {value!r}")
        return {name: str(item) for name, item in cast("dict[str, Any]", value).items()}

    def rows(self, key: str) -> list[_Row]:
        """The tables of an array of tables, counted from 1."""
        value = self._get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in cast("list[Any]", value)):
            raise UserError(f"{self.place}: {key!r} must be an array of tables: [[{key}]]")
        return [_Row(f"{self.place}: {key} row {number}", item) for number, item in enumerate(cast("list[dict[str, Any]]", value), 1)]

    def finish(self) -> None:
        """Raises for a key that nothing has read: a misspelled exception would otherwise be ignored in silence."""
        for key in self._table:
            if key not in self._read:
                raise unknown(f"{self.place}: unknown key", key, self._read)

    def _get(self, key: str, default: Any) -> Any:
        self._read.add(key)
        value = self._table.get(key, default)
        if value is None:
            raise UserError(f"{self.place}: {key!r} is missing")
        return value


def _library(row: _Row) -> LibraryDescription:
    row.version("schema", SCHEMA)
    description = LibraryDescription(
        library=row.text("library"),
        modules=row.texts("modules"),
        install=row.text("install"),
        sources=tuple(_source(item) for item in row.rows("source")),
        noise=tuple(_noise(item) for item in row.rows("noise")),
    )
    row.finish()
    return description


def _more_sources(row: _Row) -> tuple[SourceDescription, ...]:
    row.version("schema", SCHEMA)
    row.text("library")
    found = tuple(_source(item) for item in row.rows("source"))
    row.finish()
    return found


def _is_host(name: str) -> bool:
    if "." not in name:
        return (INSTRUMENTATION / "hosts" / f"{name.replace('-', '_')}.py").is_file()
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


def _source(row: _Row) -> SourceDescription:
    host = row.text("host")
    if not _is_host(host):
        raise UserError(f"{row.place}: instrumentation/hosts has no host {host!r}; correct the name")
    description = SourceDescription(
        name=row.text("name"),
        host=host,
        summary=row.text("summary"),
        modules=row.texts("modules", ()),
        shards=int(row.number("shards", 1)),
        timeout=row.number("timeout", 1800.0),
        stall=row.number("stall", 180.0),
        options=row.options("options"),
        prepare=row.options("prepare"),
        environment=row.options("environment"),
        suite=_suite(row.table("suite")),
        on_request=row.switch("on_request"),
        exclude=tuple(_exclusion(item) for item in row.rows("exclude")),
    )
    row.finish()
    return description


def _suite(row: _Row | None) -> SuiteDescription | None:
    if row is None:
        return None
    description = SuiteDescription(
        files=row.texts("files"),
        package=row.text("package", "-").strip("-"),
        runner=row.text("runner", "auto"),
        arguments=row.texts("arguments", ()),
        shim=row.text("shim", "-").strip("-"),
        imports=row.texts("imports", ()),
        option=row.text("option", "-").strip("-"),
    )
    row.finish()
    if description.runner not in RUNNERS:
        raise unknown(f"{row.place}: unknown runner", description.runner, RUNNERS)
    if description.shim and not (INSTRUMENTATION / "shims" / f"{description.shim}.py").is_file():
        raise UserError(f"{row.place}: instrumentation/shims has no shim {description.shim!r}; correct the name")
    return description


def _noise(row: _Row) -> NoiseRow:
    description = NoiseRow(row.text("group"), row.texts("apis"), row.text("reason"))
    row.finish()
    return description


def _exclusion(row: _Row) -> Exclusion:
    description = Exclusion(row.texts("entries"), row.text("reason"))
    row.finish()
    return description
