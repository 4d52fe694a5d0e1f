"""Small instances, written out in tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opera.instance import Argument, Instance, Kind, Tensor


def tensor(values: object, dtype: str = "float32") -> Tensor:
    """A tensor of these values."""
    array = np.asarray(values, dtype)
    return Tensor(array.shape, dtype, array.tobytes())


def counting(*shape: int) -> Tensor:
    """A float32 tensor of 1, 2, 3 ..."""
    return tensor(np.arange(1, 1 + int(np.prod(shape))).reshape(shape))


def node(operator: str, opset: int, attributes: dict[str, Any] | None = None, **inputs: Tensor) -> Instance:
    """An ONNX node with one output."""
    init = tuple(Argument(name, value) for name, value in sorted((attributes or {}).items()))
    call = tuple(Argument(name, value) for name, value in inputs.items())
    return Instance("onnx", f"ai.onnx.{operator}", Kind.NODE, init, call, (("opset", opset), ("outputs", [True])))


def torch_call(api: str, *tensors: object, **parameters: object) -> Instance:
    """A call of a PyTorch function: tensors by position, parameters by keyword."""
    return _call("pytorch", api, tensors, parameters)


def tf_call(api: str, *values: object, **parameters: object) -> Instance:
    """A call of a TensorFlow function: tensors and others by position, parameters by keyword."""
    return _call("tensorflow", api, values, parameters)


def keras_call(api: str, *values: object, **parameters: object) -> Instance:
    """A call of a Keras function: tensors and others by position, parameters by keyword."""
    return _call("keras", api, values, parameters)


def _call(library: str, api: str, values: Sequence[object], parameters: Mapping[str, object]) -> Instance:
    positional = tuple(Argument(f"input{index}", each) for index, each in enumerate(values))
    keyword = tuple(Argument(name, value, keyword=True) for name, value in parameters.items())
    return Instance(library, api, Kind.FUNCTION, call=(*positional, *keyword))
