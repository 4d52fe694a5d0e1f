"""Baselines: known failures, in a TOML file that people edit. OPERA keeps their text and order.

# opera baseline update known.toml

[[failure]]
fingerprint = "8bd3d4fa1f2e3d4c"
subject = "tvm/onnx"
verdict = "inconsistent"
stage = "compare"
converter = "SpaceToDepth._impl_v1"
kind = "values"
instances = ["5d75d80a9ec8"]
summary = "values: expected 9.0, got 36.0"
note = "reported upstream"          # yours: reports give it as the reason; any other key, and any comment, is yours too
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from opera.atomic import replacing
from opera.console import quoted
from opera.errors import UserError
from opera.triage.known_failures import KnownFailure, Matching, match
from opera.untrusted import Line, Malformed, Name, parsed_toml, read_file, typed

_MOST_BYTES = 64 * 2**20
_COMMENT = "# Known failures, one table each. `opera baseline update` adds and removes tables; comments and further keys are kept.\n"
_TABLE = "failure"
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

    def failure(self) -> KnownFailure:
        """The failure that the table names."""
        compiler, _, frontend = self.subject.partition("/")
        note = self.note if isinstance(self.note, str) else ""  # the key was always the user's own, of any type
        texts = (self.verdict, self.stage, self.converter, self.kind)
        return KnownFailure(self.fingerprint, compiler, frontend, *texts, frozenset(self.instances), self.summary, note)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

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
        fingerprint, count = next(iter(Counter(each.fingerprint for each in self.failures).most_common(1)), ("", 1))
        if count > 1:
            raise UserError(f"{path}: two tables have the fingerprint {fingerprint}; remove one of them")

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
            failures: Of the results that are checked.
            tested: The first digits of the hashes of every instance that was tested.
            subjects: Subjects, or exporters with their frontends, that were tested.
        """
        found = match(self.failures, failures)
        gone = [each for each in found.gone if each.subject in subjects and each.instances & set(tested)]
        return BaselineCheck(found, tuple(gone), tuple(each for each in found.gone if each not in gone))

    def update(self, check: BaselineCheck) -> None:
        """Takes over what *check* found: new failures are added, changed ones adapted, gone ones removed. Untested ones stay."""
        tables = {str(table["fingerprint"]): table for table in self._tables()}
        for old, new in (*check.matching.same, *check.matching.changed):
            _fill(tables[old.fingerprint], new)
        gone = {each.fingerprint for each in check.gone}
        kept: Any = self._document.get(_TABLE)
        if kept is None:
            kept = tomlkit.aot()
            self._document.append(_TABLE, kept)
        for place in reversed([place for place, table in enumerate(kept) if str(table["fingerprint"]) in gone]):
            del kept[place]
        for each in check.matching.new:
            kept.append(_fill(tomlkit.table(), each))

    def write(self) -> None:
        """Writes the file, whole or not at all."""
        with replacing(self.path) as file:
            file.write(tomlkit.dumps(self._document).encode())


@dataclass(frozen=True)
class BaselineCheck:
    """The outcome of a comparison with a baseline.

    Attributes:
        matching: Known, changed and new failures.
        gone: Known failures whose instances were tested and did not fail that way.
        untested: Known failures without a tested instance.
    """

    matching: Matching
    gone: tuple[KnownFailure, ...]
    untested: tuple[KnownFailure, ...]

    @property
    def clean(self) -> bool:
        """Whether the baseline describes the results: nothing new, nothing gone."""
        return not (self.matching.new or self.gone)


def _fill(table: Table, failure: KnownFailure) -> Table:
    values: dict[str, Any] = {name: getattr(failure, name) for name in _TEXTS}
    values["instances"] = sorted(failure.instances)
    values["summary"] = failure.summary
    for name, value in values.items():
        if name not in table or table[name] != value:
            table[name] = value
    return table
