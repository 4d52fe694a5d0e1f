"""`opera extract --model`: the operators of whole models become instances, with the shapes and values that they have there."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import commands
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from parameters import quick

from opera.instance import Instance, Tensor
from opera.store import Corpus
from opera.store.database import open_workspace


def model(folder: Path, name: str = "net.onnx", *, opset: int = 17) -> Path:
    """A projection, a shape that is computed, a Dropout that the release tests lack, and a loop-free branch."""
    weight = numpy_helper.from_array(np.linspace(-1, 1, 8 * 600, dtype="float32").reshape(8, 600), "w")
    sizes = numpy_helper.from_array(np.array([0, 20, 30]), "sizes")
    inner = helper.make_graph(
        [helper.make_node("Relu", ["z"], ["r"])], "then", [], [helper.make_tensor_value_info("r", TensorProto.FLOAT, ["batch", 20, 30])]
    )
    other = helper.make_graph(
        [helper.make_node("Neg", ["z"], ["m"])], "else", [], [helper.make_tensor_value_info("m", TensorProto.FLOAT, ["batch", 20, 30])]
    )
    nodes = [
        helper.make_node("Constant", [], ["yes"], value=numpy_helper.from_array(np.array(True))),
        helper.make_node("MatMul", ["x", "w"], ["p"], name="projection"),
        helper.make_node("Reshape", ["p", "sizes"], ["z"], name="reshape"),
        helper.make_node("If", ["yes"], ["b"], then_branch=inner, else_branch=other),
        helper.make_node("Softmax", ["b"], ["y"], name="softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 20, 30])], [weight, sizes],
    )  # fmt: skip
    path = folder / name
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


def instances(folder: Path) -> dict[str, Instance]:
    with open_workspace(folder / ".opera", write=False) as space:
        return {each.operator: each for _, each in Corpus(space).instances("onnx")}


def test_each_node_has_the_shapes_and_values_of_the_model(tmp_path: Path) -> None:
    done = commands.run("extract", "--lib", "onnx", "--model", str(model(tmp_path)), "--option", "sizes=batch=2", "--json", folder=tmp_path)
    assert done.code == 0, done.stderr
    source = done.json["sources"]["models"]
    assert source["distinct"] == 3
    assert source["dropped"] == {"constant": 1, "graph-inside": 1}
    found = instances(tmp_path)
    given, weight = (each.value for each in found["MatMul"].call)
    assert isinstance(given, Tensor)
    assert isinstance(weight, Tensor)
    assert (given.shape, weight.shape) == ((2, 8), (8, 600))
    assert weight.data is None, "a large tensor is drawn again"
    assert weight.constraint is not None
    assert (weight.constraint.low, weight.constraint.high) == (-1.0, 1.0)
    sizes = found["Reshape"].call[1].value
    assert isinstance(sizes, Tensor)
    assert sizes.data == np.array([0, 20, 30]).tobytes(), "integers keep their values"
    assert found["MatMul"].expected is None, "the reference is computed, so a faulty run of the model spoils nothing"


def test_they_are_tests_like_any_other(tmp_path: Path) -> None:
    assert commands.run("extract", "--lib", "onnx", "--model", str(tmp_path), "--option", "sizes=batch=2", folder=tmp_path).code == 4
    model(tmp_path, "deep.onnx")
    assert commands.run("extract", "--lib", "onnx", "--model", str(tmp_path), "--option", "sizes=batch=2", folder=tmp_path).code == 0
    ran = commands.run("run", "--compiler", "onnxruntime", "--frontend", "onnx", "--json", folder=tmp_path)
    assert ran.json["verdicts"] == {"pass": ran.json["executed"]}


def test_an_operator_that_the_evaluator_computes_as_a_newer_opset_says_is_not_judged(tmp_path: Path) -> None:
    """Up to opset 12 a Softmax of axis 1 is one over all axes from 1 on; ONNX's evaluator takes axis 1 alone."""
    model(tmp_path, opset=11)
    commands.run("extract", "--lib", "onnx", "--model", str(tmp_path / "net.onnx"), "--option", "sizes=batch=2", folder=tmp_path)
    ran = commands.run("run", "--compiler", "onnxruntime", "--frontend", "onnx", "-k", "softmax", "--json", folder=tmp_path)
    assert ran.json["verdicts"] == {"invalid": ran.json["executed"]}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ((), "the model leaves sizes open: batch; give --option sizes=batch=N"),
        (("--option", "sizes=batch=none"), "write sizes as batch=1,sequence=8"),
    ],
)
def test_a_model_that_cannot_run_is_named_with_the_reason(tmp_path: Path, options: tuple[str, ...], reason: str) -> None:
    done = commands.run("extract", "--lib", "onnx", "--model", str(model(tmp_path)), *options, folder=tmp_path)
    assert done.code != 0
    assert reason in done.stdout + done.stderr


def test_a_file_that_is_cut_off_hides_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    whole = model(folder)
    (folder / "cut.onnx").write_bytes(whole.read_bytes()[:500])
    done = commands.run("extract", "--lib", "onnx", "--model", str(folder), "--option", "sizes=batch=2", "--json", folder=tmp_path)
    source = done.json["sources"]["models"]
    assert source["distinct"] == 3
    assert [each for each in source["dropped"] if "cut.onnx is no model of ONNX, or is cut off" in each]


def test_a_library_without_models_says_so(tmp_path: Path) -> None:
    done = commands.run("extract", "--lib", "tensorflow", "--model", str(model(tmp_path)), folder=tmp_path)
    assert done.code == 2
    assert "no source of tensorflow reads programs or models" in done.stderr


