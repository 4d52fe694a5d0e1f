"""tinygrad's adapter: what it says without clang, and the real tinygrad where it and clang are installed."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from opera.extensions.tinygrad.adapter import TinygradAdapter

SAMPLES = Path(__file__).parents[2] / "corpora" / "samples"
needs_tinygrad = pytest.mark.skipif(
    importlib.util.find_spec("tinygrad") is None or shutil.which("clang") is None, reason="tinygrad or clang is not installed"
)


def opera(folder: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    command = [sys.executable, "-m", "opera", *arguments, "--json"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    assert run.returncode == code, run.stderr[-3000:]
    return json.loads(run.stdout)


def test_without_clang_it_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-clang")
    with pytest.raises(RuntimeError, match="apt-get install clang"):
        TinygradAdapter({}).start()


@pytest.mark.parametrize(
    ("kind", "message", "reason"),
    [
        ("NotImplementedError", "op='LSTM' is not supported", "no-operator"),
        ("NotImplementedError", "antialias is not implemented", "not-implemented"),
        ("ValueError", "8 is not a valid OnnxDataType", "dtype"),
        ("ValueError", "invalid coordinate_transformation_mode='tf_crop_and_resize'", "declined"),
        ("AssertionError", "resizing batch_size dim or channel dim not supported", "declined"),
        ("RuntimeError", "Shapes for input x sequence must be homogeneous", "declined"),
        ("RuntimeError", "input x has mismatch on dim=0. Expected None, received 2.", None),
        ("TypeError", "'<' not supported between instances of 'list' and 'int'", None),
        ("IndexError", "list index out of range", None),
    ],
)
def test_it_declines_what_tinygrad_says_to_lack_and_faults_are_none(kind: str, message: str, reason: str | None) -> None:
    failure: Any = {"type": kind, "message": message, "frames": [("tinygrad.nn.onnx", 1, "Resize")]}
    assert next((rule.reason for rule in TinygradAdapter.unsupported if rule.applies(failure, "load")), None) == reason


@needs_tinygrad
def test_operators_that_tinygrad_has_pass_and_others_are_unsupported(tmp_path: Path) -> None:
    opera(tmp_path, "import", str(SAMPLES / "onnx.jsonl"))
    run = ("run", "--compiler", "tinygrad", "--frontend", "onnx", "--exit-zero", "--quiet", "-j", "1", "--cap", "1")
    good = opera(tmp_path, *run, "-k", "onnx.Relu or onnx.MatMul")
    assert good["verdicts"] == {"pass": good["executed"]}
    assert good["versions"]["compiler"]["device"] == "CPU"
    declined = opera(tmp_path, *run, "-k", "onnx.LSTM", code=4)
    assert declined["verdicts"] == {"unsupported": declined["executed"]}
