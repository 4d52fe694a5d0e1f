"""What is written of an instance, as a script, gives the same as the model that the worker has."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parameters import quick

from opera.instance import Argument, Call, Constraint, DType, Instance, Kind, Tensor
from opera.models.template import Invalid
from tests.instances import keras_call, tensor, torch_call
from tests.written import SAMPLES, compared, difference, instances_of, template_for

QUICK = {"onnx": 60, "pytorch": 15, "keras": 4, "tensorflow": 20}
"""Instances of each sample that the quick tests take (those of Keras are slow); the slow ones take 2,000 of the library's tests."""


@pytest.mark.parametrize("library", quick(QUICK, "pytorch", "onnx"))
def test_models_of_a_sample_are_written_as_they_are(library: str) -> None:
    rows = instances_of(SAMPLES / f"{library}.jsonl")
    chosen = rows[:: len(rows) // QUICK[library]]
    count, found = compared(library, chosen, (0, 3))
    assert found == {}
    assert count > len(chosen)


@pytest.mark.slow
@pytest.mark.parametrize("library", QUICK)
def test_models_of_a_librarys_tests_are_written_as_they_are(library: str, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    subprocess.run([sys.executable, "-m", "opera.extract", "--lib", library, "--quiet", "--workspace", workspace], check=True)
    command = [sys.executable, "-W", "ignore", "-m", "tests.written", library, workspace, "2000"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    count, found = json.loads(done.stdout.splitlines()[-1])
    assert found == {}
    assert count > 1500


def written(instance: Instance, seed: int = 0) -> str | None:
    """What the source of *instance* gives otherwise."""
    return difference(template_for(instance.library), instance, "key", seed)


def module(api: str, init: dict[str, Any], *inputs: Tensor, **context: Any) -> Instance:
    arguments = tuple(Argument(name, value, keyword=True) for name, value in init.items())
    call = tuple(Argument(f"input{index}", each) for index, each in enumerate(inputs))
    return Instance("pytorch", api, Kind.MODULE, arguments, call, tuple(context.items()))


DRAWN = Tensor((3,), "float32", None, None, "strided", Constraint(0.5, 2.0))
LOGITS = Tensor((2, 3), "float32", None, None, "strided", Constraint(-1.0, 1.0))
LABELS = tensor([0, 2], "int64")


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize(
    "weight",
    [tensor([0.5, 1.0, 2.0]), DRAWN, tensor([np.inf, -0.0, 1e-30]), Tensor((3,), "float32", tensor([1, 2, 3]).data, (2,))],
    ids=["kept", "drawn", "special", "strided"],
)
def test_a_tensor_of_a_constructor_keeps_its_values(weight: Tensor, seed: int) -> None:
    assert written(module("torch.nn.CrossEntropyLoss", {"weight": weight, "label_smoothing": 0.5}, LOGITS, LABELS), seed) is None


def test_zeros_of_both_signs_are_written_apart() -> None:
    zeros = tensor(np.where(np.arange(64) % 2, -0.0, 0.0).tolist())
    assert written(Instance("pytorch", "torch.neg", Kind.FUNCTION, call=(Argument("input", zeros),))) is None


def test_each_of_several_tensors_that_are_no_inputs_keeps_its_own_values() -> None:
    matrix = Tensor((4, 3), "float32", None, None, "strided", Constraint(-1.0, 1.0))
    table = Call("torch.nn.Embedding", (("num_embeddings", 4), ("embedding_dim", 3), ("_weight", matrix)))
    other = Call("torch.nn.PReLU", (("num_parameters", 3), ("init", 0.1)))
    both = module("torch.nn.Sequential", {}, LABELS)
    assert written(replace(both, init=(Argument("a", table), Argument("b", other))), 3) is None


def test_a_constructor_tensor_that_the_call_overwrites_is_written_as_it_was() -> None:
    matrix = tensor(np.arange(12).reshape(4, 3) + 1)
    given = {"num_embeddings": 4, "embedding_dim": 3, "max_norm": 0.5, "_weight": matrix}
    assert written(module("torch.nn.Embedding", given, LABELS)) is None


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((2, 3), (0, 1)), ((2, 3), (1, 0)), ((2, 3), (0, 0)), ((3, 3), (1, 1)), ((4, 3), (2, 1)), ((2, 3), (1, 2)), ((2, 3), (6, 2)),
        ((0, 3), (0, 1)), ((1, 3), (0, 2)), ((), ()),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "bool", "int64", "bfloat16", "complex64", "float8_e5m2", "uint8"])
def test_a_tensor_keeps_its_strides(shape: tuple[int, ...], strides: tuple[int, ...], dtype: str) -> None:
    drawn = Tensor(shape, dtype, None, strides, "strided")
    assert written(torch_call("torch.clone", drawn)) is None
    assert written(torch_call("torch.ravel", drawn), 3) is None


@pytest.mark.parametrize("strides", [(-3, 1), (2**40, 1)], ids=str)
def test_strides_that_no_tensor_has_are_refused(strides: tuple[int, ...]) -> None:
    with pytest.raises(Invalid, match="strides-not-possible"):
        written(torch_call("torch.clone", Tensor((2, 3), "float32", None, strides, "strided")))


@pytest.mark.parametrize(
    "instance",
    [
        torch_call("torch.abs", tensor([complex(np.nan, -np.inf), complex(-0.0, -0.0), complex(np.inf, -1.0), -1j], "complex64")),
        torch_call("torch.full", (2,), complex(np.inf, -0.0)),
        torch_call("torch.abs", tensor([np.nan, np.inf, -np.inf, -0.0, 1e-45])),
        torch_call("torch.conj", Tensor((2,), "complex64")),
        torch_call("torch.imag", Tensor((2,), "complex64")),
        torch_call("torch.add", Tensor((2,), "bfloat16"), tensor([1.0])),
        torch_call("torch.sort", Tensor((4,), "bfloat16")),
        torch_call("torch.Tensor.to", Tensor((2,), "float32"), dtype=DType("float8_e4m3fn")),
        module("torch.nn.LazyLinear", {"out_features": 2}, Tensor((2, 3), "float32")),
        module("torch.nn.LazyBatchNorm1d", {}, Tensor((2, 3), "float32"), training=True),
    ],
    ids=["complex", "complex number", "special", "conj", "imag", "bfloat16", "pairs", "float8", "lazy", "lazy in training"],
)
def test_special_values_and_dtypes_are_written_as_they_are(instance: Instance) -> None:
    assert written(instance) is None


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize(
    ("api", "init"),
    [
        ("keras.layers.Dense", {"units": 2}),
        ("keras.layers.MultiHeadAttention", {"num_heads": 1, "key_dim": 2}),
        ("keras.layers.Embedding", {"input_dim": 5, "output_dim": 2, "weights": [Tensor((5, 2), "float32")]}),
    ],
)
def test_layers_of_keras_get_the_weights_that_the_worker_has(api: str, init: dict[str, Any], seed: int) -> None:
    inputs = [LABELS] if "Embedding" in api else [Tensor((2, 3, 4), "float32")] * (2 if "Attention" in api else 1)
    call = tuple(Argument(f"input{index}", each) for index, each in enumerate(inputs))
    arguments = tuple(Argument(name, value, keyword=True) for name, value in init.items())
    assert written(Instance("keras", api, Kind.MODULE, arguments, call), seed) is None


def test_a_function_of_keras_that_a_functional_model_calls_otherwise_is_called_as_recorded() -> None:
    assert written(keras_call("keras.ops.trapezoid", tensor([1.0, 2.0, 4.0]), x=tensor([0.0, 1.0, 3.0]))) is None
    assert written(keras_call("keras.ops.add", Tensor((2,), "float64"), Tensor((2,), "float64"))) is None


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_float8_of_keras_is_written_though_pytorch_neither_takes_nor_gives_arrays_of_it(dtype: str) -> None:
    assert written(keras_call("keras.ops.cast", Tensor((2, 3), dtype), dtype=DType("float32"))) is None
    assert written(keras_call("keras.ops.cast", Tensor((2, 3), "bfloat16"), dtype=DType(dtype))) is None
    assert written(keras_call("keras.ops.meshgrid", Tensor((2,), dtype), Tensor((3,), dtype))) is None
