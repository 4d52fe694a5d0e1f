"""Recorded bugs of compilers, each inside of a small network: `opera check` has to name the operator."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import commands
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]
FINDINGS = Path(__file__).parents[3] / "data" / "findings"
COMPILERS = {"onnxruntime": "ort", "openvino": "ov", "tvm": "tvm"}
"""What scripts call the compiler."""
DRAWN = 24
MISSED = 1
"""Most bugs that are not named: 5 %."""


def recorded(path: Path, compiler: str) -> tuple[Any, dict[str, Any]] | None:
    """Model and inputs of a script of a single operator; None for any other script."""
    made: dict[str, Any] = {}
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        names = {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
        if {COMPILERS[compiler], "relax", "from_onnx"} & names:
            break
        if isinstance(statement, ast.Import | ast.ImportFrom) and not ast.unparse(statement).startswith(
            ("import numpy", "import onnx", "from onnx")
        ):
            continue
        try:
            exec(compile(ast.Module([statement], []), str(path), "exec"), made)
        except Exception:  # a script may build its model with the compiler's own modules
            return None
    model, inputs = made.get("model"), made.get("inputs")
    if not isinstance(model, onnx.ModelProto) or not isinstance(inputs, dict) or len(model.graph.node) != 1:
        return None
    return model, inputs


def inside(model: Any, inputs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A network in which an input of floats comes from two negations, and an output of floats goes on to two more."""
    graph, feeds = model.graph, dict(inputs)
    before, after = list[Any](), list[Any]()
    for entry in graph.input:
        if entry.type.tensor_type.elem_type == TensorProto.FLOAT:
            old = entry.name
            before += [helper.make_node("Neg", [f"{old}_given"], [f"{old}_n"]), helper.make_node("Neg", [f"{old}_n"], [old])]
            entry.name = f"{old}_given"
            feeds[entry.name] = feeds.pop(old)
    for entry in graph.output:
        if entry.type.tensor_type.elem_type == TensorProto.FLOAT:
            old = entry.name
            after += [helper.make_node("Abs", [old], [f"{old}_a"]), helper.make_node("Neg", [f"{old}_a"], [f"{old}_end"])]
            entry.name = f"{old}_end"
    (node,) = graph.node
    node.name = "suspect"
    whole = [*before, node, *after]
    del graph.node[:]
    graph.node.extend(whole)
    del graph.value_info[:]
    return model, feeds


def draw() -> Iterator[tuple[str, Path]]:
    scripts = [(compiler, path) for compiler in COMPILERS for path in sorted((FINDINGS / f"{compiler}-onnx").glob("*.py"))]
    random.Random(7).shuffle(scripts)
    yield from scripts


def test_bugs_inside_of_networks_are_named(tmp_path: Path) -> None:
    missed, tried = list[str](), 0
    for compiler, path in draw():
        if tried == DRAWN:
            break
        if (found := recorded(path, compiler)) is None:
            continue
        model, feeds = inside(*found)
        folder = tmp_path / path.stem
        folder.mkdir()
        onnx.save(model, folder / "net.onnx")
        np.savez(folder / "given.npz", **feeds)
        done = commands.run("check", "net.onnx", "--compiler", compiler, "--inputs", "given.npz", "--json", folder=folder)
        if done.code == 2:  # what the checker refuses in a network, or numpy does not hold
            continue
        tried += 1
        names = [each["name"] for each in done.json["nodes"]]
        (report,) = done.json["compilers"]
        accused = {names[int(number)] for number, each in report["nodes"].items() if each["state"] in ("wrong", "crash")}
        # a compiler may get an operator wrong only if it knows a value, and a value that is cut is not known
        together = {names[number] for number in report["together"]}
        if accused != {"suspect"} and (accused or "suspect" not in together):
            missed.append(f"{compiler}: {path.stem}: {json.dumps(report)[:600]}")
    assert tried == DRAWN
    assert len(missed) <= MISSED, "\n".join(missed)
