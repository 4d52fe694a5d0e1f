"""`opera triage`: reduces failing tests, finds triggers, and splits and merges findings by root cause."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import COMPILER, FRONTEND
from opera.cli.options import JOBS, Count, Duration, common
from opera.cli.trusting import trusting, with_trust
from opera.config import load_config
from opera.console import echo, one_line, option, plural, print_json, say
from opera.errors import Exit, NothingSelected, UserError
from opera.report.details import cost_of, finding_of, renamed, resolve
from opera.store import Workspace
from opera.store.database import open_workspace
from opera.store.reductions import BY_HAND, Merge, Reductions, StoredReduction
from opera.triage.findings import Finding, condition_of, findings_in
from opera.triage.reduction.reduce import Budget
from opera.triage.runner import Triage, TriageOptions, TriageTally, Untried
from opera.untrusted import JsonObject
from opera.workers.cores import usable_cores

SCHEMA = "triage/1"


@click.command("triage", cls=HeadedCommand)
@click.option("--compiler", type=COMPILER, metavar="NAME", help="Select only results of this compiler.")
@click.option("--frontend", type=FRONTEND, metavar="NAME", help="Select only results of this model format.")
@click.option("--limit", type=Count(), metavar="N", help="Reduce at most N fingerprints, the most frequent first; by default all.")
@click.option("--budget", type=Duration(), default=60.0, show_default="60s", help="Stop each reduction after this time.")
@click.option("--probes", type=Count(), metavar="N", default=600, show_default=True, help="Run at most N instances for one reduction.")
@click.option("--causes", type=Count(), metavar="N", default=4, show_default=True, help="Look for at most N triggers of one fingerprint.")
@click.option("-j", "--jobs", type=JOBS, metavar="N", default=usable_cores, show_default="cores", help="Number of parallel reductions.")
@click.option("--again", is_flag=True, help="Forget earlier reductions of the selected failures.")
@click.option("--arbiters/--no-arbiters", default=True, show_default=True, help="Ask two other compilers about each wrong result.")
@click.option("--split", "apart", nargs=2, metavar="A B", help="Never merge these two findings: they have different root causes.")
@click.option("--join", "together", nargs=2, metavar="A B", help="Merge these two findings: they have one root cause.")
@trusting
@common
def command(
    compiler: str | None,
    frontend: str | None,
    limit: int | None,
    budget: float,
    probes: int,
    causes: int,
    jobs: int,
    again: bool,
    arbiters: bool,
    apart: tuple[str, str] | None,
    together: tuple[str, str] | None,
    trusted: tuple[str, ...],
    root: Path | None,
    workspace: Path,
    as_json: bool,
) -> int:
    """Reduce failing tests, and group findings by root cause.

    OPERA reduces the smallest failing instance of each fingerprint while it fails in the same way. The features that the reduced instance
    still needs to fail are its trigger. Then OPERA reduces the tests of the fingerprint without that trigger, and merges findings with
    the same cause. The workspace keeps each finished reduction, and the same command continues.
    """
    config = with_trust(load_config(), "pytorch", trusted, root)
    options = TriageOptions(compiler, frontend, limit, causes, again, arbiters, jobs, Budget(probes, budget))
    with open_workspace(workspace, write=True, make=False) as space:
        before = findings_in(space)
        if not before:
            raise NothingSelected("the workspace has no failures; run a campaign first, e.g. `opera run --compiler tvm --frontend onnx`")
        if apart or together:
            _decide(space, apart, together)
            tally = TriageTally()
            Triage(space, config, options, _tell).merge()
        else:
            tally = Triage(space, config, options, _tell).run()
        found = findings_in(space)
        reductions = Reductions(space).all()
    _print(tally, before, found, reductions, as_json)
    tell_untried(tally.untried, causes, option(workspace))
    return Exit.CLEAN


def _tell(stored: StoredReduction, api: str) -> None:
    if stored.reason is not None:
        say(f"  {stored.fingerprint[:8]}  {one_line(api)}: not reduced: {one_line(stored.reason)}")
        return
    condition = condition_of(stored)
    text = "condition unknown" if condition is None else f"fails with {one_line(condition.text(), 160)}"
    say(f"  {stored.fingerprint[:8]}  {one_line(api)}: {text} ({cost_of(stored)})")


def _decide(space: Workspace, apart: tuple[str, str] | None, together: tuple[str, str] | None) -> None:
    """Stores the decision of a person about pairs of findings."""
    if apart:
        one, other = _named(space, apart)
        if one.finding.id == other.finding.id:
            if one.parts & other.parts:
                raise UserError(f"{apart[0]} and {apart[1]} are one finding; name two members that `opera show {apart[0]}` lists")
            pairs = itertools.product(sorted(one.parts), sorted(other.parts))
        else:
            pairs = itertools.product(sorted(one.finding.members), sorted(other.finding.members))
        Reductions(space).keep_merges(Merge(a, b, BY_HAND, apart=True) for a, b in pairs)
    if together:
        one, other = _named(space, together)
        if one.finding.subject != other.finding.subject:
            raise UserError(
                f"{together[0]} belongs to {one.finding.subject} and {together[1]} to {other.finding.subject};"
                " name two findings of one subject"
            )
        Reductions(space).keep_merges([Merge(min(one.parts), min(other.parts), BY_HAND)])


@dataclass(frozen=True)
class _Named:
    """The finding that an id names, and the parts of it that go with this id."""

    finding: Finding
    parts: frozenset[str]


def _named(space: Workspace, prefixes: tuple[str, str]) -> list[_Named]:
    return [_one_named(space, each) for each in prefixes]


def _one_named(space: Workspace, prefix: str) -> _Named:
    target = resolve(space, prefix)
    if target.finding is None:
        raise UserError(f"{prefix!r} is not a finding; `opera report` lists the findings")
    finding = finding_of(space, target.finding)
    parts = frozenset(part for part, name in finding.names.items() if name == target.finding)
    return _Named(finding, parts or frozenset({target.finding}))


def _print(
    tally: TriageTally, before: Sequence[Finding], found: Sequence[Finding], reductions: list[StoredReduction], as_json: bool
) -> None:
    merged = sum(len(each.members) - 1 for each in found)
    joined = [(each.id, after) for each in before for after in found if each.id in after.former_ids]
    origin = {test.test: each.id for each in before for test in each.tests}
    known = {each.id for each in before}
    split = [(origin[each.representative.test], each) for each in found if each.id not in known]
    document: JsonObject = {
        "schema": SCHEMA,
        "reduced": tally.reduced,
        "not_reduced": tally.not_reduced,
        "probes": tally.probes,
        "seconds": round(tally.seconds, 3),
        "findings_before": len(before),
        "findings": len(found),
        "merged": merged,
        "joined": [{"id": former, "finding": finding.id} for former, finding in joined],
        "split_off": [{"id": finding.id, "from": former} for former, finding in split],
        "seconds_per_reduction": _spread([each.detail.get("seconds", 0.0) for each in reductions if each.reason is None]),
        "problems": tally.problems,
        "untried": [asdict(each) for each in tally.untried],
    }
    for problem in tally.problems:
        say(f"not triaged: {problem}")
    if as_json:
        print_json(document)
        return
    echo(f"reduced: {tally.reduced}, not reduced: {tally.not_reduced}, in {tally.seconds:.0f} s")
    for former, finding in split:
        trigger = "" if finding.trigger is None else f": fails with {one_line(finding.trigger, 160)}"
        echo(f"{finding.id[:8]} was part of {former[:8]}, and has another cause{trigger}")
    for former, finding in joined:
        echo(renamed(finding, former) or "")
    echo(f"findings: {len(before)} before, {len(found)} now ({plural(merged, 'merge')})")


def tell_untried(untried: Sequence[Untried], causes: int, options: str) -> None:
    """Says which failing tests the limits of triage left without a trigger, and how to continue with more triggers than *causes*."""
    for each in untried:
        tests, more = plural(len(each.tests), "failing test"), max(2 * causes, each.causes + 1)
        found = f"with none of its {plural(each.causes, 'trigger')}" if each.causes else "not reduced, because of a limit"
        say(f"  {each.fingerprint[:8]}  {tests} {found}; look further: opera triage --causes {more}{options}")


def _spread(seconds: list[float]) -> dict[str, float] | None:
    if not seconds:
        return None
    return {"mean": round(statistics.fmean(seconds), 3), "median": round(statistics.median(seconds), 3), "most": round(max(seconds), 3)}
