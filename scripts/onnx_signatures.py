"""Writes data/facts/onnx_signatures.json: what each ONNX operator declares, and since when, from the installed onnx.

python scripts/onnx_signatures.py

Corpora that others recorded (the paper's among them) name graph inputs instead of slots, and leave defaults out; an evaluation on
them reads both from this file. What OPERA records itself has them already. Prioritisation reads attributes, slots and outputs (its
families of operators), and versions. `versions` has the opset in which the operator appeared, and that of its newest schema. `later` has
the opset in which an attribute, a slot or (after a colon) a dtype appeared, for those that appeared after the operator.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import onnx
from onnx import helper

TARGET = Path(__file__).parents[1] / "data" / "facts" / "onnx_signatures.json"
OPTIONS = {0: "single", 1: "optional", 2: "variadic"}
_TENSOR = re.compile(r"tensor\((\w+)\)")
_DTYPES = {"float": "float32", "double": "float64"}


def main() -> None:
    operators: dict[str, dict[str, Any]] = {}
    history: dict[tuple[str, str], list[onnx.defs.OpSchema]] = {}
    for schema in sorted(onnx.defs.get_all_schemas_with_history(), key=lambda each: each.since_version):
        history.setdefault((schema.domain, schema.name), []).append(schema)
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
                "slots": [[slot.name, option_of(slot)] for slot in schema.inputs],
                "outputs": [option_of(output) for output in schema.outputs],
                "attributes": [[name, attribute.required] for name, attribute in sorted(schema.attributes.items())],
                "defaults": {name: value for name, value in defaults.items() if isinstance(value, (int, float, str, list))},
                "versions": [history[schema.domain, schema.name][0].since_version, schema.since_version],
                "later": _later(history[schema.domain, schema.name]),
            },
        )
    lines = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in operators.items())
    origin = f"onnx {onnx.__version__}, by scripts/onnx_signatures.py"
    header = f'{{\n "schema": "onnx-signatures/2",\n "origin": "{origin}",\n "operators": {{\n  '
    TARGET.write_text(f"{header}{lines}\n }}\n}}\n", encoding="utf-8")
    print(f"{len(operators)} operators written to {TARGET.name}")


def _later(schemas: Sequence[onnx.defs.OpSchema]) -> dict[str, int]:
    """When the parts of the newest of *schemas* appeared, for those that the oldest schema lacks. A slot keeps its place, not its name."""
    since: dict[str, int] = {}
    for schema in schemas:
        for part in _parts(schema):
            since.setdefault(part, schema.since_version)
    names = {str(index): slot.name for index, slot in enumerate(schemas[-1].inputs)}
    later = {names.get(part, part): since[part] for part in _parts(schemas[-1])}
    return {name: version for name, version in sorted(later.items()) if version > schemas[0].since_version}


def _parts(schema: onnx.defs.OpSchema) -> Iterator[str]:
    """Names of attributes, places of slots, and dtypes of tensors."""
    yield from schema.attributes
    yield from map(str, range(len(schema.inputs)))
    for constraint in schema.type_constraints:
        for text in constraint.allowed_type_strs:
            found = _TENSOR.fullmatch(text)
            if found is not None:
                yield ":" + _DTYPES.get(found[1], found[1].replace("float8e", "float8_e"))


def option_of(parameter: Any) -> str:
    """Whether an input or an output is single, optional or repeated."""
    return OPTIONS[int(parameter.option)]


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return round(value, 9) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
