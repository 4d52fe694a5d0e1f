"""The recording: what a recorder writes while a library's tests run, as JSON Lines.

    {"recording": 1, "library": "pytorch", "version": "2.13.0", "source": "opinfo"}     first line
    {"entry": 12, "name": "nn.functional.conv2d::float32"}                               a part of the source begins
    {"instance": <instance/1 document>, "source": "opinfo", "test": "opinfo::..."}      an instance, when first seen
    {"again": 0, "test": "opinfo::...", "calls": 3}                                      the instance of that number, called again
    {"dropped": "tensor-subclass", "api": "torch.add", "calls": 7}                       calls that could not be written down
    {"calls": {"opinfo": 8123}}                                                          last line: all calls, dropped ones included

A recording without its last line was cut off: its host died. Everything before that is still good. Memory stays flat but for 16
bytes of key per distinct instance.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Dict, Sequence, Tuple

from .wire import Json

FORMAT = 1
Document = Dict[str, Json]
Loose = Tuple[Document, Document]
"""The content of a tensor whose values were drawn at random, and the part of it that tells instances apart."""


def dump(tree: Json) -> str:
    """Compact JSON in one line."""
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


class Stream:
    """Writes one recording; a context manager that writes the last line only when the host came to its end."""

    def __init__(self, path: str, library: str, version: str, source: str) -> None:
        self.source = source
        self._file = open(path, "w", encoding="ascii", buffering=1 << 16)  # noqa: SIM115
        self._known: Dict[bytes, int] = {}
        self._again: Dict[Tuple[int, str], int] = {}
        self._dropped: Dict[Tuple[str, str], int] = {}
        self._calls = 0
        self._test = ""
        self._write({"recording": FORMAT, "library": library, "version": version, "source": source})

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._flush()
        if kind is None:
            self._write({"calls": {self.source: self._calls}})
        self._file.close()

    def enter(self, index: int, name: str) -> None:
        """Says that the part *index* of the source begins; what was written so far survives the death of the process."""
        self._flush()
        self._write({"entry": index, "name": name})
        self._file.flush()

    def begin(self, test: str) -> None:
        """Names the test under which the following calls are made."""
        if test != self._test:
            self._flush_again()
            self._file.flush()
            self._test = test

    def record(self, document: Document, loose: Sequence[Loose] = ()) -> None:
        """Writes the instance *document*, or counts it when an equal one was written before."""
        self._calls += 1
        key = _key(document, loose)
        index = self._known.get(key)
        if index is None:
            text = dump({"instance": document, "source": self.source, "test": self._test})
            self._known[key] = len(self._known)
            self._file.write(text + "\n")
        else:
            slot = (index, self._test)
            self._again[slot] = self._again.get(slot, 0) + 1

    def drop(self, reason: str, api: str) -> None:
        """Counts a call that cannot be written down."""
        self._calls += 1
        self._dropped[reason, api] = self._dropped.get((reason, api), 0) + 1

    def _flush(self) -> None:
        self._flush_again()
        for (reason, api), calls in self._dropped.items():
            self._write({"dropped": reason, "api": api, "calls": calls})
        self._dropped.clear()

    def _flush_again(self) -> None:
        for (index, test), calls in self._again.items():
            self._write({"again": index, "test": test, "calls": calls})
        self._again.clear()

    def _write(self, line: Document) -> None:
        self._file.write(dump(line) + "\n")


def _key(document: Document, loose: Sequence[Loose]) -> bytes:
    """A hash of *document* in which each loose tensor is replaced by what tells it apart."""
    whole = [dict(content) for content, _ in loose]
    for content, part in loose:
        content.clear()
        content.update(part)
    try:
        text = dump(document)
    finally:
        for (content, _), full in zip(loose, whole, strict=True):
            content.clear()
            content.update(full)
    return hashlib.blake2b(text.encode("ascii"), digest_size=16).digest()
