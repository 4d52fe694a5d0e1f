"""Length-prefixed JSON messages over a pair of file descriptors. No message is unpickled."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from typing import Any, cast

Message = dict[str, Any]

MAX_MESSAGE = 256 * 2**20
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


def unpack(body: bytes, decode: Callable[[bytes], object] = json.loads) -> Message:
    """The message that *body* is; raises ProtocolError where *decode* or the form of a message refuses it."""
    try:
        message = decode(body)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not JSON: {body[:80]!r}") from error
    if not isinstance(message, dict):
        raise ProtocolError(f"not a message: {body[:80]!r}")
    return cast(Message, message)


def write_all(fd: int, data: bytes) -> None:
    """Writes all of *data* to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


class Reader:
    """Turns the bytes of one descriptor into messages.

    Args:
        fd: The descriptor.
        decode: Makes a value of the bytes of a message, or raises ValueError. A worker may trust its driver; who reads what a worker
            says uses `opera.workers.messages.parsed`.
    """

    def __init__(self, fd: int, decode: Callable[[bytes], object] = json.loads) -> None:
        self._fd = fd
        self._decode = decode
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
        """The next complete message, or None when more bytes are needed.

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
        return unpack(body, self._decode)

    def wait(self) -> Message | None:
        """Blocks until a message is complete; None at the end of the stream."""
        while (message := self.next()) is None:
            if self.closed:
                return None
            self.feed()
        return message
