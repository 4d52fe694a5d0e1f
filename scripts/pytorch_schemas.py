"""Writes data/facts/pytorch_schemas.json: the ATen schemas of PyTorch's functions, and which of them are core operators.

    python scripts/pytorch_schemas.py

Functions with the same schemas (types, names and defaults of all overloads) and the same place in the operator set usually share their
conversion: prioritisation takes them for one family. A *core* operator (a tag of PyTorch's own `native_functions.yaml`) reaches a
compiler as it is; PyTorch usually decomposes the others into core operators first. A function belongs to the ATen operator of its name:
`torch.special.ndtr` to `special_ndtr`, `torch.nn.functional.relu` to `relu`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "data" / "facts" / "pytorch_schemas.json"
PREFIXES = {
    "torch.nn.functional.": ("", "nn_"),
    "torch.special.": ("special_", ""),
    "torch.fft.": ("fft_",),
    "torch.linalg.": ("linalg_", ""),
    "torch.Tensor.": ("",),
    "torch.": ("",),
}
"""The beginnings of the ATen names of a module's functions."""


def main() -> None:
    functions = json.loads((ROOT / "data" / "facts" / "pytorch_signatures.json").read_text(encoding="utf-8"))["functions"]
    groups: dict[tuple[tuple[str, ...], bool], list[str]] = {}
    for api in sorted(functions):
        found = packet(api)
        if found is not None:
            groups.setdefault(described(found), []).append(api)
    rows = [{"schemas": list(schemas), "core": core, "functions": apis} for (schemas, core), apis in groups.items()]
    lines = ",\n  ".join(json.dumps(row) for row in rows)
    origin = f"torch {torch.__version__.partition('+')[0]}, by scripts/pytorch_schemas.py"
    header = f'{{\n "schema": "pytorch-schemas/1",\n "origin": "{origin}",\n "families": [\n  '
    TARGET.write_text(f"{header}{lines}\n ]\n}}\n", encoding="utf-8")
    print(f"{sum(map(len, groups.values()))} functions in {len(groups)} families written to {TARGET.name}")


def packet(api: str) -> Any:
    """The ATen operator of a function, with all its overloads; None for a function that has none."""
    prefix = next((each for each in PREFIXES if api.startswith(each)), None)
    if prefix is None:
        return None
    name = api.removeprefix(prefix)
    if name.startswith("__"):
        name = name.strip("_")
    if not name.isidentifier():
        return None
    operators = (getattr(torch.ops.aten, beginning + name, None) for beginning in PREFIXES[prefix])
    return next((each for each in operators if each is not None and schemas_of(each)), None)


def described(operator: Any) -> tuple[tuple[str, ...], bool]:
    """The schemas of the overloads without the operator's name, and whether one of the overloads is a core operator."""
    core = any(torch.Tag.core in getattr(operator, name).tags for name in operator.overloads())
    return tuple(sorted({"(" + str(schema).partition("(")[2] for schema in schemas_of(operator)})), core


def schemas_of(operator: Any) -> list[Any]:
    """The schemas of all overloads that make their own outputs."""
    return [getattr(operator, name)._schema for name in operator.overloads() if not re.search(r"\bout\b|_out$", name)]


if __name__ == "__main__":
    main()
