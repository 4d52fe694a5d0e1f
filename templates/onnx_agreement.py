"""Whether an exported ONNX model still computes what the library does, as ONNX's own evaluator runs it."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from opera.models.arrays import Array
from opera.oracles.compare import Policy, compare


def agrees(proto: Any, inputs: Sequence[tuple[str, Array]], expected: Callable[[], Sequence[Array]]) -> bool:
    """Whether ONNX's evaluator gets the library's result; where it cannot run the model, the benefit of the doubt.

    Args:
        proto: The exported onnx.ModelProto.
        inputs: Name and value of every input of the library's model; an input of the proto is matched by name, else by place.
        expected: Gives the library's outputs; called only where there is something to compare them with.
    """
    reference: Any = importlib.import_module("onnx.reference")
    values = dict(inputs)
    feeds = {entry.name: values.get(entry.name, value) for entry, (_, value) in zip(proto.graph.input, inputs, strict=False)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outputs = reference.ReferenceEvaluator(proto).run(None, feeds)
    except Exception:
        return True
    return compare(list(expected()), None, outputs, Policy({})) is None
