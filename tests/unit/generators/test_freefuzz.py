"""What reading other tools' recorded calls promises."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from opera.errors import UserError
from opera.extensions.generators.freefuzz import FreeFuzzCalls
from opera.instance import DType, Instance, Kind, Tensor

TENSOR = {"shape": [2, 3], "dtype": "torch.float32"}


def bson(document: dict[str, Any]) -> bytes:
    """A BSON document, written by the specification."""
    body = b""
    for key, value in document.items():
        name = key.encode() + b"\0"
        if value is None:
            body += b"\x0a" + name
        elif isinstance(value, bool):
            body += b"\x08" + name + bytes([value])
        elif isinstance(value, int):
            body += (b"\x10" + name + struct.pack("<i", value)) if abs(value) < 2**31 else (b"\x12" + name + struct.pack("<q", value))
        elif isinstance(value, float):
            body += b"\x01" + name + struct.pack("<d", value)
        elif isinstance(value, str):
            text = value.encode() + b"\0"
            body += b"\x02" + name + struct.pack("<i", len(text)) + text
        elif isinstance(value, list):
            body += b"\x04" + name + bson({str(index): item for index, item in enumerate(value)})
        else:
            body += b"\x03" + name + bson(value)
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def dump(path: Path, *documents: dict[str, Any]) -> Path:
    path.write_bytes(b"".join(bson(document) for document in documents))
    return path


def one(path: Path) -> Instance:
    ((instance, _),) = FreeFuzzCalls(path, "freefuzz")
    return instance


def test_a_dump_gives_calls_with_positional_and_named_arguments(tmp_path: Path) -> None:
    call = {"parameter:0": TENSOR, "parameter:1": [TENSOR, 2**40, -0.5, None, "mean"], "keepdim": True, "output_signature": TENSOR}
    instance = one(dump(tmp_path / "torch.nn.functional.thing.bson", call))
    assert (instance.library, instance.api, instance.kind) == ("pytorch", "torch.nn.functional.thing", Kind.FUNCTION)
    assert [(argument.name, argument.keyword) for argument in instance.call] == [("arg0", False), ("arg1", False), ("keepdim", True)]
    assert instance.call[0].value == Tensor((2, 3), "float32")
    assert instance.call[1].value[1:] == [2**40, -0.5, None, "mean"]


def test_a_layer_is_built_and_called(tmp_path: Path) -> None:
    call = {"parameter:0": 3, "bias": False, "input_signature": [TENSOR], "output_signature": TENSOR}
    instance = one(dump(tmp_path / "torch.nn.Linear.bson", call))
    assert instance.kind is Kind.MODULE
    assert [argument.value for argument in instance.init] == [3, False]
    assert [argument.value for argument in instance.call] == [Tensor((2, 3), "float32")]


def test_exported_json_gives_the_same_as_a_dump(tmp_path: Path) -> None:
    call = {"parameter:0": TENSOR, "dim": 1}
    expected = one(dump(tmp_path / "torch.sum.bson", call))
    (tmp_path / "lines").mkdir()
    (tmp_path / "array").mkdir()
    (tmp_path / "lines" / "torch.sum.jsonl").write_text(json.dumps(call) + "\n")
    (tmp_path / "array" / "torch.sum.json").write_text(json.dumps([{**call, "dim": {"$numberInt": "1"}}]))
    assert one(tmp_path / "lines") == expected == one(tmp_path / "array")


def test_labelled_values_are_understood(tmp_path: Path) -> None:
    call = {
        "input": {"Label": "tensor", "Shape": [4], "Dtype": "torch.int64", "Value": None},
        "dims": {"Label": "tuple", "Value": [{"Label": "int", "Value": 0}]},
        "dtype": {"Label": "torchdtype", "Value": "torch.float64"},
    }
    arguments = {argument.name: argument.value for argument in one(dump(tmp_path / "torch.sum.bson", call)).call}
    assert (arguments["dims"], arguments["dtype"]) == ((0,), DType("float64"))
    assert (arguments["input"].shape, arguments["input"].dtype) == ((4,), "int64")


def test_names_of_tensorflow_and_keras_are_as_users_write_them(tmp_path: Path) -> None:
    value = {"type": "tensor", "shape": [1, 2], "dtype": "float32"}
    dump(tmp_path / "tf.nn.relu.bson", {"features": value})
    dump(tmp_path / "tf.keras.layers.Dense.bson", {"units": 2, "input_signature": value})
    found = {(instance.library, instance.api) for instance, _ in FreeFuzzCalls(tmp_path, "freefuzz")}
    assert found == {("tensorflow", "tf.nn.relu"), ("keras", "keras.layers.Dense")}


def test_what_cannot_be_rebuilt_is_counted_by_reason(tmp_path: Path) -> None:
    dump(
        tmp_path / "torch.thing.bson",
        {"parameter:0": TENSOR, "dtype": "torchdtype"},
        {"parameter:0": TENSOR, "parameter:2": 1},
        {"parameter:0": {"shape": [2**20, 2**20], "dtype": "torch.float32"}},
        {"parameter:0": 1},
        {"parameter:0": TENSOR},
    )
    calls = FreeFuzzCalls(tmp_path, "freefuzz")
    assert len(list(calls)) == 1
    assert calls.dropped == {"value-not-kept": 1, "positional-argument-missing": 1, "tensor-too-large": 1, "no-tensor": 1}
    assert calls.calls == 5


def test_provenance_names_source_api_and_number(tmp_path: Path) -> None:
    dump(tmp_path / "torch.abs.bson", {"parameter:0": TENSOR}, {"parameter:0": {"shape": [], "dtype": "torch.bool"}})
    assert [occurrence.test for _, occurrence in FreeFuzzCalls(tmp_path, "deeprel")] == ["deeprel::torch.abs::0", "deeprel::torch.abs::1"]


def test_a_broken_file_is_named_and_the_others_of_its_folder_are_read(tmp_path: Path) -> None:
    dump(tmp_path / "torch.abs.bson", {"parameter:0": TENSOR})
    broken = tmp_path / "torch.add.bson"
    broken.write_bytes(bson({"parameter:0": TENSOR})[:-3])
    calls = FreeFuzzCalls(tmp_path, "freefuzz")
    assert [instance.api for instance, _ in calls] == ["torch.abs"]
    assert calls.dropped == {"broken-file:torch.add.bson": 1}
    with pytest.raises(UserError, match=r"torch\.add\.bson.*cut off"):
        list(FreeFuzzCalls(broken, "freefuzz"))


def test_a_type_that_no_call_has_is_an_error_and_not_a_guess(tmp_path: Path) -> None:
    path = tmp_path / "torch.abs.bson"
    path.write_bytes(bson({"key": None}).replace(b"\x0akey", b"\x7fkey"))
    with pytest.raises(UserError, match="type 0x7f"):
        list(FreeFuzzCalls(path, "freefuzz"))


def test_a_folder_without_records_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "torch.abs.metadata.json").write_text("{}")
    with pytest.raises(UserError, match="no recorded call"):
        FreeFuzzCalls(tmp_path, "freefuzz")
