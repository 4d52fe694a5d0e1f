"""The releases of compilers, and the requirements of each: what `data/facts/releases.toml` says."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import msgspec
from packaging.version import InvalidVersion, Version

_FACTS = Path(__file__).parents[2] / "facts" / "releases.toml"


class Release(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A release of a compiler on the package index.

    Attributes:
        version: Its version.
        date: The day on which it was uploaded.
        megabytes: What is downloaded, in units of 10^6 bytes.
    """

    version: str
    date: datetime.date
    megabytes: int


class Compiler(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"besides": "with"}):
    """The releases of one compiler, the newest first.

    Attributes:
        package: What it is called on the index.
        first: The oldest release that the adapter takes.
        besides: Packages that have the version of the release.
        needs: By version, other requirements without which a release does not work.
        releases: The releases that were on the index when the file was written.
    """

    package: str
    first: str
    releases: tuple[Release, ...]
    besides: tuple[str, ...] = ()
    needs: Mapping[str, tuple[str, ...]] = {}

    def requirements(self, version: str) -> tuple[str, ...]:
        """What is installed for *version*."""
        return (*(f"{each}=={version}" for each in (self.package, *self.besides)), *self.needs.get(version, ()))

    def find(self, version: str) -> Release | None:
        """The release *version*; None if the file does not name it."""
        return next((each for each in self.releases if each.version == version), None)


@cache
def compilers() -> Mapping[str, Compiler]:
    """The compilers of the file, by name."""
    return msgspec.toml.decode(_FACTS.read_bytes(), type=dict[str, Compiler])


def in_order(names: Iterable[str], made: Mapping[str, str]) -> list[str]:
    """Versions in the order of their age: releases by their numbers, then builds by the times in *made*.

    Builds without a time come first among builds, in the order of *names*, which is that of a file.
    """

    def key(name: str) -> tuple[bool, Version, str]:
        try:
            return False, Version(name), ""
        except InvalidVersion:
            return True, Version("0"), made.get(name, "")

    return sorted(names, key=key)
