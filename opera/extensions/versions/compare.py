"""`opera compare A B`: failures that a new version of a compiler adds, fixes or changes; with --versions, what each version supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from opera.atomic import replacing
from opera.cli.baseline import COLUMNS, entry_of, row_of
from opera.cli.help import HeadedCommand
from opera.cli.names import CAMPAIGN, COMPILER, FRONTEND
from opera.cli.options import OutputFile, common
from opera.config import load_config
from opera.console import STDOUT, check_outputs, echo, plural, print_json, print_table, print_text, wrapped
from opera.errors import Exit, NothingSelected, UserError
from opera.extensions.versions.bisect import Versions
from opera.extensions.versions.confirm import confirmed
from opera.extensions.versions.side import Side, side
from opera.extensions.versions.support import CRASH, DECLINED, LOST, RIGHT, UNTESTED, WRONG, Support, named, notes, short, supports
from opera.report.details import titles_in
from opera.store.campaigns import KNOWN_DIGITS
from opera.store.database import open_workspace
from opera.triage.known_failures import KnownFailure, match
from opera.untrusted import JsonObject
from opera.workers.supervision import working_folder

SCHEMA = "compare/1"
VERSIONS_SCHEMA = "compare-versions/1"
_COLUMNS = {"right": RIGHT, "wrong": WRONG, "crash": CRASH, "declined": DECLINED}


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
@click.argument("before", type=CAMPAIGN, metavar="[A]", required=False)
@click.argument("after", type=CAMPAIGN, metavar="[B]", required=False)
@click.option("--versions", "by_version", is_flag=True, help="Compare what versions support, operator by operator: A and B are versions.")
@click.option("--compiler", type=COMPILER, metavar="NAME", help="Select the versions of this compiler, with --versions.")
@click.option("--frontend", type=FRONTEND, metavar="NAME", help="Select the versions on this model format, with --versions.")
@click.option("--confirm", is_flag=True, help="Run what B breaks or declines again on both versions, with --versions A B.")
@click.option("--markdown", type=OutputFile(), help="Write what changed as Markdown, with --versions; - is standard output.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are new failures.")
@common
def command(
    before: str | None,
    after: str | None,
    by_version: bool,
    compiler: str | None,
    frontend: str | None,
    confirm: bool,
    markdown: Path | None,
    exit_zero: bool,
    workspace: Path,
    as_json: bool,
) -> int:
    """Compare two campaigns: new, fixed and changed failures.

    A and B are ids of campaigns, folders of other workspaces, or WORKSPACE:ID. Exit with 1 when B has new failures, or undecided ones:
    with the message of a failure in A, but on other calls. A failure is only in B, and not new, if A has run none of its calls.

    With --versions, A and B are versions of one compiler that the workspace has campaigns of, e.g. 1.31.1 1.32.0. Without A and B, OPERA
    compares each version with the one before. Exit with 1 when B breaks or declines tests that A had right.
    """
    if by_version:
        check_outputs(as_json, markdown)
        names = [each for each in (before, after) if each is not None]
        if len(names) == 1 or (confirm and not names):
            raise UserError("--versions takes two versions, or none; --confirm needs two")
        return _versions(names, compiler, frontend, markdown, workspace, as_json=as_json, exit_zero=exit_zero, confirm=confirm)
    if before is None or after is None or compiler or frontend or markdown or confirm:
        raise UserError(
            "give two campaigns A and B, which `opera ls` lists; --compiler, --frontend, --markdown and --confirm need --versions"
        )
    with side(before, workspace) as one, side(after, workspace) as other:
        for each in (one, other):
            if each.says_nothing():
                raise NothingSelected(f"no test of {each.name} passed or failed; `opera report` has the reasons")
        found = compare(one, other)
        titles = {} if as_json else {**titles_in(one.workspace), **titles_in(other.workspace)}
    if as_json:
        groups = {
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
                **{name: [entry_of(each) for each in group] for name, group in groups.items()},
                "changed": [{"before": entry_of(old), "after": entry_of(new)} for old, new in found.changed],
            }
        )
    else:
        _print(one, other, found, titles)
    return Exit.NEW_FINDINGS if (found.new or found.undecided) and not exit_zero else Exit.CLEAN


def _versions(
    names: Sequence[str],
    compiler: str | None,
    frontend: str | None,
    markdown: Path | None,
    workspace: Path,
    *,
    as_json: bool,
    exit_zero: bool,
    confirm: bool,
) -> int:
    """What `opera compare --versions` does; returns its exit code."""
    with open_workspace(workspace, write=False) as space:
        found = [each for each in supports(space) if compiler in (None, each.compiler) and frontend in (None, each.frontend)]
    found = [each for each in found if len(each.versions) > 1 and {*names} <= {version.name for version in each.versions}]
    if not found:
        what = f"no subject ran on {' and '.join(names)}" if names else "no subject ran on two versions"
        raise NothingSelected(f"{what}; `opera run --compiler NAME==VERSION` runs one on a version")
    if (names or markdown) and len(found) > 1:
        raise UserError(
            f"several subjects ran on these versions ({', '.join(each.subject for each in found)}); add --compiler and --frontend"
        )
    if confirm:
        at = Versions.of(found[0].compiler, load_config(), names).at
        with working_folder("confirm") as scratch, open_workspace(workspace, write=False) as space:
            found = [confirmed(space, found[0], at, *named(found[0], names), scratch)]
    if markdown is not None:
        text = notes(found[0], *named(found[0], names))
        if markdown == STDOUT:
            print_text(text)
        else:
            with replacing(markdown) as file:
                file.write(text.encode())
    if as_json:
        print_json({"schema": VERSIONS_SCHEMA, "subjects": [_entry(each, names) for each in found]})
    elif markdown != STDOUT:
        for each in found:
            _print_step(each, *named(each, names)) if names else _print_versions(each)
    worse = [each.changes(*named(each, names)) for each in found] if names else []
    lost = any(changes[kind] for changes in worse for kind in LOST)
    return Exit.NEW_FINDINGS if lost and not exit_zero else Exit.CLEAN


def _entry(found: Support, names: Sequence[str]) -> JsonObject:
    steps = [named(found, names)] if names else list(found.steps())
    return {
        "compiler": found.compiler,
        "frontend": found.frontend,
        "versions": [
            {"version": each.name, "campaign": each.campaign, "ran": each.ran, "date": each.date(found.compiler), **_counted(found, place)}
            for place, each in enumerate(found.versions)
        ],
        "changes": [
            {
                "before": found.versions[before].name,
                "after": found.versions[after].name,
                **{kind.value: dict(sorted(counts.items())) for kind, counts in found.changes(before, after).items()},
            }
            for before, after in steps
        ],
    }


def _counted(found: Support, place: int) -> dict[str, int]:
    counts = found.counts(place)
    return {name: counts[letter] for name, letter in _COLUMNS.items()}


def _print_versions(found: Support) -> None:
    """A row for each version, and how it differs from the one before."""
    steps = {after: found.changes(before, after) for before, after in found.steps()}
    rows = list[list[str]]()
    for place, each in enumerate(found.versions):
        counts = found.counts(place)
        said = [f"{total:,} {kind.value}" for kind, changed in steps.get(place, {}).items() if (total := sum(changed.values()))]
        said += [f"{counts[UNTESTED]:,} not run"] if counts[UNTESTED] else []
        rows.append([each.name, each.date(found.compiler), *(f"{counts[letter]:,}" for letter in _COLUMNS.values()), ", ".join(said)])
    echo(f"{found.subject}: {plural(len(found.tests), 'test')}, each version compared with the one before")
    print_table(["version", "date", *_COLUMNS, "changes"], rows)


def _print_step(found: Support, before: int, after: int) -> None:
    """What changes between two versions, operator by operator."""
    old, new = found.versions[before], found.versions[after]
    changes = found.changes(before, after)
    rows = [[kind.value, short(api), f"{count:,}"] for kind, counts in changes.items() for api, count in sorted(counts.items())]
    echo(f"{found.subject}: {new.name} ({new.date(found.compiler)}) after {old.name} ({old.date(found.compiler)})")
    if rows:
        print_table(["what", "operator", "tests"], rows)
    wrapped(", ".join(f"{kind.value}: {plural(sum(counts.values()), 'test')}" for kind, counts in changes.items()))


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
