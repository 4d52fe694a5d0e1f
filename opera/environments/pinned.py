"""The environments for which OPERA ships pins, and which of them a compiler or a library needs: what `opera doctor` advises."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, cast

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from opera.atomic import read_file
from opera.bounded_json import parsed_json
from opera.errors import EnvironmentBroken
from opera.plugins import DISTRIBUTION

FOLDER = Path(__file__).parent
MAIN = "main.txt"
"""The pins of the main environment."""
RECORD = "opera-environment.json"
"""The file in an environment by which `opera env create` knows that it has made it."""


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "environments.toml").read_text(encoding="utf-8"))


def environments() -> dict[str, dict[str, Any]]:
    """The rows of `environments.toml` by name."""
    return _data()["environments"]


def workers_need() -> list[str]:
    """The packages that every worker needs."""
    return _data()["worker"]


def described(name: str) -> bool:
    """Whether OPERA itself ships pins for *name*."""
    return name in environments()


def own_only(name: str) -> bool:
    """Whether what is called *name* is not meant for the main environment: its pins are its own."""
    return described(name) and environments()[name]["pins"] != MAIN


def needs_of(name: str) -> str:
    """The requirements of the environment *name* on the machine; may be empty."""
    return environments()[name].get("needs", "") if described(name) else ""


def made_as(folder: Path) -> str | None:
    """The name of the environment in *folder*, if `opera env create` has made it."""
    try:
        return str(cast(Any, parsed_json(read_file(folder / RECORD)))["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def requirements_of(name: str) -> list[str]:
    """The requirements of an extra of OPERA's, with those of the extras that it is made of."""
    found: list[str] = []
    for each in requirements():
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
    return any(canonicalize_name(each.name) == name for each in requirements())


def requirements() -> list[Requirement]:
    """The requirements of OPERA, those of its extras included; raises EnvironmentBroken if it is not installed."""
    try:
        return [Requirement(text) for text in metadata.requires(DISTRIBUTION) or ()]
    except metadata.PackageNotFoundError as error:
        raise EnvironmentBroken("OPERA is not installed here, so its extras are unknown; run `pip install .`") from error
