"""Runs the tests of a recorded campaign again, and keeps the verdict of each input form in its file.

python scripts/recorded_verdicts.py data/campaigns/litert-keras.jsonl.gz --workspace W [--budget 30m]

The calls of the file are imported to the workspace W; large tensors, which the file has without their values, are drawn. A run that was
interrupted, or that a budget ended, goes on where it stopped. The findings and seconds of the file stay those of its own campaign.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from opera.corpus.files import Entry, write_corpus
from opera.extensions.research.recording import RecordedRun, RecordedTest, read_recorded, write_recorded
from opera.instance import Occurrence, digest
from opera.instance.identity import VERSION
from opera.oracles.verdict import Verdict
from opera.store import Campaigns
from opera.store.database import open_workspace


def main() -> None:
    """Runs, joins, and says how many tests have a verdict and how many of them are judged otherwise than when they were recorded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--budget", help="ends the run after this time")
    options = parser.parse_args()
    recorded = read_recorded(options.file)
    compiler, frontend = recorded.subject.split("/")
    budget = ["--budget", options.budget] if options.budget else []
    if not options.workspace.exists():
        _opera("import", str(_corpus_of(recorded, options.workspace.with_suffix(".jsonl"))), workspace=options.workspace)
    _opera("run", "--compiler", compiler, "--frontend", frontend, *budget, workspace=options.workspace)
    with open_workspace(options.workspace, write=False) as workspace:
        campaign = next(each for each in reversed(Campaigns(workspace).all()) if recorded.subject == f"{each.compiler}/{each.frontend}")
        verdicts: dict[str, dict[str, str]] = defaultdict(dict)
        for result in Campaigns(workspace).results(campaign.id):
            by_exporter = result.exporter is not None and result.verdict.is_failure
            verdicts[result.instance][result.form] = "exporter" if by_exporter else result.verdict.value
    joined = [replace(test, verdicts=verdicts.get(digest(test.instance), {})) for test in recorded.tests]
    facts = {**recorded.facts, "verdicts": f"of campaign {campaign.id[:12]}, {campaign.started}"}
    fresh = options.workspace.with_suffix(".recorded.gz")
    write_recorded(replace(recorded, tests=joined, facts=facts), fresh)
    shutil.move(fresh, options.file)
    judged = [test for test in joined if test.verdicts]
    print(f"{options.file.name}: {len(judged)} of {len(joined)} tests have verdicts, {sum(map(_otherwise, judged))} are judged otherwise")


def _corpus_of(recorded: RecordedRun, path: Path) -> Path:
    libraries = sorted({test.instance.library for test in recorded.tests})
    header = {
        "schema": "corpus/1",
        "identity": VERSION,
        "instances": len(recorded.tests),
        "sources": [{"library": name, "source": "recorded"} for name in libraries],
    }
    write_corpus(str(path), header, (Entry(test.instance, (Occurrence("recorded", test.id[:12]),)) for test in recorded.tests))
    return path


def _otherwise(test: RecordedTest) -> bool:
    failing = {verdict.value for verdict in Verdict if verdict.is_failure} | {"exporter"}
    return bool(test.faults) == failing.isdisjoint(test.verdicts.values())


def _opera(*arguments: str, workspace: Path) -> None:
    """Runs a command; exit code 1 says that a campaign has findings."""
    done = subprocess.run([sys.executable, "-m", "opera", *arguments, "--workspace", str(workspace)], check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
