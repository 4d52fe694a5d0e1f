"""`opera repairs`: which small repair of a model mends the script of a finding. The compiler is a few lines of the script itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import pytest

NEEDS_AXIS = """
import os, time
from onnx import TensorProto, helper

shape = [2, 3]
entries = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape), helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)]
node = helper.make_node("Softmax", ["x"], ["y"])
model = helper.make_model(helper.make_graph([node], "one", entries[:1], entries[1:]), opset_imports=[helper.make_opsetid("", 13)])
if not any(each.name == "axis" for each in model.graph.node[0].attribute):
    {fault}
"""
SCRIPTS = {
    "raises": NEEDS_AXIS.format(fault="raise KeyError('axis')"),
    "aborts": NEEDS_AXIS.format(fault="os.abort()"),
    "leaves": NEEDS_AXIS.format(fault="raise SystemExit(3)"),
    "otherwise": NEEDS_AXIS.format(fault="pass") + "raise ValueError('whatever the axis')",
    "works": NEEDS_AXIS.format(fault="pass"),
    "no-model": "raise ValueError('nothing to repair')",
    "no-python": "from onnx import helper\nhelper.make_model(",
}


def place(folder: Path) -> Path:
    subject = folder / "data" / "findings" / "tvm-onnx"
    subject.mkdir(parents=True)
    lines = ['compiler = "tvm"', 'frontend = "onnx"']
    for name, text in SCRIPTS.items():
        lines += ["[[finding]]", f'name = "{name}"', 'verdict = "crash"', 'summary = "it raises"', 'operators = ["ai.onnx.Softmax"]']
        (subject / f"{name}.py").write_text(text, encoding="utf-8")
    subject.with_name("tvm-onnx.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder


def opera(folder: Path, *arguments: str) -> commands.Outcome:
    return commands.run(*arguments, folder=folder)


def test_findings_that_one_repair_mends_are_proposed_as_a_family(tmp_path: Path) -> None:
    done = opera(place(tmp_path), "repairs", "data/findings", "--json")
    document = json.loads(done.stdout)
    rows: dict[str, dict[str, Any]] = {each["name"]: each for each in document["findings"]}
    family = {"subject": "tvm-onnx", "repair": "defaults written"}
    assert document["families"] == [
        {**family, "ends": "", "findings": ["raises", "leaves"]}, {**family, "ends": "signal 6", "findings": ["aborts"]}
    ]  # fmt: skip
    assert rows["otherwise"]["failing"] == ["defaults written"]
    assert rows["otherwise"]["mended"] == []
    assert [rows[name]["problem"] for name in ("works", "no-model")] == ["the script shows no failure", "no repair for such a model"]
    assert rows["no-python"]["mended"] == []
    shown = opera(tmp_path, "repairs", "data/findings", "-k", "Softmax")
    assert shown.stdout.splitlines()[2].split() == ["tvm-onnx", "defaults", "written", "2", "raises,", "leaves"]
    assert "7 findings: 3 mended by 1 repair, 2 by none, 2 not tried" in shown.stderr


@pytest.mark.parametrize(("arguments", "says"), [(("data/findings", "-k", "Relu"), "no finding"), (("data",), "has no table")])
def test_what_selects_nothing_is_an_error(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    done = opera(place(tmp_path), "repairs", *arguments)
    assert done.code in (2, 4)
    assert says in done.stderr
