"""Whether an exported ONNX model still computes what the library does, as ONNX's own evaluator runs it."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from opera.models.arrays import Array
from opera.oracles.compare import Policy, compare


def agrees(proto: Any, inputs: Sequence[tuple[str, Array]], expected: Callable[[], Sequence[Array]]) -> bool:
    """Whether the model is consistent and ONNX's evaluator gets the library's result; where it lacks an operator, the doubt benefits it.

    Args:
        proto: The exported onnx.ModelProto.
        inputs: Name and value of every input of the library's model; an input of the proto is matched by name, else by place.
        expected: Gives the library's outputs; called only where there is something to compare them with.
    """
    if not _is_consistent(proto):
        return False
    reference: Any = importlib.import_module("onnx.reference")
    values = dict(inputs)
    feeds = {entry.name: values.get(entry.name, value) for entry, (_, value) in zip(proto.graph.input, inputs, strict=False)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            evaluator = reference.ReferenceEvaluator(proto)
        except Exception:  # it looks for all implementations now
            return True
        try:
            outputs = evaluator.run(None, feeds)
        except NotImplementedError:
            return True
        except Exception:
            return False
    difference = compare(list(expected()), None, outputs, Policy({}))
    return difference is None or difference.explained is not None


def _is_consistent(proto: Any) -> bool:
    """Whether types and shapes fit together in ONNX's own eyes; operators that it does not know are no objection."""
    inference: Any = importlib.import_module("onnx.shape_inference")
    try:
        inference.infer_shapes(proto, check_type=True, strict_mode=True)
    except Exception as error:
        return "InferenceError]" not in str(error)
    return True
