"""Reads a recording while it grows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any, cast

from opera.errors import UserError
from opera.instrumentation.stream import FORMAT

Line = dict[str, Any]


class RecordingReader:
    """Hands out the whole lines of a recording; half a line at the end of a file whose host died is left alone.

    Attributes:
        complete: Whether the last line was seen, i.e. the host came to its end.
        malformed: Number of lines that were no JSON objects.
        version: Of the library; empty until the first line is read.
    """

    def __init__(self, path: Path) -> None:
        self.complete = False
        self.malformed = 0
        self.version = ""
        self._path = path
        self._file: IO[bytes] | None = None
        self._rest = b""

    def next(self) -> Line | None:
        """The next line, None when there is none yet; raises UserError for a file that is no recording."""
        if self._file is None and not self._open():
            return None
        while (text := self._line()) is not None:
            line = _parse(text)
            if line is None:
                self.malformed += 1
            elif "recording" in line:
                self._check(line)
            else:
                self.complete = self.complete or isinstance(line.get("calls"), dict)
                return line
        return None

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()

    def _open(self) -> bool:
        try:
            self._file = self._path.open("rb")
        except FileNotFoundError:
            return False
        return True

    def _line(self) -> bytes | None:
        file = cast("IO[bytes]", self._file)
        self._rest += file.readline()
        if not self._rest.endswith(b"\n"):
            return None
        text, self._rest = self._rest, b""
        return text

    def _check(self, line: Line) -> None:
        if line["recording"] != FORMAT:
            raise UserError(f"{self._path.name}: recording format {line['recording']!r}, this version reads {FORMAT}")
        self.version = str(line.get("version", ""))


def _parse(text: bytes) -> Line | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return cast(Line, line) if isinstance(line, dict) else None
