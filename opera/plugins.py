"""Entry points: how extensions and third parties add compilers, libraries, kinds of instances, commands and more.

A plug-in is imported only when a command needs it. One that fails to import breaks nothing else; `opera doctor` names it.
"""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from opera.errors import EnvironmentBroken

DISTRIBUTION = "opera-dl"
GROUPS = (
    "opera.canaries",
    "opera.commands",
    "opera.compilers",
    "opera.corpora",
    "opera.histories",
    "opera.kinds",
    "opera.opinions",
    "opera.pools",
    "opera.readers",
    "opera.sources",
    "opera.strategies",
    "opera.templates",
)
"""The groups of entry points that OPERA reads."""


@dataclass(frozen=True)
class Commands:
    """The commands of an extension: an entry point of `opera.commands` names one. The module that holds it imports nothing heavy.

    Attributes:
        title: Heading in `opera --help`.
        commands: Module and summary of each command by name; `export NAME` is a command of `opera export`. The module's `command` is a
            `click.Command`.
    """

    title: str
    commands: Mapping[str, tuple[str, str]]


def registered(group: str) -> dict[str, str]:
    """`module:attribute` of every entry point of *group*, by name, in alphabetical order."""
    return dict(_found(group, tuple(sys.path)))


def load(group: str, name: str) -> Any:
    """What the entry point *name* of *group* stands for.

    Raises:
        KeyError: there is no such entry point.
        EnvironmentBroken: it cannot be imported.
    """
    target = registered(group)[name]
    try:
        return metadata.EntryPoint(name, target, group).load()
    except Exception as error:
        raise EnvironmentBroken(f"{name} ({target}), of {group}, cannot be imported: {error}; reinstall it") from error


def loaded(group: str) -> dict[str, Any]:
    """Everything of *group* that can be imported, by name."""
    return {name: found for name, found in _outcomes(group).items() if not isinstance(found, EnvironmentBroken)}


def broken(group: str) -> dict[str, EnvironmentBroken]:
    """Every entry point of *group* that cannot be imported, with the reason."""
    return {name: found for name, found in _outcomes(group).items() if isinstance(found, EnvironmentBroken)}


def _outcomes(group: str) -> dict[str, Any]:
    def outcome(name: str) -> Any:
        try:
            return load(group, name)
        except EnvironmentBroken as error:
            return error

    return {name: outcome(name) for name in registered(group)}


@cache
def _found(group: str, _where: tuple[str, ...]) -> dict[str, str]:
    """`registered` for one module search path, because reading the metadata of all distributions takes 30 ms."""
    found = {**_uninstalled().get(group, {}), **{entry.name: entry.value for entry in metadata.entry_points(group=group)}}
    return dict(sorted(found.items()))


@cache
def _uninstalled() -> dict[str, dict[str, str]]:
    """OPERA's own entry points by group where it runs from its source tree, in an environment that it is not installed in."""
    try:
        metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        project = Path(__file__).parents[1] / "pyproject.toml"
        return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["entry-points"] if project.exists() else {}
    return {}


def search_path(target: str) -> tuple[str, ...]:
    """Folders in which a worker in another environment finds the module of *target*; none for OPERA's own."""
    top = target.partition(":")[0].partition(".")[0]
    if top == "opera":
        return ()
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        return ()
    origin = Path(spec.origin)
    return (str(origin.parent.parent if origin.name == "__init__.py" else origin.parent),)
