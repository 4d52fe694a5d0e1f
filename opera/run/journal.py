"""What happens in a workspace's campaigns, one JSON object a line: `log.jsonl`, and the part before it once that has grown large."""

from __future__ import annotations

import contextlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from opera.atomic import append

NAME = "log.jsonl"
EARLIER = "log.1.jsonl"
LARGEST = 64 * 2**20
"""Bytes after which a new file is begun; the one before the earlier one goes."""


class Journal:
    """Open for appending. A line that cannot be written is left out: a full disk shall not end what the journal only tells of."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines: list[str] = []

    def note(self, event: str, **fields: Any) -> None:
        """Notes an event; it is written with the next `flush`."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._lines.append(json.dumps({"time": now, "event": event, **fields}))

    def flush(self) -> None:
        """Writes what was noted since the last time."""
        if not self._lines:
            return
        data = "".join(line + "\n" for line in self._lines).encode()
        self._lines.clear()
        path = self._folder / NAME
        with contextlib.suppress(OSError):
            if path.exists() and path.stat().st_size + len(data) > LARGEST:
                os.replace(path, self._folder / EARLIER)
            append(path, data)
