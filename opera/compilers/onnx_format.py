"""ONNX models for several compilers: reads them, and says what they hold and declare."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any

from opera.compilers.adapter import Subject


def parse(data: bytes) -> Any:
    """An onnx.ModelProto from its bytes."""
    onnx: Any = importlib.import_module("onnx")
    return onnx.load_model_from_string(data)


def operator_of(subject: Subject) -> str:
    """The operator of a model with one node; for a graph that spells an operator out, its name with a mark.

    Instances of several operators have one name, which a reduction keeps: the operators that a failure needs are its trigger.
    """
    if not subject.instance.kind.behaviour.has_one_operator:
        return subject.instance.operator
    nodes = parse(subject.data).graph.node
    return str(nodes[0].op_type) if len(nodes) == 1 else f"{subject.instance.operator} (expanded)"


def operators_in(data: bytes) -> list[str]:
    """The operator of each node of a model, in order."""
    return [str(node.op_type) for node in parse(data).graph.node]


def with_types(model: Any) -> Any:
    """An onnx.ModelProto with the types of its inner values, as far as ONNX' inference finds them."""
    onnx: Any = importlib.import_module("onnx")
    with suppress(onnx.shape_inference.InferenceError):
        return onnx.shape_inference.infer_shapes(model)
    return model


def dtypes_in(graph: Any) -> dict[str, str]:
    """The dtypes of the values of an onnx.GraphProto that it declares, by name; of tensors only."""
    onnx: Any = importlib.import_module("onnx")
    declared = {each.name: each.type.tensor_type.elem_type for each in (*graph.input, *graph.value_info, *graph.output)}
    declared.update((each.name, each.data_type) for each in graph.initializer)
    return {name: onnx.TensorProto.DataType.Name(number).lower() for name, number in declared.items() if number}


def value_of(attribute: Any) -> Any:
    """The value of an onnx.AttributeProto."""
    onnx: Any = importlib.import_module("onnx")
    return onnx.helper.get_attribute_value(attribute)


def opset_of(data: bytes) -> int:
    """The opset of the default domain that a model declares; 0 without one."""
    return max((int(each.version) for each in parse(data).opset_import if each.domain in ("", "ai.onnx")), default=0)
