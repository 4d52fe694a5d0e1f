"""Instances as suites: plain forms, the companion, and identities that come back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml

from opera.cli.export import command as export_command
from opera.cli.import_ import command as import_command
from opera.cli.options import guarded
from opera.corpus.files import Entry
from opera.corpus.readers import origin
from opera.extensions.opidiff import text
from opera.extensions.opidiff.companion import NAME, content
from opera.extensions.opidiff.export import Exported, export
from opera.extensions.opidiff.instances import classes_of, instance_of, objections
from opera.extensions.opidiff.schema import json_schema
from opera.extensions.opidiff.signatures import of_function
from opera.extensions.opidiff.suite import load_suite
from opera.instance import Argument, Call, Constraint, Distribution, DType, Instance, Kind, Occurrence, Tensor, Value, digest
from opera.store import Corpus
from opera.store.database import open_workspace

X = Tensor((2, 2), "float32", np.array([[1, -2.5], [1e-5, 3e8]], np.float32).tobytes())
RANDOM = Tensor((3,), "float32", np.array([0.1234567, 0.7654321, 0.3141592], np.float32).tobytes(), None, "strided", Constraint(0.1, 0.8))


def function(api: str, *values: Value, **keywords: Value) -> Instance:
    names = [{"torch.ops.aten.relu": "self", "torch.cat": "tensors"}.get(api, "input"), "other"]
    arguments = [Argument(name, value) for name, value in zip(names, values, strict=False)]
    arguments += [Argument(name, value, keyword=True) for name, value in keywords.items()]
    return Instance("pytorch", api, Kind.FUNCTION, (), tuple(arguments))


def with_defaults(instance: Instance) -> Instance:
    """*instance* with the defaults of its API, as a recording has them."""
    signature = of_function(instance.api)
    names = iter(signature.names)
    call = tuple(each if each.keyword else replace(each, name=next(names)) for each in instance.call)
    return replace(instance, call=call, defaults=signature.defaults)


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
    function("torch.sum", X, dtype=DType("float64")),
    with_defaults(function("torch.nn.functional.relu", X, inplace=False)),
    with_defaults(function("torch.nn.functional.max_pool2d", X, 2, stride=None, padding=1, return_indices=False)),
    with_defaults(function("torch.nn.functional.unfold", X, (2, 2), padding=1)),
    with_defaults(function("torch.nn.functional.mse_loss", X, X, reduction="sum", size_average=None)),
    with_defaults(function("torch.nn.functional.mse_loss", X, X)),
    module(2, 3),
]
COMPANION = [
    function("torch.add", Tensor((2, 2), "float32", X.data, (1, 2)), X),
    function("torch.nn.functional.interpolate", X, scale_factor=2.0),
    function("torch.Tensor.__getitem__", X, (slice(0, 1), ...)),
    function("torch.add", Tensor((2,), "complex64", np.array([1j, 2], np.complex64).tobytes()), 1j),
    function("torch.add", Tensor((900,), "float32", None, None, "strided", Constraint(-1.0, 1.0))),
    function("torch.add", Tensor((900,), "int32", None, None, "strided", Constraint(0.0, 0.0))),
    function("torch.add", Tensor((3, 5), "bfloat16", None, None, "strided", Constraint(-1.0, 1.0))),
    function("torch.add", Tensor((2,), "bfloat16", b"\x80\x3f\x00\x40"), Tensor((), "bfloat16", b"\x80\x3f")),
    function("torch.add", Tensor((2,), "uint16", b"\xff\xff\x01\x00"), Tensor((1,), "uint64", b"\xff" * 8)),
    function("torch.add", Tensor((), "complex128", np.array(1 - 2j).tobytes()), Tensor((2,), "complex32", b"\x00\x3c" * 4)),
    function("torch.add", Tensor((2, 2), "complex64", np.arange(4).astype(np.complex64).tobytes(), (1, 2))),
    function("torch.add", Tensor((2, 3), "float32", np.array([[1, 1, 1], [2, 2, 2]], np.float32).tobytes(), (1, 0)), X),
    function("torch.cat", (X, RANDOM)),
    with_defaults(function("torch.nn.functional.adaptive_max_pool2d", X, 2)),
    with_defaults(function("torch.nn.functional.max_pool2d", X, 2, return_indices=True)),
    function("torch.nn.functional.embedding", Tensor((1,), "int64", bytes(8)), X),
    module(2, 3, training=True),
    module(2, 3, X),
    Instance("pytorch", "torch.vander", Kind.FUNCTION, (), (Argument("x", X), Argument("unknown", 5)), (), (("unknown", 5), ("x", None))),
]


def back(folder: Path, exported: Exported) -> list[str]:
    """The identities that an import of *exported* gives."""
    (folder / NAME).write_bytes(content())
    found: list[str] = []
    for number, written in enumerate(exported.texts):
        path = folder / f"s{number}.yaml"
        path.write_text(written)
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


RELEASED_DTYPES = {
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64", "complex128",
}  # fmt: skip
RELEASED_NODES = {
    "ref", "tensor", "scalar", "scalar_tensor", "int_list", "list", "tuple", "optional", "const", "const_tensor", "var",
}  # fmt: skip


def released() -> jsonschema.Draft202012Validator:
    """The grammar of the format as its own validator reads it: inputs are not constructed, and dtypes are fewer."""
    schema: Any = json.loads(json.dumps(json_schema()))
    parts = schema["$defs"]
    parts["node"] = {"anyOf": [*({"$ref": f"#/$defs/{name}"} for name in sorted(RELEASED_NODES)), *parts["node"]["anyOf"][-2:]]}
    parts["argument"]["anyOf"].insert(0, {"$ref": "#/$defs/construct"})
    for name in ("tensor", "scalar", "scalar_tensor", "const_tensor"):
        parts[name]["properties"]["dtype"] = {"enum": sorted(RELEASED_DTYPES)}
    return jsonschema.Draft202012Validator(schema)


def wrong_in_released(text: str) -> list[str]:
    """What the format's own validator refuses in a suite."""
    document = yaml.safe_load(text)
    found = [each.message[:200] for each in released().iter_errors(document)]
    known = set(document.get("presets", {}))

    def nodes(tree: Any, inside: bool) -> None:
        if isinstance(tree, list):
            for each in tree:
                nodes(each, inside)
        elif isinstance(tree, dict):
            if set(tree) == {"ref"} and tree["ref"] not in known:
                found.append(f"unknown preset {tree['ref']}")
            if inside and tree.get("type") in ("const", "ref", "tensor", "const_tensor", "scalar_tensor", "list", "tuple"):
                found.append(f"a node {tree['type']} among the arguments of a constructor is given as it is written")
            for each in tree.values():
                nodes(each, inside)

    for test in document["tests"]:
        nodes([test["in"], test.get("kwargs")], inside=False)
        if isinstance(test["op"], dict):
            nodes(test["op"].get("args"), inside=True)
    return found


