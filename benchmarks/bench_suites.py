"""Measures exported suites on a workspace with campaigns: time and CPU of an export, time of collection, and the round trip.

The round trip exports every failing test of a compiler as the campaign ran it, and passing ones, runs the suites alone, and compares the
outcome of each test with the verdict of the campaign.

    python benchmarks/bench_suites.py WORKSPACE OUTPUT [--compiler NAME ...] [--passing N]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from opera.config import load_config
from opera.corpus.selection import Chosen, Selection, most_varied
from opera.extensions.suites.cases import Candidates, failing_test, passing_test, versions_of
from opera.extensions.suites.export import Form, export
from opera.extensions.suites.plain import Style
from opera.oracles.verdict import Verdict
from opera.store import Campaigns, StoredResult, Workspace, queries
from opera.store.database import open_workspace


def main() -> None:
    """Prints one block of figures for each compiler."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("output", type=Path, help="a new folder for the suites")
    parser.add_argument("--compiler", action="append")
    parser.add_argument("--passing", type=int, default=200)
    arguments = parser.parse_args()
    with open_workspace(arguments.workspace, write=False) as space:
        subjects = sorted({each.compiler for each in Campaigns(space).all()})
        for compiler in arguments.compiler or subjects:
            measure(space, compiler, arguments.output.resolve() / compiler, arguments.passing)


def measure(space: Workspace, compiler: str, folder: Path, passing: int) -> None:
    """Exports, collects and runs the tests of one compiler."""
    results = [each for each in Campaigns(space).results() if each.compiler == compiler and each.exporter is None]
    failing = [each for each in results if each.verdict.is_failure]
    apis = queries.apis(space)
    by_instance: dict[str, StoredResult] = {}
    for each in results:
        if each.verdict is Verdict.PASS:
            by_instance.setdefault(each.instance, each)
    rows = [Chosen(key, "", apis[key], "") for key in sorted(by_instance)]
    chosen = most_varied(space, rows, Selection(limit=passing), 0)
    tests = [failing_test(space, each) for each in failing] + [passing_test(space, by_instance[each.id]) for each in chosen]
    campaigns = [each for each in Campaigns(space).all() if each.compiler == compiler]
    began, before = time.monotonic(), cpu()
    found = Candidates(compiler, tuple(tests), 0, versions_of(campaigns))
    exported = export(space, load_config(), folder, found, Form.PLAIN, Style())
    spent = f"{time.monotonic() - began:.1f} s, {cpu() - before:.1f} s of CPU"
    print(f"{compiler}: {len(failing)} failing, {len(chosen)} passing; exported {exported.failing} and {exported.green} in {spent}")
    for reason, count in exported.left_out.items():
        print(f"  left out: {count}: {reason}")
    began = time.monotonic()
    collected = run(folder, "--collect-only")
    print(f"  collected in {time.monotonic() - began:.1f} s: {collected.splitlines()[-1]}")
    junit = folder.parent / f"{compiler}.xml"
    began = time.monotonic()
    run(folder, f"--junitxml={junit}")
    outcomes = outcomes_of(junit)
    other = sorted(name for name, outcome in outcomes.items() if outcome not in ("passed", "xfailed"))
    agree = len(outcomes) - len(other)
    print(f"  round trip: {agree} of {len(tests)} tests give the verdict of the campaign ({agree / max(len(tests), 1):.2%})")
    print(f"  in {time.monotonic() - began:.0f} s")
    for name in other:
        print(f"  {name}: {outcomes[name][:150]}")


def cpu() -> float:
    """Seconds of CPU of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def run(folder: Path, *options: str) -> str:
    """Runs pytest on the suite, with no plug-in of this environment but its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def outcomes_of(junit: Path) -> dict[str, str]:
    """The outcome of each test: `passed`, `xfailed`, or the message of its failure."""
    found: dict[str, str] = {}
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        outcome = "passed"
        for child in case:
            if child.tag in ("failure", "error"):
                outcome = f"{child.tag}: {child.get('message')}"
            elif child.tag == "skipped":
                outcome = "xfailed" if child.get("type") == "pytest.xfail" else f"skipped: {child.get('message')}"
        found[str(case.get("name"))] = outcome
    return found


if __name__ == "__main__":
    main()
