"""The ONNX recorder: turns a test case (a model, its inputs and expected outputs) into an instance."""

from __future__ import annotations

import importlib
from typing import Any, Dict, List, Sequence, Tuple, cast

from . import onnx_values as values
from .onnx_graphs import canonical_graph, canonical_model
from .stream import Document
from .wire import Json

onnx: Any = importlib.import_module("onnx")


def node_document(model: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> Document:
    """The instance of a model with a single node.

    Raises:
        Unrecordable: a value is of a kind that the format does not have.
    """
    node = model.graph.node[0]
    opsets = opset_versions(model)
    schema = schema_of(node, opsets)
    given = {info.name: values.encode(value) for info, value in zip(model.graph.input, inputs, strict=True)}
    expected: Dict[str, Json] = {info.name: values.encode(value) for info, value in zip(model.graph.output, outputs, strict=True)}
    context = context_of(node, opsets)
    context += _types("input_types", node.input, given, model.graph.input)
    context += _types("output_types", node.output, expected, model.graph.output)
    attributes = sorted(node.attribute, key=lambda item: item.name)
    return {
        **head(api_name(node), "node"),
        "init": [{"name": item.name, "value": values.attribute(item, canonical_graph)} for item in attributes],
        "call": [
            {"name": formal_name(schema, position), "value": given.get(name) if name else None} for position, name in enumerate(node.input)
        ],
        "context": context,
        "defaults": defaults_of(schema),
        "outcome": "returned",
        "expected": [expected.get(name) for name in node.output],
    }


def graph_document(model: Any, operator: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Document:
    """The instance of a model that spells *operator* out as a graph of others."""
    clean = canonical_model(model)
    given = [values.encode(value) for value in inputs]
    opsets = opset_versions(model)
    return {
        **head(operator, "graph"),
        "call": [{"name": info.name, "value": value} for info, value in zip(clean.graph.input, given, strict=True)],
        "context": [["graph", values.graph(clean)], ["opset", opsets.get("", 0)]],
        "outcome": "returned",
        "expected": [values.encode(value) for value in outputs],
    }


def api_name(node: Any) -> str:
    """`ai.onnx.Conv` for a Conv of the default domain."""
    return f"{node.domain or 'ai.onnx'}.{node.op_type}"


def opset_versions(model: Any) -> Dict[str, int]:
    """Domain to version; the default domain is the empty string."""
    return {"" if item.domain == "ai.onnx" else item.domain: int(item.version) for item in model.opset_import}


def schema_of(node: Any, opsets: Dict[str, int]) -> Any:
    """The operator's schema at the version that the model imports; None for an operator that ONNX does not define."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        return onnx.defs.get_schema(node.op_type, opsets.get(domain, 1), domain)
    except onnx.defs.SchemaError:
        return None


def head(api: str, kind: str) -> Document:
    """The beginning of every document."""
    return {"schema": "instance/1", "library": "onnx", "api": api, "kind": kind}


def formal_name(schema: Any, position: int) -> str:
    """The name of an input slot; a variadic one gives its name to all that follow."""
    formal = [] if schema is None else list(schema.inputs)
    if position < len(formal):
        return str(formal[position].name)
    variadic = bool(formal) and formal[-1].option == onnx.defs.OpSchema.FormalParameterOption.Variadic
    return str(formal[-1].name) if variadic else f"input{position}"


def context_of(node: Any, opsets: Dict[str, int]) -> List[Json]:
    """Opset versions, and which outputs the node has."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    context: List[Json] = [["opset", opsets.get(domain, 1)]]
    if len(opsets) > 1:
        pairs: List[Json] = [[name or "ai.onnx", version] for name, version in sorted(opsets.items())]
        context.append(["opsets", {"dict": pairs}])
    present: List[Json] = [bool(name) for name in node.output]
    context.append(["outputs", present])
    return context


def _types(label: str, names: Sequence[str], contents: Dict[str, Json], infos: Sequence[Any]) -> List[Json]:
    """The declared types of the slots *names*, where any is not what its value tells: sequences, optionals, open dimensions."""
    declared = {info.name: info.type for info in infos}
    slots: List[Json] = []
    for name in names:
        known = values.derived_type(contents.get(name))
        told = name not in declared or (known is not None and known == declared[name])
        slots.append(None if told else values.graph(declared[name]))
    return [[label, slots]] if any(slot is not None for slot in slots) else []


def defaults_of(schema: Any) -> List[Json]:
    """The attribute defaults of the schema."""
    if schema is None:
        return []
    found: List[Tuple[str, Json]] = []
    for name, attribute in schema.attributes.items():
        if attribute.default_value.type != onnx.AttributeProto.UNDEFINED:
            found.append((str(name), values.attribute(attribute.default_value, canonical_graph)))
    return [cast(Json, [name, value]) for name, value in sorted(found)]
