"""The packages of an interpreter, compared with the packages that an adapter declares.

The interpreter is asked in a process of its own that imports none of its packages.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from packaging.markers import InvalidMarker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

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
        version: Its version.
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
    """The packages of *python*, a path or a name on PATH; the folders of *path* count too, as in its workers.

    Raises:
        EnvironmentBroken: there is no such interpreter, or it does not work.
    """
    try:
        run = subprocess.run([python, "-I", "-c", _SCRIPT, *path], capture_output=True, text=True, check=False, timeout=_TIMEOUT)
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        raise EnvironmentBroken(f"the interpreter {python} does not exist or cannot run; correct `python` in opera.toml") from error
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


@cache
def search_path(python: str) -> tuple[str, ...]:
    """The folders in which *python*, a path or a name on PATH, looks for packages.

    Raises:
        EnvironmentBroken: there is no such interpreter, or it does not work.
    """
    script = "import json, sys; json.dump(sys.path, sys.stdout)"
    try:
        run = subprocess.run([python, "-I", "-c", script], capture_output=True, text=True, check=True, timeout=_TIMEOUT)
        return tuple(json.loads(run.stdout))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise EnvironmentBroken(f"the interpreter {python} does not work; correct `python` in opera.toml") from error


@dataclass(frozen=True)
class Lack:
    """A requirement that is not met.

    Attributes:
        requirement: Its text.
        installed: The installed version; None if the package is not installed.
        by: The distribution whose requirement it is; None for the adapter's own.
    """

    requirement: str
    installed: str | None
    by: str | None = None

    def __str__(self) -> str:
        name = Requirement(self.requirement).name
        wanted = self.requirement.partition(";")[0].strip()
        if self.by is None:
            return (
                f"{name} is not installed"
                if self.installed is None
                else f"{name} {self.installed} is too {'new' if self.is_too_new else 'old'}: {wanted} is needed"
            )
        return f"{self.by} needs {wanted}, and {'it is not installed' if self.installed is None else f'{self.installed} is installed'}"

    @property
    def is_too_new(self) -> bool:
        """Whether the installed version is above the highest one that is allowed: no requirement of a lowest version excludes it."""
        lowest = SpecifierSet(",".join(str(each) for each in Requirement(self.requirement).specifier if each.operator in (">", ">=")))
        return self.installed is not None and len(lowest) > 0 and lowest.contains(self.installed, prereleases=True)


def wanted(packages: Sequence[str], held: Inventory | None = None) -> list[str]:
    """An adapter's *packages* as requirements: of alternatives (`one>=1 | other>=2`) the first that *held* has, else the first."""
    choices = [[text.strip() for text in each.split(" | ")] for each in packages]
    return [next((text for text in each if held and held.find(Requirement(text).name)), each[0]) for each in choices]


def lacks(packages: Sequence[str], held: Inventory) -> list[Lack]:
    """Which of an adapter's *packages* are absent, too old or too new in *held*."""
    return [lack for text in wanted(packages, held) for lack in _unmet(text, held, None, "")]


def clashes(packages: Sequence[str], held: Inventory) -> list[Lack]:
    """Requirements of the installed *packages*, and of what they require in turn, that the environment does not meet."""
    found: list[Lack] = []
    pending = [(Requirement(text).name, extra) for text in wanted(packages, held) for extra in ("", *sorted(Requirement(text).extras))]
    seen: set[tuple[str, str]] = set()
    while pending:
        name, extra = pending.pop(0)
        distribution = held.find(name)
        if distribution is None or (canonicalize_name(name), extra) in seen:
            continue
        seen.add((canonicalize_name(name), extra))
        for text in distribution.requires:
            found += _unmet(text, held, distribution, extra)
            pending += _next(text, held, extra)
    return list(dict.fromkeys(found))


def _unmet(text: str, held: Inventory, by: Distribution | None, extra: str) -> Iterator[Lack]:
    requirement = _applicable(text, held, extra)
    if requirement is None:
        return
    there = held.find(requirement.name)
    if there is None or not _satisfied(requirement, there.version):
        yield Lack(text, there.version if there else None, f"{by.name} {by.version}" if by else None)


def _next(text: str, held: Inventory, extra: str) -> list[tuple[str, str]]:
    requirement = _applicable(text, held, extra)
    return [] if requirement is None else [(requirement.name, each) for each in ("", *sorted(requirement.extras))]


def _applicable(text: str, held: Inventory, extra: str) -> Requirement | None:
    """The requirement, if its marker applies in that environment; None if it cannot be parsed."""
    try:
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({**held.markers, "extra": extra}):
            return None
    except (InvalidRequirement, InvalidMarker):
        return None
    return requirement


def _satisfied(requirement: Requirement, version: str) -> bool:
    """Whether *version* will do; local parts and pre-releases of a version count as that version."""
    try:
        return requirement.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return True
