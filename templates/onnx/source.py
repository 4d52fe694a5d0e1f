"""An ONNX model as the Python source that builds it with `onnx.helper`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from opera.models.operators import is_name
from opera.models.template import PythonSource
from opera.templates.onnx.text import text_lines
from opera.templates.python_text import array_text, imports_of, listed, number_text, packed, quoted, value_text, wrapped

_TAKEN = frozenset({"op_type", "inputs", "outputs", "name", "doc_string", "domain", "overload"})
"""What `helper.make_node` takes itself: an attribute of such a name it would not make."""
_MANY_LINES = 8
"""Number of calls from which on ONNX's own syntax is tried."""
_INFO = "helper.make_tensor_value_info"
_SHORT = "tensor"
"""A name for that function where a line is saved by having one."""

onnx: Any = importlib.import_module("onnx")
numpy_helper: Any = importlib.import_module("onnx.numpy_helper")


def python_source(proto: Any, inputs: Mapping[str, Any], outputs: Sequence[Any]) -> PythonSource:
    """A model, its inputs, and the outputs to expect of it."""
    text, expected = model_source(proto, inputs), expected_source(outputs)
    names = [name for name in ("helper", "numpy_helper") if f"{name}." in text]
    imports = ["import onnx", *([f"from onnx import {', '.join(names)}"] if names else [])]
    return PythonSource((*imports_of(text + expected), *imports), text, expected)


def model_source(proto: Any, inputs: Mapping[str, Any]) -> str:
    """Source that defines `model` and `inputs` (name to value)."""
    runtime = [entry.name for entry in proto.graph.input]
    values = [f"{quoted(name)}: {value_text(inputs[name])}" for name in runtime]
    return "\n".join(
        (
            _model(proto),
            listed("inputs", values, "{}"),
        )
    )


def _model(proto: Any) -> str:
    """Source that defines `model`: calls of `onnx.helper`, ONNX's own syntax where these are longer or not enough, else packed bytes."""
    calls = _node_model(proto) if _is_plain(proto) else None
    if calls is not None and calls.count("\n") < _MANY_LINES:
        return calls
    lines = text_lines(proto)
    text = None if lines is None else "\n".join(('model = onnx.parser.parse_model("""', *lines, '""")'))
    if text is not None and (calls is None or text.count("\n") < calls.count("\n") - 1):
        return text
    return _serialised(proto) if calls is None else calls


def expected_source(expected: Sequence[Any]) -> str:
    """Source that defines `expected`, the list of outputs."""
    return listed("expected", [value_text(value) for value in expected])


def _is_plain(proto: Any) -> bool:
    """Whether the model is one node whose attributes can be written out, and has nothing else."""
    graph = proto.graph
    if len(graph.node) != 1 or proto.functions or graph.sparse_initializer:
        return False
    node, entries = graph.node[0], [*graph.input, *graph.output]
    return all(_can_be_written(attribute) for attribute in node.attribute) and all(
        entry.type.WhichOneof("value") == "tensor_type" for entry in entries
    )


def _can_be_written(attribute: Any) -> bool:
    """Whether `onnx.helper` makes the same attribute of the value."""
    types = onnx.AttributeProto
    if (
        not is_name(attribute.name)
        or attribute.name in _TAKEN
        or attribute.ref_attr_name
        or attribute.type in (types.GRAPH, types.GRAPHS, types.TYPE_PROTO, types.SPARSE_TENSOR)
    ):
        return False
    strings = [attribute.s] if attribute.type == types.STRING else attribute.strings
    is_empty = attribute.type in (types.INTS, types.FLOATS, types.STRINGS) and not onnx.helper.get_attribute_value(attribute)
    return not is_empty and all(each.isascii() for each in strings)


def _serialised(proto: Any) -> str:
    data = packed(proto.SerializeToString(deterministic=True))
    return f"model = onnx.load_model_from_string({data})"


def _node_model(proto: Any) -> str:
    node = proto.graph.node[0]
    attributes = [f"{attribute.name}={_attribute_text(attribute)}" for attribute in node.attribute]
    domain = [f"domain={quoted(node.domain)}"] if node.domain else []
    call = [quoted(node.op_type), _names(node.input), _names(node.output), *domain, *attributes]
    initializers = [
        f"numpy_helper.from_array({array_text(numpy_helper.to_array(item))}, {quoted(item.name)})" for item in proto.graph.initializer
    ]
    opsets = ", ".join(f"helper.make_opsetid({quoted(entry.domain)}, {entry.version})" for entry in proto.opset_import)
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
    return "[" + ", ".join(quoted(name) for name in names) + "]"


def _info(entry: Any) -> str:
    tensor = entry.type.tensor_type
    kind = onnx.TensorProto.DataType.Name(tensor.elem_type)
    if not tensor.HasField("shape"):
        return f"{_INFO}({quoted(entry.name)}, onnx.TensorProto.{kind}, None)"
    shape = [dim.dim_value if dim.HasField("dim_value") else (dim.dim_param or None) for dim in tensor.shape.dim]
    return f"{_INFO}({quoted(entry.name)}, onnx.TensorProto.{kind}, {shape})"


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
