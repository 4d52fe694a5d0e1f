"""Which merge rules pay: applies them to labelled findings with and without each rule; no compiler is needed.

python benchmarks/bench_merge_rules.py                             prints the tables
python benchmarks/bench_merge_rules.py --write                     puts them into docs/reference/reduction.md
python benchmarks/bench_merge_rules.py --collect WORKSPACE ...     renews campaigns in data/labelled/candidates.jsonl.gz from workspaces

Two findings have one cause if their failing tests do, by data/labelled/causes.jsonl. Precision and recall count pairs of failing tests of
one campaign, as benchmarks/bench_grouping.py does.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from labelled import FOLDER, causes_of_bugs

from opera.compilers.registry import known_adapter
from opera.oracles.verdict import Stage, Verdict
from opera.store import Campaigns, StoredResult
from opera.store.database import open_workspace
from opera.store.reductions import Merge, StoredReduction
from opera.triage.candidate import Candidate
from opera.triage.causes import unions
from opera.triage.findings import knowledge_of
from opera.triage.merge import RULES, Rule, candidates_of

ROOT = Path(__file__).parents[1]
CANDIDATES = FOLDER / "candidates.jsonl.gz"
PAGE = ROOT / "docs" / "reference" / "reduction.md"
BEGIN, END = "<!-- benchmarks/bench_merge_rules.py {}: begin -->\n", "<!-- end -->\n"
FEWEST_CAUSES = 2
"""Causes that must need a rule."""
LEAST_GAIN = 0.01
"""Recall that a rule must give if fewer causes need it."""
_DIGITS = 16
_FOLDERS = re.compile(r"(?:/[\w.+-]+)+(?=/(?:site-packages|opera)/)")
"""Where this machine keeps the libraries and OPERA."""

Pair = tuple[str, str]
Causes = frozenset[str]


@dataclass(frozen=True)
class Campaign:
    """The findings of one campaign before merging, in the order in which they were reduced.

    Attributes:
        name: Compiler and frontend.
        candidates: What merging knows of each finding.
        causes: By finding: the labelled causes of its failing tests, each with the number of tests.
    """

    name: str
    candidates: tuple[Candidate, ...]
    causes: Mapping[str, Mapping[Causes, int]]

    @property
    def findings(self) -> list[str]:
        """The id of the finding of each candidate."""
        return [each.finding for each in self.candidates]

    def cause(self, one: str, other: str) -> Causes | None:
        """The causes that two findings share; None if one of them has no label."""
        of = [frozenset[str]().union(*self.causes[each]) for each in (one, other)]
        return of[0] & of[1] if all(of) else None

    def joins(self, rules: Iterable[Rule]) -> dict[str, list[Pair]]:
        """By rule, the pairs that it joins."""
        return {
            rule.name: list(dict.fromkeys((each.one.finding, each.other.finding) for each in rule.joins(self.candidates))) for rule in rules
        }

    def together(self, joins: Mapping[str, Sequence[Pair]], without: str = "") -> set[Pair]:
        """The pairs of findings that all rules *without* one put together."""
        merges = [Merge(*pair, name) for name, pairs in joins.items() if name != without for pair in pairs]
        roots = unions(self.findings, merges)
        members: dict[str, list[str]] = defaultdict(list)
        for finding in self.findings:
            members[roots[finding]].append(finding)
        return {pair for each in members.values() for pair in combinations(each, 2)}

    def score(self, together: set[Pair]) -> Score:
        """Counts pairs of tests, where the findings of *together* are one."""
        score = Score()
        for finding in self.findings:
            tests = list(self.causes[finding].items())
            for index, (cause, count) in enumerate(tests):
                score.add(count * (count - 1) // 2, one=True, shared=True, same=True)
                for other, more in tests[index + 1 :]:
                    score.add(count * more, one=True, shared=bool(cause & other), same=False)
        for pair in combinations(self.findings, 2):
            for cause, count in self.causes[pair[0]].items():
                for other, more in self.causes[pair[1]].items():
                    score.add(count * more, one=pair in together, shared=bool(cause & other), same=cause == other)
        return score


@dataclass
class Score:
    """Numbers of pairs of failing tests: in one finding, of these with a common cause; with the same causes, of these in one finding."""

    together: int = 0
    right: int = 0
    same: int = 0
    found: int = 0

    def add(self, count: int, *, one: bool, shared: bool, same: bool) -> None:
        """Counts pairs of one kind."""
        self.together += count * one
        self.right += count * (one and shared)
        self.same += count * same
        self.found += count * (one and same)

    def __iadd__(self, other: Score) -> Score:
        self.together += other.together
        self.right += other.right
        self.same += other.same
        self.found += other.found
        return self

    @property
    def precision(self) -> float:
        """The share of pairs in one finding that have a common cause."""
        return self.right / self.together if self.together else 1.0

    @property
    def recall(self) -> float:
        """The share of pairs with the same causes that are in one finding."""
        return self.found / self.same if self.same else 1.0


@dataclass
class Worth:
    """What a rule does on labelled findings.

    Attributes:
        joins: Pairs of findings that it joins.
        wrong: Those of them without a common cause.
        needed: Pairs with a common cause that fall apart without it.
        spoilt: Pairs without a common cause that fall apart without it.
        causes: Campaign and cause of the needed pairs.
        without: The pooled score of all other rules.
        whole: The pooled score of all rules.
    """

    joins: int = 0
    wrong: int = 0
    needed: int = 0
    spoilt: int = 0
    causes: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    without: Score = field(default_factory=Score)
    whole: Score = field(default_factory=Score)

    @property
    def pays(self) -> bool:
        """Whether the rule stays."""
        wanted = len(self.causes) >= FEWEST_CAUSES or self.whole.recall - self.without.recall >= LEAST_GAIN
        return wanted and self.needed > self.spoilt


def ablation(campaigns: Sequence[Campaign], rules: Sequence[Rule]) -> dict[str, Worth]:
    """What each of *rules* adds to the others."""
    worth = {rule.name: Worth() for rule in rules}
    for campaign in campaigns:
        joins = campaign.joins(rules)
        whole = campaign.together(joins)
        for name, each in worth.items():
            shared = [campaign.cause(*pair) for pair in joins[name]]
            each.joins += len(shared)
            each.wrong += sum(causes is not None and not causes for causes in shared)
            rest = campaign.together(joins, name)
            each.whole += campaign.score(whole)
            each.without += campaign.score(rest)
            for pair in whole - rest:
                causes = campaign.cause(*pair)
                if causes:
                    each.needed += 1
                    each.causes.add((campaign.name, min(causes)))
                elif causes is not None:
                    each.spoilt += 1
    return worth


def paying(campaigns: Sequence[Campaign], rules: Sequence[Rule]) -> list[Rule]:
    """*rules* without those that do not pay; the least needed goes first, because the others may do its work."""
    left = list(rules)
    while left:
        worth = ablation(campaigns, left)
        least = min(left, key=lambda rule: (worth[rule.name].pays, len(worth[rule.name].causes), worth[rule.name].joins))
        if worth[least.name].pays:
            break
        left.remove(least)
    return left


def score(campaigns: Iterable[Campaign], rules: Sequence[Rule]) -> Score:
    """The pooled score of *rules*."""
    total = Score()
    for campaign in campaigns:
        total += campaign.score(campaign.together(campaign.joins(rules)))
    return total


def read(path: Path = CANDIDATES) -> list[Campaign]:
    """The labelled campaigns in the file *path*."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            rows[row["campaign"]].append(row)
    return [
        Campaign(
            name,
            tuple(_candidate(name, index, row) for index, row in enumerate(each)),
            {row["finding"]: {frozenset(causes): count for causes, count in row["tests"]} for row in each},
        )
        for name, each in rows.items()
    ]


