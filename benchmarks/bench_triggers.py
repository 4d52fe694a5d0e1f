"""Measures how well triggers tell failing from passing tests that they were not made from, with and without recorded neighbours.

python benchmarks/bench_triggers.py WORKSPACE [--budget 10s] [-j 2]

WORKSPACE holds a campaign. Two copies of it are triaged again: one without neighbours, one with every other recorded test as a neighbour.
Both are then asked about the tests that were no neighbours: does a test of the operator with the trigger fail alike, and does one without
it pass?
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from opera.cli.options import Duration
from opera.config import load_config
from opera.console import print_table
from opera.instance import Instance
from opera.store import Campaigns, StoredResult, Workspace, queries
from opera.store.database import open_workspace
from opera.store.reductions import Reductions
from opera.triage.findings import Knowledge, condition_of, knowledge_of
from opera.triage.reduction.properties import View
from opera.triage.reduction.reduce import Budget
from opera.triage.reduction.trigger import Neighbours
from opera.triage.runner import Triage, TriageOptions

MOST = 1_000


class WithoutNeighbours(Triage):
    """Triage that sees no other recorded test."""

    def _neighbours(self, test: StoredResult, instance: Instance, known: Knowledge) -> Neighbours:
        return Neighbours()


class WithHalf(Triage):
    """Triage that sees every other recorded test."""

    def _neighbours(self, test: StoredResult, instance: Instance, known: Knowledge) -> Neighbours:
        found = [each for each in queries.neighbours(self._workspace, test.test, instance.api, MOST) if not held_out(each.test)]
        return neighbours_of(found, test, known)


def held_out(test: str) -> bool:
    """Whether a test is kept for the examination."""
    return int(test[-1], 16) % 2 == 0


def neighbours_of(found: list[queries.Neighbour], test: StoredResult, known: Knowledge) -> Neighbours:
    """The tests as `Triage` gives them to a reduction."""
    views = [(each, View(instance, each.form)) for each in found if (instance := known.instance_of(each.instance)) is not None]
    passing = [view for each, view in views if each.verdict == "pass"]
    return Neighbours(passing, {each.test: view for each, view in views if each.fingerprint == test.fingerprint})


def examine(space: Workspace) -> list[str]:
    """The row of an arm: reductions, right and wrong answers about held-out tests."""
    known = knowledge_of(space)
    results = {each.test: each for each in Campaigns(space).results(failures=True)}
    counts = {"true": 0, "false alarm": 0, "missed": 0, "silent": 0}
    perfect = asked = reductions = unknown = 0
    for reduction in Reductions(space).all():
        test = results.get(reduction.test)
        if reduction.trigger is None or test is None or reduction.document is None:
            continue
        reductions += 1
        trigger = condition_of(reduction)
        if trigger is None:
            unknown += 1
            continue
        found = [each for each in queries.neighbours(space, test.test, trigger.api, MOST) if held_out(each.test)]
        others = neighbours_of(found, test, known)
        failing = [trigger.holds(view.instance, view.form) for view in others.alike.values()]
        passing = [trigger.holds(view.instance, view.form) for view in others.passing]
        counts["true"] += sum(failing)
        counts["missed"] += len(failing) - sum(failing)
        counts["false alarm"] += sum(passing)
        counts["silent"] += len(passing) - sum(passing)
        asked += bool(passing)
        perfect += bool(passing) and not any(passing)
    return [str(reductions), str(unknown), *(str(each) for each in counts.values()), f"{perfect} of {asked}"]


def main() -> None:
    """Prints a row for each arm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--budget", default="10s")
    parser.add_argument("--compiler")
    parser.add_argument("--limit", type=int, help="most fingerprints")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    chosen = parser.parse_args()
    seconds = Duration().convert(chosen.budget, None, None)
    options = TriageOptions(
        compiler=chosen.compiler, again=True, arbiters=False, jobs=chosen.jobs, limit=chosen.limit, budget=Budget(600, seconds)
    )
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory(prefix="triggers-") as scratch:
        for name, arm in (("without", WithoutNeighbours), ("with", WithHalf)):
            copy = Path(shutil.copytree(chosen.workspace, Path(scratch) / name, ignore=shutil.ignore_patterns("lock", "scratch")))
            with open_workspace(copy, write=True) as space:
                tally = arm(space, load_config(), options, lambda _reduction, _api: None).run()
                rows.append([name, *examine(space), str(tally.probes), f"{tally.seconds:.0f}"])
    headings = [
        "neighbours",
        "reductions",
        "condition unknown",
        "fail, told",
        "pass, told to fail",
        "fail, not told",
        "pass, told",
        "no wrong alarm",
        "runs",
        "s",
    ]
    print_table(headings, rows)


if __name__ == "__main__":
    main()
