"""ONNX models that compute in double precision what they were made to compute in less."""

from __future__ import annotations

import importlib
from typing import Any

from opera.arrays import as_array, dtype_name, wide_integers

onnx: Any = importlib.import_module("onnx")

NARROW = ("float16", "bfloat16", "float32")
_KINDS = tuple(int(kind) for kind in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16))


def widened(proto: Any) -> Any:
    """A copy of a model in which every floating-point constant is a double, and every cast to a narrower float gives one.

    The evaluator takes the dtypes of everything else from what it is fed.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    _widen(copy.graph)
    for function in copy.functions:
        for node in function.node:
            _widen_node(node)
    return copy


def with_wide_integers(proto: Any, dtype: str) -> Any:
    """A copy of a model whose initializers of narrower integers are of *dtype*, as `wide_integers` makes them."""
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    for tensor in copy.graph.initializer:
        array = as_array(onnx.numpy_helper.to_array(tensor))
        if array is not (wide := wide_integers(array, dtype)):
            tensor.CopyFrom(onnx.numpy_helper.from_array(wide, tensor.name))
    return copy


def _widen(graph: Any) -> None:
    for tensor in graph.initializer:
        _widen_tensor(tensor)
    for node in graph.node:
        _widen_node(node)


def _widen_node(node: Any) -> None:
    for attribute in node.attribute:
        if attribute.HasField("t"):
            _widen_tensor(attribute.t)
        if attribute.HasField("g"):
            _widen(attribute.g)
        if node.op_type == "Cast" and attribute.name == "to" and attribute.i in _KINDS:
            attribute.i = onnx.TensorProto.DOUBLE
        if node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
            value = attribute.f if attribute.name == "value_float" else list(attribute.floats)
            attribute.CopyFrom(onnx.helper.make_attribute("value", onnx.numpy_helper.from_array(as_array(value).astype("float64"))))


def _widen_tensor(tensor: Any) -> None:
    array = as_array(onnx.numpy_helper.to_array(tensor))
    if array.dtype.kind != "O" and dtype_name(array.dtype) in NARROW:
        tensor.CopyFrom(onnx.numpy_helper.from_array(array.astype("float64"), tensor.name))
