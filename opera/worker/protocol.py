"""Length-prefixed JSON messages over a pair of file descriptors. Nothing that arrives is ever unpickled."""

from __future__ import annotations

import json
import math
import os
import re
import struct
from typing import Any, cast

Message = dict[str, Any]

MAX_MESSAGE = 256 * 2**20
MOST_NESTED = 200
"""Values within values in one message: what a recursion over them takes without trouble."""
_HEADER = struct.Struct(">I")
_READ_SIZE = 1 << 20


class ProtocolError(Exception):
    """The other side sent something that is no message."""


def pack(message: Message) -> bytes:
    """The bytes of *message*; characters that are not valid Unicode are escaped, so that any text can travel."""
    body = json.dumps(message, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
    if len(body) > MAX_MESSAGE:
        raise ProtocolError(f"a message of {len(body)} bytes exceeds the limit of {MAX_MESSAGE}")
    return _HEADER.pack(len(body)) + body


def write_all(fd: int, data: bytes) -> None:
    """Writes all of *data* to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


class Reader:
    """Turns the bytes of one descriptor into messages."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._buffer = bytearray()
        self.closed = False

    def feed(self) -> None:
        """Reads once; sets `closed` at the end of the stream."""
        try:
            data = os.read(self._fd, _READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.closed = True
        self._buffer += data

    def next(self) -> Message | None:
        """The next complete message, or None when more bytes are needed; numbers are finite, and values nested `MOST_NESTED` deep at most.

        Raises:
            ProtocolError: the bytes are no message.
        """
        if len(self._buffer) < _HEADER.size:
            return None
        (length,) = _HEADER.unpack_from(self._buffer)
        if length > MAX_MESSAGE:
            raise ProtocolError(f"a message header announces {length} bytes")
        end = _HEADER.size + length
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[_HEADER.size : end])
        del self._buffer[:end]
        return parsed(body)

    def wait(self) -> Message | None:
        """Blocks until a message is complete; None at the end of the stream."""
        while (message := self.next()) is None:
            if self.closed:
                return None
            self.feed()
        return message


def parsed(body: bytes) -> Message:
    """The message that *body* is; raises ProtocolError where it is none."""
    try:
        text = body.decode("utf-8")
        message = (_CAREFUL if _MAY_BE_INFINITE.search(body) else _FAST).decode(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not JSON: {body[:80]!r}") from error
    if not isinstance(message, dict):
        raise ProtocolError(f"not a message: {body[:80]!r}")
    if body.count(b"[") + body.count(b"{") > MOST_NESTED and _depth(message) > MOST_NESTED:
        raise ProtocolError(f"nested more than {MOST_NESTED} deep: {body[:80]!r}")
    return cast(Message, message)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"not a finite number: {text}")
    return number


_FAST = json.JSONDecoder(parse_constant=_finite)
_CAREFUL = json.JSONDecoder(parse_constant=_finite, parse_float=_finite)
_MAY_BE_INFINITE = re.compile(rb"[eE]\+?\d{3}|\d{309}")


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            inner for each in level if isinstance(each, (dict, list))
            for inner in (cast("dict[str, Any]", each).values() if isinstance(each, dict) else cast("list[Any]", each))
        ]  # fmt: skip
    return depth
