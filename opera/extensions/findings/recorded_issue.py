"""The issue about a recorded finding: a row of `data/findings`, its script, and the rows that one issue has with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from opera.config import Config
from opera.errors import UserError
from opera.extensions.findings.baseline import NO_BASELINE, Baseline
from opera.extensions.findings.families import Families, Known, Link, families
from opera.extensions.findings.recorded import Row, Shown, State, Table, shown, tables, title_of
from opera.extensions.findings.text import filled
from opera.instance.libraries import facts_of
from opera.oracles.verdict import Verdict
from opera.report.details import NamedText
from opera.report.words import code, fenced, inline, page_of
from opera.untrusted import read_file

_FOLDER = Path("data/findings")
_HEADS = {"onnx": "ai.onnx.", "pytorch": "torch.", "keras": "keras.", "tensorflow": "tf."}
"""How names of operators begin, by library."""
_LINE = "\n"
_SIBLINGS = 40
"""Findings of one issue that its text names."""
_LOG = 4_000
"""Characters of the output that an issue quotes."""
_VERSION = re.compile(r"(.+?) (v?\d\S*)")
_PLACE = re.compile(r'File "[^"]*/([^"/]+)"')
"""A file in a traceback; its folder is of this machine."""


@dataclass(frozen=True)
class Recorded:
    """A recorded finding.

    Attributes:
        folder: That of all tables.
        table: Findings of its compiler and frontend.
        row: The finding.
        script: Its script.
    """

    folder: Path
    table: Table
    row: Row
    script: Path

    @property
    def name(self) -> str:
        """Subject and name, as in the path of the script."""
        return f"{self.table.subject}/{self.row.name}"


def recorded(identity: str) -> Recorded | None:
    """The finding whose script is *identity*, a path or `SUBJECT/NAME` of data/findings; None for the id of a workspace.

    Raises:
        UserError: there is no such script, or no table has a row for it.
    """
    if "/" not in identity and not identity.endswith(".py"):
        return None
    path = Path(identity)
    script = path if path.suffix == ".py" and path.is_file() else _FOLDER / f"{identity.removesuffix('.py')}.py"
    if not script.is_file():
        raise UserError(f"there is no script {identity!r}, nor {script}; name the script of a recorded finding")
    folder, subject = script.resolve().parents[1], script.resolve().parent.name
    for table in tables(folder):
        for row in table.finding:
            if (table.subject, row.name) == (subject, script.stem):
                return Recorded(folder, table, row, script)
    raise UserError(f"no table of {folder} has a row for {script}")


def tried(found: Recorded, config: Config) -> Shown:
    """What its script shows now."""
    return shown(found.script, found.table.compiler, found.row, config)


def recorded_text(found: Recorded, outcome: Shown | None, base: Baseline = NO_BASELINE) -> str:
    """The issue as Markdown; *outcome* is what its script showed, None if it did not run, and *base* its result in double precision."""
    row, table, known = found.row, found.table, families(found.folder)
    siblings, change, link = list(_siblings(found, known)), known.repair(row), known.link(row)
    title = (known.title(row) if siblings else "") or title_of(found.script)
    owner = table.compiler
    library = facts_of(table.frontend).title
    versions = [match.groups() for each in row.seen_with.split(", ") if (match := _VERSION.fullmatch(each))]
    api = row.operators[0] if row.operators else "operator"
    is_wrong = row.verdict is Verdict.INCONSISTENT
    page = next((page_of(each, api) for each, head in _HEADS.items() if api.startswith(head)), None)
    parts = [
        *([f"Fails with: {inline(row.trigger)}."] if row.trigger else []),
        *([f"Calls that fail:\n\n{fenced(_LINE.join(row.fails))}"] if row.fails else []),
        *([f"Specification: <{page}>"] if page else []),
        *([f"A similar issue of the project: {inline(f'{link.url} ({link.state})')}."] if link and link.kind is Known.FAMILY else []),
        *([f"Operators: {', '.join(code(each) for each in _operators(found, known))}."] if siblings else []),
        *([f"One change may mend this finding and others: {inline(change.change, 1000)} Place: {code(change.place)}."] if change else []),
    ]
    text = read_file(found.script).decode("utf-8", "replace")
    return filled(
        owner,
        {
            "title": inline(title),
            "warning": _warning(outcome, link) or base.doubt,
            "baseline": base.text,
            "finding": inline(found.name),
            "owner": inline(owner),
            "framework": inline(library),
            "converter": code(row.converter),
            "stage": row.stage,
            "operator": code(api.removeprefix("ai.onnx.")),
            "call": "\n\n".join(parts),
            "expected": f"the result of {inline(library)}, which the script has"
            if is_wrong
            else "The model runs, as the library accepts it.",
            "actual": code(row.summary),
            "summary": f"{inline(title)}.\n\n{inline(row.why, 2000)}." if row.why else f"{inline(title)}.",
            "log": fenced(_PLACE.sub(r'File "\1"', (row.summary if outcome is None else outcome.output).strip()[-_LOG:])),
            "script": fenced(text.rstrip(), "python"),
            "why_none": "",
            "versions": [NamedText(inline(name), inline(value)) for name, value in versions],
            "version": next((inline(value) for name, value in versions if name.partition(" ")[0] == owner.partition("-")[0]), "unknown"),
            "ruled_out": [f"Without “{inline(part)}”, it passes: {code(call, 1000)}." for part, call in row.passes.items()],
            "provenance": [],
            "siblings": [code(each) for each in siblings],
            "tests": 0,
            "is_crash": not is_wrong,
        },
    )


def _siblings(found: Recorded, known: Families) -> Iterator[str]:
    """The other findings that the same issue is about."""
    own = known.issue(found.row)
    count = 0
    for table in tables(found.folder):
        for row in table.finding:
            if known.issue(row) == own and (table.subject, row.name) != (found.table.subject, found.row.name) and count < _SIBLINGS:
                count += 1
                yield f"{title_of(found.folder / table.subject / f'{row.name}.py')} ({table.subject}/{row.name})"


def _operators(found: Recorded, known: Families) -> list[str]:
    """The operators that the issue is about, its own first."""
    own = known.issue(found.row)
    rows = [row for table in tables(found.folder) for row in table.finding if known.issue(row) == own]
    return list(dict.fromkeys(api.removeprefix("ai.onnx.") for row in (found.row, *rows) for api in row.operators))


def _warning(outcome: Shown | None, link: Link | None) -> str:
    if link is not None and link.kind in (Known.KNOWN, Known.FIXED):
        return f"The project has an issue about it: {inline(str(link))}. Add to that one what it lacks."
    if outcome is None:
        return "The script below did not run yet. Run it before you report this."
    if outcome.state is State.FAILS:
        return ""
    return f"The script below does NOT show the failure here ({outcome.state.value}): {inline(outcome.said)}. Find the reason first."
