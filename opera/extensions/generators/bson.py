"""Reads BSON, the form of MongoDB's dumps: only the types that recorded calls have.

The format is specified at bsonspec.org. A dump is documents one after another; each begins with its length in bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO, Any

MOST_BYTES = 64 << 20
"""No document that a dump holds is as long; a longer one is a broken file."""
MAX_DEPTH = 32


class BsonError(ValueError):
    """Bytes that are no BSON; the message says where."""


def read_documents(file: IO[bytes]) -> Iterator[dict[str, Any]]:
    """The documents of a dump, one at a time.

    Raises:
        BsonError: the file ends within a document, or has a type that no recorded call has.
    """
    offset = 0
    while head := file.read(4):
        size = int.from_bytes(head, "little") if len(head) == 4 else 0
        if not 5 <= size <= MOST_BYTES:
            raise BsonError(f"no document begins at byte {offset}")
        body = file.read(size - 4)
        if len(body) != size - 4:
            raise BsonError(f"the document at byte {offset} is cut off")
        try:
            document, _ = _document(head + body, 0, 0)
        except (struct.error, IndexError, UnicodeDecodeError) as error:
            raise BsonError(f"the document at byte {offset} is malformed: {error}") from error
        yield document
        offset += size


def _document(data: bytes, place: int, depth: int) -> tuple[dict[str, Any], int]:
    """The document at *place*, and the place after it."""
    if depth > MAX_DEPTH:
        raise BsonError(f"documents are nested deeper than {MAX_DEPTH}")
    end = place + struct.unpack_from("<i", data, place)[0]
    place += 4
    found: dict[str, Any] = {}
    while data[place] != 0:
        kind = data[place]
        stop = data.find(b"\0", place + 1)
        if stop < 0:
            raise BsonError("a key without an end")
        key = data[place + 1 : stop].decode("utf-8")
        found[key], place = _value(kind, data, stop + 1, depth)
    if place + 1 != end:
        raise BsonError(f"a document of {end} bytes ends at byte {place + 1}")
    return found, end


def _value(kind: int, data: bytes, place: int, depth: int) -> tuple[Any, int]:
    if kind in _NUMBERS:
        code, size = _NUMBERS[kind]
        return struct.unpack_from(code, data, place)[0], place + size
    if kind in (0x02, 0x0D, 0x0E):
        size = _size(data, place, 1)
        return data[place + 4 : place + 3 + size].decode("utf-8"), place + 4 + size
    if kind == 0x03:
        return _document(data, place, depth + 1)
    if kind == 0x04:
        items, after = _document(data, place, depth + 1)
        return list(items.values()), after
    if kind == 0x05:
        size = _size(data, place, 0)
        return data[place + 5 : place + 5 + size], place + 5 + size
    if kind == 0x07:
        return data[place : place + 12].hex(), place + 12
    if kind == 0x08:
        return data[place] != 0, place + 1
    if kind in (0x06, 0x0A):
        return None, place
    raise BsonError(f"type 0x{kind:02x} at byte {place}, which no recorded call has")


def _size(data: bytes, place: int, least: int) -> int:
    """The length that stands at *place*; the bytes that it announces have to be there."""
    (size,) = struct.unpack_from("<i", data, place)
    if not least <= size <= len(data) - place:
        raise BsonError(f"a value of {size} bytes at byte {place}")
    return size


_NUMBERS = {0x01: ("<d", 8), 0x09: ("<q", 8), 0x10: ("<i", 4), 0x11: ("<Q", 8), 0x12: ("<q", 8)}
"""Type byte to the format of the number and its bytes: double, date, int32, timestamp, int64."""