@pytest.mark.parametrize("instance", [*PLAIN, *COMPANION], ids=lambda each: each.api)
def test_what_is_written_loads_in_the_released_implementation(instance: Instance) -> None:
    assert wrong_in_released(export([instance]).texts[0]) == []


def test_the_rules_of_the_released_implementation_refuse_what_it_refuses() -> None:
    test = "tests: [{op: aten::relu, in: [%s]}]\n"
    assert wrong_in_released(test % "{type: construct, path: torch.Size, args: []}")
    assert wrong_in_released(test % "{type: const_tensor, shape: [1], dtype: bfloat16, value: [1]}")
    assert wrong_in_released(test % "{ref: x}")
    assert wrong_in_released("tests: [{op: {type: module, path: a.B, args: [{type: const, value: {}}]}, in: []}]\n")
    assert not wrong_in_released(test % "{type: const, value: null}")


def test_constructed_arguments_are_nodes(tmp_path: Path) -> None:
    inner = Call("torch.nn.ReLU", ())
    instance = Instance(
        "pytorch", "torch.nn.Sequential", Kind.MODULE, (Argument("args", inner),), (Argument("input", X),), (("training", False),)
    )
    assert back(tmp_path, export([instance], companion=False)) == [digest(instance)]


def exported(folder: Path, instances: Sequence[Instance], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What `opera export opidiff FOLDER/s.yaml --json` says of these instances."""
    with open_workspace(folder / "ws", write=True) as space:
        Corpus(space).add((each, Occurrence("opinfo", "t")) for each in instances)
    assert guarded(export_command, ["opidiff", str(folder / "s.yaml"), "--workspace", str(folder / "ws"), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_several_files_are_one_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_MOST_VALUES", 100)
    instances = [*PLAIN, *COMPANION]
    document = exported(tmp_path, instances, capsys)
    names = [Path(each).name for each in document["files"]]
    assert names == ["s.yaml", *(f"s-{number}.yaml" for number in range(1, len(names)))]
    assert len(names) > 3
    assert yaml.safe_load((tmp_path / "s.yaml").read_text()) == {"include": names[1:], "tests": []}
    assert all(wrong_in_released((tmp_path / each).read_text()) == [] for each in names)
    found = list(origin(tmp_path / "s.yaml", "auto", tmp_path / "other").entries())
    assert all(isinstance(each, Entry) for each in found), found
    assert {digest(each.instance) for each in found if isinstance(each, Entry)} == {digest(each) for each in instances}


def test_ids_of_a_suite_come_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.yaml").write_text(
        "presets: {x: {type: tensor, shape: [2], kind: float}}\ntests:\n"
        "  - {id: one, op: aten::relu, in: [{ref: x}]}\n  - {id: the same, op: aten::relu, in: [{ref: x}]}\n"
        "  - {id: t, op: {type: template_module, path: torch.nn.ELU, vars: {a: [1, 0.5]}, args: [{var: a}]}, in: [{ref: x}]}\n"
    )
    assert guarded(import_command, [str(tmp_path / "in.yaml"), "--workspace", str(tmp_path / "ws"), "--json"]) == 0
    capsys.readouterr()
    exported(tmp_path, [PLAIN[0]], capsys)
    before, after = (load_suite([tmp_path / name]).tests for name in ("in.yaml", "s.yaml"))
    instances = {each.id: digest(instance_of(each)) for each in after}
    assert [name for name in instances if name.startswith("add_")] == [f"add_{digest(PLAIN[0])[:12]}"]
    assert {name: key for name, key in instances.items() if not name.startswith("add_")} == {
        each.id: digest(instance_of(each)) for each in before
    }


def test_an_id_is_given_once(tmp_path: Path) -> None:
    keys = [digest(each) for each in PLAIN[:3]]
    ids = {keys[0]: ["a", "b"], keys[1]: ["b", "b", "x" * 600], keys[2]: ["c\n"]}
    document = yaml.safe_load(export(PLAIN[:3], ids=ids).texts[0])
    assert [each["id"] for each in document["tests"]] == ["a", "b", f"add_{keys[1][:12]}", f"add_{keys[2][:12]}"]


def test_files_that_are_too_many_for_one_suite_have_no_index(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "_MOST_VALUES", 100)
    monkeypatch.setattr(text, "MOST_NODES", 200)
    document = exported(tmp_path, PLAIN, capsys)
    assert not (tmp_path / "s.yaml").exists()
    assert len(document["files"]) > 1
