"""Counts what the public architectures use, from a workspace that has recorded them.

    python scripts/architectures.py LIBRARY --workspace DIR

writes data/models/LIBRARY.json: by architecture, the number of its distinct instances of each operator.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from opera.store.database import open_workspace
from opera.store.queries import Wanted, occurrences

FOLDER = Path(__file__).parents[1] / "data" / "models"
SOURCE = "architectures"
_SIZED = re.compile(r"(?<=[a-z])[123]d$")


def name_of(api: str) -> str:
    """The operator that *api* calls, however it is called: `torch.nn.ReLU`, `torch.Tensor.relu_` and `torch.relu` are `relu`."""
    return api.rpartition(".")[2].lower().replace("_", "")


@functools.cache
def _recorded(library: str) -> Mapping[str, frozenset[str]]:
    """By architecture, the names of the operators that it uses; layers of a number of axes count as the operator without it, too."""
    path = FOLDER / f"{library}.json"
    if not path.is_file():
        return {}
    built: dict[str, dict[str, int]] = json.loads(path.read_text(encoding="utf-8"))["built"]
    names = {model: [name_of(api) for api in found] for model, found in built.items()}
    return {model: frozenset([*found, *(_SIZED.sub("", name) for name in found)]) for model, found in names.items()}


def used_by(library: str, apis: Sequence[str]) -> tuple[int, int]:
    """How many of the recorded architectures use an operator of *apis*, and how many there are; 0 for a library without any."""
    recorded, names = _recorded(library), set(map(name_of, apis))
    return sum(not names.isdisjoint(found) for found in recorded.values()), len(recorded)


def main() -> None:
    """Counts, and writes the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--workspace", type=Path, default=Path(".opera"))
    options = parser.parse_args()
    with open_workspace(options.workspace, write=False) as space:
        seen = occurrences(space, Wanted(options.library, SOURCE))
    built: dict[str, Counter[str]] = {}
    for each in seen:
        if each.test != "*":
            built.setdefault(each.test.split("::")[1].removesuffix(".py"), Counter())[each.api] += 1
    text = {"library": options.library, "built": {name: dict(sorted(found.items())) for name, found in sorted(built.items())}}
    (FOLDER / f"{options.library}.json").write_text(json.dumps(text, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{len(built)} architectures, {len({api for found in built.values() for api in found})} operators")


if __name__ == "__main__":
    main()
