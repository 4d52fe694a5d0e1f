"""Entry points: how third parties add compilers, libraries and canaries. Nothing is imported until it is asked for."""

from __future__ import annotations

import importlib.util
from importlib import metadata
from pathlib import Path


def registered(group: str) -> dict[str, str]:
    """`module:attribute` of every entry point of *group*, by name, in alphabetical order."""
    found = {entry.name: entry.value for entry in metadata.entry_points(group=group)}
    return dict(sorted(found.items()))


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
