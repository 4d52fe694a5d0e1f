"""A campaign that is killed at random moments, in every way, ends with the same results as an undisturbed campaign."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake.harness import SITE, Lab, instance

ROOT = Path(__file__).parents[2]
FAKE = ("--compiler", "fake", "--frontend", "fake", "-j", "2", "--timeout", "1.5s")


def attacked(lab: Lab, arguments: tuple[str, ...], *, kills: int, seed: int, freeze: float = 2.5) -> dict[str, Any]:
    """What the script says of that many attacks on the campaign with these arguments."""
    command = [sys.executable, str(ROOT / "scripts" / "chaos.py"), str(lab.workspace), "--kills", str(kills)]
    command += ["--seed", str(seed), "--freeze", str(freeze)]
    environment = {**os.environ, "PYTHONPATH": str(SITE), "OPERA_FAKE_STATE": str(lab.state)}
    run = subprocess.run([*command, "--", *arguments], cwd=lab.folder, env=environment, capture_output=True, text=True, check=False)
    assert run.stdout, run.stderr[-3000:]
    return json.loads(run.stdout)


def fill(lab: Lab) -> None:
    lab.add(
        *(instance(f"slow-{number}", "slow") for number in range(30)),
        *(instance(f"plain-{number}") for number in range(30)),
        *(instance(name, name) for name in ("raise", "abort", "segfault", "children", "lie-value", "decline", "detached", "exit-3")),
        *(instance(f"library-{name}", library=name) for name in ("rejects", "abort", "export-fails", "undefined", "children")),
        instance("leaves-later", "abort", "run"), instance("hangs", "hang-native"),
    )  # fmt: skip


@pytest.mark.slow
def test_attacks_of_every_kind_change_no_result_and_leave_nothing(lab: Lab) -> None:
    fill(lab)
    document = attacked(lab, FAKE, kills=7, seed=5)
    assert document["problems"] == []
    assert document["tests"] == 75
    assert sum(document["attacks"].values()) == 7


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_two_hundred_attacks_on_a_campaign_of_the_fake_compiler_change_nothing(lab: Lab, seed: int) -> None:
    fill(lab)
    document = attacked(lab, FAKE, kills=200, seed=seed)
    assert document["problems"] == []
    assert len(document["attacks"]) == 7


@pytest.mark.slow
def test_two_hundred_attacks_on_a_campaign_of_onnx_runtime_change_nothing(lab: Lab) -> None:
    sample = ROOT / "corpora" / "samples" / "onnx.jsonl"
    subprocess.run([sys.executable, "-m", "opera", "import", str(sample), "--workspace", str(lab.workspace)], check=True)
    run = ("--compiler", "onnxruntime", "--frontend", "onnx", "-j", "2", "--timeout", "6s", "--limit", "150")
    document = attacked(lab, run, kills=200, seed=3, freeze=7.5)
    assert document["problems"] == []
    assert document["tests"] > 100
