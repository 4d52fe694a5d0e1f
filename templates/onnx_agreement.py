"""Whether an exporter made an ONNX model at all, and what that model computes, as ONNX's own checker and evaluator have it."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from typing import Any

from opera.models.arrays import Array
from opera.models.complex_pairs import fed_as

Inputs = Sequence[tuple[str, Array]]
"""Name and value of every input of the library's model."""


def is_sound(proto: Any, inputs: Inputs) -> bool:
    """Whether the model is one by ONNX's rules, and takes the inputs of the library's model; operators that ONNX lacks are no objection.

    That says nothing about its results.

    Args:
        proto: The exported onnx.ModelProto.
        inputs: Of the library's model; an input of the proto is matched by name, else by place.
    """
    return _is_consistent(proto) and _takes(proto, inputs)


def computed(data: bytes, inputs: Inputs) -> list[Any] | None:
    """The outputs of an exported model as ONNX's evaluator computes them; None where it says that they cannot be computed.

    Args:
        data: The onnx.ModelProto.
        inputs: As for `is_sound`.

    Raises:
        NotImplementedError: the evaluator lacks an operator, or trips over types that it does not expect; that says nothing of the model.
    """
    onnx: Any = importlib.import_module("onnx")
    reference: Any = importlib.import_module("onnx.reference")
    proto = onnx.load_model_from_string(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            evaluator = reference.ReferenceEvaluator(proto)
        except Exception as error:  # it looks for all implementations now
            raise NotImplementedError from error
        try:
            return list(evaluator.run(None, {entry.name: value for entry, value in _matched(proto, inputs)}))
        except (TypeError, AttributeError) as error:
            raise NotImplementedError from error
        except NotImplementedError:
            raise
        except Exception:
            return None


def _matched(proto: Any, inputs: Inputs) -> list[tuple[Any, Array]]:
    """Every input of the model, and what it is given."""
    values = dict(inputs)
    pairs = [(entry, values.get(entry.name, value)) for entry, (_, value) in zip(proto.graph.input, inputs, strict=False)]
    return [(entry, fed_as(entry, value)) for entry, value in pairs]


def _takes(proto: Any, inputs: Inputs) -> bool:
    """Whether the inputs have the element types, ranks and fixed sizes that the model declares; the evaluator looks at none of them."""
    helper: Any = importlib.import_module("onnx.helper")
    for entry, value in _matched(proto, inputs):
        declared = entry.type.tensor_type
        element = int(helper.np_dtype_to_tensor_dtype(value.dtype))
        if declared.elem_type not in (0, element):
            return False
        if not declared.HasField("shape"):
            continue
        sizes = [each.dim_value if each.HasField("dim_value") else None for each in declared.shape.dim]
        if len(sizes) != value.ndim or any(size not in (None, given) for size, given in zip(sizes, value.shape, strict=True)):
            return False
    return True


def _is_consistent(proto: Any) -> bool:
    """Whether nodes, types and shapes fit together in ONNX's own eyes; operators that it does not know are no objection."""
    checker: Any = importlib.import_module("onnx.checker")
    inference: Any = importlib.import_module("onnx.shape_inference")
    try:
        checker.check_model(proto)
    except checker.ValidationError as error:
        if not str(error).startswith("No Op registered for "):
            return False
    bare = type(proto)()
    bare.CopyFrom(proto)
    del bare.graph.value_info[:]  # what the exporter knows of sizes it knows from the library: inference counts windows otherwise
    for size in (size for output in bare.graph.output for size in output.type.tensor_type.shape.dim):
        size.Clear()
    try:
        inference.infer_shapes(bare, check_type=True, strict_mode=True, data_prop=True)
    except Exception as error:
        return "InferenceError]" not in str(error)
    return True
