"""The project that a suite goes into: its configuration of pytest and of the layout, and a likeness of it for a trial."""

from __future__ import annotations

import configparser
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from opera.config import is_trusted
from opera.console import say
from opera.untrusted import Malformed, parsed_toml, read_file

_MOST_BYTES = 2**20
_SECTIONS = {"pytest.ini": "", ".pytest.ini": "", "pyproject.toml": "tool.pytest", "tox.ini": "pytest", "setup.cfg": "tool:pytest"}
"""The files in which pytest looks for its configuration, in its order, each with the section that makes it one; empty for any content."""
_FORMATTERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ruff.toml", ()),
    (".ruff.toml", ()),
    ("pyproject.toml", ("tool", "ruff")),
    ("pyproject.toml", ("tool", "black")),
)
"""Where formatters have their line length: files, and the tables in them."""


@dataclass(frozen=True)
class Project:
    """The project around a folder.

    Attributes:
        root: Its folder with the configuration of pytest, or with its repository.
        place: Place of the suite, relative to *root*.
        configuration: Name of the file in *root* that configures pytest; empty without one.
    """

    root: Path
    place: Path
    configuration: str

    @property
    def has_conftest(self) -> bool:
        """Whether a conftest of the project decides how the tests of the suite run."""
        return any((self.root / each / "conftest.py").is_file() for each in self.place.parents)

    @property
    def line_length(self) -> int | None:
        """Characters of a line by its configuration of ruff or Black: the nearest one; None without one."""
        for each in self.place.parents:
            for name, keys in _FORMATTERS:
                part = _toml(self.root / each / name)
                for key in keys:
                    part = _table(part.get(key))
                found = part.get("line-length")
                if isinstance(found, int):
                    return found
        return None

    def likeness(self, folder: Path) -> Path:
        """Makes *folder* look like the project, by links, with an empty folder at the place of the suite; returns that one."""
        source, target = self.root, folder
        for part in self.place.parts:
            target.mkdir()
            for each in source.iterdir():
                if each.name != part:
                    (target / each.name).symlink_to(each)
            source, target = source / part, target / part
        target.mkdir()
        return target


def project_of(folder: Path) -> Project | None:
    """The project around *folder*, as pytest finds it: by its configuration, else by its repository; None without one."""
    folder = folder.resolve()
    for root in folder.parents:
        name = next((name for name, section in _SECTIONS.items() if _configures(root / name, section)), "")
        if name or (root / ".git").exists():
            return _own(Project(root, folder.relative_to(root), name))
    return None


def _own(project: Project) -> Project | None:
    """*project*, if no other user could have written what pytest runs and reads of it; else None, with a message."""
    files = [project.root / project.configuration, *(project.root / each / "conftest.py" for each in project.place.parents)]
    foreign = next((each for each in files if each.is_file() and not is_trusted(each)), None)
    if foreign is None:
        return project
    say(f"{foreign} is not used: another user could have written it")
    return None


def _configures(path: Path, section: str) -> bool:
    if not path.is_file():
        return False
    if path.suffix == ".toml":
        return "pytest" in _table(_toml(path).get("tool"))
    if not section:
        return True
    found = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        found.read_string(read_file(path, _MOST_BYTES).decode())
    except (Malformed, OSError, UnicodeDecodeError, configparser.Error):
        return False
    return found.has_section(section)


def _table(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _toml(path: Path) -> dict[str, Any]:
    """What a file of TOML holds; nothing if it cannot be read."""
    try:
        return parsed_toml(read_file(path, _MOST_BYTES)) if path.is_file() else {}
    except (Malformed, OSError):
        return {}
