"""How many tests a compiler's own repository already has for each operator of a frontend."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources


def equipped_counts(compiler: str, frontend: str) -> Mapping[str, int]:
    """Number of equipped tests by operator (`Instance.operator`); empty where no counts are known for the subject.

    Reads `opera/facts/equipped/<compiler>_<frontend>.json`, which also says where the counts come from.
    """
    found = resources.files("opera").joinpath("facts", "equipped", f"{compiler}_{frontend}.json")
    if not found.is_file():
        return {}
    counts: Mapping[str, int] = json.loads(found.read_text(encoding="utf-8"))["counts"]
    return counts
