"""The JSON Schema of suites, for editors: made from the table that the validator uses."""

from __future__ import annotations

from opera.extensions.opidiff.table import (
    ALIASES,
    COMMON,
    DEVICES,
    DOCUMENT,
    DTYPES,
    INITS,
    KINDS,
    NODES,
    OPERATIONS,
    SIDE,
    TEST,
    Form,
    Holds,
)
from opera.untrusted import JsonObject, JsonValue

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_NODE: JsonObject = {"$ref": "#/$defs/node"}
_VARIABLE: JsonObject = {"$ref": "#/$defs/variable"}
_SIZE: JsonObject = {"type": ["integer", "string"]}
_ARGUMENT: JsonObject = {"$ref": "#/$defs/argument"}
_HOLDS: dict[Holds, JsonObject] = {
    Holds.TEXT: {"type": "string", "minLength": 1},
    Holds.FLAG: {"anyOf": [{"type": "boolean"}, _VARIABLE]},
    Holds.LITERAL: {},
    Holds.ANYTHING: {},
    Holds.NUMBER: {"anyOf": [{"type": ["number", "string"]}, _VARIABLE]},
    Holds.LENGTH: {"anyOf": [_SIZE, _VARIABLE]},
    Holds.SHAPE: {"type": "array", "minItems": 1, "items": _SIZE},
    Holds.INTEGERS: {"anyOf": [{"type": "array", "minItems": 1, "items": {"anyOf": [{"type": "integer"}, _VARIABLE]}}, _VARIABLE]},
    Holds.KIND: {"enum": list(KINDS)},
    Holds.DTYPE: {"enum": [*DTYPES, *ALIASES]},
    Holds.INIT: {"enum": list(INITS)},
    Holds.NODE: _NODE,
    Holds.NODES: {"type": "array", "items": _NODE},
    Holds.NAMED_NODES: {"type": "object", "additionalProperties": _NODE},
    Holds.REFERENCE: {"anyOf": [{"type": "string", "minLength": 1}, _VARIABLE]},
    Holds.PATH: {"type": "string", "minLength": 1},
    Holds.ARGUMENTS: {"type": "array", "items": _ARGUMENT},
    Holds.KEYWORDS: {"type": "object", "additionalProperties": _ARGUMENT},
    Holds.VARIABLES: {"type": "object", "additionalProperties": {"type": "array", "minItems": 1}},
    Holds.CASES: {"type": "array", "minItems": 1, "items": {"type": "object"}},
    Holds.COMMON: {"$ref": "#/$defs/common"},
    Holds.SIDE: {"$ref": "#/$defs/side"},
    Holds.OPERATOR: {
        "anyOf": [{"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*::"}, *({"$ref": f"#/$defs/{name}"} for name in OPERATIONS)]
    },
    Holds.DEVICE: {"enum": list(DEVICES)},
    Holds.INCLUDE: {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    Holds.DIMS: {"type": ["object", "null"], "additionalProperties": {"type": "integer", "minimum": 0}},
    Holds.PRESETS: {"type": ["object", "null"], "additionalProperties": _NODE},
    Holds.TESTS: {"type": "array", "items": {"$ref": "#/$defs/test"}},
}


def json_schema() -> JsonObject:
    """The schema of a suite."""
    shorthands: list[JsonValue] = [_shorthand("ref", _HOLDS[Holds.REFERENCE], "The value of a preset."), _VARIABLE]
    node: JsonObject = {"anyOf": [*({"$ref": f"#/$defs/{name}"} for name in NODES), *shorthands]}
    argument: JsonObject = {
        "anyOf": [
            _NODE,
            {"type": ["string", "number", "boolean", "null"]},
            {"type": "array", "items": _ARGUMENT},
            {
                "type": "object",
                "not": {"anyOf": [{"required": [name]} for name in ("type", "ref", "var")]},
                "additionalProperties": _ARGUMENT,
            },
        ]
    }
    variable = _shorthand("var", {"type": "string", "minLength": 1}, "The value of a template variable.")
    forms = (*NODES.values(), *OPERATIONS.values(), COMMON, SIDE, TEST)
    parts: JsonObject = {"node": node, "argument": argument, "variable": {"anyOf": [variable, {"$ref": "#/$defs/var"}]}}
    return {"$schema": DRAFT, "title": "OpiDiff suite", **_form(DOCUMENT), "$defs": {**parts, **{each.name: _form(each) for each in forms}}}


def _shorthand(name: str, content: JsonObject, about: str) -> JsonObject:
    return {"type": "object", "description": about, "properties": {name: content}, "required": [name], "additionalProperties": False}


def _form(form: Form) -> JsonObject:
    properties: JsonObject = {each.name: {**_HOLDS[each.holds], "description": each.about} for each in form.fields}
    if form.typed:
        properties = {"type": {"const": "module" if form is SIDE else form.name}, **properties}
    required: list[JsonValue] = [each.name for each in form.fields if each.required]
    if form.typed and form is not SIDE:
        required.insert(0, "type")
    made: JsonObject = {"type": "object", "description": form.about, "properties": properties, "additionalProperties": False}
    if required:
        made["required"] = required
    return {**made, "anyOf": [{"required": ["kind"]}, {"required": ["dtype"]}]} if form.kind_or_dtype else made
