"""The result of an extraction: the JSON document, and the tables for a person."""

from __future__ import annotations

from collections.abc import Sequence

from opera.console import echo, one_line, plural, print_table
from opera.extract import FailedShard, SourceSummary
from opera.untrusted import JsonObject

SCHEMA = "extract/1"
REASONS = 12
"""Reasons of dropped calls that are printed of each source."""


def document(library: str, instances: int, operators: int, summaries: Sequence[SourceSummary]) -> JsonObject:
    """The document of `opera extract --json`."""
    return {
        "schema": SCHEMA,
        "library": library,
        "instances": instances,
        "operators": operators,
        "sources": {each.source: _source(each) for each in summaries},
    }


def _source(each: SourceSummary) -> JsonObject:
    found: JsonObject = {
        "calls": each.calls,
        "distinct": each.distinct,
        "operators": each.operators,
        "dropped": dict(each.dropped),
        "seconds": round(each.seconds, 3),
        "version": each.version,
        "failed": [{"shard": f.shard, "cause": f.cause, "entry": f.entry, "resumed": f.resumed} for f in each.failed_shards],
    }
    if each.files:
        found["files"] = {"all": each.files, "kept": each.kept}
    if each.tests is not None:
        found["tests"] = dict(each.tests.outcomes)
        found["errors"] = [{"test": test, "message": message} for test, message in each.tests.errors]
    return found


def show(library: str, instances: int, operators: int, summaries: Sequence[SourceSummary]) -> None:
    """Prints what every source gave, what was dropped and why, and what went wrong."""
    rows = [
        [each.source, *(f"{n:,}" for n in (each.calls, each.distinct, each.operators, sum(each.dropped.values()))), f"{each.seconds:.1f}"]
        for each in summaries
    ]
    print_table(["source", "calls seen", "distinct", "operators", "dropped", "seconds"], rows)
    for each in summaries:
        _print_source(each)
    echo(f"{library}: {plural(instances, 'distinct instance')} over {plural(operators, 'operator')} in the workspace")


def _print_source(each: SourceSummary) -> None:
    if each.files:
        kept = f", {plural(each.kept, 'file')} of them before the interruption" if each.kept else ""
        echo(f"  {each.source}: {plural(each.files, 'file')}{kept}")
    if each.tests is not None:
        echo(f"  {each.source}: {', '.join(f'{count:,} {outcome}' for outcome, count in each.tests.outcomes.items())}")
        for test, message in each.tests.errors:
            echo(f"  {each.source}: not run: {one_line(test, 80)}: {one_line(message, 160)}")
    reasons = sorted(each.dropped.items(), key=lambda item: (-item[1], item[0]))
    for reason, count in reasons[:REASONS]:
        echo(f"  {each.source}: dropped {plural(count, 'call')}: {reason}")
    if len(reasons) > REASONS:
        rest = plural(sum(count for _, count in reasons[REASONS:]), "call")
        echo(f"  {each.source}: dropped {rest}: {plural(len(reasons) - REASONS, 'other reason')}; --json has all reasons")
    for failed in each.failed_shards:
        echo(f"  {each.source}: {_failure(each, failed)}")


def _failure(each: SourceSummary, failed: FailedShard) -> str:
    what = failed.entry if each.files else f"shard {failed.shard} in {failed.entry or 'its start'}"
    outcome = "the entries after it ran" if failed.resumed else "the calls recorded until then are kept"
    said = [line for line in failed.log.splitlines() if line.strip()]
    why = f"; it said: {one_line(said[-1].strip(), 200)}" if said else ""
    return f"{what} ended early ({failed.cause}); {outcome}{why}"
