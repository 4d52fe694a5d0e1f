"""`opera.toml`: the interpreter of each library and each compiler, and what a compiler's workers find where.

    [library.pytorch]
    python = "envs/torch/bin/python"

    [compiler.tvm]
    python = "/opt/tvm/bin/python"
    path = ["../tvm/python"]                  # first on the search path for Python modules
    env = {TVM_LIBRARY_PATH = "/src/build"}   # environment variables

    [compiler.tvm.versions]                   # what `--compiler tvm==0.26.0` uses in place of these
    "0.26.0" = "envs/tvm/0.26.0/bin/python"
    nightly = {path = ["../nightly/python"]}

A path is relative to the file that names it. The nearest `opera.toml` counts, from the current folder upwards, that
no other user could have written. An environment
variable such as `OPERA_COMPILER_TVM_PYTHON` counts more. `opera env create` writes such entries, and touches nothing else in the file.
"""

from __future__ import annotations

import grp
import hashlib
import json
import os
import pwd
import re
import stat
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import cast

from packaging.version import InvalidVersion, Version

from opera.console import one_line, say
from opera.errors import EnvironmentBroken, UserError
from opera.trust import Trust
from opera.untrusted import Document, Malformed, parsed_toml, read_file

FILE = "opera.toml"
INCOMPLETE = ".incomplete"
"""A file of this name lies in an environment that `opera env create` has not finished."""
_SECTIONS = ("library", "compiler")
_VERSIONS = "versions"
_KEYS = {"library": ("python",), "compiler": ("python", "path", "env", _VERSIONS)}
_ENV = "env."
"""How the key of a variable begins, e.g. `env.TVM_LIBRARY_PATH`."""
_RESERVED = re.compile(r"PYTHON.*|OPERA_.*|TMPDIR")
"""Variables that OPERA sets for its workers."""
_MOST_BYTES = 2**20
VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,59}")
"""The name of a version of a compiler: that of a release, or any for a build."""
_chosen: ContextVar[Mapping[str, str]] = ContextVar("chosen", default=MappingProxyType({}))
Entries = dict[str, "Setting"]


@dataclass(frozen=True)
class Setting:
    """A value and where it comes from."""

    value: str
    origin: str


@contextmanager
def choosing(compiler: str, version: str) -> Generator[None]:
    """While it is open, `load_config` gives the settings of *version* of *compiler*."""
    token = _chosen.set({**_chosen.get(), compiler: version})
    try:
        yield
    finally:
        _chosen.reset(token)


def named_build(compiler: str) -> str | None:
    """The chosen version of *compiler* if its name is that of a build; None for a release, which says its version itself."""
    version = _chosen.get().get(compiler)
    return None if version is None or is_release(version) else version


def is_release(version: str) -> bool:
    """Whether the name of a version is that of a release, and not of a build."""
    try:
        return bool(Version(version))
    except InvalidVersion:
        return False


