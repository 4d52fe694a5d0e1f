"""An ONNX model as the Python source that builds it with `onnx.helper`."""

from __future__ import annotations

import base64
import importlib
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from opera.templates.python_text import array_text, listed, number_text, value_text, wrapped

_INFO = "helper.make_tensor_value_info"
_SHORT = "tensor"
"""A name for that function where a line is saved by having one."""

onnx: Any = importlib.import_module("onnx")
numpy_helper: Any = importlib.import_module("onnx.numpy_helper")


def model_source(proto: Any, inputs: Mapping[str, Any]) -> str:
    """Source that defines `model` and `inputs` (name to value)."""
    runtime = [entry.name for entry in proto.graph.input]
    values = [f'"{name}": {value_text(inputs[name])}' for name in runtime]
    return "\n".join(
        (
            _node_model(proto) if _is_plain(proto) else _serialised(proto),
            listed("inputs", values, "{}"),
        )
    )


def expected_source(expected: Sequence[Any]) -> str:
    """Source that defines `expected`, the list of outputs."""
    return listed("expected", [value_text(value) for value in expected])


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
    named = [(name, items) for name, items in named if items or name != "constants"]
    arguments = ", ".join(['"single_operator"', *(name for name, _ in named)])
    entries = "\n".join(listed(name, items) for name, items in named)
    shorter = "\n".join((f"{_SHORT} = {_INFO}", *(listed(name, [item.replace(_INFO, _SHORT) for item in items]) for name, items in named)))
    return "\n".join(
        (
            f"node = {wrapped('helper.make_node(' + ', '.join(call) + ')')}",
            shorter if shorter.count("\n") < entries.count("\n") else entries,
            f"graph = helper.make_graph([node], {arguments})",
            f"model = helper.make_model(graph, opset_imports=[{opsets}], ir_version={proto.ir_version})",
        )
    )


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
