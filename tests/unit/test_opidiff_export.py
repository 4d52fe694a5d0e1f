"""Instances as suites: plain forms, the companion, and identities that come back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from opera.corpus.files import Entry
from opera.corpus.readers import origin
from opera.instance import Argument, Call, Constraint, Distribution, DType, Instance, Kind, Tensor, Value, digest
from opera.opidiff.companion import NAME, content
from opera.opidiff.export import Exported, export
from opera.opidiff.instances import classes_of, objections
from opera.opidiff.suite import load_suite

X = Tensor((2, 2), "float32", np.array([[1, -2.5], [1e-5, 3e8]], np.float32).tobytes())
RANDOM = Tensor((3,), "float32", np.array([0.1234567, 0.7654321, 0.3141592], np.float32).tobytes(), None, "strided", Constraint(0.1, 0.8))


def function(api: str, *values: Value, **keywords: Value) -> Instance:
    names = [{"torch.ops.aten.relu": "self", "torch.cat": "tensors"}.get(api, "input"), "other"]
    arguments = [Argument(name, value) for name, value in zip(names, values, strict=False)]
    arguments += [Argument(name, value, keyword=True) for name, value in keywords.items()]
    return Instance("pytorch", api, Kind.FUNCTION, (), tuple(arguments))


def module(*init: Value, training: bool = False) -> Instance:
    names = ("in_features", "out_features", "bias", "device", "dtype")
    arguments = tuple(Argument(name, value) for name, value in zip(names, init, strict=False))
    return Instance("pytorch", "torch.nn.Linear", Kind.MODULE, arguments, (Argument("input", X),), (("training", training),))


PLAIN = [
    function("torch.add", X, X),
    function("torch.add", X, 3, alpha=2),
    function("torch.add", RANDOM, Tensor((), "int64", (7).to_bytes(8, "little"))),
    function("torch.linalg.det", X),
    function("torch.ops.aten.relu", Tensor((4,), "float32", distribution=Distribution("uniform", (-1.0, 1e-5)))),
    function("torch.add", Tensor((0, 3), "float32", b""), X),
    function("torch.add", Tensor((2,), "float32", np.array([np.nan, -np.inf], np.float32).tobytes()), X),
    function("torch.cat", (X, X)),
    module(2, 3),
]
COMPANION = [
    function("torch.add", Tensor((2, 2), "float32", X.data, (1, 2)), X),
    function("torch.sum", X, dtype=DType("float64")),
    function("torch.nn.functional.interpolate", X, scale_factor=2.0),
    function("torch.Tensor.__getitem__", X, (slice(0, 1), ...)),
    function("torch.add", Tensor((2,), "complex64", np.array([1j, 2], np.complex64).tobytes()), 1j),
    function("torch.add", Tensor((900,), "float32", None, None, "strided", Constraint(-1.0, 1.0))),
    module(2, 3, training=True),
    Instance("pytorch", "torch.sum", Kind.FUNCTION, (), (Argument("input", X), Argument("unknown", 5)), (), (("unknown", 5),)),
]


def back(folder: Path, exported: Exported) -> list[str]:
    """The identities that an import of *exported* gives."""
    (folder / NAME).write_bytes(content())
    found: list[str] = []
    for number, text in enumerate(exported.texts):
        path = folder / f"s{number}.yaml"
        path.write_text(text)
        entries = list(origin(path, "auto", folder / "ws").entries())
        assert all(isinstance(each, Entry) for each in entries), entries
        found += [digest(each.instance) for each in entries if isinstance(each, Entry)]
    return found


@pytest.mark.parametrize("instance", PLAIN, ids=lambda each: each.api)
def test_a_plain_test_comes_back_without_the_companion(instance: Instance, tmp_path: Path) -> None:
    exported = export([instance], companion=False)
    assert dict(exported.forms) == {"plain": 1}
    assert back(tmp_path, exported) == [digest(instance)]
    assert NAME not in exported.texts[0]


@pytest.mark.parametrize("instance", COMPANION, ids=lambda each: each.api)
def test_what_yaml_cannot_say_comes_back_by_the_companion(instance: Instance, tmp_path: Path) -> None:
    assert export([instance], companion=False).left_out.total() == 1
    assert back(tmp_path, export([instance])) == [digest(instance)]


def test_nodes_that_occur_twice_are_presets_and_ids_are_stable() -> None:
    one, two = export(PLAIN), export(list(PLAIN))
    assert one.texts == two.texts
    document = yaml.safe_load(one.texts[0])
    assert document["tests"][0] == {"id": f"add_{digest(PLAIN[0])[:12]}", "op": "aten::add", "impl": "torch.add", "in": [{"ref": "x1"}] * 2}
    assert document["presets"]["x1"]["value"] == [[1.0, -2.5], [1e-5, 3e8]]


def test_other_libraries_are_counted_as_left_out() -> None:
    exported = export([Instance("onnx", "ai.onnx.Relu", Kind.NODE)])
    assert dict(exported.left_out) == {"no call of PyTorch": 1}
    assert exported.texts == ["tests: []\n"]


def test_a_companion_with_other_content_is_a_foreign_class(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(content() + b"\n")
    path = tmp_path / "s.yaml"
    path.write_text(export([COMPANION[0]]).texts[0])
    suite = load_suite([path])
    assert not classes_of(suite).companions
    assert objections(suite.tests[0], classes_of(suite))


@pytest.mark.parametrize("call", ["3", "{api: 1}", "{api: os.system, kind: function, call: [{name: a, value: {input: 7}}]}", "{call: []}"])
def test_a_malformed_call_of_the_companion_is_refused(call: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(content())
    path = tmp_path / "s.yaml"
    path.write_text(f"tests: [{{op: {{type: module, path: 'file:{NAME}::Call', args: [{{type: const, value: {call}}}]}}, in: []}}]\n")
    suite = load_suite([path])
    assert objections(suite.tests[0], classes_of(suite))


def test_constructed_arguments_are_nodes(tmp_path: Path) -> None:
    inner = Call("torch.nn.ReLU", ())
    instance = Instance(
        "pytorch", "torch.nn.Sequential", Kind.MODULE, (Argument("args", inner),), (Argument("input", X),), (("training", False),)
    )
    assert back(tmp_path, export([instance], companion=False)) == [digest(instance)]
