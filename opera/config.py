"""`opera.toml`: which interpreter each library and each compiler lives in.

    [library.pytorch]
    python = "envs/torch/bin/python"

    [compiler.tvm]
    python = "/opt/tvm/bin/python"

A path is relative to the file that names it. The nearest `opera.toml` counts, from the current folder upwards. An environment
variable such as `OPERA_COMPILER_TVM_PYTHON` counts more.
"""

from __future__ import annotations

import os
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from opera.errors import UserError

FILE = "opera.toml"
_SECTIONS = ("library", "compiler")
_KEYS = ("python",)


@dataclass(frozen=True)
class Setting:
    """A value and where it comes from."""

    value: str
    origin: str


@dataclass(frozen=True)
class Config:
    """The settings of a project, by section, name and key."""

    values: dict[tuple[str, str, str], Setting]

    def python(self, section: str, name: str) -> str:
        """The interpreter of a `library` or `compiler`; by default the one that runs this."""
        return self.setting(section, name, "python").value

    def setting(self, section: str, name: str, key: str) -> Setting:
        """A value with its origin."""
        variable = f"OPERA_{section}_{name}_{key}".upper().replace("-", "_")
        if variable in os.environ:
            return Setting(os.environ[variable], variable)
        return self.values.get((section, name, key), Setting(sys.executable, "default"))


def load_config(start: Path | None = None) -> Config:
    """Reads the nearest `opera.toml`; raises UserError when it is malformed."""
    folder = (start or Path.cwd()).resolve()
    path = next((each / FILE for each in (folder, *folder.parents) if (each / FILE).is_file()), None)
    if path is None:
        return Config({})
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not valid TOML: {error}") from error
    return Config(dict(_entry(path, section, name, table) for section, name, table in _tables(path, document)))


def _tables(path: Path, document: dict[str, Any]) -> list[tuple[str, str, Any]]:
    for section in document:
        if section not in _SECTIONS:
            raise UserError(f"{path}: unknown section [{section}]; there are [library.NAME] and [compiler.NAME]")
        if not isinstance(document[section], dict):
            raise UserError(f"{path}: [{section}] needs a name, as in [{section}.tvm]")
    return [(section, name, table) for section, tables in document.items() for name, table in cast("dict[str, Any]", tables).items()]


def _entry(path: Path, section: str, name: str, table: Any) -> tuple[tuple[str, str, str], Setting]:
    entries = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    unknown = [key for key in entries if key not in _KEYS]
    if unknown or not isinstance(entries.get("python"), str):
        raise UserError(f'{path}: [{section}.{name}] takes exactly one key, python = "path of an interpreter"')
    python = entries["python"]
    value = str((path.parent / python).absolute()) if os.sep in python else python
    return (section, name, "python"), Setting(value, str(path))
