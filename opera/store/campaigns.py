"""Campaigns and the results of their tests. A result belongs to its test; campaigns that contain the test share it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opera.compilers.registry import noise_of
from opera.difftest.messages import Kept
from opera.difftest.messages import from_json as answer_from_json
from opera.oracles.fingerprint import Symptom, symptom_of
from opera.oracles.verdict import Detail, Stage, Verdict
from opera.store.database import Workspace
from opera.store.rows import SettingsColumn, Versions, detail_of
from opera.store.signing import is_signed, signature
from opera.untrusted import Document, from_json


@dataclass(frozen=True)
class StoredResult:
    """The result of one test.

    Attributes:
        test: Its identity.
        instance: Hash of the instance.
        compiler, frontend, route, form, seed: The rest of what the test is made of.
        verdict: What the oracles said.
        stage: Where it stopped; None when it did not get to a stage.
        reason: Why it is unsupported, invalid, undefined or flaky.
        converter: The conversion function that a failure belongs to.
        fingerprint: Fingerprint of a confirmed failure.
        detail: `failure` (as `opera.workers.failure.describe` makes it), `difference`, `log`.
        seconds: Wall time per stage.
        machine: Identity of the machine that ran it; None if it is unknown.
        exporter: The exporter that failed before the compiler; None if none did.
    """

    test: str
    instance: str
    compiler: str
    frontend: str
    route: str
    form: str
    seed: int
    verdict: Verdict
    stage: Stage | None = None
    reason: str | None = None
    converter: str | None = None
    fingerprint: str | None = None
    detail: Detail = field(default_factory=Detail)
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    machine: str | None = None
    exporter: str | None = None

    @property
    def at_fault(self) -> str:
        """The exporter if one failed, else the compiler."""
        return self.exporter or self.compiler

    @property
    def subject(self) -> str:
        """The subject as `compiler/frontend`, e.g. `tvm/onnx`."""
        return f"{self.compiler}/{self.frontend}"

    @property
    def symptom(self) -> Symptom:
        """The parts of its fingerprint, if it is a failure."""
        subject = self.exporter or self.subject
        return symptom_of(subject, self.verdict, self.stage, self.converter or "", self.detail, noise_of(self.compiler))


@dataclass(frozen=True)
class Step:
    """One test of a campaign that has run: its place, what it is, how it failed if it did, and when (UTC, to the second)."""

    place: int
    test: str
    instance: str
    fingerprint: str | None
    finished: str


@dataclass(frozen=True)
class Reproduction:
    """The outcome of a script.

    Attributes:
        finding: The id under which the script was asked for.
        script: The file, relative to the workspace.
        reproduced: Whether the script showed the failure.
        test: The failing test that the script shows.
        digest: SHA-256 of the script; OPERA has not run another text of the same name.
    """

    finding: str
    script: str
    reproduced: bool
    test: str
    digest: str


@dataclass(frozen=True)
class Campaign:
    """One run of a prioritised corpus against one subject.

    Attributes:
        known: The failures of this subject that the workspace had when the campaign began: by fingerprint, the first digits of the
            hashes of the instances.
        seconds: Wall time of all its parts.
    """

    id: str
    compiler: str
    frontend: str
    settings: Mapping[str, Any]
    versions: Mapping[str, Any]
    known: Mapping[str, Sequence[str]]
    seconds: float
    complete: bool
    stopped_by: str | None
    started: str

    @property
    def build(self) -> str | None:
        """The label of the compiler's build; None where none was given."""
        label = self.versions.get("compiler", {}).get("build")
        return None if label is None else str(label)

    @property
    def library(self) -> str:
        """The library whose instances it runs."""
        return str(self.versions.get("template", self.frontend)).partition("/")[0]


KNOWN_DIGITS = 12
"""Digits of an instance's hash by which known failures name it."""


