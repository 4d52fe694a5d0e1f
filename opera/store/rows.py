"""The valid content of each table of a workspace. OPERA checks a database from elsewhere against it before it reads the database.

Each class has the columns of one table, and `check` looks into the JSON that some columns hold. The store reads and writes this JSON by
the types of this module, so that nothing gets through the check that a reader does not expect.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

import msgspec

from opera.bundle import is_hash
from opera.instance import Instance, decode_instance
from opera.oracles.verdict import Detail, Stage, Verdict
from opera.untrusted import MOST_NUMBER, Count, Document, Hash, Line, Malformed, Name, Seconds, from_json, inflated, parsed_json, typed

Flag = Literal[0, 1]
Digits = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{1,64}\Z")]
"""An identity, or the beginning of one."""
Json = Annotated[str, msgspec.Meta(max_length=64 * 2**20)]
Packed = Annotated[bytes, msgspec.Meta(max_length=64 * 2**20)]
Place = Annotated[int, msgspec.Meta(ge=0)]
Calls = Annotated[int, msgspec.Meta(ge=1, le=MOST_NUMBER)]
Columns = tuple[Any, ...]
"""A row as SQLite gives it."""


class TriggerFacts(TypedDict):
    """A trigger, as `opera.triage.reduction.trigger.Trigger.document` writes it: accessor, name, comparison and value of each property."""

    properties: Sequence[tuple[str, str, str, object]]
    api: str
    tensors: Sequence[str]


class ReductionFacts(TypedDict, total=False):
    """How a reduction went, as JSON.

    Attributes:
        form: The input form of the test.
        probes: Number of instances that were tried.
        seconds: Wall time.
        complete: Whether the reduction ended by itself.
        confirmed: Number of fresh processes in which the reduced instance failed.
        evidence: What the last of these processes left behind.
        passes: For each property of the trigger by its text, a call that lacks this property alone, and passes.
        fails: Recorded tests that have the trigger too, and fail in the same way.
        against: Number of recorded tests of the operator that have the trigger, and pass.
        untried: Number of aspects of the reduced instance that were not changed, because the budget ended.
        arbiters: Opinions of other compilers: each subject, and the side that it takes.
        first_pass: The first pass of the compiler without which a program does not fail.
    """

    form: Name
    probes: Count
    seconds: Seconds
    complete: bool
    confirmed: Count
    evidence: Detail
    passes: Mapping[str, str]
    fails: Sequence[str]
    against: Count
    untried: Count
    arbiters: Sequence[tuple[str, str]]
    first_pass: str


def instance_of(document: bytes) -> Instance:
    """The instance that a packed document describes, without the data that lie in files; raises Malformed."""
    try:
        return decode_instance(parsed_json(inflated(document)), _elsewhere)
    except ValueError as error:
        raise Malformed(str(error)) from error


def _elsewhere(name: str) -> None:
    if not is_hash(name):
        raise Malformed(f"{name[:40]!r} is no name of a stored file")


class SettingsColumn(TypedDict, total=False):
    """The settings that select a campaign's tests, as `opera.difftest.settings.Settings.selection` writes them."""

    compiler: Name
    frontend: Name
    route: str | None
    forms: Sequence[str]
    opsets: Sequence[int]
    seed: int
    seeds: int
    strategy: str | None
    keyword: str | None
    limit: int | None
    cap: int | None
    chebyshev: float | None
    level: str | None
    suite: str
    shard: Annotated[str, msgspec.Meta(pattern=r"^[1-9][0-9]{0,5}/[1-9][0-9]{0,5}\Z")]


class Versions(TypedDict, total=False):
    """The versions of all parts of a campaign."""

    template: Name
    library: Mapping[str, str]
    compiler: Mapping[str, str]
    route: Name
    adapter: int
    comparison: int
    review: int
    products: Name


class Row(msgspec.Struct, frozen=True, array_like=True):
    """A row; its fields are columns."""

    def check(self) -> None:
        """Raises Malformed where a column holds a document that is not of its form."""


class InstanceRow(Row, frozen=True, array_like=True):
    """An operator instance: its identity, and the document that describes it."""

    id: Hash
    library: Name
    api: Name
    operator: Name
    outcome: Literal["returned", "raised", "unknown"]
    document: Packed
    shapes: Line

    def check(self) -> None:
        """The document describes an instance; data that lie in files are looked at when the instance is read."""
        instance_of(self.document)


class OccurrenceRow(Row, frozen=True, array_like=True):
    """A test that called an instance."""

    instance: Hash
    source: Name
    test: Line
    calls: Calls
    run: Count