@dataclass(frozen=True)
class Config:
    """The settings of a project.

    Attributes:
        values: By section, name and key.
        trust: What workers of this command may load in addition to libraries and compilers. No file says that, only the command line.
        versions: By compiler and name, the settings of a version, which replace those of the compiler.
        at_version: The compilers whose settings are those of a version; environment variables do not change them.
    """

    values: dict[tuple[str, str, str], Setting]
    trust: Trust = field(default_factory=Trust)
    versions: dict[tuple[str, str], Entries] = field(default_factory=dict[tuple[str, str], Entries])
    at_version: frozenset[str] = frozenset()

    def at(self, compiler: str, version: str) -> Config:
        """The settings with those of a version of *compiler* in place of its usual ones.

        Raises:
            UserError: no file names this version.
        """
        entries = self.versions.get((compiler, version))
        if entries is None:
            known = ", ".join(name for each, name in self.versions if each == compiler) or "none"
            name = one_line(version, 60)
            raise UserError(f"{compiler} has no version {name!r} here (there is {known}); `opera env create {compiler}=={name}` makes it")
        others = {key: each for key, each in self.values.items() if key[:2] != ("compiler", compiler)}
        entries = {"python": self.setting("compiler", compiler, "python"), **entries}
        own = {("compiler", compiler, key): each for key, each in entries.items()}
        return replace(self, values={**others, **own}, at_version=self.at_version | {compiler})

    def python(self, section: str, name: str) -> str:
        """The interpreter of a `library` or `compiler`; by default the one that runs this.

        Raises:
            EnvironmentBroken: it belongs to an environment whose creation was interrupted.
        """
        value = self.setting(section, name, "python").value
        if (Path(value).parent.parent / INCOMPLETE).exists():
            raise EnvironmentBroken(f"the environment of {name} ({value}) was not finished; `opera env create {name}` creates it again")
        return value

    def search_first(self, compiler: str) -> tuple[str, ...]:
        """Folders that come first on the module search path of a compiler's workers.

        Raises:
            EnvironmentBroken: one of them does not exist.
        """
        value, origin = (setting := self.setting("compiler", compiler, "path")).value, setting.origin
        folders = tuple(str(Path(each).absolute()) for each in value.split(os.pathsep) if each)
        missing = next((each for each in folders if not Path(each).is_dir()), None)
        if missing is not None:
            raise EnvironmentBroken(f"the folder {missing} does not exist; correct `path` of {compiler} in {origin}")
        return folders

    def environment(self, compiler: str) -> dict[str, str]:
        """Environment variables of a compiler's workers, in addition to what all workers get."""
        own = ((key, each.value) for (section, name, key), each in self.values.items() if (section, name) == ("compiler", compiler))
        return {key.removeprefix(_ENV): value for key, value in own if key.startswith(_ENV)}

    def digest(self, compiler: str) -> str | None:
        """A hash of search path and variables, which decide what a campaign tests; None where there are none."""
        own = [list(self.search_first(compiler)), self.environment(compiler)]
        return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()[:8] if any(own) else None

    def keys(self, section: str, name: str) -> list[str]:
        """The keys that have a value: `python`, and what is set in addition."""
        own = [key for each, other, key in self.values if (each, other) == (section, name)]
        given = ["path"] if section == "compiler" and self.setting(section, name, "path").value else []
        return list(dict.fromkeys(["python", *given, *own]))

    def setting(self, section: str, name: str, key: str) -> Setting:
        """A value with its origin."""
        variable = f"OPERA_{section}_{name}_{key}".upper().replace("-", "_")
        if variable in os.environ and not key.startswith(_ENV) and not (section == "compiler" and name in self.at_version):
            return Setting(os.environ[variable], variable)
        return self.values.get((section, name, key), Setting(sys.executable if key == "python" else "", "default"))


def config_file(start: Path | None = None) -> Path | None:
    """The nearest `opera.toml`, from *start* (the current folder) upwards; None if no folder has the file.

    It names programs that are run, so a file that another user could have written is passed over, with a message.
    """
    return nearest(FILE, start)


def nearest(name: str, start: Path | None = None) -> Path | None:
    """The nearest file called *name*, from *start* (the current folder) upwards, that no other user could have written; None without one.

    Args:
        name: A path relative to the folders that are searched.
        start: The folder to begin with.
    """
    folder = (start or Path.cwd()).resolve()
    for each in (folder, *folder.parents):
        path = each / name
        if path.is_file():
            if is_trusted(path):
                return path
            say(f"{path} is not used: another user could have written it; take it over with `cp` into a folder of your own")
    return None


def is_trusted(path: Path) -> bool:
    """Whether only this user or root could have written *path*: a group may, if the user is alone in it."""
    found = path.stat()
    if found.st_uid not in (os.geteuid(), 0) or found.st_mode & stat.S_IWOTH:
        return False
    return not found.st_mode & stat.S_IWGRP or _is_alone_in(found.st_gid)


def _is_alone_in(group: int) -> bool:
    """Whether the group is root's or this user's own, as many systems make one for each user, and has no other member."""
    try:
        user = pwd.getpwuid(os.geteuid()).pw_name
        found = grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_name in (user, "root") and set(found.gr_mem) <= {user, "root"}


def load_config(start: Path | None = None) -> Config:
    """Reads the nearest `opera.toml`, and takes the versions that are chosen; raises UserError when it is malformed."""
    path = config_file(start)
    config = Config({}) if path is None else config_in(path, content_of(path))
    for compiler, version in _chosen.get().items():
        config = config.at(compiler, version)
    return config


def content_of(path: Path) -> bytes:
    """The bytes of a file of settings; raises UserError when it cannot be read."""
    try:
        return read_file(path, _MOST_BYTES)
    except Malformed as error:
        raise UserError(f"{path} cannot be read: {error}") from error


