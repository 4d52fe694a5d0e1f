"""Whatever a stranger's file holds, a reader takes it, leaves it out by name, or says what to do: it never ends with a traceback."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hostile
import numpy as np
import pytest
from hostile import SOUND
from hypothesis import given, settings

from opera import bundle
from opera.cli.options import explain
from opera.config import load_config
from opera.corpus.files import Problem, read_corpus, read_header
from opera.corpus.readers import ImportOrigin
from opera.errors import UserError
from opera.extensions.environments.build import record_of
from opera.extensions.generators.constraints import read_constraints
from opera.extensions.generators.deeprel.instances import InstanceFile
from opera.extensions.generators.hosts import docter as docter_host
from opera.extensions.research.artifact import read_artifact, subjects_in
from opera.extensions.research.recording import RecordedRun, RecordedTest, read_recorded, write_recorded
from opera.extensions.stablehlo.conformance.files import read_arrays
from opera.extract.recording import RecordingReader
from opera.instance import digest, encode_instance
from opera.instrumentation.stream import Stream
from opera.triage.baseline import Baseline

Read = Callable[[Path], object]


def damaged_npz() -> list[bytes]:
    """Archives of arrays with bytes changed here and there, in headers and data."""
    whole = io.BytesIO()
    np.savez_compressed(whole, arg0=np.arange(50), arg1=np.ones((2, 3), "float16"))
    data = whole.getvalue()
    places = range(0, len(data), 3)
    return [data[:place] + bytes([data[place] ^ flip]) + data[place + 1 :] for place in places for flip in (1, 0x40, 0xFF)]


def test_a_damaged_archive_of_arrays_is_the_users_to_mend(tmp_path: Path) -> None:
    for data in damaged_npz():
        (tmp_path / "x.npz").write_bytes(data)
        harmless(lambda path: read_arrays(str(path)), tmp_path / "x.npz")


NESTED = "[" * 100_000


@pytest.mark.parametrize("thing", ["nested", "pipe", "list"])
def test_what_says_that_an_environment_is_ours_is_read_with_limits(tmp_path: Path, thing: str) -> None:
    record = tmp_path / "opera-environment.json"
    if thing == "pipe":
        os.mkfifo(record)
    else:
        record.write_text(NESTED if thing == "nested" else "[1]")
    assert record_of(tmp_path) is None


@pytest.mark.parametrize(
    "line", [NESTED, '{"id": NaN}', "[]", '{"instance": {"library": "pytorch"}}'], ids=["nested", "nan", "list", "keys"]
)
def test_a_line_of_recorded_instances_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "instances.jsonl"
    path.write_text(f"{json.dumps({'schema': 'corpus/1'})}\n{line}\n")
    with pytest.raises(ValueError, match="line 2 is no instance"):
        InstanceFile(str(path), "pytorch", 5)


@pytest.mark.parametrize("text", [NESTED, "[]", '{"apis": {"torch.abs": 5}}', '{"apis": {"torch.abs": {"input": 5}}}'])
def test_a_file_of_constraints_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "constraints.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="is no file of constraints"):
        docter_host._given(str(path))


def test_a_fault_that_the_head_of_a_recorded_campaign_does_not_have_is_refused(tmp_path: Path) -> None:
    head, *rows = campaign_lines()
    rows[0]["faults"] = ["f", "another"]
    (tmp_path / "c.gz").write_bytes(gzip.compress(b"".join(hostile.line(each) for each in (head, *rows))))
    with pytest.raises(UserError, match="a fault that the first line does not have: 'another'"):
        read_recorded(tmp_path / "c.gz")


def harmless(read: Read, path: Path) -> None:
    """Reads *path*; raises where the command would end with a traceback."""
    try:
        read(path)
    except Exception as error:
        if explain(error) is None:
            raise


def lines(*trees: Any) -> list[Any]:
    """Each line of a file, as the tree that it holds."""
    return [json.loads(json.dumps(tree)) for tree in trees]


def corpus_lines() -> list[Any]:
    entries = [
        {"id": digest(each), "instance": encode_instance(each), "provenance": [{"source": "s", "test": "t", "calls": 2}]} for each in SOUND
    ]
    return lines({"schema": "corpus/1", "instances": 2, "sources": [{"library": "onnx", "source": "s", "version": "1"}]}, *entries)


def recording_lines() -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        with Stream(str(path), "pytorch", "1", "s") as stream:
            stream.begin("one")
            stream.record(encode_instance(SOUND[0]))
            stream.record(encode_instance(SOUND[0]))
        found = [json.loads(line) for line in path.read_text().splitlines()]
    return [*found, {"test": "a", "outcome": "error", "message": "m"}, {"dropped": "flood", "api": "torch.add", "calls": 3}]


def campaign_lines() -> list[Any]:
    recorded = RecordedRun(
        "tvm/onnx", [RecordedTest(digest(each), each, 0.5, frozenset({"f"}), frozenset({1, 2, 9})) for each in SOUND], {"f": "fault"},
        {"MaxPool": 3}, facts={"tvm": "1"}, order=[digest(each) for each in SOUND],
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        write_recorded(recorded, Path(folder) / "c.gz")
        return [json.loads(line) for line in gzip.decompress((Path(folder) / "c.gz").read_bytes()).splitlines()]


CALLS = [
    {
        "api": "torch.nn.Conv2d", "parameter:0": 3, "kernel_size": [3, 3],
        "input_signature": {"Label": "tensor", "Shape": [1, 3], "Dtype": "torch.float32"},
    },
    {
        "api": "torch.add", "parameter:0": {"shape": [2], "dtype": "torch.int64"}, "alpha": {"$numberLong": "2"},
        "out": {"label": "tuple", "value": [1]},
    },
    {
        "api": "torch.Tensor.index", "_input_tensor": {"shape": [2], "dtype": "torch.bool"},
        "dim": {"start": 0, "stop": 1, "step": None},
    },
]  # fmt: skip
PAPER = [
    {
        "id": 1, "api": "MaxPool", "params": {"kernel_shape": [2]}, "outputs": [],
        "inputs": [{"tensor": {"shape": [2, -1], "dtype": "float32"}}, "[1 2]"],
    }
]  # fmt: skip
FAULTS = {"faults": {"f": {"key": "k", "tests": [1]}}}
BASELINE = {
    "failure": [
        {
            "fingerprint": "8bd3", "subject": "tvm/onnx", "verdict": "crash", "stage": "load", "converter": "c", "kind": "k",
            "instances": ["5d"], "summary": "s", "note": [1, {"a": 2.5}],
        }
    ]
}  # fmt: skip
CONFIG = {
    "library": {"pytorch": {"python": "envs/bin/python"}},
    "compiler": {"tvm": {"python": "/opt/bin/python", "path": ["build", "/opt/lib"], "env": {"TVM_LOG": "1", "X": ""}}},
}
CONSTRAINTS = {
    "title": "torch.add", "inputs": {"optional": ["a"]},
    "constraints": {"x": {"dtype": ["float32", "int"], "ndim": [">=1", "2"], "shape": ["[batch,&n,3]"], "range": ["[0,1)", "(-inf,3.5]"],
                          "enum": ["a"], "structure": ["list"], "tensor_t": ["tensor"]}},
}  # fmt: skip


def read_lines(path: Path) -> object:
    found = list(read_corpus(path))
    assert all(not isinstance(each, Problem) or each.text for each in found)
    return read_header(path)


def read_recording(path: Path) -> object:
    reader = RecordingReader(path)
    found = list(iter(reader.next, None))
    reader.close()
    return found


def read_calls(path: Path) -> object:
    return list(ImportOrigin(path, "freefuzz").entries())


def read_paper(path: Path) -> object:
    folder = path.parent
    if not (folder / "tvm_onnx_faults.json").exists():
        (folder / "tvm_onnx_faults.json").write_text(json.dumps(FAULTS))
    return subjects_in(folder), read_artifact(folder, "tvm-onnx")


def read_faults(path: Path) -> object:
    (path.parent / "onnx.jsonl").write_bytes(b"".join(hostile.line(each) for each in PAPER))
    return read_artifact(path.parent, "tvm-onnx")


FORMATS: dict[str, tuple[list[Any], str, Read]] = {
    "corpus": (corpus_lines(), "c.jsonl", read_lines),
    "recording": (recording_lines(), "r.jsonl", read_recording),
    "recorded campaign": (campaign_lines(), "c.jsonl", read_recorded),
    "FreeFuzz calls": (CALLS, "torch.add.jsonl", read_calls),
    "the paper's tests": (PAPER, "onnx.jsonl", read_paper),
    "the paper's faults": ([FAULTS], "tvm_onnx_faults.json", read_faults),
}
"""Formats of JSON: the documents of a sound file, its name, and what reads it."""


@pytest.mark.parametrize("name", FORMATS)
def test_a_sound_file_is_read_whole(name: str, tmp_path: Path) -> None:
    trees, file, read = FORMATS[name]
    (tmp_path / file).write_bytes(b"".join(hostile.line(each) for each in trees))
    read(tmp_path / file)


@pytest.mark.parametrize("name", FORMATS)
def test_a_document_with_spoilt_parts_ends_with_no_traceback(name: str, attacks: settings) -> None:
    trees, file, read = FORMATS[name]

    @attacks
    @given(hostile.spoilt(trees))
    def attack(tree: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file
            path.write_bytes(b"".join(hostile.line(each) for each in tree))
            harmless(read, path)

    attack()


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", FORMATS)
def test_a_file_with_spoilt_bytes_ends_with_no_traceback(name: str, packed: bool, attacks: settings) -> None:
    trees, file, read = FORMATS[name]
    whole = b"".join(hostile.line(each) for each in trees)

    @attacks
    @given(hostile.spoilt_bytes(gzip.compress(whole) if packed else whole))
    def attack(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file
            path.write_bytes(data)
            harmless(read, path)

    attack()


def toml_text(tree: Any) -> bytes:
    """*tree* as TOML where it can be said, else as something near it."""
    import tomlkit

    try:
        return tomlkit.dumps(tree).encode("utf-8", "surrogatepass")
    except Exception:
        return json.dumps(tree).replace(":", "=").encode()


def read_settings(path: Path) -> object:
    return load_config(path.parent)


def read_documentation(path: Path) -> object:
    return read_constraints(path.parent, "pytorch")


TEXTS: dict[str, tuple[Any, str, Read, Callable[[Any], bytes]]] = {
    "baseline": (BASELINE, "known.toml", Baseline, toml_text),
    "opera.toml": (CONFIG, "opera.toml", read_settings, toml_text),
    "constraints": (CONSTRAINTS, "torch.add.yaml", read_documentation, lambda tree: json.dumps(tree).encode()),
}
"""Formats of TOML and YAML."""


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_with_spoilt_parts_or_bytes_ends_with_no_traceback(name: str, attacks: settings) -> None:
    tree, file, read, write = TEXTS[name]

    @attacks
    @given(hostile.spoilt(tree).map(write) | hostile.spoilt_bytes(write(tree)))
    def attack(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file
            path.write_bytes(data)
            harmless(read, path)

    read_fine = Path(tempfile.mkdtemp()) / file
    read_fine.write_bytes(write(tree))
    read(read_fine)
    attack()


def test_a_dump_of_spoilt_bytes_ends_with_no_traceback(attacks: settings) -> None:
    def cstring(name: str) -> bytes:
        return name.encode() + b"\0"

    def document(*parts: bytes) -> bytes:
        body = b"".join(parts) + b"\0"
        return (len(body) + 4).to_bytes(4, "little") + body

    text = b"torch.float32\0"
    shape = document(b"\x10" + cstring("0") + b"\x02\0\0\0")
    tensor_part = document(b"\x04" + cstring("shape") + shape, b"\x02" + cstring("dtype") + len(text).to_bytes(4, "little") + text)
    sound = document(b"\x03" + cstring("parameter:0") + tensor_part, b"\x01" + cstring("alpha") + bytes(8)) * 2

    @attacks
    @given(hostile.spoilt_bytes(sound))
    def attack(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "torch.add.bson"
            path.write_bytes(data)
            harmless(read_calls, path)

    attack()


def test_a_bundle_of_spoilt_bytes_is_damaged_and_nothing_else(attacks: settings) -> None:
    import numpy as np

    sound = bundle.dump({"inputs": [("x", np.arange(6.0).reshape(2, 3)), ("y", np.array("text", object))], "n": (1, float("inf"), None)})

    @attacks
    @given(hostile.spoilt_bytes(sound))
    def attack(data: bytes) -> None:
        with contextlib.suppress(bundle.DamagedArtefact):
            bundle.parse(data)

    attack()
