"""The recording: what a recorder writes while a library's tests run, as JSON Lines.

    {"recording": 1, "library": "pytorch", "version": "2.13.0", "source": "opinfo"}     first line
    {"entry": 12, "name": "nn.functional.conv2d::float32"}                               a part of the source begins
    {"instance": <instance/1 document>, "source": "opinfo", "test": "opinfo::..."}      an instance, when first seen
    {"again": 0, "test": "opinfo::...", "calls": 3}                                      the instance of that number, called again
    {"dropped": "tensor-subclass", "api": "torch.add", "calls": 7}                       calls that could not be written down
    {"test": "suite::test_nn.py::test_x", "outcome": "passed", "seconds": 0.1}           a test of a suite has ended
    {"calls": {"opinfo": 8123}}                                                          last line: all calls, dropped ones included

A recording without its last line was cut off: its host died. Everything before that is still good. It grows with distinct instances
and with tests, never with calls: an instance names at most `TESTS` tests, what all others call is summed up under the test `*`.
Memory stays flat but for some 100 bytes per distinct instance.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
import weakref
from typing import Any, Dict, Hashable, Sequence, Tuple

from .wire import Json

FORMAT = 1
FLOOD = 256
"""New instances that a recording takes of calls which differ in nothing but numbers: a loop over the elements of a tensor has no end."""
FLUSH_SECONDS = 5.0
"""What is only summed up is written at least so often, between two tests, so that little of it dies with the process."""
TESTS = 10
OTHERS = "*"
Document = Dict[str, Json]
Loose = Tuple[Document, Document]
"""The content of a tensor whose values were drawn at random, and the part of it that tells instances apart."""


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False, check_circular=False).encode


def dump(tree: Json) -> str:
    """Compact JSON in one line."""
    return _encode(tree)


def fingerprint(tree: Json) -> bytes:
    """A short hash of *tree*."""
    return hashlib.blake2b(dump(tree).encode("ascii"), digest_size=16).digest()


class Drops:
    """Counts the calls of one API that are dropped for one reason; add to `calls`."""

    def __init__(self, reason: str, api: str) -> None:
        self.reason = reason
        self.api = api
        self.calls = 0


class Stream:
    """Writes one recording; a context manager that writes the last line only when the host came to its end.

    Threads may share one. A process that a test forks off keeps silent: its calls are not seen.
    """

    def __init__(self, path: str, library: str, version: str, source: str) -> None:
        self.source = source
        self._file = open(path, "w", encoding="ascii", buffering=1)  # noqa: SIM115
        self._lock = threading.Lock()
        self._known: Dict[bytes, int] = {}
        self._tests = bytearray()
        self._again: Dict[int, int] = {}
        self._others: Dict[int, int] = {}
        self._dropped: Dict[Tuple[str, str], Drops] = {}
        self._outlines: Dict[int, int] = {}
        self._calls = self._first = 0
        self._flushed = time.monotonic()
        self._test = ""
        self._write({"recording": FORMAT, "library": library, "version": version, "source": source})
        os.register_at_fork(after_in_child=_silencer(self))

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

    def begin(self, test: str) -> None:
        """Names the test under which the following calls are made."""
        if test != self._test:
            if time.monotonic() - self._flushed > FLUSH_SECONDS:
                self._flush()
            with self._lock:
                self._flush_again()
                self._test = test
                self._first = len(self._tests)

    @property
    def test(self) -> str:
        """The test that runs now."""
        return self._test

    def flooded(self, outline: Hashable) -> bool:
        """Whether the recording has its share of new instances of that *outline*, a call without its numbers; counts one more."""
        key = hash(outline)
        count = self._outlines[key] = min(self._outlines.get(key, 0) + 1, FLOOD + 1)
        return count > FLOOD

    def outcome(self, test: str, outcome: str, seconds: float, message: str = "") -> None:
        """Says how a test of a suite has ended: `passed`, `failed`, `skipped`, or `error` where it could not be run."""
        line: Document = {"test": test, "outcome": outcome, "seconds": round(seconds, 4)}
        if message:
            line["message"] = message
        with self._lock:
            self._write(line)

    def record(self, document: Document, loose: Sequence[Loose] = ()) -> int:
        """Writes the instance *document*, or counts it when an equal one was written before; returns its number in the recording."""
        key = _key(document, loose)
        index = self._known.get(key)
        if index is None:
            index = self._known[key] = self.write(document)
        else:
            self.again(index)
        return index

    def write(self, document: Document) -> int:
        """Writes the instance *document* of a caller that knows which ones it has written; returns its number."""
        text = dump({"instance": document, "source": self.source, "test": self._test}) + "\n"
        with self._lock:
            self._calls += 1
            self._file.write(text)
            self._tests.append(1)
            return len(self._tests) - 1

    def again(self, index: int) -> None:
        """Counts a further call of the instance of that number. Without a lock: of calls that threads make at once one may go uncounted."""
        again = self._again
        again[index] = again.get(index, 0) + 1

    def drop(self, reason: str, api: str) -> None:
        """Counts a call that cannot be written down."""
        self.drops(reason, api).calls += 1

    def drops(self, reason: str, api: str) -> Drops:
        """The count of such calls, for those who have many."""
        found = self._dropped.get((reason, api))
        if found is None:
            found = self._dropped[reason, api] = Drops(reason, api)
        return found

    def silence(self) -> None:
        """Writes nothing any more; in a process that was forked off, where file and lock are copies."""
        self._lock = threading.Lock()
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._file.fileno())
            os.close(nowhere)

    def _flush(self) -> None:
        self._flushed = time.monotonic()
        with self._lock:
            self._flush_again()
            for index, calls in self._others.items():
                self._write({"again": index, "test": OTHERS, "calls": calls})
            self._others.clear()
            for drops in list(self._dropped.values()):
                calls, drops.calls = drops.calls, 0
                if calls:
                    self._calls += calls
                    self._write({"dropped": drops.reason, "api": drops.api, "calls": calls})

    def _flush_again(self) -> None:
        pending, self._again = self._again, {}
        for index, calls in pending.items():
            self._calls += calls
            if index >= self._first or self._tests[index] < TESTS:
                self._tests[index] += index < self._first  # the test that was the first to call it is counted already
                self._write({"again": index, "test": self._test, "calls": calls})
            else:
                self._others[index] = self._others.get(index, 0) + calls

    def _write(self, line: Document) -> None:
        self._file.write(dump(line) + "\n")


def _silencer(stream: Stream) -> Any:
    """What a forked process calls; it keeps no stream alive."""
    reference = weakref.ref(stream)

    def silence() -> None:
        found = reference()
        if found is not None:
            found.silence()

    return silence


def _key(document: Document, loose: Sequence[Loose]) -> bytes:
    """A hash of *document* in which each loose tensor is replaced by what tells it apart."""
    whole = [dict(content) for content, _ in loose]
    for content, part in loose:
        content.clear()
        content.update(part)
    try:
        return fingerprint(document)
    finally:
        for (content, _), full in zip(loose, whole):  # noqa: B905 (strict is newer than some library's Python)
            content.clear()
            content.update(full)
