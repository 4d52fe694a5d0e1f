"""The demo in small: every step in a line, ten findings at most, scripts that fail as they say, on a terminal of 80 columns."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "scripts"))

import demo

SAMPLE = f"import {Path(__file__).parents[2] / 'corpora' / 'samples' / 'onnx.jsonl'}"
"""In place of the recording, which takes longer than all other steps here."""


@pytest.mark.slow  # a minute of two compilers; the workflow runs the whole demo
def test_the_demo_fits_a_screen_and_ends_with_scripts_that_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "SLICES", {"onnxruntime": "--budget 5s", "openvino": "--budget 40s"})
    monkeypatch.setattr(demo, "EXTRACT", SAMPLE)
    monkeypatch.setattr(demo, "REDUCED", ("openvino", 2))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    assert demo.demo(Path("w"), 2, tmp_path / "figures.jsonl") == 0
    said = capsys.readouterr().out
    assert len(said.splitlines()) <= 60
    assert max(map(len, said.splitlines())) <= 80
    assert re.search(r"\d+ findings of \d compilers? in \d+ tests: \d+ silent wrong results?", said)
    assert "fails as it says" in said
    assert "shows no failure" not in said
    assert (tmp_path / "w" / "report.html").is_file()
    figures = json.loads((tmp_path / "figures.jsonl").read_text(encoding="utf-8"))
    assert figures["findings"] >= 3
    assert "openvino" in figures["compilers"]


def test_a_compiler_that_is_missing_costs_a_line_and_a_machine_without_any_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "SLICES", {"tensorrt": "--budget 5s"})
    monkeypatch.setattr(demo, "EXTRACT", SAMPLE)
    assert demo.demo(tmp_path / "w", 2) == 3
    said = capsys.readouterr().out
    assert "No compiler works here; `opera doctor` says why." in said
    assert len(said.splitlines()) == 4
