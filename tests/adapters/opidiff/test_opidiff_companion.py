"""The companion of exported suites, with PyTorch alone: it calls what YAML cannot say."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import yaml

from opera.extensions.opidiff import companion_text as opidiff_companion
from opera.extensions.opidiff.export import by_companion
from opera.extensions.opidiff.text import lines_of
from opera.instance import Argument, DType, Instance, Kind, Tensor, Value, digest

torch: Any = importlib.import_module("torch")
VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


def called(api: str, *values: Value, **keywords: Value) -> Any:
    """What a test of an exported suite gives that calls the companion: its inputs and the call are read from the text."""
    arguments = [Argument(f"a{index}", value) for index, value in enumerate(values)]
    arguments += [Argument(name, value, keyword=True) for name, value in keywords.items()]
    instance = Instance("pytorch", api, Kind.FUNCTION, (), tuple(arguments))
    (test,) = yaml.safe_load("".join(lines_of([by_companion(instance, digest(instance), defaults=False)])))["tests"]
    inputs = [torch.tensor(each["value"], dtype=getattr(torch, each["dtype"])).reshape(each.get("shape", ())) for each in test["in"]]
    module: Any = opidiff_companion.Call(*test["op"]["args"])
    return module(*inputs)


def test_dtypes_slices_and_strides_reach_the_call() -> None:
    x = Tensor((2, 3), "float32", VALUES.tobytes())
    assert called("torch.sum", x, dtype=DType("float64")).dtype == torch.float64
    assert called("torch.Tensor.__getitem__", x, (slice(0, 1), ..., 2)).tolist() == [2.0]
    strided = Tensor((2, 3), "float32", VALUES.tobytes(), (1, 2))
    assert called("torch.Tensor.stride", strided) == (1, 2)
    assert called("torch.add", strided, 1).tolist() == (VALUES + 1).tolist()


def test_an_expanded_tensor_keeps_its_strides_and_values() -> None:
    expanded = Tensor((2, 3), "float32", np.array([[1, 1, 1], [2, 2, 2]], np.float32).tobytes(), (1, 0))
    assert called("torch.Tensor.stride", expanded) == (1, 0)
    assert called("torch.Tensor.clone", expanded).tolist() == [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]


@pytest.mark.parametrize(
    "name", ["bfloat16", "float8_e4m3fn", "complex64", "complex128", "complex32", "uint16", "uint32", "uint64", "int8", "bool"]
)
def test_a_tensor_of_every_dtype_reaches_the_call_whole(name: str) -> None:
    made = torch.tensor([[0.0, 1.0], [1.5, -2.0]]) if torch.tensor(0.0).to(getattr(torch, name)).dtype.is_signed else torch.eye(2)
    made = (made * (1 + 2j) if name.startswith("complex") else made).to(getattr(torch, name))
    data = bytes(made.contiguous().view(torch.uint8).numpy().tobytes())
    back = called("torch.Tensor.clone", Tensor((2, 2), name, data))
    assert back.dtype == made.dtype
    assert bytes(back.contiguous().view(torch.uint8).numpy().tobytes()) == data
