"""Baselines: known failures, in a TOML file that people edit. OPERA keeps their text and order.

`opera baseline update known.toml` writes for each of them:

    [[failure]]
    fingerprint = "8bd3d4fa1f2e3d4c"
    subject = "tvm/onnx"
    verdict = "inconsistent"
    stage = "compare"
    converter = "SpaceToDepth._impl_v1"
    kind = "values"
    instances = ["5d75d80a9ec8"]
    summary = "values: expected 9.0, got 36.0"
    condition = "mode=CRD"              # after triage: the condition under which it fails; trigger has it in full, as JSON
    trigger = '{"properties": [["value", "mode", "=", "CRD"]], "api": "ai.onnx.DepthToSpace", "tensors": ["input"]}'
    note = "reported upstream"          # yours: reports give it as the reason; any other key, and any comment, is yours too
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, cast

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from opera.atomic import output
from opera.console import one_line, quoted
from opera.errors import UserError
from opera.store.rows import TriggerFacts
from opera.triage.known_failures import KnownFailure, Matching, match
from opera.triage.reduction.trigger import NoTrigger, trigger_of
from opera.untrusted import Line, Malformed, Name, from_json, parsed_toml, read_file, typed

_MOST_BYTES = 64 * 2**20
_COMMENT = "# Known failures, one table each. `opera baseline update` adds and removes tables; comments and further keys are kept.\n"
_TABLE = "failure"
Key = tuple[str, str | None]
"""Fingerprint and condition of a failure."""
_TEXTS = ("fingerprint", "subject", "verdict", "stage", "converter", "kind")


class _Entry(msgspec.Struct):
    """One table of the file; further keys are the user's own."""

    fingerprint: Name
    subject: Name
    verdict: Name
    stage: Line
    converter: Line
    kind: Line
    instances: list[Name]
    summary: Line = ""
    note: object = ""
    condition: Line = ""
    trigger: Line = ""

    def failure(self) -> KnownFailure:
        """The failure that the table names; raises Malformed."""
        compiler, _, frontend = self.subject.partition("/")
        note = self.note if isinstance(self.note, str) else ""  # the key was always the user's own, of any type
        texts = (self.verdict, self.stage, self.converter, self.kind)
        try:
            condition = trigger_of(from_json(self.trigger, TriggerFacts)) if self.trigger else None
        except (Malformed, NoTrigger) as error:
            raise Malformed(f"failure {self.fingerprint}: trigger: {error}") from error
        return KnownFailure(self.fingerprint, compiler, frontend, *texts, frozenset(self.instances), self.summary, note, condition)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """A baseline file as TOML: its tables `[[failure]]`."""

    failure: list[_Entry] = []