class ExtractionRow(Row, frozen=True, array_like=True):
    """The figures of a source."""

    library: Name
    source: Name
    version: Line
    calls: Count
    distinct_instances: Count
    operators: Count
    dropped: Json
    seconds: Seconds

    def check(self) -> None:
        """*dropped* is an object of counts by reason."""
        from_json(self.dropped, dict[str, Count])


class DropRow(Row, frozen=True, array_like=True):
    """Calls of an API that a source dropped for one reason."""

    library: Name
    source: Name
    api: Name
    reason: Line
    calls: Calls


class RankingRow(Row, frozen=True, array_like=True):
    """An order of instances."""

    id: Place
    frontend: Name
    compiler: Name
    strategy: Name
    seed: int
    seconds: Seconds


class RankedRow(Row, frozen=True, array_like=True):
    """One instance in an order."""

    ranking: Place
    place: Place
    instance: Hash
    score: float


class CampaignRow(Row, frozen=True, array_like=True):
    """A campaign: its identity, subject, settings and versions."""

    id: Digits
    compiler: Name
    frontend: Name
    settings: Json
    versions: Json
    known: Json
    seconds: Seconds
    complete: Flag
    stopped_by: Line | None
    started: Line

    def check(self) -> None:
        """Settings, versions and known findings."""
        from_json(self.settings, SettingsColumn)
        from_json(self.versions, Versions)
        from_json(self.known, dict[Digits, list[Digits]])


def detail_of(column: str | None) -> Detail:
    """The evidence of a test that a row has; raises Malformed."""
    return {} if column is None else from_json(column, Detail)


_NEEDED = {Verdict.CRASH: "failure", Verdict.INCONSISTENT: "difference"}
"""The evidence that a result of a verdict always has."""


class OutcomeRow(Row, frozen=True, array_like=True):
    """The result of a test, on any machine."""

    test: Hash
    verdict: Verdict
    stage: Stage | None
    reason: Line | None
    converter: Line | None
    exporter: Name | None
    fingerprint: Digits | None
    detail: Json | None
    seconds: Json
    finished: Line

    def check(self) -> None:
        """The detail has what a verdict of its kind needs."""
        from_json(self.seconds, dict[str, Seconds])
        found = detail_of(self.detail)
        needed = _NEEDED.get(self.verdict)
        if needed is not None and needed not in found:
            raise Malformed(f"a result of verdict {self.verdict.value} without {needed}")
        if self.fingerprint is not None and not self.verdict.is_failure:
            raise Malformed(f"a result of verdict {self.verdict.value} with a fingerprint")


class ResultRow(OutcomeRow, frozen=True, array_like=True):
    """The result of a test that counts."""

    instance: Hash
    compiler: Name
    frontend: Name
    route: Name
    form: Name
    seed: int
    machine: Line | None


class ResultElsewhereRow(OutcomeRow, frozen=True, array_like=True):
    """A result of another machine."""

    machine: Line


class MachineRow(Row, frozen=True, array_like=True):
    """A machine that has run tests, and what describes it."""

    id: Digits
    document: Json

    def check(self) -> None:
        """The document is an object."""
        from_json(self.document, Document)


class ReproductionRow(Row, frozen=True, array_like=True):
    """The outcome of a script. It counts only where this user's key has signed it."""

    finding: Digits
    script: Line
    reproduced: Flag
    message: Line
    test: Hash
    digest: Hash
    code: Line


class FindingIdRow(Row, frozen=True, array_like=True):
    """An id of a finding."""

    id: Digits
    test: Hash
    since: Line


class ReductionRow(Row, frozen=True, array_like=True):
    """The reduction of a failing test, and the finding that it belongs to."""

    number: Place
    fingerprint: Digits
    test: Hash
    finding: Digits
    reason: Line | None
    instance: Packed | None
    trigger: Json | None
    detail: Json

    def check(self) -> None:
        """The reduced instance, its trigger and the figures."""
        if self.instance is not None:
            instance_of(self.instance)
        if self.trigger is not None:
            from_json(self.trigger, TriggerFacts)
        from_json(self.detail, ReductionFacts)


class AssignmentRow(Row, frozen=True, array_like=True):
    """The finding of a test."""

    test: Hash
    finding: Digits


class MergeRow(Row, frozen=True, array_like=True):
    """Two findings with one cause."""

    finding: Digits
    other: Digits
    reason: Line
    apart: Flag


class CampaignTestRow(Row, frozen=True, array_like=True):
    """A test of a campaign."""

    campaign: Digits
    test: Hash
    place: Place


class ProgressRow(Row, frozen=True, array_like=True):
    """A file that an extraction has behind it."""

    library: Name
    source: Name
    entry: Line
    mark: Line
    ended: Json
    digests: Packed

    def check(self) -> None:
        """Facts, and hashes of 32 bytes."""
        from_json(self.ended, Document)
        if len(inflated(self.digests)) % 32:
            raise Malformed("digests of odd length")


