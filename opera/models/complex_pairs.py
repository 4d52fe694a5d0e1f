"""Complex inputs of an ONNX model, which exporters write as pairs of real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from opera.models.arrays import as_array, is_array

_REAL = (1, 11)
"""FLOAT and DOUBLE of onnx.TensorProto."""


def fed_as(entry: Any, value: Any) -> Any:
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
