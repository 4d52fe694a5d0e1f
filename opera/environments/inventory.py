"""What an interpreter has installed: asked of the interpreter itself, in a process that imports nothing of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from packaging.utils import canonicalize_name

from opera.errors import EnvironmentBroken

_TIMEOUT = 60.0
"""Seconds that listing the distributions may take, on a disk that is not warm."""

_SCRIPT = """
import json, os, platform, sys
from importlib import metadata
sys.path += sys.argv[1:]
found = {}
for each in metadata.distributions():
    name = each.metadata["Name"]
    if name and name not in found:
        found[name] = [each.version, each.requires or []]
version = ".".join(map(str, sys.version_info[:3]))
markers = {
    "implementation_name": sys.implementation.name, "implementation_version": version, "os_name": os.name,
    "platform_machine": platform.machine(), "platform_python_implementation": platform.python_implementation(),
    "platform_release": platform.release(), "platform_system": platform.system(), "platform_version": platform.version(),
    "python_full_version": version, "python_version": ".".join(map(str, sys.version_info[:2])), "sys_platform": sys.platform,
}
json.dump({"markers": markers, "distributions": found}, sys.stdout)
"""


@dataclass(frozen=True)
class Distribution:
    """An installed distribution.

    Attributes:
        name: As it calls itself.
        version: Of it.
        requires: Its requirements, as their texts.
    """

    name: str
    version: str
    requires: tuple[str, ...]


@dataclass(frozen=True)
class Inventory:
    """The distributions of one environment, by canonical name, and the values of environment markers there."""

    python: str
    distributions: Mapping[str, Distribution]
    markers: Mapping[str, str]

    def find(self, name: str) -> Distribution | None:
        """The distribution called *name*, however it is spelt."""
        return self.distributions.get(canonicalize_name(name))


@cache
def inventory(python: str, path: tuple[str, ...] = ()) -> Inventory:
    """What *python*, a path or a name on PATH, has installed; the folders of *path* count as well, as they do in its workers.

    Raises:
        EnvironmentBroken: there is no such interpreter, or it does not work.
    """
    try:
        run = subprocess.run([python, "-I", "-c", _SCRIPT, *path], capture_output=True, text=True, check=False, timeout=_TIMEOUT)
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        raise EnvironmentBroken(f"the interpreter {python} does not exist or cannot be run; correct `python` in opera.toml") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentBroken(f"the interpreter {python} does not answer: {error}") from error
    try:
        document: Mapping[str, Any] = json.loads(run.stdout)
    except ValueError as error:
        last = (run.stderr.strip().splitlines() or [f"exit status {run.returncode}"])[-1]
        raise EnvironmentBroken(f"the interpreter {python} does not work: {last[:300]}") from error
    found = {
        str(canonicalize_name(name)): Distribution(name, str(version), tuple(requires))
        for name, (version, requires) in document["distributions"].items()
    }
    return Inventory(python, found, document["markers"])