class Baseline:
    """A baseline file, read and ready to be written back.

    Args:
        path: The file; it need not exist.

    Raises:
        UserError: it is no baseline.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            data = read_file(path, _MOST_BYTES)
        except FileNotFoundError:
            data = _COMMENT.encode()
        except (Malformed, OSError) as error:
            raise UserError(f"{path} cannot be read as a baseline ({error}); `opera baseline update` writes one") from error
        try:
            self.failures = [each.failure() for each in typed(parsed_toml(data), _File).failure]
            self._document: Any = tomlkit.parse(data)
        except (Malformed, TOMLKitError, RecursionError) as error:
            raise UserError(f"{path} is not a baseline ({error}); `opera baseline update` writes one") from error
        key, count = next(iter(Counter(each.key for each in self.failures).most_common(1)), (("", None), 1))
        if count > 1:
            what = f"the fingerprint {key[0]}" if key[1] is None else f"the fingerprint {key[0]} and the condition {key[1]}"
            raise UserError(f"{path}: two tables have {what}; remove one of them")

    @classmethod
    def existing(cls, path: Path) -> Self:
        """The baseline in *path*; raises UserError if the file does not exist."""
        if not path.is_file():
            raise UserError(f"{path} does not exist; `opera baseline update {quoted(str(path))}` writes it")
        return cls(path)

    def _tables(self) -> list[Table]:
        return list(cast("list[Table]", self._document.get(_TABLE, [])))

    def check(self, failures: list[KnownFailure], tested: Collection[str], subjects: Collection[str]) -> BaselineCheck:
        """Holds *failures* against the baseline.

        Args:
            failures: Failures of the results that are checked.
            tested: The first digits of the hashes of every instance that was tested.
            subjects: Subjects, or exporters with their frontends, that were tested.
        """
        found = match(self.failures, failures)
        gone = [each for each in found.gone if each.subject in subjects and each.instances & set(tested)]
        return BaselineCheck(found, tuple(gone), tuple(each for each in found.gone if each not in gone), frozenset(tested))

    def update(self, check: BaselineCheck) -> None:
        """Takes over what *check* found: new failures are added, changed ones adapted, gone ones removed. Untested ones stay."""
        matched: dict[Key, list[KnownFailure]] = {}
        for old, new in (*check.matching.same, *check.matching.changed):
            matched.setdefault(old.key, []).append(new)
        gone = {each.key for each in check.gone}
        wanted: dict[Key, tuple[Table | None, KnownFailure]] = {}

        def want(failure: KnownFailure, table: Table | None = None) -> None:
            there = wanted.get(failure.key)
            if there is None:
                wanted[failure.key] = table, failure
            else:
                wanted[failure.key] = there[0] or table, replace(there[1], instances=there[1].instances | failure.instances)

        for old, table in zip(self.failures, self._tables(), strict=True):
            if old.key in gone:
                continue
            untested = replace(old, instances=old.instances - check.tested)
            for index, new in enumerate(matched.get(old.key, [])):
                known = new if old.condition is None else replace(new, condition=old.condition)
                want(replace(known, instances=new.instances | untested.instances) if index == 0 else known, table if index == 0 else None)
            if old.key not in matched:
                want(old, table)
        for each in check.matching.unknown:
            want(each)
        self._replace_tables(wanted.values())

    def _replace_tables(self, wanted: Collection[tuple[Table | None, KnownFailure]]) -> None:
        """Keeps the tables in *wanted*, brought up to date, and adds a table for each failure that has none."""
        tables: Any = self._document.get(_TABLE)
        if tables is None:
            tables = tomlkit.aot()
            self._document.append(_TABLE, tables)
        kept = {id(table) for table, _ in wanted if table is not None}
        for place in reversed([place for place, table in enumerate(tables) if id(table) not in kept]):
            del tables[place]
        for table, failure in wanted:
            if table is None:
                tables.append(_fill(tomlkit.table(), failure))
            else:
                _fill(table, failure)

    def write(self) -> None:
        """Writes the file, whole or not at all."""
        with output(self.path, in_place=True) as file:
            file.write(tomlkit.dumps(self._document).encode())


@dataclass(frozen=True)
class BaselineCheck:
    """The outcome of a comparison with a baseline.

    Attributes:
        matching: Known, changed and new failures.
        gone: Known failures whose instances were tested and did not fail that way.
        untested: Known failures without a tested instance.
        tested: The first digits of the hashes of every instance that was tested.
    """

    matching: Matching
    gone: tuple[KnownFailure, ...]
    untested: tuple[KnownFailure, ...]
    tested: frozenset[str] = frozenset()

    @property
    def clean(self) -> bool:
        """Whether the baseline describes the results: nothing new, nothing undecided, nothing gone."""
        return not (self.matching.unknown or self.gone)


def _fill(table: Table, failure: KnownFailure) -> Table:
    values: dict[str, Any] = {name: getattr(failure, name) for name in _TEXTS}
    values["instances"] = sorted(failure.instances)
    values["summary"] = failure.summary
    if failure.condition is not None:
        values["condition"] = one_line(failure.condition.text())
        values["trigger"] = json.dumps(failure.condition.document())
    for name, value in values.items():
        if name not in table or table[name] != value:
            table[name] = value
    return table