PYTORCH = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 4, 3, stride=2)
        torch.nn.init.zeros_(self.first.bias)

    def forward(self, x, *, scale):
        return torch.softmax(self.first(x) * scale, dim=1).flatten(1)


def _helper():
    raise AssertionError("no model")


def needs(size):
    raise AssertionError("no model")


def classifier():
    return Net(), torch.randn(2, 3, 16, 16), {"scale": 2.0}


def pooled():
    return torch.nn.AdaptiveAvgPool2d(1), (torch.randn(1, 8, 4, 4),)
"""

KERAS = """
import keras


def two_inputs():
    a, b = keras.Input((None, 8)), keras.Input((4,), dtype="int32")
    y = keras.layers.Dense(3)(a)
    z = keras.layers.Embedding(2, 3)(b)
    return keras.Model([a, b], keras.layers.Concatenate(axis=1)([y, z]))
"""


def recorded(folder: Path, library: str) -> dict[str, Instance]:
    with open_workspace(folder / ".opera", write=False) as space:
        return {each.api: each for _, each in Corpus(space).instances(library)}


def test_the_forward_of_a_module_is_recorded_and_not_how_it_was_built(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(PYTORCH)
    done = commands.run("extract", "--lib", "pytorch", "--model", "nets.py", "--json", folder=tmp_path)
    assert done.code == 0, done.stderr
    assert done.json["sources"]["models"]["tests"] == {"passed": 2}
    found = recorded(tmp_path, "pytorch")
    assert set(found) == {
        "torch.nn.Conv2d", "torch.Tensor.mul", "torch.softmax", "torch.Tensor.flatten", "torch.nn.AdaptiveAvgPool2d",
    }  # fmt: skip
    value = found["torch.nn.Conv2d"].call[0].value
    assert isinstance(value, Tensor)
    assert value.shape == (2, 3, 16, 16)
    ran = commands.run("run", "--compiler", "onnxruntime", "--frontend", "pytorch", "--json", folder=tmp_path)
    assert ran.json["verdicts"] == {"pass": ran.json["executed"]}


@pytest.mark.slow  # Keras is imported for it
def test_the_layers_of_a_model_of_keras_are_recorded_at_open_sizes(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(KERAS)
    done = commands.run("extract", "--lib", "keras", "--model", "nets.py", "--json", folder=tmp_path)
    assert done.code == 0, done.stderr
    found = recorded(tmp_path, "keras")
    assert {"keras.layers.Dense", "keras.layers.Embedding", "keras.layers.Concatenate"} <= set(found)
    value = found["keras.layers.Dense"].call[0].value
    assert isinstance(value, Tensor)
    assert value.shape == (1, 16, 8), "the first open axis has one element, others sixteen"


@pytest.mark.slow
def test_a_file_of_keras_is_a_model(tmp_path: Path) -> None:
    keras: Any = importlib.import_module("keras")
    keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, activation="relu")]).save(tmp_path / "net.keras")
    done = commands.run("extract", "--lib", "keras", "--model", "net.keras", "--json", folder=tmp_path)
    assert done.code == 0, done.stderr
    assert "keras.layers.Dense" in recorded(tmp_path, "keras")


@pytest.mark.parametrize(
    ("text", "reason"),
    quick(
        [
            ("def broken():\n    raise OSError('no weights')\n", "OSError: no weights"),
            ("x = 1\n", "no function without parameters is there"),
            ("def (", "SyntaxError"),
            ("def leaves():\n    raise SystemExit(3)\n", "SystemExit: 3"),
        ]
    ),
)
def test_a_model_that_cannot_be_built_hides_no_other(tmp_path: Path, text: str, reason: str) -> None:
    folder = tmp_path / "nets"
    folder.mkdir()
    (folder / "bad.py").write_text(text)
    (folder / "good.py").write_text("import torch\n\n\ndef relu():\n    return torch.nn.ReLU(), torch.ones(2)\n")
    done = commands.run("extract", "--lib", "pytorch", "--model", "nets", "--json", folder=tmp_path)
    source = done.json["sources"]["models"]
    assert source["tests"] == {"error": 1, "passed": 1}
    assert reason in source["errors"][0]["message"]
    assert set(recorded(tmp_path, "pytorch")) == {"torch.nn.ReLU"}


TABLE = """
[[group]]
package = "small"
version = "1"
imports = "import keras"
build = 'keras.layers.NAME()'
inputs = 'keras.ops.ones((1, 2))'
names = ["ReLU", "Softmax", "Missing"]
"""


@pytest.mark.slow
def test_architectures_are_the_rows_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(TABLE)
    line = ("extract", "--lib", "keras", "--source", "architectures", "--option", f"table={tmp_path / 'mine.toml'}", "--json")
    source = commands.run(*line, folder=tmp_path).json["sources"]["architectures"]
    assert source["files"] == {"all": 3, "kept": 0}
    assert source["tests"] == {"error": 1, "passed": 2}
    assert "Missing" in source["errors"][0]["message"]
    assert {"keras.layers.ReLU", "keras.layers.Softmax"} <= set(recorded(tmp_path, "keras"))


def test_a_table_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[[group]]\nnames = ['a']\n")
    line = ("extract", "--lib", "keras", "--source", "architectures", "--option", f"table={tmp_path / 'mine.toml'}")
    done = commands.run(*line, folder=tmp_path)
    assert done.code == 2
    assert "mine.toml is no table of architectures: KeyError: 'package'" in done.stderr