def _candidate(campaign: str, place: int, row: Mapping[str, Any]) -> Candidate:
    compiler, frontend = campaign.split("/")
    adapter = known_adapter(compiler)
    fingerprint, trigger, reason = row["fingerprint"], row.get("trigger"), row.get("reason")
    result = StoredResult(
        test=f"{place:064x}",
        instance="",
        compiler=compiler,
        frontend=frontend,
        route=row["route"],
        form="baked",
        seed=0,
        verdict=Verdict(row["verdict"]),
        stage=Stage(row["stage"]) if row["stage"] else None,
        converter=row["converter"],
        fingerprint=fingerprint,
        detail=row["detail"],
        exporter=row.get("exporter"),
    )
    reduction = StoredReduction(fingerprint, result.test, row["finding"], reason, trigger=trigger) if trigger or reason else None
    return Candidate(row["finding"], fingerprint, result, reduction, () if adapter is None else adapter.project)


def collect(workspaces: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """What merging reads of each finding of *workspaces*, with the causes of its tests."""
    causes = {key: tuple(sorted(each)) for key, each in causes_of_bugs().items()}
    for workspace in workspaces:
        with open_workspace(workspace, write=False) as space:
            known = knowledge_of(space)
            leaves = known.causes.split(Campaigns(space).results(failures=True), known.instance_of)
            for each in candidates_of(leaves, known.causes):
                result, reduction = each.representative, each.reduction
                labels = Counter(
                    causes[key] for test in leaves[each.finding] if (key := (_subject(test), test.instance[:_DIGITS], test.form)) in causes
                )
                yield {
                    "campaign": f"{result.compiler}/{result.frontend}",
                    "route": result.route,
                    "finding": each.finding,
                    "fingerprint": each.fingerprint,
                    "verdict": result.verdict.value,
                    "stage": result.stage.value if result.stage else None,
                    "converter": result.converter,
                    **({} if result.exporter is None else {"exporter": result.exporter}),
                    "detail": _read_by_merging(result.detail),
                    **({} if reduction is None or reduction.reason is None else {"reason": reduction.reason}),
                    **({} if reduction is None or reduction.trigger is None else {"trigger": reduction.trigger}),
                    "tests": sorted(labels.items()),
                }


def _subject(test: StoredResult) -> str:
    return f"{test.at_fault}/{test.frontend}"


def _read_by_merging(detail: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {"lost": detail["lost"]} if "lost" in detail else {}
    if "difference" in detail:
        names = ("kind", "expected", "actual", "dtype", "output")
        kept["difference"] = {name: detail["difference"][name] for name in names if name in detail["difference"]}
    if "failure" in detail:
        failure = detail["failure"]
        frames = [[module, str(file).rpartition("site-packages/")[2], *rest] for module, file, *rest in failure.get("frames") or ()]
        kept["failure"] = {"type": failure["type"], "message": _FOLDERS.sub("", failure["message"]), "frames": frames}
    return kept


def rules_table(rules: Sequence[Rule]) -> Iterator[str]:
    """The rules, as Markdown."""
    yield "| rule | two findings share | why they have one cause |"
    yield "|---|---|---|"
    for rule in rules:
        yield f"| `{rule.name}` | {rule.shares} | {rule.why} |"


def ablation_tables(campaigns: Sequence[Campaign], rules: Sequence[Rule]) -> Iterator[str]:
    """What each rule is worth, then what the rules are worth on a campaign that did not choose them, as Markdown."""
    yield "| without the rule | joins | wrong | needed | spoilt | causes | campaigns | precision | recall |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, each in ablation(campaigns, rules).items():
        counts = (each.joins, each.wrong, each.needed, each.spoilt, len(each.causes), len({campaign for campaign, _ in each.causes}))
        yield _row(f"`{name}`", *counts, *_both(each.without))
    yield _row("no rule is missing", "", "", "", "", "", "", *_both(score(campaigns, rules)))
    yield _row("all rules are missing", "", "", "", "", "", "", *_both(score(campaigns, [])))
    yield ""
    yield "| campaign | findings | tests | precision | recall | recall without rules | recall by the rules that the other campaigns need |"
    yield "|---|---|---|---|---|---|---|"
    for campaign in campaigns:
        tests = sum(count for causes in campaign.causes.values() for count in causes.values())
        others = paying([each for each in campaigns if each is not campaign], rules)
        recalls = [_both(score([campaign], each))[1] for each in ([], others)]
        yield _row(campaign.name, len(campaign.findings), tests, *_both(score([campaign], rules)), *recalls)


def _row(*cells: object) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _both(score: Score) -> tuple[str, str]:
    return f"{score.precision:.4f}", f"{score.recall:.4f}"


def with_tables(page: str, campaigns: Sequence[Campaign], rules: Sequence[Rule]) -> str:
    """*page* with the tables between their marks."""
    for name, lines in (("rules", rules_table(rules)), ("ablation", ablation_tables(campaigns, rules))):
        before, begin, rest = page.partition(BEGIN.format(name))
        table = "".join(f"{line}\n" for line in lines)
        page = f"{before}{begin}{table}{END}{rest.partition(END)[2]}"
    return page


def main() -> None:
    """Prints the tables, writes them, or collects the findings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write into the page")
    parser.add_argument("--collect", type=Path, nargs="+", metavar="WORKSPACE", help="triaged workspaces of the labelled campaigns")
    arguments = parser.parse_args()
    if arguments.collect:
        rows = list(collect(arguments.collect))
        renewed = {row["campaign"] for row in rows}
        kept = (json.loads(line) for line in gzip.decompress(CANDIDATES.read_bytes()).splitlines())
        rows = sorted([*(row for row in kept if row["campaign"] not in renewed), *rows], key=lambda row: row["campaign"].split("/")[::-1])
        lines = "".join(f"{json.dumps(row, separators=(',', ':'))}\n" for row in rows)
        CANDIDATES.write_bytes(gzip.compress(lines.encode(), mtime=0))
    elif arguments.write:
        PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), read(), RULES), encoding="utf-8")
    else:
        print("\n".join(ablation_tables(read(), RULES)))


if __name__ == "__main__":
    main()
