"""What the simulation of a large campaign says of one that can be worked out by hand."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from fake.harness import Lab, instance

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))
from simulate import Recording, predict  # noqa: E402


def test_workers_share_the_work_until_the_driver_is_what_everything_waits_for() -> None:
    recording = Recording([0.1], start=0.0, driver=0.001)
    for workers, seconds in ((1, 1010.0), (10, 101.0), (100, 10.2), (1000, 10.1)):
        found = predict(recording, 10_000, workers, 200_000, random.Random(0))
        assert found.makespan == pytest.approx(seconds, rel=0.02)
    assert predict(recording, 10_000, 10, 200_000, random.Random(0)).utilisation > 0.98
    assert predict(recording, 10_000, 1000, 200_000, random.Random(0)).driver > 0.98


def test_a_simulation_that_is_prolonged_agrees_with_one_that_is_not() -> None:
    recording = Recording([0.01, 0.02, 0.5], start=2.0, driver=0.0005)
    whole, prolonged = (predict(recording, 100_000, 50, exact, random.Random(1)) for exact in (100_000, 20_000))
    assert prolonged.makespan == pytest.approx(whole.makespan, rel=0.03)
    assert prolonged.utilisation == pytest.approx(whole.utilisation, rel=0.03)


@pytest.mark.slow
def test_the_script_predicts_from_a_recorded_campaign(lab: Lab) -> None:
    lab.add(*(instance(f"slow-{number}", "slow") for number in range(12)), instance("abort", "abort"))
    lab.run_in_processes()
    command = [
        sys.executable,
        str(ROOT / "benchmarks" / "simulate.py"),
        str(lab.workspace),
        "--json",
        "--tests",
        "1e3,1e6",
        "--workers",
        "1,100",
    ]
    document = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert document["tests_recorded"] == 13
    assert [(row["tests"], row["workers"]) for row in document["predictions"]] == [(1000, 1), (1000, 100), (10**6, 1), (10**6, 100)]
    assert document["predictions"][0]["seconds"] > 1000 * 0.05
