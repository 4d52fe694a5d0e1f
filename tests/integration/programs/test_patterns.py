"""Models that the tests of a compiler build become programs to insert."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import commands
import pytest

from opera.extensions.programs.document import decode
from opera.extensions.programs.program import calls
from opera.extensions.programs.pytest_plugin import INDEX, LARGEST

SUITE = """
import pytest
from onnx import TensorProto, checker, helper, numpy_helper
import numpy as np

def model(nodes, opset=17, **literals):
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in ("x", "y")]
    constants = [numpy_helper.from_array(value, name) for name, value in literals.items()]
    graph = helper.make_graph(nodes, "graph", ends[:1], ends[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])

def test_fused_after_it_was_made():
    made = model([helper.make_node("Exp", ["x"], ["a"])])
    made.graph.node.append(helper.make_node("Log", ["a"], ["y"]))
    checker.check_model(made)

def test_same_again():
    model([helper.make_node("Exp", ["x"], ["a"]), helper.make_node("Log", ["a"], ["y"])])

def test_what_no_program_holds():
    model([helper.make_node("Mystery", ["x"], ["y"], domain="mine")])
    model([helper.make_node("Neg", ["x"], ["y"])], opset=5)

def test_large():
    model([helper.make_node("Add", ["x", "w"], ["y"])], w=np.zeros(LARGEST, np.float32))

def test_that_fails():
    model([helper.make_node("Neg", ["x"], ["y"])])
    raise OSError("no network")
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("patterns")
    (folder / "test_passes.py").write_text(SUITE.replace("LARGEST", str(LARGEST)))
    plugin = ("-p", "opera.extensions.programs.pytest_plugin", "-p", "no:cacheprovider")
    watched = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, "--models", "kept", "test_passes.py"], cwd=folder, capture_output=True, text=True
    )
    assert "4 models in kept" in watched.stdout
    assert "1 failed, 4 passed" in watched.stdout
    return folder / "kept"


def test_each_distinct_model_is_kept_once_as_its_test_left_it(kept: Path) -> None:
    rows = [json.loads(line) for line in (kept / INDEX).read_text().splitlines()]
    assert {row["model"] for row in rows} == {path.name for path in kept.glob("*.onnx")}
    assert [row["test"].partition("::")[2] for row in rows] == [
        "test_fused_after_it_was_made",
        "test_what_no_program_holds",
        "test_what_no_program_holds",
        "test_that_fails",
    ]


def test_kept_models_become_programs_that_a_policy_inserts(kept: Path, tmp_path: Path) -> None:
    (kept / "cut.onnx").write_bytes(b"\x08")
    made = commands.run("fuzz", "seeds", "patterns.jsonl", "--model", str(kept), "--json", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    counts = json.loads(made.stdout)
    assert {name: counts[name] for name in ("given", "read", "programs")} == {"given": 5, "read": 2, "programs": 2}
    programs = [decode(json.loads(line)).program for line in (tmp_path / "patterns.jsonl").read_text().splitlines()]
    assert sorted([call.operator for call in calls(each)] for each in programs) == [["exp", "log"], ["negative"]]
    (tmp_path / "policy.toml").write_text('insert = "patterns.jsonl"')
    run = commands.run("fuzz", "generate", "out.jsonl", "-n", "40", "--policy", "policy.toml", "--json", folder=tmp_path)
    assert json.loads(run.stdout)["inserted"] > 5


def test_a_folder_without_models_is_said_to_have_none(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    nothing = commands.run("fuzz", "seeds", "patterns.jsonl", "--model", "empty", folder=tmp_path)
    assert nothing.returncode == 4
    assert "no file in empty ends in .onnx or .json" in nothing.stderr


def test_without_a_folder_the_plug_in_asks_for_one(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test(): pass")
    asked = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "opera.extensions.programs.pytest_plugin"], cwd=tmp_path, capture_output=True, text=True
    )
    assert asked.returncode == 4
    assert "--models FOLDER" in asked.stderr
