"""The values for the inputs of an ONNX model; complex numbers become pairs, as exporters write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from opera.arrays import as_array, is_array

_REAL = (1, 11)
"""FLOAT and DOUBLE of onnx.TensorProto."""


def feeds(model: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a model takes, by name and in its order: by its own names where they are the inputs', else one after the other.

    Args:
        model: An onnx.ModelProto; an input with an initializer does not count as an input.
        inputs: Inputs of the library's model, in its order.

    Raises:
        ValueError: the model takes another number of inputs, of names that are not the library's.
    """
    baked = {initializer.name for initializer in model.graph.initializer}
    entries = {str(entry.name): entry for entry in model.graph.input if entry.name not in baked}
    by_name = entries.keys() <= inputs.keys()
    if not by_name and len(entries) != len(inputs):
        raise ValueError(f"the model takes {', '.join(entries) or 'no input'}, the library's {', '.join(inputs) or 'none'}")
    values = [inputs[name] for name in entries] if by_name else list(inputs.values())
    return {name: _fed_as(entry, value) for (name, entry), value in zip(entries.items(), values, strict=True)}


def _fed_as(entry: Any, value: Any) -> Any:
    """What the model is given for *value*: complex numbers `(...)` as `(..., 2)` where it declares that; else the value.

    Args:
        entry: The onnx.ValueInfoProto of the input.
        value: An array, a list of arrays, or None.
    """
    declared = entry.type.tensor_type
    if not is_array(value) or as_array(value).dtype.kind != "c" or declared.elem_type not in _REAL:
        return value
    array = np.ascontiguousarray(as_array(value))
    if len(declared.shape.dim) != array.ndim + 1:
        return value
    return array.view(np.float32 if array.dtype == np.complex64 else np.float64).reshape(*array.shape, 2)
