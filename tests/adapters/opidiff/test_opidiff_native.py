"""Plain tests of exported suites on ATen's operators alone: they give what PyTorch's function gives."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import pytest

from opera.arrays import tensor_array
from opera.extensions.opidiff.native import native_call
from opera.extensions.opidiff.signatures import of_function
from opera.extensions.opidiff.table import SCALAR_TYPES
from opera.instance import Argument, DType, Instance, Kind, Tensor, Value

torch: Any = importlib.import_module("torch")
F = "torch.nn.functional."


def tensor(*shape: int, dtype: str = "float32", low: int = 0) -> Tensor:
    values = np.arange(low, low + int(np.prod(shape)))
    return Tensor(shape, dtype, (values / 8 if dtype == "float32" else values).astype(dtype).tobytes())


X, Y = tensor(2, 4), tensor(2, 4, low=3)
IMAGE = tensor(1, 2, 4, 4)
CLASSES = tensor(2, dtype="int64")
CALLS: list[tuple[str, tuple[Value, ...], dict[str, Value], str | None]] = [
    ("torch.add", (X, Y), {"alpha": 2}, "add"),
    ("torch.sum", (X,), {"dtype": DType("float64")}, "sum"),
    ("torch.logspace", (0, 4, 5), {"dtype": DType("float16")}, "logspace"),
    ("torch.Tensor.to", (X,), {"dtype": DType("int32")}, "to"),
    ("torch.linalg.vector_norm", (X,), {"dtype": DType("float64")}, "linalg_vector_norm"),
    (F + "relu", (X,), {"inplace": False}, "relu"),
    (F + "softmax", (X, 1), {"dtype": DType("float64")}, "softmax"),
    (F + "max_pool2d", (IMAGE, 2), {"stride": None, "return_indices": False}, "max_pool2d"),
    (F + "max_pool2d", (IMAGE, 2), {"return_indices": True}, None),
    (F + "adaptive_max_pool2d", (IMAGE, 2), {}, None),
    (F + "unfold", (IMAGE, 2), {"padding": 1}, "im2col"),
    (F + "mse_loss", (X, Y), {}, "mse_loss"),
    (F + "mse_loss", (X, Y), {"reduction": "sum", "reduce": None}, "mse_loss"),
    (F + "mse_loss", (X, Y), {"reduce": True}, None),
    (F + "nll_loss", (tensor(2, 4, 1), tensor(2, 1, dtype="int64")), {"ignore_index": 1}, "nll_loss_nd"),
    (F + "nll_loss", (X, CLASSES), {"reduction": "none"}, "nll_loss_nd"),
    (F + "kl_div", (X, Y), {"reduction": "batchmean"}, None),
    (F + "embedding", (CLASSES, X), {}, None),
    (F + "hardtanh", (X,), {}, "hardtanh"),
    ("torch.Tensor.__rsub__", (X, Y), {}, "rsub"),
    ("torch.Tensor.where", (X, Y, Y), {}, None),
    ("torch.unique_consecutive", (X,), {}, None),
    ("torch.cat", ([X, X],), {}, "cat"),
    ("torch.einsum", ("ij->ji", [X]), {}, "einsum"),
]


@pytest.mark.parametrize(("api", "values", "keywords", "operator"), CALLS)
def test_the_operator_gives_what_the_function_gives(
    api: str, values: tuple[Value, ...], keywords: dict[str, Value], operator: str | None
) -> None:
    signature = of_function(api)
    call = [Argument(signature.name(index), value) for index, value in enumerate(values)]
    call += [Argument(name, value, keyword=True) for name, value in keywords.items()]
    found = native_call(Instance("pytorch", api, Kind.FUNCTION, (), tuple(call), (), signature.defaults))
    if operator is None:
        assert found is None
        return
    assert found is not None
    assert (found.operator, found.impl) == (f"aten::{operator}", api)
    native = getattr(torch.ops.aten, found.operator.removeprefix("aten::"))
    actual = native(*(built(each.value) for each in found.call if not each.keyword), **by_name(found.call))
    function = functools.reduce(getattr, api.split(".")[1:], torch)
    expected = function(*map(built, values), **{name: built(value) for name, value in keywords.items()})
    assert actual.dtype == expected.dtype
    assert torch.equal(actual, expected)


def built(value: Value) -> Any:
    if isinstance(value, Tensor):
        return torch.from_numpy(np.array(tensor_array(value)))
    if isinstance(value, DType):
        return getattr(torch, value.name)
    return [built(each) for each in value] if isinstance(value, (list, tuple)) else value


def by_name(call: tuple[Argument, ...]) -> dict[str, Any]:
    return {each.name: built(each.value) for each in call if each.keyword}


def test_the_numbers_of_dtypes_are_those_of_aten() -> None:
    for number, name in SCALAR_TYPES.items():
        assert torch.ops.aten.empty([1], dtype=number).dtype == getattr(torch, name)
