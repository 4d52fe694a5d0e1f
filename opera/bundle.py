"""A structure of arrays as one file: a JSON header, then the raw bytes of every array.

The same form serves a model's inputs and its reference outputs. It has no code in it and is read without trust: sizes are checked.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import struct
import tempfile
from pathlib import Path
from typing import Any

from opera.arrays import as_array, dtype_name, from_bytes, is_array, to_bytes
from opera.instrumentation import wire
from opera.instrumentation.tensors import DTYPE_BITS

_MAGIC = b"OPERA\x01\x00\x00"
_LENGTH = struct.Struct("<Q")
_ALIGN = 64
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
MOST_BYTES = 2**31
"""Largest size of a file in bytes: every model of one operator is smaller."""
PART = ".part-"
"""How the name of a file begins that is being written. It lies in the folder of all hashes, and stays there when its writer is killed."""


class DamagedArtefact(Exception):
    """A file of the cache is not what its name says; it has to be made again."""


def dump(tree: Any) -> bytes:
    """The bytes of *tree*: scalars, strings, lists, tuples, dicts and arrays, nested at will."""
    buffers: list[bytes] = []
    offset = 0

    def foreign(value: Any) -> wire.Json:
        nonlocal offset
        if not is_array(value):
            raise wire.Unrecordable(f"no part of a bundle: {type(value).__name__}")
        array = as_array(value)
        data = to_bytes(array)
        place = offset
        padding = -len(data) % _ALIGN
        buffers.extend((data, bytes(padding)))
        offset += len(data) + padding
        return {"array": [dtype_name(array.dtype), list(array.shape), place, len(data)]}

    header = json.dumps(wire.encode(tree, foreign), separators=(",", ":")).encode("ascii")
    header += b" " * (-(len(_MAGIC) + _LENGTH.size + len(header)) % _ALIGN)
    return b"".join((_MAGIC, _LENGTH.pack(len(header)), header, *buffers))


def parse(data: bytes) -> Any:
    """Inverse of `dump`; numpy scalars come back as 0-d arrays.

    Raises:
        DamagedArtefact: *data* is no bundle.
    """
    start = len(_MAGIC) + _LENGTH.size
    if data[: len(_MAGIC)] != _MAGIC or len(data) < start:
        raise DamagedArtefact("not a bundle")
    (length,) = _LENGTH.unpack_from(data, len(_MAGIC))
    if length > len(data) - start:
        raise DamagedArtefact("bundle cut short")
    body = memoryview(data)[start + length :]

    def build(tag: str, content: Any, depth: int) -> Any:
        if tag != "array":
            raise ValueError(f"unknown tag {tag!r}")
        dtype, shape, place, size = content
        if dtype not in DTYPE_BITS or not all(type(number) is int and number >= 0 for number in (*shape, place, size)):
            raise ValueError(f"no array: {content!r}")
        return from_bytes(body[place : place + size], dtype, tuple(shape))

    try:
        return wire.decode(json.loads(data[start : start + length]), build)
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedArtefact(f"malformed bundle: {error}") from error


def store(folder: Path, data: bytes, *, durable: bool = False) -> str:
    """Writes *data* under its own hash into *folder*, at once or not at all; returns the hash.

    A file of another size, as a power cut leaves, is written again. With *durable*, a power cut afterwards leaves the whole file, and one
    that is damaged in any other way is written again too.
    """
    name = hashlib.sha256(data).hexdigest()
    target = path_of(folder, name)
    with contextlib.suppress(OSError, DamagedArtefact):
        there = target.lstat()
        if stat.S_ISREG(there.st_mode) and there.st_size == len(data) and (not durable or fetch(folder, name) == data):
            return name
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=PART)
    except FileNotFoundError:
        folder.mkdir(exist_ok=True)  # not what it lies in: a workspace that was moved away is not made again
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=PART)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        try:
            os.replace(temporary, target)
        except FileNotFoundError:
            target.parent.mkdir(exist_ok=True)
            os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return name


def fetch(folder: Path, name: str) -> bytes:
    """The data stored under *name*. Nothing is changed, so that the folder may be another user's.

    Raises:
        DamagedArtefact: the file is absent, is no regular file, or its content does not have that hash.
    """
    try:
        handle = os.open(_text_of(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb", buffering=0) as file:
            there = os.fstat(handle)
            if not stat.S_ISREG(there.st_mode) or there.st_size > MOST_BYTES:
                raise DamagedArtefact(f"{name[:12]} in the cache is no file of a model")
            data = file.readall()
    except OSError as error:
        raise DamagedArtefact(f"{name[:12]} is gone from the cache") from error
    if hashlib.sha256(data).hexdigest() != name:
        raise DamagedArtefact(f"{name[:12]} in the cache is damaged")
    return data


def fetch_made(cache: Path, name: str) -> bytes:
    """Like `fetch`, from this process' own cache: removes a damaged file, so that it is made again."""
    try:
        return fetch(cache, name)
    except DamagedArtefact:
        with contextlib.suppress(OSError, DamagedArtefact):
            path_of(cache, name).unlink()
        raise


def path_of(folder: Path, name: str) -> Path:
    """Where *name*, a SHA-256, lies in *folder*.

    Raises:
        DamagedArtefact: *name* is not a SHA-256, and might lead out of the folder.
    """
    return Path(_text_of(folder, name))


def _text_of(folder: Path, name: str) -> str:
    """`path_of` as text, which takes a fifth of the time."""
    if not is_hash(name):
        raise DamagedArtefact(f"{str(name)[:40]!r} is no name of a stored file")
    return f"{folder}/{name[:2]}/{name}"


def is_hash(name: object) -> bool:
    """Whether *name* is 64 lower-case hexadecimal digits."""
    return isinstance(name, str) and _HASH.fullmatch(name) is not None
