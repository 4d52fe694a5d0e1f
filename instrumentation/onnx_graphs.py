"""ONNX graphs in canonical form: equal computations give equal bytes, whatever their values were called.

Graph inputs become `input0`, `input1` ..., outputs `output0` ..., everything in between `value0` ... by order of appearance; inside
subgraphs the same with a prefix per level. Names of nodes and graphs, documentation, producer and metadata go.
"""

from __future__ import annotations

import importlib
from typing import Any, Dict

onnx: Any = importlib.import_module("onnx")


def canonical_model(model: Any) -> Any:
    """A copy of *model* in canonical form."""
    clean = onnx.ModelProto()
    clean.CopyFrom(model)
    for field in ("producer_name", "producer_version", "model_version", "doc_string", "domain", "metadata_props"):
        clean.ClearField(field)
    imports = sorted(clean.opset_import, key=lambda item: item.domain)
    clean.ClearField("opset_import")
    clean.opset_import.extend(imports)
    _rename(clean.graph, {}, 0)
    return clean


def canonical_graph(graph: Any) -> Any:
    """A copy of the subgraph *graph* in canonical form; names of the graph around it stay."""
    clean = onnx.GraphProto()
    clean.CopyFrom(graph)
    _rename(clean, {}, 0)
    return clean


def _rename(graph: Any, outer: Dict[str, str], level: int) -> None:
    """Renames the values of *graph*, which sees the renamed values *outer*."""
    prefix = f"level{level}_" if level else ""
    names = {**outer, **{item.name: f"{prefix}input{number}" for number, item in enumerate(graph.input)}}
    for number, item in enumerate(graph.output):
        if item.name not in names:
            names[item.name] = f"{prefix}output{number}"
    for item in graph.initializer:
        names.setdefault(item.name, f"{prefix}constant{len(names)}")
    for node in graph.node:
        for name in node.output:
            if name:
                names.setdefault(name, f"{prefix}value{len(names)}")
    _apply(graph, names, level)


def _apply(graph: Any, names: Dict[str, str], level: int) -> None:
    for item in (*graph.input, *graph.output, *graph.initializer):
        item.name = names.get(item.name, item.name)
        item.ClearField("doc_string")
    for node in graph.node:
        for field in ("name", "doc_string", "metadata_props"):
            node.ClearField(field)
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
        attributes = sorted(node.attribute, key=lambda item: item.name)
        for attribute in attributes:
            attribute.ClearField("doc_string")
            for body in (attribute.g, *attribute.graphs) if attribute.HasField("g") else attribute.graphs:
                _rename(body, names, level + 1)
        copies = [_copy(attribute) for attribute in attributes]
        node.ClearField("attribute")
        node.attribute.extend(copies)
    for field in ("value_info", "doc_string", "metadata_props"):
        graph.ClearField(field)
    graph.name = "graph"


def _copy(attribute: Any) -> Any:
    copy = onnx.AttributeProto()
    copy.CopyFrom(attribute)
    return copy
