"""Compares the simulation with real campaigns: predicted and measured seconds at -j 1 and at -j 2.

    python benchmarks/bench_simulation.py

Each campaign runs on two cores with a filled cache, first with one busy process. From the seconds that this one has recorded
`benchmarks/simulate.py` predicts both; then it runs with two. Starts of processes are left out of both sides, as in
`benchmarks/bench_campaign.py scaling`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from bench_campaign import SCALED, Scaled, extract, forget, pace_of
from simulate import recorded, replay


def main() -> None:
    """Prints a line for each subject and number of busy processes."""
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    for subject in SCALED:
        if subject.compiler in ("openvino", "tvm"):
            with tempfile.TemporaryDirectory() as folder:
                compare(subject, Path(folder), cores)


def compare(subject: Scaled, folder: Path, cores: str) -> None:
    """Runs the subject's campaign, predicts it, and prints both."""
    workspace = folder / "ws"
    extract(workspace, subject)
    pace_of(workspace, subject, 2, cores, subject.limit)
    forget(workspace)
    other = Path(shutil.copytree(workspace, folder / "other"))
    paces = {1: pace_of(workspace, subject, 1, cores, subject.limit), 2: pace_of(other, subject, 2, cores, subject.limit)}
    recording = recorded(workspace, None, None, start=0.0)
    for jobs, pace in paces.items():
        real = pace.tests / pace.rate
        predicted = replay(recording, jobs).makespan
        name = f"simulation {subject.compiler}/{subject.frontend}, {pace.tests:,} tests at -j {jobs}"
        error = f"{predicted:.1f} s predicted from the run at -j 1, {real:.1f} s really, {predicted / real - 1:+.1%}"
        print(f"{name}: {error}   [benchmarks/bench_simulation.py]", flush=True)


if __name__ == "__main__":
    main()
