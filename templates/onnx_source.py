"""An ONNX model as the Python source that builds it with `onnx.helper`."""

from __future__ import annotations

import base64
import importlib
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from opera.templates.python_text import array_text, number_text, value_text, wrapped

_WIDTH = 120
_INFO = "helper.make_tensor_value_info"
_MANY = 4
"""Inputs and outputs from which on the function that declares them gets a short name."""

onnx: Any = importlib.import_module("onnx")
numpy_helper: Any = importlib.import_module("onnx.numpy_helper")


def model_source(proto: Any, inputs: Mapping[str, Any]) -> str:
    """Source that defines `model` and `inputs` (name to value)."""
    runtime = [entry.name for entry in proto.graph.input]
    values = [f'"{name}": {value_text(inputs[name])}' for name in runtime]
    return "\n".join(
        (
            _node_model(proto) if _is_plain(proto) else _serialised(proto),
            _list("inputs", values, "{}"),
        )
    )


def expected_source(expected: Sequence[Any]) -> str:
    """Source that defines `expected`, the list of outputs."""
    return _list("expected", [value_text(value) for value in expected])


def _is_plain(proto: Any) -> bool:
    """Whether the model is one node whose attributes can be written out."""
    if len(proto.graph.node) != 1:
        return False
    types = {onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS, onnx.AttributeProto.TYPE_PROTO, onnx.AttributeProto.SPARSE_TENSOR}
    entries = [*proto.graph.input, *proto.graph.output]
    return not any(attribute.type in types for attribute in proto.graph.node[0].attribute) and all(
        entry.type.WhichOneof("value") == "tensor_type" for entry in entries
    )


def _serialised(proto: Any) -> str:
    text = base64.b64encode(zlib.compress(proto.SerializeToString(deterministic=True), 9)).decode("ascii")
    lines = "\n".join(f'    "{text[start : start + 112]}"' for start in range(0, len(text), 112))
    return f"model = onnx.load_model_from_string(zlib.decompress(base64.b64decode(\n{lines}\n)))"


def _node_model(proto: Any) -> str:
    node = proto.graph.node[0]
    attributes = [f"{attribute.name}={_attribute_text(attribute)}" for attribute in node.attribute]
    domain = [f'domain="{node.domain}"'] if node.domain else []
    call = [f'"{node.op_type}"', _names(node.input), _names(node.output), *domain, *attributes]
    initializers = [
        f'numpy_helper.from_array({array_text(numpy_helper.to_array(item))}, "{item.name}")' for item in proto.graph.initializer
    ]
    opsets = ", ".join(f'helper.make_opsetid("{entry.domain}", {entry.version})' for entry in proto.opset_import)
    named = (
        ("entries", [_info(entry) for entry in proto.graph.input]),
        ("results", [_info(entry) for entry in proto.graph.output]),
        ("constants", initializers),
    )
    short = len(proto.graph.input) + len(proto.graph.output) >= _MANY
    if short:
        named = tuple((name, [item.replace(_INFO, "tensor") for item in items]) for name, items in named)
    arguments = ", ".join(['"single_operator"', *(name for name, items in named if items or name != "constants")])
    entries = [_list(name, items) for name, items in named if items or name != "constants"]
    return "\n".join(
        (
            f"node = {wrapped('helper.make_node(' + ', '.join(call) + ')')}",
            *([f"tensor = {_INFO}"] if short else []),
            *entries,
            f"graph = helper.make_graph([node], {arguments})",
            f"model = helper.make_model(graph, opset_imports=[{opsets}], ir_version={proto.ir_version})",
        )
    )


def _list(name: str, items: Sequence[str], brackets: str = "[]") -> str:
    """A list or dictionary, on one line or with as many items a line as fit."""
    line = f"{name} = {brackets[0]}{', '.join(items)}{brackets[1]}"
    if len(line) <= _WIDTH:
        return line
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 6 <= _WIDTH:
            lines[-1] += f" {item},"
        else:
            lines.append(f"{item},")
    body = "".join(f"    {each}\n" for each in lines)
    return f"{name} = {brackets[0]}\n{body}{brackets[1]}"


def _names(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def _info(entry: Any) -> str:
    tensor = entry.type.tensor_type
    kind = onnx.TensorProto.DataType.Name(tensor.elem_type)
    if not tensor.HasField("shape"):
        return f'{_INFO}("{entry.name}", onnx.TensorProto.{kind}, None)'
    shape = [dim.dim_value if dim.HasField("dim_value") else (dim.dim_param or None) for dim in tensor.shape.dim]
    return f'{_INFO}("{entry.name}", onnx.TensorProto.{kind}, {shape})'


def _attribute_text(attribute: Any) -> str:
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        return f"numpy_helper.from_array({array_text(numpy_helper.to_array(value))})"
    if isinstance(value, bytes):
        return repr(value.decode("utf-8")) if value.isascii() else repr(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    items = list(value)
    if items and isinstance(items[0], bytes):
        return repr([item.decode("utf-8", "surrogateescape") for item in items])
    return "[" + ", ".join(number_text(item) for item in items) + "]"
