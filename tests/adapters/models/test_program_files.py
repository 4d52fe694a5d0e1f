"""Files of `torch.export.save` are checked as models, and one that may run code is refused before PyTorch sees it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import commands
import pytest

from opera.extensions.models.templates.opened import ModelRefused
from opera.extensions.models.templates.program_file import check_program

SAVE = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleDict({"first_one": torch.nn.Linear(4, 8), "norm": torch.nn.BatchNorm1d(8)})
        self.rnn = torch.nn.LSTM(8, 3, batch_first=True)

    def forward(self, x, *, how):
        y = self.layers["norm"](self.layers["first_one"](x)).relu()
        z = self.rnn(y[:, None])[0] * how["scale"]
        return {"out": z.reshape(-1)[: x.shape[0] * 2 - 1], "large": torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))}

args, kwargs = (torch.randn(5, 4),), {"how": {"scale": torch.tensor(2.0)}}
shapes = {"x": {0: torch.export.Dim("batch", min=2, max=9)}, "how": {"scale": None}}
program = torch.export.export(Net().eval(), args, kwargs, dynamic_shapes=shapes)
torch.export.save(program, "net.pt2")
program._example_inputs = None
torch.export.save(program, "bare.pt2")
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program, and the same one without its inputs."""
    folder = tmp_path_factory.mktemp("programs")
    subprocess.run([sys.executable, "-c", SAVE], cwd=folder, env=os.environ, check=True, capture_output=True)
    return folder


def test_a_program_is_checked_on_the_inputs_that_it_was_exported_with(programs: Path, tmp_path: Path) -> None:
    done = commands.run("check", str(programs / "net.pt2"), "--compiler", "onnxruntime", "--json", folder=tmp_path)
    assert done.code == 0, done.stderr
    assert done.json["exported"]["state"] == "right"
    assert {each["operator"] for each in done.json["nodes"]} >= {"ai.onnx.LSTM", "ai.onnx.If"}


@pytest.mark.slow
def test_sizes_of_a_program_without_inputs_are_asked_for(programs: Path, tmp_path: Path) -> None:
    asked = commands.run("check", str(programs / "bare.pt2"), "--compiler", "onnxruntime", folder=tmp_path)
    assert asked.code == 2
    size = asked.stderr.partition("give --size ")[2].partition("=")[0]
    assert size.startswith("s")
    assert "--inputs" not in asked.stderr
    assert commands.run("check", str(programs / "bare.pt2"), "--compiler", "onnxruntime", "--size", f"{size}=3", folder=tmp_path).code == 0


Edit = Callable[[dict[str, Any]], None]


def rename(program: dict[str, Any]) -> None:
    """A name that ends its statement in the code that PyTorch writes of a graph."""
    node = program["graph_module"]["graph"]["nodes"][0]
    node["name"] = "y = 0\n    open('ran', 'w')\n    z"


def call(target: str) -> Edit:
    def edit(program: dict[str, Any]) -> None:
        program["graph_module"]["graph"]["nodes"][0]["target"] = target

    return edit


def size(text: str) -> Edit:
    def edit(program: dict[str, Any]) -> None:
        values = program["graph_module"]["graph"]["tensor_values"]
        next(iter(values.values()))["sizes"][0] = {"as_expr": {"expr_str": text, "hint": None}}

    return edit


def spec(text: str) -> Edit:
    def edit(program: dict[str, Any]) -> None:
        program["graph_module"]["module_call_graph"][0]["signature"]["in_spec"] = text

    return edit


def hidden(program: dict[str, Any]) -> None:
    """A size within a value that is named like the remarks on a node."""
    values = program["graph_module"]["graph"]["tensor_values"]
    meta = json.loads(json.dumps(next(iter(values.values()))))
    meta["sizes"] = [{"as_expr": {"expr_str": "exec('x')", "hint": None}}]
    values["metadata"] = meta


@pytest.mark.parametrize(
    "edit",
    [
        rename,
        hidden,
        *map(call, ["torch.hub.load", "torch.ops.load_library", "torch.ops.aten.from_file.default", "_operator.call", "#a:b", "os.system"]),
        *map(
            size,
            [
                "open('ran', 'w')", "exec('ran')", "(exec)((chr)(105))", "Max(1, eval((chr)(49)))", "s0.__class__", "__import__('os')",
                "Symbol('x').func.mro()", "[x for x in y]", "lambda: 0",
            ],
        ),
        spec('[1, {"type": "enum.Enum", "context": {"__enum__": true, "fqn": "antigravity:x", "name": "y"}, "children_spec": []}]'),
        spec('[1, {"type": "builtins.dict", "context": "[\\"a=open(0)\\"]", "children_spec": []}]'),
        spec('[1, {"type": "builtins.dict", "context": "[\\"a\\\\nimport os\\"]", "children_spec": []}]'),
    ],
)  # fmt: skip
def test_a_program_whose_texts_may_run_code_is_refused(programs: Path, tmp_path: Path, edit: Edit) -> None:
    with pytest.raises(ModelRefused, match=r"evil\.pt2 may run code"):
        check_program(changed(programs / "net.pt2", tmp_path / "evil.pt2", edit))


def changed(program: Path, copy: Path, edit: Edit, *more: str) -> Path:
    with zipfile.ZipFile(program) as old, zipfile.ZipFile(copy, "w") as new:
        for each in old.infolist():
            data = old.read(each)
            if each.filename.endswith("models/model.json"):
                edit(document := json.loads(data))
                data = json.dumps(document).encode()
            new.writestr(each, data)
        for name in more:
            new.writestr(name, b"")
    return copy


@pytest.mark.parametrize(
    "member", ["net/data/constants/custom_obj_0", "net/data/constants/opaque_obj_0", "net/data/aotinductor/model/model.so", "net/../../x"]
)
def test_a_program_with_objects_or_libraries_is_refused(programs: Path, tmp_path: Path, member: str) -> None:
    with pytest.raises(ModelRefused, match="which may be code"):
        check_program(changed(programs / "net.pt2", tmp_path / "evil.pt2", lambda _: None, member))


def test_what_is_no_program_is_refused(programs: Path, tmp_path: Path) -> None:
    whole = (programs / "net.pt2").read_bytes()
    for name, data in {"cut.pt2": whole[: len(whole) // 2], "text.pt2": b"no program", "empty.pt2": b""}.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ModelRefused, match=rf"{name} is no file of torch\.export\.save"):
            check_program(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "other.pt2", "w") as archive:
        archive.writestr("code.pkl", b"")
    done = commands.run("check", "other.pt2", "--compiler", "onnxruntime", folder=tmp_path)
    assert (done.code, done.stdout) == (2, "")
    assert "holds 'code.pkl', which may be code" in done.stderr