class ArtefactRow(Row, frozen=True, array_like=True):
    """An answer of the materialiser. It counts only where this user's key has signed it, so its content is not checked."""

    key: Name
    document: Json


TABLES: Mapping[str, type[Row]] = {
    "instances": InstanceRow,
    "occurrences": OccurrenceRow,
    "extractions": ExtractionRow,
    "drops": DropRow,
    "rankings": RankingRow,
    "ranked": RankedRow,
    "artefacts": ArtefactRow,
    "campaigns": CampaignRow,
    "results": ResultRow,
    "machines": MachineRow,
    "results_elsewhere": ResultElsewhereRow,
    "reproductions": ReproductionRow,
    "finding_ids": FindingIdRow,
    "reductions": ReductionRow,
    "assignments": AssignmentRow,
    "merges": MergeRow,
    "campaign_tests": CampaignTestRow,
    "extraction_progress": ProgressRow,
}
"""Every table, in an order in which rows come before those that refer to them."""


_OF_SQLITE = ("sqlite_sequence", "sqlite_stat1", "sqlite_stat4")
_COMPUTES = re.compile(r"\b(CHECK|GENERATED|VIRTUAL|AS)\s*\(|^\s*CREATE\s+VIRTUAL\b|\bGENERATED\s+ALWAYS\b", re.IGNORECASE)
"""Schema features that let a table run expressions or code."""


@dataclass(frozen=True)
class BadRow:
    """A row that does not fit its table."""

    table: str
    key: str
    what: str

    @property
    def text(self) -> str:
        """`results 0123456789ab: verdict: ...`."""
        return f"{self.table} {self.key}: {self.what}"


def check_schema(database: sqlite3.Connection) -> None:
    """Refuses a database that has anything but our tables and indexes: views and triggers are code.

    Raises:
        Malformed: it has another object, or lacks a table or a column.
    """
    for kind, name, table, text in database.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall():
        known = (kind == "table" and name in {*TABLES, *_OF_SQLITE}) or (kind == "index" and table in TABLES)
        if not known or _COMPUTES.search(str(text)):
            raise Malformed(f"it has the {kind} {str(name)[:40]!r}, which no workspace has")
    for table, row in TABLES.items():
        columns = {name for _, name, *_ in database.execute(f"PRAGMA table_info({table})").fetchall()}
        missing = [name for name in row.__struct_fields__ if name not in columns]
        if missing:
            raise Malformed(f"its table {table} has no column {missing[0]!r}")


def checked_rows(database: sqlite3.Connection, table: str) -> Iterator[tuple[Columns, BadRow | None]]:
    """The rows of *table* as SQLite gives them, by the columns of its class, each with what is wrong with it, if anything is."""
    kind = TABLES[table]
    names = kind.__struct_fields__
    database.text_factory = _text
    try:
        for values in database.execute(f"SELECT {', '.join(names)} FROM {table}"):
            try:
                typed(values, kind).check()
            except Malformed as error:
                what = str(error)
                for index, name in enumerate(names):
                    what = what.replace(f"[{index}]", name, what.startswith(f"[{index}]"))
                yield values, BadRow(table, str(values[0])[:12], what)
            else:
                yield values, None
    finally:
        database.text_factory = str


_REFERENCES = (("occurrences", "instance", "instances"), ("ranked", "ranking", "rankings"), ("campaign_tests", "campaign", "campaigns"))
"""Rows that go with the one that they refer to: table, column, and the other table."""


def copy_sound(
    source: sqlite3.Connection,
    target: sqlite3.Connection,
    tables: Iterable[str],
    take: Callable[[str, Columns], BadRow | None] | None = None,
) -> Iterator[BadRow]:
    """Copies the sound rows of *tables* from *source* to *target*, a new database; yields the others.

    Args:
        source: A database whose rows nobody has checked.
        target: Has the tables of a workspace.
        tables: Names of tables.
        take: Says what is wrong with a sound row of a table that must stay behind all the same; None for a row to take.
    """
    with target:
        target.execute("PRAGMA foreign_keys = OFF")
        for table in tables:
            columns = TABLES[table].__struct_fields__
            insert = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            for values, bad in checked_rows(source, table):
                what = bad if bad is not None or take is None else take(table, values)
                if what is None:
                    target.execute(insert, values)
                else:
                    yield what
        for table, column, parents in _REFERENCES:
            target.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT id FROM {parents})")


def _text(data: bytes) -> str | bytes:
    """Text as SQLite keeps it; what is no UTF-8 stays bytes, which no column of text may hold."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data
