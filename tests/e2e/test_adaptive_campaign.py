"""A real compiler under a strategy that learns while the campaign runs, and what the evaluation says of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake.harness import Lab

SAMPLE = Path(__file__).parents[2] / "corpora" / "samples" / "onnx.jsonl"
SUBJECT = ("--compiler", "tvm", "--frontend", "onnx", "-j", "2", "--json", "--exit-zero")


def imported(folder: Path) -> Lab:
    lab = Lab(folder)
    assert lab.finish(lab.start("import", str(SAMPLE), module="opera")).code == 0
    return lab


@pytest.mark.slow
def test_a_real_campaign_runs_every_test_in_an_order_made_while_it_runs(tmp_path: Path) -> None:
    static, adaptive = imported(tmp_path / "static"), imported(tmp_path / "adaptive")
    before = static.finish(static.start(*SUBJECT, "--strategy", "opera"))
    part = adaptive.finish(adaptive.start(*SUBJECT, "--strategy", "opera-adaptive", "--maxfail", "2"))
    assert part.json["stopped_by"] == "maxfail"
    now = adaptive.finish(adaptive.start(*SUBJECT, "--strategy", "opera-adaptive"))
    assert now.json["complete"]
    assert now.json["executed"] == before.json["executed"]
    assert {result.test for result in adaptive.stored()} == {result.test for result in static.stored()}
    evaluated = adaptive.finish(
        adaptive.start("evaluate", "--strategy", "opera", "--strategy", "opera-adaptive", "--seeds", "5", "--json", module="opera")
    )
    figures = evaluated.json["strategies"]
    assert abs(evaluated.json["as_run"]["apfd"]["mean"] - figures["opera-adaptive"]["apfd"]["mean"]) < 0.15
