"""What decides the versions that a worker says of itself, as far as files and variables show it: no process is started."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import opera
from opera.workers.machine import this_machine
from opera.workers.process import WorkerSpec
from opera.workers.program import passed_on

_ISOLATED = "include-system-site-packages = false"
_INSTALLED = (".dist-info", ".egg-info", ".pth")
_OWN = "__editable__.opera_dl-"
_MOST_SOURCES = 5000
"""Most Python files of one folder; with more, only the worker tells its state."""

Entry = tuple[str, int]


def state_of(spec: WorkerSpec) -> str | None:
    """A hash that changes with the packages, the code of OPERA and of plug-ins, the variables and the machine of a worker.

    Returns:
        None where files do not tell. The interpreter is then in no virtual environment of its own, a package is installed as a link to
        its sources, or the worker has an own build of the compiler on its path.
    """
    packages = None if spec.search_first else _packages(Path(spec.python))
    if packages is None:
        return None
    sources = [list(islice(_sources(Path(folder)), _MOST_SOURCES + 1)) for folder in (str(Path(opera.__file__).parent), *spec.path)]
    if any(len(each) > _MOST_SOURCES for each in sources):
        return None
    facts = [asdict(spec), sorted(passed_on().items()), sys.version, this_machine().id, packages, sources]
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def _packages(python: Path) -> list[Entry] | None:
    """What is installed for *python*, each with its time; None where that is not all that it can import, or may change unseen."""
    folder = python.parent.parent
    try:
        if _ISOLATED not in (folder / "pyvenv.cfg").read_text(encoding="utf-8"):
            return None
        base = python.resolve().stat()
    except OSError:
        return None
    found = [(str(python.resolve()), base.st_mtime_ns)]
    folders = sorted(folder.glob("lib*/python3*/site-packages"))
    for packages in folders:  # those that a .pth file names follow
        for each in sorted(os.scandir(packages), key=lambda entry: entry.name):
            if each.name.startswith("__editable__") and each.name.endswith(".pth") and not each.name.startswith(_OWN):
                return None
            if each.name.endswith(_INSTALLED):
                found.append((each.path, each.stat().st_mtime_ns))
            if each.name.endswith(".pth"):
                named = map(Path, Path(each).read_text(encoding="utf-8", errors="replace").splitlines())
                folders += [path for path in named if path.is_absolute() and path.is_dir() and path not in folders]
    return found


def _sources(folder: Path) -> Iterator[Entry]:
    """The Python files and tables in *folder*, each with its time."""
    for where, folders, files in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        for name in sorted(files):
            if name.endswith((".py", ".toml")):
                path = os.path.join(where, name)
                yield path, os.stat(path).st_mtime_ns
