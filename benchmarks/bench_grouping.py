"""How well failures are judged and grouped: runs the labelled failures again, triages them, and holds the result against the labels.

python benchmarks/bench_grouping.py [--workspaces DIR] [--subject tvm/onnx ...] [--budget 60s | --filters]
python benchmarks/bench_grouping.py --campaign WORKSPACE ...

Figures for each subject and for all: bugs that are swallowed (labelled bugs that do not fail any more, or are excused), and false alarms
that are reported, by the filter's reason as well. Then the pairwise precision and recall of grouping. Precision: of the pairs of failing
tests of one subject that triage calls one finding, how many have one root cause by their labels. Recall: of the pairs with the same root
cause, how many are called one finding. With --workspaces the campaigns are kept there, and the same command continues. With --campaign,
nothing is run: the findings of these workspaces, whole campaigns that were triaged, are held against the causes of all their failing tests.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from labelled import FOLDER, causes_of_bugs

from opera.console import print_table
from opera.instance import Occurrence, decode_instance
from opera.oracles.filters import filters
from opera.oracles.verdict import Verdict
from opera.store import Campaigns, Corpus, StoredResult
from opera.store.database import open_workspace
from opera.triage.findings import group, knowledge_of

LABELLED = FOLDER / "failures.jsonl"
BUGS = ("bug", "duplicate")
_DIGITS = 16
FALSE = ("false-alarm", "library-bug")


@dataclass
class Score:
    """Counts of one subject or several.

    *excused* are tests that a reason excuses, by reason and whether they are labelled bugs; *within* are labelled bugs of
    the operators that the filters of a reason are about. *together*, *cause* and *shared* are sets of pairs of labelled failures: those
    that are one finding, those whose causes are the same, and those that share a cause. The last two differ where a test has several:
    which of them its failure shows was not labelled.
    """

    bugs: int = 0
    swallowed: list[str] = field(default_factory=list[str])
    false: int = 0
    excused: Counter[tuple[str, bool]] = field(default_factory=Counter[tuple[str, bool]])
    within: Counter[str] = field(default_factory=Counter[str])
    reported: list[str] = field(default_factory=list[str])
    together: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    cause: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    shared: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def add(self, other: Score) -> None:
        """Takes in the counts of another subject."""
        self.bugs += other.bugs
        self.false += other.false
        self.swallowed += other.swallowed
        self.reported += other.reported
        self.excused += other.excused
        self.within += other.within
        self.together |= other.together
        self.cause |= other.cause
        self.shared |= other.shared

    def pairs(self) -> str:
        """Precision and recall of pairs, as text."""
        precision = _share(self.together, self.shared)
        text = f"pairs: precision {precision}, recall {_share(self.cause, self.together)}"
        wide = f", {_share(self.shared, self.together)} where tests with several causes count with each"
        return text + (wide if self.shared != self.cause else "")

    def text(self, *, triaged: bool) -> str:
        """One line, with the pairs where findings were *triaged*."""
        swallowed = f"bugs swallowed {len(self.swallowed)} of {self.bugs}"
        text = f"{swallowed}, false alarms reported {len(self.reported)} of {self.false}"
        return f"{text}, {self.pairs()}" if triaged else text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspaces", type=Path)
    parser.add_argument("--subject", action="append")
    parser.add_argument("--budget", default="60s", help="of each reduction")
    parser.add_argument("--filters", action="store_true", help="only what is swallowed and what is reported: nothing is triaged")
    parser.add_argument("--verbose", action="store_true", help="list what was swallowed, reported, wrongly joined and wrongly kept apart")
    parser.add_argument("--campaign", type=Path, nargs="+", help="workspaces of whole campaigns")
    arguments = parser.parse_args()
    if arguments.campaign:
        judge_campaigns(arguments.campaign, verbose=arguments.verbose)
        return
    rows: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for line in LABELLED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if arguments.subject is None or row["subject"] in arguments.subject:
            rows[row["subject"], row["route"]].append(row)
    total = Score()
    with tempfile.TemporaryDirectory() as scratch:
        for (subject, route), labelled in rows.items():
            workspace = (arguments.workspaces or Path(scratch)) / subject.replace("/", "-")
            run(workspace, subject, route, labelled, None if arguments.filters else arguments.budget)
            score = judge(workspace, labelled, triaged=not arguments.filters, verbose=arguments.verbose)
            print(f"{subject}: {score.text(triaged=not arguments.filters)}", flush=True)
            total.add(score)
    print(f"all: {total.text(triaged=not arguments.filters)}")
    header = ("reason", "false alarms excused", "bugs of its operators", "bugs swallowed")
    reasons = sorted({reason for reason, _ in total.excused} | set(total.within))
    rows_of = [(reason, total.excused[reason, False], total.within[reason], total.excused[reason, True]) for reason in reasons]
    print_table(header, [[str(cell) for cell in row] for row in rows_of])


def _share(pairs: set[tuple[str, str]], right: set[tuple[str, str]]) -> str:
    """How many of *pairs* are right."""
    both = len(pairs & right)
    return f"{both / len(pairs) if pairs else 1.0:.3f} ({both} of {len(pairs)})"


def judge_campaigns(workspaces: list[Path], *, verbose: bool) -> None:
    """Holds the findings of whole campaigns against the causes of their tests."""
    causes = causes_of_bugs()
    total = Score()
    for workspace in workspaces:
        with open_workspace(workspace, write=False) as space:
            findings = group(Campaigns(space).results(failures=True), knowledge_of(space))
        known = [
            (each.id, test, causes[key])
            for each in findings for test in each.tests
            if (key := (_subject(test), test.instance[:_DIGITS], test.form)) in causes
        ]  # fmt: skip
        score, wrong = Score(), Counter[str]()
        for (one, test, cause), (other, second, another) in combinations(known, 2):
            if _subject(test) != _subject(second):
                continue
            pair = test.test, second.test
            if one == other:
                score.together.add(pair)
            if cause & another:
                score.shared.add(pair)
            if cause == another:
                score.cause.add(pair)
            if (one == other) != bool(cause & another):
                what = "joined" if one == other else "apart"
                wrong[f"{what}: {test.converter} ({min(cause)}) and {second.converter} ({min(another)})"] += 1
        print(f"{workspace}: {len(known)} failing tests, {score.pairs()}")
        for line, count in wrong.most_common(30) if verbose else ():
            print(f"  {count:5} {line}")
        total.add(score)
    print(f"all: {total.pairs()}")


def _subject(test: StoredResult) -> str:
    """The compiler, or the exporter before it, and the frontend."""
    return f"{test.at_fault}/{test.frontend}"


def run(workspace: Path, subject: str, route: str, labelled: list[dict[str, Any]], budget: str | None) -> None:
    """The campaign and its triage, where there is a budget for it."""
    with open_workspace(workspace, write=True) as space:
        Corpus(space).add((decode_instance(row["instance"]), Occurrence("labelled", row["id"])) for row in labelled)
    compiler, frontend = subject.split("/")
    campaign = ["run", "--compiler", compiler, "--frontend", frontend, "--route", route, "-j", "2", "--quiet", "--exit-zero"]
    for command in (campaign, *([] if budget is None else [["triage", "--budget", budget]])):
        done = subprocess.run(
            [sys.executable, "-m", "opera", *command, "--workspace", str(workspace)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        if done.returncode:
            sys.exit(f"opera {' '.join(command)}: {done.stderr}")


def judge(workspace: Path, labelled: list[dict[str, Any]], *, triaged: bool, verbose: bool) -> Score:
    """Holds what triage found against the labels."""
    score = Score()
    with open_workspace(workspace, write=False) as space:
        results = {(each.instance, each.form): each for each in Campaigns(space).results()}
        findings = group([each for each in results.values() if each.fingerprint is not None], knowledge_of(space))
    finding_of = {test.test: each.id for each in findings for test in each.tests}
    failing: list[tuple[dict[str, Any], str]] = []
    for row in labelled:
        result = results.get((row["instance_id"], row["form"]))
        fails = result is not None and result.fingerprint is not None
        name = f"{row['subject']} {row['converter']} ({row['cause']})"
        if result is not None and result.verdict is Verdict.UNDEFINED and row["label"] in (*BUGS, *FALSE):
            score.excused[str(result.reason), row["label"] in BUGS] += 1
        if row["label"] in BUGS:
            score.bugs += 1
            instance = decode_instance(row["instance"])
            score.within.update({each.reason for each in filters() if each.scope.applies(instance)})
            if result is not None and fails:
                failing.append((row, finding_of[result.test]))
            else:
                verdict = "not run" if result is None else f"{result.verdict.value} {result.reason or ''}"
                score.swallowed.append(f"{name}: {verdict}")
        elif row["label"] in FALSE:
            score.false += 1
            if fails:
                score.reported.append(name)
    wrong: Counter[str] = Counter()
    for (one, finding), (other, second) in combinations(failing, 2):
        pair = one["id"], other["id"]
        causes = [{row["cause"], *row.get("also", ())} for row in (one, other)]
        if finding == second:
            score.together.add(pair)
        if causes[0] & causes[1]:
            score.shared.add(pair)
        if causes[0] == causes[1]:
            score.cause.add(pair)
        if (finding == second) != bool(causes[0] & causes[1]):
            what = "joined" if finding == second else "apart"
            wrong[f"{what}: {one['converter']} ({one['cause']}) and {other['converter']} ({other['cause']})"] += 1
    if verbose:
        pairs = wrong if triaged else ()
        for line in (*(f"swallowed: {each}" for each in score.swallowed), *(f"reported: {each}" for each in score.reported), *pairs):
            print(f"  {line}")
    return score


if __name__ == "__main__":
    main()
