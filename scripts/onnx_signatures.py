"""Writes data/facts/onnx_signatures.json: slots and attribute defaults of every ONNX operator, from the installed onnx.

python scripts/onnx_signatures.py

Corpora that others recorded (the paper's among them) name graph inputs instead of slots, and leave defaults out; an evaluation on
them reads both from this file. What OPERA records itself has them already.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
from onnx import helper

TARGET = Path(__file__).parents[1] / "data" / "facts" / "onnx_signatures.json"
OPTIONS = {0: "single", 1: "optional", 2: "variadic"}


def main() -> None:
    """Writes the file."""
    operators: dict[str, dict[str, Any]] = {}
    for schema in sorted(onnx.defs.get_all_schemas(), key=lambda each: (each.name, each.domain != "", each.domain)):
        defaults = {
            name: _plain(helper.get_attribute_value(attribute.default_value))
            for name, attribute in sorted(schema.attributes.items())
            if attribute.default_value.type != onnx.AttributeProto.UNDEFINED
        }
        operators.setdefault(
            schema.name,
            {
                "domain": schema.domain or "ai.onnx",
                "slots": [[slot.name, OPTIONS[int(slot.option)]] for slot in schema.inputs],
                "defaults": {name: value for name, value in defaults.items() if isinstance(value, (int, float, str, list))},
            },
        )
    lines = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in operators.items())
    origin = f"onnx {onnx.__version__}, by scripts/onnx_signatures.py"
    header = f'{{\n "schema": "onnx-signatures/1",\n "origin": "{origin}",\n "operators": {{\n  '
    TARGET.write_text(f"{header}{lines}\n }}\n}}\n", encoding="utf-8")
    print(f"{len(operators)} operators written to {TARGET.name}")


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return round(value, 9) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
