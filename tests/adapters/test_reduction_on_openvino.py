"""Triage on OpenVINO, which answers in milliseconds: a wrong result is reduced, its condition found and shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest
from instances import node, tensor

from opera.instance import Occurrence, decode_instance
from opera.store import Corpus
from opera.store.database import open_workspace

pytestmark = pytest.mark.slow

FAILING = node(
    "MaxPool", 22, {"ceil_mode": 1, "kernel_shape": [1, 1], "strides": [2, 2]}, X=tensor(np.arange(32).reshape(1, 2, 4, 4))
)  # fmt: skip
"""With `ceil_mode`, OpenVINO counts windows that begin beyond the input."""


def opera(workspace: Path, *arguments: str) -> Any:
    run = commands.run(*arguments, "--workspace", str(workspace), "--json", folder=workspace)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout)


def test_a_wrong_result_is_reduced_and_its_condition_is_found_and_shown(tmp_path: Path) -> None:
    with open_workspace(tmp_path, write=True) as space:
        Corpus(space).add([(FAILING, Occurrence("hand", "test"))])
    opera(tmp_path, "run", "--compiler", "openvino", "--frontend", "onnx", "--exit-zero", "--quiet")
    (before,) = opera(tmp_path, "report")["findings"]
    assert opera(tmp_path, "triage", "--no-arbiters", "--probes", "200")["reduced"] >= 1
    shown = opera(tmp_path, "show", before["id"])
    (argument,) = decode_instance(shown["reduction"]["instance"]).call
    assert argument.value.size < 32
    assert shown["reduction"]["confirmed"] == 3
    (finding,) = opera(tmp_path, "report")["findings"]
    assert finding["id"] == before["id"]
    assert "ceil_mode>0" in finding["trigger"]
    outcome = opera(tmp_path, "reproduce", finding["id"])
    assert outcome["reproduced"] is True
    assert "Reduced from" in Path(tmp_path, outcome["script"]).read_text(encoding="utf-8")
    assert opera(tmp_path, "triage", "--no-arbiters")["reduced"] == 0