def config_in(path: Path, data: bytes) -> Config:
    """The settings in *data*, the content of *path*; raises UserError when it is malformed."""
    try:
        document = parsed_toml(data)
    except Malformed as error:
        raise UserError(f"{path}: {error}") from error
    values: dict[tuple[str, str, str], Setting] = {}
    versions: dict[tuple[str, str], Entries] = {}
    for section, name, table in _tables(path, document):
        if section == "compiler" and isinstance(table, dict) and _VERSIONS in table:
            own = cast("dict[str, object]", table)
            versions.update({(name, each): found for each, found in _versions(path, name, own.pop(_VERSIONS))})
            if not own:
                continue
        values.update(entries_of(path, section, name, table))
    return Config(values, versions=versions)


def _versions(path: Path, name: str, value: object) -> Iterator[tuple[str, Entries]]:
    """The name and the settings of each version of the compiler *name*."""
    if not isinstance(value, dict):
        raise UserError(f'{path}: `versions` of [compiler.{name}] is not a table; write [compiler.{name}.versions] and "NAME" = "PYTHON"')
    for version, entry in cast("dict[str, object]", value).items():
        if not VERSION.fullmatch(version):
            raise UserError(f"{path}: {one_line(version, 60)!r} of [compiler.{name}.versions] is no name of a version")
        table = {"python": entry} if isinstance(entry, str) else entry
        if isinstance(table, dict) and _VERSIONS in table:
            raise UserError(f"{path}: the version {version} of {name} has versions of its own")
        yield version, {key[2]: setting for key, setting in entries_of(path, "compiler", name, table)}


def _tables(path: Path, document: Document) -> list[tuple[str, str, object]]:
    for section in document:
        if section not in _SECTIONS:
            raise UserError(f"{path}: unknown section [{section}]; write [library.NAME] or [compiler.NAME]")
        if not isinstance(document[section], dict):
            raise UserError(f"{path}: [{section}] needs a name; write e.g. [{section}.tvm]")
    return [(section, name, table) for section, tables in document.items() for name, table in cast("dict[str, object]", tables).items()]


def entries_of(path: Path, section: str, name: str, table: object) -> list[tuple[tuple[str, str, str], Setting]]:
    """The settings of one table, by section, name and key."""
    entries = cast("dict[str, object]", table) if isinstance(table, dict) else {}
    unknown = next((key for key in entries if key not in _KEYS[section]), None)
    if unknown is not None or not entries:
        there = f"unknown key {unknown!r}" if unknown is not None else "no key"
        raise UserError(f"{path}: [{section}.{name}] has {there}; it takes {', '.join(_KEYS[section])}")
    texts: dict[str, str] = {}
    if "python" in entries:
        python = entries["python"]
        if not isinstance(python, str):
            raise UserError(f'{path}: [{section}.{name}] needs a text; write python = "path of an interpreter"')
        texts["python"] = str((path.parent / python).absolute()) if os.sep in python else python
    if "path" in entries:
        texts["path"] = os.pathsep.join(str((path.parent / each).absolute()) for each in _folders(path, name, entries["path"]))
    for variable, value in _variables(path, name, entries.get("env", {})).items():
        texts[f"{_ENV}{variable}"] = value
    return [((section, name, key), Setting(text, str(path))) for key, text in texts.items()]


def _folders(path: Path, name: str, value: object) -> list[str]:
    found = [each for each in cast("list[object]", value) if isinstance(each, str)] if isinstance(value, list) else []
    if found != value or not all(each and os.pathsep not in each for each in found):
        raise UserError(f'{path}: `path` of [compiler.{name}] is not a list of folders; write path = ["FOLDER"]')
    return found


def _variables(path: Path, name: str, value: object) -> dict[str, str]:
    whole = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    found = {variable: text for variable, text in whole.items() if isinstance(text, str) and "\0" not in text}
    if found != value or not all(re.fullmatch(r"[A-Za-z_]\w*", variable, re.ASCII) for variable in found):
        raise UserError(f'{path}: `env` of [compiler.{name}] is not a table of texts; write env = {{NAME = "value"}}')
    for variable in found:
        if _RESERVED.fullmatch(variable):
            way = "use `path`" if variable == "PYTHONPATH" else "remove it"
            raise UserError(f"{path}: `env` of [compiler.{name}] has {variable}, which OPERA sets itself; {way}")
    return found
