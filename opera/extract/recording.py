"""Reads a recording while it grows. The recorded tests could write to the file too, so OPERA checks each line."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any, TypeAlias

import msgspec

from opera.errors import UserError
from opera.instrumentation.stream import FORMAT
from opera.untrusted import MAX_LINE, Count, Document, Malformed, open_file, parsed_json, typed
from opera.untrusted import Line as Text


class RecordingHeader(msgspec.Struct, frozen=True):
    """The first line of a recording: version of the format, and of the library."""

    recording: int
    version: Text = ""


class Entered(msgspec.Struct, frozen=True):
    """A part of the source begins."""

    entry: Count
    name: Text = ""


class Seen(msgspec.Struct, frozen=True):
    """A call of a new instance, an instance/1 document that is not checked yet."""

    instance: Document
    test: Text


class Unreadable(msgspec.Struct, frozen=True):
    """A call of a new instance that is damaged or too large; it has a number as others have."""


class Repeated(msgspec.Struct, frozen=True):
    """Further calls of the instance of that number."""

    again: Count
    test: Text
    calls: Count


class Dropped(msgspec.Struct, frozen=True):
    """Calls of *api* that were not recorded, and why."""

    dropped: Text
    calls: Count
    api: Text = ""


class Tested(msgspec.Struct, frozen=True):
    """A test of a suite has ended."""

    outcome: Text
    test: Text = ""
    message: Text = ""


class Finished(msgspec.Struct, frozen=True):
    """The last line: the host came to its end."""

    calls: dict[str, Count]


Line: TypeAlias = Entered | Seen | Unreadable | Repeated | Dropped | Tested | Finished
_KINDS: dict[str, Any] = {
    "recording": RecordingHeader,
    "entry": Entered,
    "instance": Seen,
    "again": Repeated,
    "dropped": Dropped,
    "outcome": Tested,
    "calls": Finished,
}
"""The key that tells a kind of line, in the order in which they are looked for."""
_NUMBERED = b'{"instance"'
"""The beginning of a line that has a number."""


class RecordingReader:
    """Hands out the lines of a recording; half a line at the end of a file whose host died is left alone.

    Attributes:
        complete: Whether the last line was seen, i.e. the host came to its end.
        malformed: Number of lines that are not of the specified form.
        version: Version of the library; empty until the first line is read.
    """

    def __init__(self, path: Path) -> None:
        self.complete = False
        self.malformed = 0
        self.version = ""
        self._path = path
        self._file: IO[bytes] | None = None
        self._rest = b""
        self._skips = False
        self._has_begun = False

    def next(self) -> Line | None:
        """The next line, None if the host has not written it yet; raises UserError for a recording of another version."""
        while (text := self._line()) is not None:
            try:
                line = _parse(text)
            except Malformed:
                self.malformed += 1
                if text.startswith(_NUMBERED):
                    return Unreadable()
                continue
            if isinstance(line, RecordingHeader):
                self._begin(line)
                continue
            self.complete = self.complete or isinstance(line, Finished)
            return line
        return None

    def close(self) -> None:
        """Closes the file of the recording."""
        if self._file is not None:
            self._file.close()

    def _line(self) -> bytes | None:
        """The next whole line; of one with more than `MAX_LINE` bytes the beginning."""
        if self._file is None:
            try:
                self._file = open_file(self._path)
            except (OSError, Malformed):
                return None
        while piece := self._file.readline(MAX_LINE):
            self._rest += b"" if self._skips else piece
            if piece.endswith(b"\n"):
                text, self._rest, self._skips = self._rest, b"", False
                return text
            if len(self._rest) >= MAX_LINE:
                self._skips, self._rest = True, self._rest[: len(_NUMBERED)]
        return None

    def _begin(self, head: RecordingHeader) -> None:
        if self._has_begun:
            self.malformed += 1
        elif head.recording != FORMAT:
            raise UserError(f"{self._path.name}: recording format {head.recording}, this version reads {FORMAT}")
        else:
            self._has_begun, self.version = True, head.version


def _parse(text: bytes) -> RecordingHeader | Line:
    tree = typed(parsed_json(text), Document)
    kind = next((kind for key, kind in _KINDS.items() if key in tree), None)
    if kind is None:
        raise Malformed("no known kind of line")
    return typed(tree, kind)
