"""`opera compare A B`: failures that a new version of a compiler adds, fixes or changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from opera.cli.baseline import COLUMNS, entry_of, row_of
from opera.cli.help import HeadedCommand
from opera.cli.names import CAMPAIGN
from opera.cli.options import common
from opera.console import echo, plural, print_json, print_table, wrapped
from opera.errors import Exit, NothingSelected
from opera.report.details import titles_in
from opera.store.campaigns import KNOWN_DIGITS
from opera.triage.known_failures import KnownFailure, Side, match, side

SCHEMA = "compare/1"


@dataclass(frozen=True)
class Comparison:
    """The failures of two campaigns, matched.

    Attributes:
        new: Fail in B; A has run one of their instances, and it did not fail in the same way.
        added: Fail in B; A has run none of their instances, so the comparison says nothing.
        undecided: Fail in B with the message of a failure in A, on other instances; no reduction says whether the cause is the same.
        fixed: Failed in A; B has tested their instances, and they do not fail in the same way.
        changed: One bug with two fingerprints: the message has changed.
        same: Fail in both, in the same way.
        flaky: Failures of one side whose instances were flaky on the other, so the comparison says nothing.
        untested: Failed in A; B has tested none of their instances.
    """

    new: tuple[KnownFailure, ...]
    added: tuple[KnownFailure, ...]
    undecided: tuple[KnownFailure, ...]
    fixed: tuple[KnownFailure, ...]
    changed: tuple[tuple[KnownFailure, KnownFailure], ...]
    same: tuple[KnownFailure, ...]
    flaky: tuple[KnownFailure, ...]
    untested: tuple[KnownFailure, ...]


@click.command("compare", cls=HeadedCommand)
@click.argument("before", type=CAMPAIGN, metavar="A")
@click.argument("after", type=CAMPAIGN, metavar="B")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are new failures.")
@common
def command(before: str, after: str, exit_zero: bool, workspace: Path, as_json: bool) -> int:
    """Compare two campaigns: new, fixed and changed failures.

    A and B are ids of campaigns, folders of other workspaces, or WORKSPACE:ID. Exit with 1 when B has new failures, or undecided ones:
    with the message of a failure in A, but on other calls. A failure is only in B, and not new, if A has run none of its calls.
    """
    with side(before, workspace) as one, side(after, workspace) as other:
        for each in (one, other):
            if each.says_nothing():
                raise NothingSelected(f"no test of {each.name} passed or failed; `opera report` has the reasons")
        found = compare(one, other)
        titles = {} if as_json else {**titles_in(one.workspace), **titles_in(other.workspace)}
    if as_json:
        names = {
            "new": found.new,
            "added": found.added,
            "undecided": found.undecided,
            "fixed": found.fixed,
            "same": found.same,
            "flaky": found.flaky,
            "untested": found.untested,
        }
        print_json(
            {
                "schema": SCHEMA,
                "before": one.name,
                "after": other.name,
                **{name: [entry_of(each) for each in group] for name, group in names.items()},
                "changed": [{"before": entry_of(old), "after": entry_of(new)} for old, new in found.changed],
            }
        )
    else:
        _print(one, other, found, titles)
    return Exit.NEW_FINDINGS if (found.new or found.undecided) and not exit_zero else Exit.CLEAN


def compare(one: Side, other: Side) -> Comparison:
    """Matches the failures of two campaigns."""
    matching = match(one.failures, other.failures)
    tested = {instance[:KNOWN_DIGITS] for instance, _, _ in other.tested()}
    shaky = {instance[:KNOWN_DIGITS] for instance in one.flaky() | other.flaky()}
    ran = {each.instance[:KNOWN_DIGITS] for each in one.results}
    flaky = tuple(each for each in (*matching.unknown, *matching.gone) if each.instances <= shaky)
    gone = [each for each in matching.gone if each not in flaky]
    return Comparison(
        new=tuple(each for each in matching.new if each not in flaky and each.instances & ran),
        added=tuple(each for each in matching.new if each not in flaky and not each.instances & ran),
        undecided=tuple(each for each in matching.undecided if each not in flaky),
        fixed=tuple(each for each in gone if each.instances & tested),
        changed=matching.changed,
        same=tuple(each for _, each in matching.same),
        flaky=flaky,
        untested=tuple(each for each in gone if not each.instances & tested),
    )


def _print(one: Side, other: Side, found: Comparison, titles: Mapping[str, str]) -> None:
    echo(f"A: {one.name}, {one.versions}, {plural(len(one.results), 'test')}")
    echo(f"B: {other.name}, {other.versions}, {plural(len(other.results), 'test')}")
    echo()
    groups: list[tuple[str, Sequence[KnownFailure]]] = [
        ("new", found.new),
        ("only in B", found.added),
        ("undecided", found.undecided),
        ("fixed", found.fixed),
        ("changed", [new for _, new in found.changed]),
        ("flaky", found.flaky),
        ("untested", found.untested),
    ]
    rows = [[name, *row_of(each, titles)] for name, group in groups for each in group]
    if rows:
        print_table(["what", *COLUMNS], rows)
        echo()
    wrapped(", ".join(f"{len(group)} {name}" for name, group in groups) + f", {len(found.same)} the same")
