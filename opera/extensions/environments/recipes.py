"""The environments that `opera env create` can make: those of `environments.toml`, of other adapters, and of versions of compilers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from opera.compilers.registry import did_you_mean, plugins
from opera.config import VERSION, is_release
from opera.console import one_line
from opera.environments.inventory import wanted
from opera.environments.pinned import FOLDER, MAIN, environments, requirements, requirements_of, workers_need
from opera.errors import UserError
from opera.extensions.environments.releases import compilers

_UNPACKED = 4.5
"""Largest size of an installed release, in multiples of its wheels."""


@dataclass(frozen=True)
class Recipe:
    """How an environment is made.

    Attributes:
        name: Name of the environment.
        serves: Sections and names of opera.toml whose interpreter it becomes.
        requirements: What is installed, as pip takes it.
        pins: The constraints file; None for a third party's compiler, whose newest versions are installed.
        gigabytes: Its size on the disk, in units of 10^9 bytes; 0 if it was not measured.
        summary: One line.
        needs: Other requirements on the machine; may be empty.
        unknown: Extras that it is made of and that the installed metadata of OPERA does not have: those of an older version.
        version: Name of the version of a compiler that the environment is of. It has only what differs from the compiler's usual
            environment, whose packages it sees.
        download: What pip has to load, in units of 10^6 bytes; 0 if this is not known.
    """

    name: str
    serves: tuple[tuple[str, str], ...]
    requirements: tuple[str, ...]
    pins: Path | None
    gigabytes: float
    summary: str
    needs: str = ""
    unknown: tuple[str, ...] = ()
    version: str | None = None
    download: int = 0


def known_names() -> list[str]:
    """The names that `recipe` takes, in alphabetical order."""
    return sorted({*environments(), *plugins()})


def recipe(name: str) -> Recipe:
    """The recipe called *name*: one of OPERA's own, else what the adapter of that name declares, with the libraries of its live routes.

    Raises:
        UserError: the environment is unknown.
        EnvironmentBroken: the adapter cannot be imported, or opera is not installed.
    """
    worker: list[str] = workers_need()
    entry = environments().get(name)
    if entry is None:
        if name not in plugins():
            known = known_names()
            raise UserError(f"unknown environment {name!r}{did_you_mean(name, known)}; choose one of: {', '.join(known)}")
        plugin = plugins()[name]
        adapter = plugin.load()
        live = dict.fromkeys(route.library for route in adapter.routes if route.artefact is None)
        packages = dict.fromkeys([*wanted(adapter.packages), *(text for library in live for text in requirements_of(library))])
        pins = FOLDER / MAIN if plugin.target.startswith("opera.") else None
        return Recipe(name, (("compiler", name),), (*packages, *_needed_by_workers(worker)), pins, 0.0, "as its adapter declares")
    serves = tuple((section, served) for section, _, served in (each.partition(".") for each in entry["serves"]))
    extras: dict[str, list[str]] = {extra: requirements_of(extra) for extra in entry["extras"]}
    listed = [text for found in extras.values() for text in found]
    unknown = tuple(extra for extra, found in extras.items() if not found)
    needed = [str(each) for each in requirements() if each.marker is None] if entry.get("driver") else _needed_by_workers(worker)
    return Recipe(
        name=name,
        serves=serves,
        requirements=tuple(dict.fromkeys([*listed, *needed])),
        pins=FOLDER / entry["pins"],
        gigabytes=float(entry["gigabytes"]),
        summary=entry["summary"],
        needs=entry.get("needs", ""),
        unknown=unknown,
    )


def version_recipe(name: str, source: str | None = None) -> Recipe:
    """The recipe of a version of a compiler, e.g. `tvm==0.26.0`.

    Args:
        name: The compiler, `==` and the version; for a build, any name in place of a version.
        source: What pip installs in place of the release: a wheel, a folder, or a requirement; then pre-releases count.

    Raises:
        UserError: OPERA knows no such compiler, or none of its releases; or *name* cannot name a version.
    """
    compiler, _, version = name.partition("==")
    names = {*plugins(), *compilers()}
    if compiler not in names:
        raise UserError(f"unknown compiler {compiler!r}{did_you_mean(compiler, names)}; choose one of: {', '.join(compilers())}")
    if not VERSION.fullmatch(version):
        raise UserError(f"{one_line(version, 60)!r} is no name of a version; write e.g. {compiler}==1.2.0")
    serves, known = (("compiler", compiler),), compilers().get(compiler)
    if source is not None:
        if is_release(version):
            raise UserError(f"{version} is the name of a release; a build needs another name, e.g. {compiler}==build-{version}")
        if source.startswith("-"):
            raise UserError(f"{one_line(source, 60)!r} is no wheel, folder or requirement")
        is_path = os.sep in source or source.endswith((".whl", ".tar.gz"))
        wanted = ("--pre", str(Path(source).absolute()) if is_path and "://" not in source else source)
        return Recipe(name, serves, wanted, None, 0.0, f"installed from {source}", version=version)
    if known is None:
        raise UserError(f"OPERA does not know the releases of {compiler}; name what pip has to install with --from")
    try:
        Version(version)
    except InvalidVersion as error:
        raise UserError(f"{version} is no version of a release; for a build, name what pip has to install with --from") from error
    release = known.find(version)
    size, summary = (release.megabytes, f"released on {release.date}") if release else (0, "a release that this OPERA does not know")
    return Recipe(name, serves, known.requirements(version), None, _UNPACKED * size / 1e3, summary, version=version, download=size)


def _needed_by_workers(names: list[str]) -> list[str]:
    wanted = {canonicalize_name(name) for name in names}
    own = (each for each in requirements() if each.marker is None)
    return [str(each) for each in own if canonicalize_name(each.name) in wanted]
