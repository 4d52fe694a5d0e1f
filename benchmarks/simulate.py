"""How long a campaign would take on how many workers, from the seconds that a recorded one took.

    python benchmarks/simulate.py WORKSPACE [CAMPAIGN] --workers 1,10,100,1000 --tests 1e6,1e7

Tests are drawn, with the seconds of all their stages, from the results of the campaign (by default the largest). A failing test is run
again in a fresh process, and one that loses its process costs a new start. One driver hands out the tasks, each for a little of its own
time, in the order in which workers become free. What comes out: the time to the last result, how busy the workers are, and from how
many workers on the driver is what everything waits for.

The driver's time per test comes from the last recorded campaign of the workspace, unless --driver gives it. Runs of more than --exact
tests are simulated for that many, and prolonged at the rate of their second half.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opera.difftest.protocol import LOWEST_LEVEL
from opera.store import Campaigns, StoredResult
from opera.store.database import open_workspace

LOST = ("abort", "hang", "oom")
FAILED = ("crash", "inconsistent", "flaky", *LOST)


@dataclass(frozen=True)
class Recording:
    """What a campaign has shown: seconds that each test kept a worker busy, and what a worker's start and the driver take."""

    services: list[float]
    start: float
    driver: float


@dataclass(frozen=True)
class Prediction:
    """Seconds to the last result, and the share of the workers' time that they work."""

    makespan: float
    utilisation: float
    driver: float


def main() -> None:
    """Prints a table, or a JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("campaign", nargs="?")
    parser.add_argument("--workers", default="1,2,4,10,30,100,300,1000")
    parser.add_argument("--tests", default="1e6,1e7")
    parser.add_argument("--driver", type=float, help="milliseconds of the driver per test")
    parser.add_argument("--start", type=float, default=3.0, help="seconds that a worker takes to start")
    parser.add_argument("--exact", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    recording = recorded(given.workspace, given.campaign, given.driver, given.start)
    mean = sum(recording.services) / len(recording.services)
    rows: list[dict[str, Any]] = []
    for tests in (int(float(each)) for each in given.tests.split(",")):
        for workers in map(int, given.workers.split(",")):
            found = predict(recording, tests, workers, given.exact, random.Random(given.seed))
            rows.append({
                "tests": tests, "workers": workers, "seconds": round(found.makespan, 1), "rate": round(tests / found.makespan, 1),
                "utilisation": round(found.utilisation, 4), "driver": round(found.driver, 4),
            })  # fmt: skip
    bottleneck = round(mean / recording.driver)
    if given.json:
        document = {
            "schema": "simulation/1", "tests_recorded": len(recording.services), "seconds_a_test": round(mean, 4),
            "driver_ms": round(recording.driver * 1e3, 3), "driver_limits_from": bottleneck, "predictions": rows,
        }  # fmt: skip
        print(json.dumps(document, indent=2))
        return
    print(
        f"{len(recording.services):,} tests recorded, {mean * 1e3:.0f} ms of a worker each, {recording.driver * 1e3:.2f} ms of the driver"
    )
    print(f"the driver is what everything waits for from about {bottleneck:,} workers on, at {1 / recording.driver:,.0f} tests/s")
    print(f"{'tests':>12} {'workers':>8} {'time':>12} {'tests/s':>9} {'workers busy':>13} {'driver busy':>12}")
    for row in rows:
        time = f"{row['seconds'] / 3600:,.2f} h"
        print(
            f"{row['tests']:>12,} {row['workers']:>8,} {time:>12} {row['rate']:>9,.1f} {row['utilisation']:>13.0%} {row['driver']:>12.0%}"
        )


def recorded(folder: Path, campaign: str | None, driver: float | None, start: float) -> Recording:
    """The seconds of a campaign's tests, what confirmation adds included."""
    with open_workspace(folder, write=False) as space:
        campaigns = Campaigns(space)
        sizes = {each.id: sum(campaigns.verdicts(each.id).values()) for each in campaigns.all()}
        chosen = [key for key in sizes if key.startswith(campaign or "")]
        if not chosen or not max(sizes.values()):
            raise SystemExit("there is no such campaign with results")
        key = max(chosen, key=lambda each: sizes[each])
        services: list[float] = []
        for result in campaigns.results(key):
            seconds = sum(result.seconds.values())
            verdict = result.verdict.value
            services.append(seconds * runs(result) + (start if verdict in LOST else 0.0))
    if driver is None:
        status = json.loads((folder / "status.json").read_text())
        tests = max(1, status["tests"]["done"] - status["tests"]["before"])
        return Recording(services, start, status["driver"]["busy_seconds"] / tests)
    return Recording(services, start, driver / 1e3)


def runs(result: StoredResult) -> int:
    """How often a test was run: a failure once more in a fresh process, and some failures then at the lowest optimisation level."""
    if LOWEST_LEVEL in result.detail:
        return 3
    return 2 if result.verdict.value in FAILED or "excuse" in result.detail else 1


def predict(recording: Recording, tests: int, workers: int, exact: int, dice: random.Random) -> Prediction:
    """What *tests* tests on *workers* workers come to."""
    count = min(tests, max(exact, 50 * workers))
    services = dice.choices(recording.services, k=count)
    last, driver, half = _hand_out(recording, services, workers)
    busy = sum(services)
    if tests > count:
        rate = (count - count // 2 - 1) / (driver - half)
        last += (tests - count) / rate
        busy *= tests / count
    return Prediction(last, busy / (last * workers), tests * recording.driver / last)


def replay(recording: Recording, workers: int) -> Prediction:
    """What the recorded tests themselves, each once, come to on *workers* workers."""
    last, _, _ = _hand_out(recording, recording.services, workers)
    tests, busy = len(recording.services), sum(recording.services)
    return Prediction(last, busy / (last * workers), tests * recording.driver / last)


def _hand_out(recording: Recording, services: Sequence[float], workers: int) -> tuple[float, float, float]:
    """When the last test ends, and when the driver has handed out all of them, and half of them."""
    free = [recording.start] * workers
    driver, last, half = 0.0, 0.0, 0.0
    for index, service in enumerate(services):
        driver = max(driver, free[0]) + recording.driver
        end = driver + service
        heapq.heapreplace(free, end)
        last = max(last, end)
        if index == len(services) // 2:
            half = driver
    return last, driver, half


if __name__ == "__main__":
    main()
