"""How far an extraction has come, file by file, so that the same command goes on after an interruption."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opera.store.database import Workspace
from opera.untrusted import inflated


@dataclass(frozen=True)
class EndedFile:
    """A file of a suite that has been run.

    Attributes:
        entry: Its path within the suite.
        mark: Hash of the file and of the settings under which it ran: under another mark it runs again.
        facts: Calls, dropped calls by reason, outcomes of its tests, and how it failed if it did.
        digests: The identities of its distinct instances.
    """

    entry: str
    mark: str
    facts: Mapping[str, Any]
    digests: frozenset[bytes]


class ExtractionProgress:
    """The files that an unfinished extraction of one source has behind it."""

    def __init__(self, workspace: Workspace, library: str, source: str) -> None:
        self._workspace = workspace
        self._place = (library, source)

    def ended(self) -> dict[str, EndedFile]:
        """All of them, by path."""
        query = "SELECT entry, mark, ended, digests FROM extraction_progress WHERE library = ? AND source = ? ORDER BY entry"
        rows = self._workspace.database.execute(query, self._place)
        return {entry: EndedFile(entry, mark, json.loads(facts), _unpack(digests)) for entry, mark, facts, digests in rows}

    def add(self, file: EndedFile) -> None:
        """Keeps one more; part of the caller's transaction, so that it stands or falls with the instances of the file."""
        row = (*self._place, file.entry, file.mark, json.dumps(dict(file.facts)), zlib.compress(b"".join(sorted(file.digests)), 1))
        self._workspace.database.execute("INSERT OR REPLACE INTO extraction_progress VALUES (?, ?, ?, ?, ?, ?)", row)

    def finish(self) -> None:
        """Forgets all of them: the extraction is complete, and the next one starts anew."""
        with self._workspace.transaction() as database:
            database.execute("DELETE FROM extraction_progress WHERE library = ? AND source = ?", self._place)


def _unpack(blob: bytes) -> frozenset[bytes]:
    whole = inflated(blob)
    return frozenset(whole[start : start + 32] for start in range(0, len(whole), 32))
