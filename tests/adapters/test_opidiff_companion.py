"""The companion of exported suites, with PyTorch alone: it calls what YAML cannot say."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from opera.instance import Argument, DType, Instance, Kind, Tensor, Value, encode_value
from opera.opidiff.companion import call_document
from opera.templates import opidiff_companion

torch: Any = importlib.import_module("torch")
VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


def called(api: str, *values: Value, **keywords: Value) -> Any:
    """What the companion gives for a call."""
    arguments = [Argument(f"a{place}", value) for place, value in enumerate(values)]
    arguments += [Argument(name, value, keyword=True) for name, value in keywords.items()]
    inputs: list[Any] = []

    def place(tensor: Tensor) -> int:
        content: Any = encode_value(Tensor(tensor.shape, tensor.dtype, tensor.data))
        inputs.append(opidiff_companion.tensor(content["tensor"]))
        return len(inputs) - 1

    document = call_document(Instance("pytorch", api, Kind.FUNCTION, (), tuple(arguments)), place, defaults=False)
    module: Any = opidiff_companion.Call(document)
    return module(*inputs)


def test_dtypes_slices_and_strides_reach_the_call() -> None:
    x = Tensor((2, 3), "float32", VALUES.tobytes())
    assert called("torch.sum", x, dtype=DType("float64")).dtype == torch.float64
    assert called("torch.Tensor.__getitem__", x, (slice(0, 1), ..., 2)).tolist() == [2.0]
    strided = Tensor((2, 3), "float32", VALUES.tobytes(), (1, 2))
    assert called("torch.Tensor.stride", strided) == (1, 2)
    assert called("torch.add", strided, 1).tolist() == (VALUES + 1).tolist()
