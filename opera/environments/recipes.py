"""The environments that `opera env create` can make: those of `environments.toml`, and one for every other adapter."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from opera.compilers.registry import did_you_mean, plugins
from opera.errors import EnvironmentBroken, UserError
from opera.plugins import DISTRIBUTION

_FOLDER = Path(__file__).parent
_DATA = _FOLDER / "environments.toml"
_MAIN = "main.txt"


@dataclass(frozen=True)
class Recipe:
    """How an environment is made.

    Attributes:
        name: Of the environment.
        serves: Sections and names of opera.toml whose interpreter it becomes.
        requirements: What is installed, as pip takes it.
        pins: The constraints file; None for a third party's compiler, whose newest versions are installed.
        gigabytes: Its size on the disk, in units of 10^9 bytes; 0 if it was not measured.
        summary: One line.
        needs: Other requirements on the machine; may be empty.
        unknown: Extras that it is made of and that the installed metadata of OPERA does not have: those of an older version.
    """

    name: str
    serves: tuple[tuple[str, str], ...]
    requirements: tuple[str, ...]
    pins: Path | None
    gigabytes: float
    summary: str
    needs: str = ""
    unknown: tuple[str, ...] = ()


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(_DATA.read_text(encoding="utf-8"))


def known_names() -> list[str]:
    """The names that `recipe` takes, in alphabetical order."""
    return sorted({*_data()["environments"], *plugins()})


def described(name: str) -> bool:
    """Whether OPERA itself ships pins for *name*."""
    return name in _data()["environments"]


def own_only(name: str) -> bool:
    """Whether what is called *name* is not meant for the main environment: its pins are its own."""
    return described(name) and _data()["environments"][name]["pins"] != _MAIN


def needs_of(name: str) -> str:
    """The requirements of the environment *name* on the machine; may be empty."""
    return _data()["environments"][name].get("needs", "") if described(name) else ""


def recipe(name: str) -> Recipe:
    """The recipe called *name*: one of OPERA's own, else what the adapter of that name declares, with the libraries of its live routes.

    Raises:
        UserError: the environment is unknown.
        EnvironmentBroken: the adapter cannot be imported, or opera is not installed.
    """
    worker: list[str] = _data()["worker"]
    entry = _data()["environments"].get(name)
    if entry is None:
        if name not in plugins():
            known = known_names()
            raise UserError(f"unknown environment {name!r}{did_you_mean(name, known)}; choose one of: {', '.join(known)}")
        plugin = plugins()[name]
        adapter = plugin.load()
        live = dict.fromkeys(route.library for route in adapter.routes if route.artefact is None)
        packages = dict.fromkeys([*adapter.packages, *(text for library in live for text in requirements_of(library))])
        pins = _FOLDER / _MAIN if plugin.target.startswith("opera.") else None
        return Recipe(name, (("compiler", name),), (*packages, *_needed_by_workers(worker)), pins, 0.0, "as its adapter declares")
    serves = tuple((section, served) for section, _, served in (each.partition(".") for each in entry["serves"]))
    extras: dict[str, list[str]] = {extra: requirements_of(extra) for extra in entry["extras"]}
    requirements = [text for found in extras.values() for text in found]
    unknown = tuple(extra for extra, found in extras.items() if not found)
    needed = [str(each) for each in _requirements() if each.marker is None] if entry.get("driver") else _needed_by_workers(worker)
    return Recipe(
        name=name,
        serves=serves,
        requirements=tuple(dict.fromkeys([*requirements, *needed])),
        pins=_FOLDER / entry["pins"],
        gigabytes=float(entry["gigabytes"]),
        summary=entry["summary"],
        needs=entry.get("needs", ""),
        unknown=unknown,
    )


def _needed_by_workers(names: list[str]) -> list[str]:
    wanted = {canonicalize_name(name) for name in names}
    own = (each for each in _requirements() if each.marker is None)
    return [str(each) for each in own if canonicalize_name(each.name) in wanted]


def requirements_of(name: str) -> list[str]:
    """The requirements of an extra of OPERA's, with those of the extras that it is made of."""
    found: list[str] = []
    for each in _requirements():
        if each.marker is None or each.marker.evaluate({"extra": ""}) or not each.marker.evaluate({"extra": name}):
            continue
        if canonicalize_name(each.name) == DISTRIBUTION:
            found += [text for part in sorted(each.extras) for text in requirements_of(part)]
        else:
            each.marker = None
            found.append(str(each))
    return found


def is_required(name: str) -> bool:
    """Whether a distribution is called *name* that OPERA or one of its extras requires."""
    return any(canonicalize_name(each.name) == name for each in _requirements())


def _requirements() -> list[Requirement]:
    try:
        return [Requirement(text) for text in metadata.requires(DISTRIBUTION) or ()]
    except metadata.PackageNotFoundError as error:
        raise EnvironmentBroken("OPERA is not installed here, so its extras are unknown; run `pip install .`") from error
