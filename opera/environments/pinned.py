"""The environments for which OPERA ships pins, and which of them a compiler or a library needs: what `opera doctor` advises."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

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
        return str(json.loads((folder / RECORD).read_text(encoding="utf-8"))["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
