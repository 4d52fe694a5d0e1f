"""`opera repairs`: which small repair of a model mends the script of a finding. The compiler is a few lines of the script itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import pytest

NEEDS_RANK = """
import os
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.exp(x)

program = torch.export.export(Model(), (torch.tensor(2.0),))
calls = [node for node in program.graph.nodes if node.op == "call_function" and "exp" in str(node.target)]
if calls[0].meta["val"].dim() == 0:
    {fault}
"""
SCRIPTS = {
    "raises": NEEDS_RANK.format(fault="raise KeyError('rank')"),
    "aborts": NEEDS_RANK.format(fault="os.abort()"),
    "leaves": NEEDS_RANK.format(fault="raise SystemExit(3)"),
    "otherwise": NEEDS_RANK.format(fault="pass") + "raise ValueError('whatever the rank')",
    "works": NEEDS_RANK.format(fault="pass"),
    "no-model": "raise ValueError('nothing to repair')",
    "no-python": "import torch.export\ntorch.export.export(",
}


def place(folder: Path) -> Path:
    subject = folder / "data" / "findings" / "tvm-pytorch"
    subject.mkdir(parents=True)
    lines = ['compiler = "tvm"', 'frontend = "pytorch"']
    for name, text in SCRIPTS.items():
        operator = "exp" if name in ("raises", "leaves") else "exp2"
        lines += ["[[finding]]", f'name = "{name}"', 'verdict = "crash"', 'summary = "it raises"', f'operators = ["torch.{operator}"]']
        (subject / f"{name}.py").write_text(text, encoding="utf-8")
    subject.with_name("tvm-pytorch.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder


def opera(folder: Path, *arguments: str) -> commands.Outcome:
    return commands.run(*arguments, folder=folder)


def test_findings_that_one_repair_mends_are_proposed_as_a_family(tmp_path: Path) -> None:
    done = opera(place(tmp_path), "repairs", "data/findings", "--json")
    document = json.loads(done.stdout)
    rows: dict[str, dict[str, Any]] = {each["name"]: each for each in document["findings"]}
    family = {"subject": "tvm-pytorch", "repair": "rank 0 as rank 1"}
    assert document["families"] == [
        {**family, "ends": "", "findings": ["raises", "leaves"]}, {**family, "ends": "signal 6", "findings": ["aborts"]}
    ]  # fmt: skip
    assert rows["otherwise"]["failing"] == ["rank 0 as rank 1"]
    assert rows["otherwise"]["mended"] == []
    assert [rows[name]["problem"] for name in ("works", "no-model")] == ["the script shows no failure", "no repair for such a model"]
    assert rows["no-python"]["mended"] == []
    shown = opera(tmp_path, "repairs", "data/findings", "-k", "torch.exp and not exp2")
    assert shown.stdout.splitlines()[2].split() == ["tvm-pytorch", "rank", "0", "as", "rank", "1", "2", "raises,", "leaves"]
    assert "2 findings: 2 mended by 1 repair" in shown.stderr


@pytest.mark.parametrize(("arguments", "says"), [(("data/findings", "-k", "Relu"), "no finding"), (("data",), "has no table")])
def test_what_selects_nothing_is_an_error(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    done = opera(place(tmp_path), "repairs", *arguments)
    assert done.code in (2, 4)
    assert says in done.stderr
