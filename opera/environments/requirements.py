"""Whether an environment has what an adapter declares, and what to do where it has not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packaging.markers import InvalidMarker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from opera.environments.inventory import Distribution, Inventory


@dataclass(frozen=True)
class Lack:
    """A requirement that is not met.

    Attributes:
        requirement: Its text.
        installed: The version that is there instead; None where there is none.
        by: The distribution whose requirement it is; None for the adapter's own.
    """

    requirement: str
    installed: str | None
    by: str | None = None

    def __str__(self) -> str:
        name = Requirement(self.requirement).name
        wanted = self.requirement.partition(";")[0].strip()
        if self.by is None:
            return f"{name} is not installed" if self.installed is None else f"{name} {self.installed} is too old: {wanted} is needed"
        return f"{self.by} needs {wanted}, and {'there is none' if self.installed is None else f'{self.installed} is installed'}"


def lacks(packages: Sequence[str], held: Inventory) -> list[Lack]:
    """Which of an adapter's *packages* are absent or too old in *held*."""
    return [lack for text in packages for lack in _unmet(text, held, None, "")]


def clashes(packages: Sequence[str], held: Inventory) -> list[Lack]:
    """Requirements of the installed *packages*, and of what they require in turn, that the environment does not meet."""
    found: list[Lack] = []
    pending = [(Requirement(text).name, extra) for text in packages for extra in ("", *sorted(Requirement(text).extras))]
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
        yield Lack(text, there and there.version, by and f"{by.name} {by.version}")


def _next(text: str, held: Inventory, extra: str) -> list[tuple[str, str]]:
    requirement = _applicable(text, held, extra)
    return [] if requirement is None else [(requirement.name, each) for each in ("", *sorted(requirement.extras))]


def _applicable(text: str, held: Inventory, extra: str) -> Requirement | None:
    """The requirement, where its marker holds in that environment; None for one that nobody can read."""
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
