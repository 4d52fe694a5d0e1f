"""Seconds and bytes that many results take: grouping, triage without reductions, the report and its page in a browser.

python benchmarks/bench_findings.py --workspace W [--results 100000] [--failures 50000] [--browser chromium]

Copies the results of a real workspace's campaign with the most failures under other seeds, until there are as many as asked for.
Opens the page in a headless browser; take off the time of an empty page.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

from opera.store import Campaigns, StoredResult
from opera.store.database import open_workspace
from opera.store.reductions import Reductions
from opera.triage.findings import group, knowledge_of

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--dump-dom",
)  # fmt: skip
_EMPTY = "<!doctype html><title>empty</title>"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--results", type=int, default=100_000)
    parser.add_argument("--failures", type=int, default=50_000)
    parser.add_argument("--browser", default="chromium")
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "workspace"
        shutil.copytree(arguments.workspace, copy, ignore=shutil.ignore_patterns("cache", "scratch", "lock"))
        fill(copy, arguments.results, arguments.failures)
        page = Path(scratch) / "report.html"
        print(f"grouping: {median(arguments.repetitions, lambda: grouped(copy)):}")
        print(f"opera triage, nothing left to reduce: {median(arguments.repetitions, lambda: opera(copy, 'triage')):}")
        print(f"opera report --html: {median(arguments.repetitions, lambda: opera(copy, 'report', '--html', str(page))):}")
        print(f"page: {page.stat().st_size / 1e6:.2f} MB")
        if shutil.which(arguments.browser):
            empty = Path(scratch) / "empty.html"
            empty.write_text(_EMPTY, encoding="utf-8")
            blank = median(arguments.repetitions, lambda: browse(arguments.browser, empty))
            print(f"page in {arguments.browser}: {median(arguments.repetitions, lambda: browse(arguments.browser, page))}, empty: {blank}")


def fill(workspace: Path, results: int, failures: int) -> None:
    """Copies results under other seeds, failures and others apart; a copy has the finding of its original."""
    with open_workspace(workspace, write=True) as space:
        store = Campaigns(space)
        campaign = max((each.id for each in store.all()), key=lambda each: sum(1 for _ in store.results(each, failures=True)))
        there = list(store.results(campaign))
        failing = [each for each in there if each.fingerprint is not None]
        passing = [each for each in there if each.fingerprint is None]
        failed = copies(failing, failures)
        made = [*failed, *copies(passing, results - failures)]
        found = knowledge_of(space).causes.assignments
        assigned: dict[str, list[str]] = {}
        for original, each in zip(cycle(failing), failed, strict=False):
            if original.test in found:
                assigned.setdefault(found[original.test], []).append(each.test)
        for finding, tests in assigned.items():
            Reductions(space).assign(tests, finding)
        store.write(campaign, list(enumerate(made, start=len(there))))


def copies(originals: list[StoredResult], wanted: int) -> list[StoredResult]:
    """As many results as are missing, each with a test identity and a seed of its own."""
    missing = max(0, wanted - len(originals))
    return [
        replace(each, test=hashlib.sha256(f"{each.test} {index}".encode()).hexdigest(), seed=index + 1)
        for index, each in enumerate(islice(cycle(originals), missing))
    ]


def grouped(workspace: Path) -> None:
    """Groups all failures in this process."""
    with open_workspace(workspace, write=False) as space:
        group(Campaigns(space).results(failures=True), knowledge_of(space))


def opera(workspace: Path, *arguments: str) -> None:
    """Runs a command of OPERA on *workspace*."""
    subprocess.run([sys.executable, "-m", "opera", *arguments, "--workspace", str(workspace)], check=True, stdout=subprocess.DEVNULL)


def browse(browser: str, page: Path) -> None:
    """Opens *page* until it is drawn."""
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, *_FLAGS, f"--user-data-dir={profile}", page.as_uri()]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def median(repetitions: int, work: Callable[[], None]) -> str:
    """Median seconds of several runs, by the clock and of the processors."""
    clock: list[float] = []
    processors: list[float] = []
    for _ in range(repetitions):
        began, used = time.perf_counter(), sum(os.times()[:4])
        work()
        clock.append(time.perf_counter() - began)
        processors.append(sum(os.times()[:4]) - used)
    return f"{statistics.median(clock):.1f} s ({statistics.median(processors):.1f} s of CPU)"


if __name__ == "__main__":
    main()
