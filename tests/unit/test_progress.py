"""The live table of a campaign on a terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from opera.run import progress


def test_the_last_columns_stay_free_so_that_an_echoed_interrupt_begins_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=80, height=40, color_system=None)

    def terminal(*, err: bool) -> Console:
        assert err
        return console

    monkeypatch.setattr(progress, "terminal", terminal)
    table = progress.CampaignProgress("onnxruntime/onnx", ".opera", live=True)
    table.began("0221ebd3e2c4", 7_177, {"pass": 1_751, "crash": 8, "inconsistent": 1, "unsupported": 304, "undefined": 2}, 1, "float32")
    monkeypatch.setattr(progress, "_LIVE_INTERVAL", 0.0)
    table.tick([("compiler", "torch.nn.functional." + "x" * 100, "optimize")] * 4)
    lines = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", written.getvalue()).replace("\r", "").splitlines()
    shown = [line for line in lines if line.strip()]
    assert any("7177" in line for line in shown)
    assert max(map(len, shown)) <= 78
    table.ended()
