"""Entry points: how third parties add compilers, libraries and canaries. A plug-in is imported only when a command needs it."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

DISTRIBUTION = "opera-dl"


def registered(group: str) -> dict[str, str]:
    """`module:attribute` of every entry point of *group*, by name, in alphabetical order."""
    return dict(_found(group, tuple(sys.path)))


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
