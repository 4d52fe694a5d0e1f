"""Writes data/facts/pytorch_signatures.json: names and defaults of the parameters of everything that a PyTorch instance may call.

    python scripts/pytorch_signatures.py

Suites and other documents give arguments by position, where instances give names; this file says which name a position has.
"""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import torch

from opera.instrumentation import pytorch_names, pytorch_parameters
from opera.instrumentation.pytorch_parameters import Parameters
from opera.models.operators import operators_of

TARGET = Path(__file__).parents[1] / "data" / "facts" / "pytorch_signatures.json"


def _row(found: Parameters) -> list[Any]:
    return [list(found.names), found.rest, dict(found.defaults)]


def _functions() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    admitted = operators_of("pytorch")
    methods = {f"torch.Tensor.{name}": getattr(torch.Tensor, name) for name in dir(torch.Tensor)}
    packets = {f"torch.ops.aten.{name}": getattr(torch.ops.aten, name) for name in dir(torch.ops.aten) if not name.startswith("__")}
    names = {schema.name.partition("::")[2] for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::")}
    for name in sorted(names):
        if f"torch.ops.aten.{name}" not in packets and hasattr(torch.ops.aten, name):
            packets[f"torch.ops.aten.{name}"] = getattr(torch.ops.aten, name)
    for path, function in sorted({**pytorch_names._public_functions(), **methods, **packets}.items()):
        if admitted.objection(path) is None and callable(function):
            found[path] = _row(pytorch_parameters.of_function(function))
            for overload in function.overloads() if isinstance(function, torch._ops.OpOverloadPacket) else ():
                if admitted.objection(f"{path}.{overload}") is None:
                    found[f"{path}.{overload}"] = _row(pytorch_parameters.of_function(getattr(function, overload)))
    return found


def _classes() -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    made: dict[str, list[Any]] = {}
    called: dict[str, list[Any]] = {}
    for place in pytorch_names._CLASS_PLACES:
        for name, kind in sorted(vars(importlib.import_module(place)).items()):
            if inspect.isclass(kind) and issubclass(kind, torch.nn.Module) and operators_of("pytorch").objection(f"{place}.{name}") is None:
                made[f"{place}.{name}"] = _row(pytorch_parameters.of_class(kind))
                called[f"{place}.{name}"] = _row(pytorch_parameters.of_forward(kind))
    return made, called


def main() -> None:
    made, called = _classes()
    document = {"functions": _functions(), "classes": made, "forwards": called}
    lines = [
        f' "schema": "pytorch-signatures/1",\n "origin": "torch {torch.__version__.partition("+")[0]}, by scripts/pytorch_signatures.py"'
    ]
    for part, rows in document.items():
        body = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in rows.items())
        lines.append(f' "{part}": {{\n{body}\n }}')
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