class Campaigns:
    """The campaigns of an open workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._database = workspace.database

    def begin(self, key: str, compiler: str, frontend: str, settings: Mapping[str, Any], versions: Mapping[str, Any]) -> Campaign:
        """Begins the campaign *key*, or continues it."""
        found = self.get(key)
        if found is not None:
            return found
        known: dict[str, list[str]] = {}
        for fingerprint, instance in self._database.execute(
            "SELECT DISTINCT fingerprint, substr(instance, 1, ?) FROM results WHERE fingerprint IS NOT NULL AND compiler = ?"
            " AND frontend = ? ORDER BY 1, 2",
            (KNOWN_DIGITS, compiler, frontend),
        ):
            known.setdefault(fingerprint, []).append(instance)
        with self._workspace.transaction() as database:
            database.execute(
                "INSERT INTO campaigns (id, compiler, frontend, settings, versions, known) VALUES (?, ?, ?, ?, ?, ?)",
                (key, compiler, frontend, json.dumps(settings), json.dumps(versions), json.dumps(known)),
            )
        begun = self.get(key)
        assert begun is not None
        return begun

    def get(self, key: str) -> Campaign | None:
        """The campaign of that identity."""
        return next(iter(self._select("WHERE id = ?", (key,))), None)

    def all(self) -> list[Campaign]:
        """All campaigns, the oldest first."""
        return self._select("ORDER BY started, id", ())

    def _select(self, where: str, values: tuple[Any, ...]) -> list[Campaign]:
        rows = self._database.execute(
            f"SELECT id, compiler, frontend, settings, versions, known, seconds, complete, stopped_by, started FROM campaigns {where}",
            values,
        )
        return [
            Campaign(
                id=row[0],
                compiler=row[1],
                frontend=row[2],
                settings=from_json(row[3], SettingsColumn),
                versions=from_json(row[4], Versions),
                known=from_json(row[5], dict[str, list[str]]),
                seconds=row[6],
                complete=bool(row[7]),
                stopped_by=row[8],
                started=row[9],
            )
            for row in rows
        ]

    def pause(self, key: str, seconds: float, *, complete: bool, stopped_by: str | None) -> None:
        """Adds *seconds* to a campaign's wall time and says how this part of it ended."""
        with self._workspace.transaction() as database:
            database.execute(
                "UPDATE campaigns SET seconds = seconds + ?, complete = ?, stopped_by = ? WHERE id = ?",
                (seconds, complete, stopped_by, key),
            )

    def is_finished(self, test: str) -> bool:
        """Whether the test of that identity has a result."""
        return self._database.execute("SELECT 1 FROM results WHERE test = ?", (test,)).fetchone() is not None

    def finished(self, test: str) -> StoredResult | None:
        """The result of the test of that identity, if there is one."""
        found = self.result(test)
        return found[0] if found else None

    def write(self, campaign: str, results: Iterable[tuple[int, StoredResult]]) -> None:
        """Writes results with their places in the campaign, all or none."""
        with self._workspace.transaction() as database:
            for place, result in results:
                database.execute(
                    "INSERT OR REPLACE INTO results (test, instance, compiler, frontend, route, form, seed, verdict, stage, reason,"
                    " converter, fingerprint, detail, seconds, machine, exporter) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        result.test,
                        result.instance,
                        result.compiler,
                        result.frontend,
                        result.route,
                        result.form,
                        result.seed,
                        result.verdict.value,
                        result.stage.value if result.stage else None,
                        _storable(result.reason),
                        _storable(result.converter),
                        result.fingerprint,
                        json.dumps(result.detail) if result.detail else None,
                        json.dumps(result.seconds),
                        result.machine,
                        result.exporter,
                    ),
                )
                database.execute("INSERT OR IGNORE INTO campaign_tests VALUES (?, ?, ?)", (campaign, result.test, place))
                if result.fingerprint is not None:
                    database.execute("INSERT OR IGNORE INTO finding_ids (id, test) VALUES (?, ?)", (result.fingerprint, result.test))

    def adopt(self, campaign: str, tests: Iterable[tuple[int, str]]) -> None:
        """Counts tests that already have a result among those of *campaign*."""
        with self._workspace.transaction() as database:
            rows = ((campaign, test, place) for place, test in tests)
            database.executemany("INSERT OR IGNORE INTO campaign_tests VALUES (?, ?, ?)", rows)

    def results(self, campaign: str | None = None, *, failures: bool = False) -> Iterable[StoredResult]:
        """The results of *campaign* in its order, or of the whole workspace; with *failures*, only those with a fingerprint."""
        columns = (
            "r.test, instance, compiler, frontend, route, form, seed, verdict, stage, reason, converter, fingerprint, detail, r.seconds,"
            " machine, exporter"
        )
        where = "WHERE fingerprint IS NOT NULL" if failures else ""
        if campaign is None:
            query, values = f"SELECT {columns} FROM results r {where} ORDER BY compiler, frontend, test", ()
        else:
            condition = " AND fingerprint IS NOT NULL" if failures else ""
            query = f"SELECT {columns} FROM campaign_tests c JOIN results r ON r.test = c.test WHERE campaign = ?{condition} ORDER BY place"
            values = (campaign,)
        for row in self._database.execute(query, values):
            yield _result(row)

    def course(self, campaign: str) -> list[Step]:
        """The tests of *campaign* that have a result, by their places."""
        rows = self._database.execute(
            "SELECT place, c.test, instance, fingerprint, finished FROM campaign_tests c JOIN results r ON r.test = c.test"
            " WHERE campaign = ? ORDER BY place, c.test",
            (campaign,),
        )
        return [Step(*row) for row in rows]

    def result(self, prefix: str) -> list[StoredResult]:
        """The results of tests whose identity begins with *prefix*."""
        columns = (
            "test, instance, compiler, frontend, route, form, seed, verdict, stage, reason, converter, fingerprint, detail, seconds,"
            " machine, exporter"
        )
        rows = self._database.execute(f"SELECT {columns} FROM results WHERE test >= ? AND test < ?", (prefix, prefix + "g"))
        return [_result(row) for row in rows]

    def history(self, compiler: str, frontend: str) -> tuple[set[str], set[str]]:
        """Instances of a subject that have ever failed, and all that have ever been run, whatever the versions were."""
        rows = self._database.execute(
            "SELECT instance, max(fingerprint IS NOT NULL) FROM results WHERE compiler = ? AND frontend = ? GROUP BY instance",
            (compiler, frontend),
        ).fetchall()
        return {instance for instance, failed in rows if failed}, {instance for instance, _ in rows}

    def verdicts(self, campaign: str | None = None) -> dict[str, int]:
        """Number of tests per verdict."""
        source = "results" if campaign is None else "campaign_tests c JOIN results r ON r.test = c.test AND c.campaign = ?"
        values = () if campaign is None else (campaign,)
        return dict(self._database.execute(f"SELECT verdict, count(*) FROM {source} GROUP BY verdict ORDER BY verdict", values).fetchall())

    def with_reason(self, campaign: str, reason: str) -> int:
        """Number of tests of *campaign* whose verdict has the reason *reason*."""
        query = "SELECT count(*) FROM campaign_tests c JOIN results r ON r.test = c.test WHERE c.campaign = ? AND r.reason = ?"
        return int(self._database.execute(query, (campaign, reason)).fetchone()[0])

    def keep_machine(self, key: str, document: Mapping[str, object]) -> None:
        """Keeps what is known of a machine that results come from."""
        with self._workspace.transaction() as database:
            database.execute("INSERT OR IGNORE INTO machines VALUES (?, ?)", (key, json.dumps(document)))

    def machines(self) -> dict[str, Document]:
        """The known facts of each machine that results come from."""
        rows = self._database.execute("SELECT id, document FROM machines ORDER BY id")
        return {key: from_json(document, Document) for key, document in rows}

    def keep_reproduction(self, reproduction: Reproduction, message: str) -> None:
        """Stores the outcome of a script that this process has written and run."""
        each = reproduction
        with self._workspace.transaction() as database:
            database.execute(
                "INSERT OR REPLACE INTO reproductions (finding, script, reproduced, message, test, digest, code)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (each.finding, each.script, each.reproduced, message, each.test, each.digest, signature(*_signed(each))),
            )

    def reproductions(self) -> list[Reproduction]:
        """The outcomes of scripts, one for each finding whose script ran; what another user's OPERA has written does not count."""
        rows = self._database.execute("SELECT code, finding, script, reproduced, test, digest FROM reproductions ORDER BY finding")
        found = [(code, Reproduction(finding, script, bool(done), test, digest)) for code, finding, script, done, test, digest in rows]
        return [each for code, each in found if is_signed(code, *_signed(each))]

    def artefact(self, key: str) -> dict[str, Any] | None:
        """What the materialiser answered for *key*, if it has been asked by this user: the answer names files that a library loads."""
        row = self._database.execute("SELECT document FROM artefacts WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        code, _, document = str(row[0]).partition(" ")
        return json.loads(document) if is_signed(code, key, document) else None

    def kept(self, key: str) -> Kept | None:
        """The materialiser's answer for *key*, which says a model or a reference."""
        document = self.artefact(key)
        return None if document is None else answer_from_json(document)

    def keep_artefacts(self, items: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Keeps answers of the materialiser."""
        with self._workspace.transaction() as database:
            documents = ((key, json.dumps(document)) for key, document in items)
            rows = ((key, f"{signature(key, document)} {document}") for key, document in documents)
            database.executemany("INSERT OR REPLACE INTO artefacts VALUES (?, ?)", rows)


def _signed(each: Reproduction) -> tuple[str, ...]:
    """What a signature of an outcome covers."""
    return "reproduction", each.finding, each.script, str(each.reproduced), each.test, each.digest


def _result(row: tuple[Any, ...]) -> StoredResult:
    return StoredResult(
        *row[:7],
        verdict=Verdict(row[7]),
        stage=None if row[8] is None else Stage(row[8]),
        reason=row[9],
        converter=row[10],
        fingerprint=row[11],
        detail=detail_of(row[12]),
        seconds=from_json(row[13], dict[str, float]),
        machine=row[14],
        exporter=row[15],
    )


def _storable(text: str | None) -> str | None:
    """Text as SQLite takes it: a lone surrogate, which only foreign messages hold, becomes a question mark."""
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")
