"""Whether an exporter made an ONNX model at all, and what that model computes, as ONNX's own checker and evaluator have it."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from opera.arrays import Array, as_array, is_array
from opera.models import onnx_inputs
from opera.oracles.blame import Undefined

Inputs = Sequence[tuple[str, Array]]
"""Name and value of every input of the library's model."""


def is_sound(proto: Any, inputs: Inputs) -> bool:
    """Whether the model is one by ONNX's rules, and takes the inputs of the library's model; operators that ONNX lacks are no objection.

    That says nothing about its results.

    Args:
        proto: The exported onnx.ModelProto.
        inputs: Inputs of the library's model; they are matched as compilers are given them.
    """
    return _is_consistent(proto) and _takes(proto, inputs)


def computed(data: bytes, inputs: Inputs) -> list[Any] | Undefined | None:
    """The outputs of an exported model as ONNX's evaluator computes them; None where it says that they cannot be computed.

    `Undefined` where it computes something, and the page of an operator of the main graph leaves open what that is.

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
            values = evaluator.run(None, onnx_inputs.feeds(proto, dict(inputs)), intermediate=True)
        except (TypeError, AttributeError) as error:
            raise NotImplementedError from error
        except NotImplementedError:
            raise
        except Exception:
            return None
    stray = next((why for node in proto.graph.node if (why := _left_open(node, values)) is not None), None)
    return stray or [values[output.name] for output in proto.graph.output]


def _left_open(node: Any, values: Mapping[str, Any]) -> Undefined | None:
    """What ONNX's page of an operator leaves open or rules out, though the evaluator computes something; None where it does not.

    Source: https://onnx.ai/onnx/operators/
    """
    if node.domain not in ("", "ai.onnx"):
        return None
    given = [as_array(values[name]) for name in node.input if is_array(values.get(name))]
    if node.op_type == "ReduceMean" and given and is_array(values.get(node.output[0])):
        is_of_none = not given[0].size and as_array(values[node.output[0]]).size
        return Undefined("the mean of no numbers", only_values=True) if is_of_none else None
    if node.op_type in ("GatherElements", "ScatterElements") and len(given) > 1:
        return Undefined("data and indices of different ranks") if given[0].ndim != given[1].ndim else None
    return None


def _takes(proto: Any, inputs: Inputs) -> bool:
    """Whether the inputs are of the number, element types, ranks and fixed sizes that the model declares; the evaluator does not look."""
    helper: Any = importlib.import_module("onnx.helper")
    try:
        given = onnx_inputs.feeds(proto, dict(inputs))
    except ValueError:
        return False
    for entry in proto.graph.input:
        if entry.name not in given:
            continue
        declared, value = entry.type.tensor_type, given[entry.name]
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
