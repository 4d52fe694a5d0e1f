"""ONNX models whose inputs leave sizes open."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opera.arrays import Array, as_array, is_array
from opera.models.sizes import WEIGHTS, free_axes
from opera.models.template import Invalid

onnx: Any = importlib.import_module("onnx")


def with_open_sizes(proto: Any, values: Mapping[str, Any], evaluate: Callable[[Any, Mapping[str, Any]], Sequence[Any]]) -> Any:
    """A copy of *proto* in which sizes of inputs are symbols, as far as the evaluator takes other ones; outputs keep their rank.

    Args:
        proto: A ModelProto.
        values: A value for each of its inputs.
        evaluate: Gives the outputs for other inputs; raises `Invalid` where the model does not take them.

    Raises:
        Invalid: no size can be left open, or with them ONNX' shape inference states a size that an output has not.
    """
    open_ = onnx.ModelProto()
    open_.CopyFrom(proto)
    del open_.graph.value_info[:]
    for entry in open_.graph.output:
        for size in entry.type.tensor_type.shape.dim:
            size.Clear()
    names = [entry.name for entry in open_.graph.input if is_array(values[entry.name]) and entry.type.HasField("tensor_type")]
    own = [as_array(values[name]) for name in names]
    outputs = evaluate(proto, values)
    ranks = _ranks(outputs)

    def accepts(arrays: Sequence[Array]) -> bool:
        other = _declaring(open_, dict(zip(names, [each.shape for each in arrays], strict=True)))
        try:
            onnx.shape_inference.infer_shapes(other, check_type=True, strict_mode=True, data_prop=True)
            return _ranks(evaluate(other, {**values, **dict(zip(names, arrays, strict=True))})) == ranks
        except (Invalid, onnx.shape_inference.InferenceError):
            return False

    axes = free_axes(own, accepts, [place for place, name in enumerate(names) if name in WEIGHTS])
    shapes = {
        name: [f"size{axes[place, axis]}" if (place, axis) in axes else size for axis, size in enumerate(each.shape)]
        for place, (name, each) in enumerate(zip(names, own, strict=True))
    }
    declaring = _declaring(open_, shapes)
    for entry, value in zip(onnx.shape_inference.infer_shapes(declaring, data_prop=True).graph.output, outputs, strict=True):
        for dim, size in zip(entry.type.tensor_type.shape.dim, np.shape(value) if is_array(value) else (), strict=False):
            if dim.HasField("dim_value") and dim.dim_value != size:
                raise Invalid("shape-inference")
    return declaring


def _ranks(outputs: Sequence[Any]) -> list[int | None]:
    return [np.ndim(as_array(each)) if is_array(each) else None for each in outputs]


def _declaring(proto: Any, shapes: Mapping[str, Sequence[int | str]]) -> Any:
    """A copy of *proto* whose inputs have *shapes*; a text is a symbol."""
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    for entry in copy.graph.input:
        for dim, size in zip(entry.type.tensor_type.shape.dim, shapes.get(entry.name, ()), strict=False):
            dim.Clear()
            if isinstance(size, str):
                dim.dim_param = size
            else:
                dim.dim_value = size
    return copy
