"""Reads foreign data: bounded in size and depth, typed, and never executed.

Every file, row and message that this process did not write itself passes one of these functions. What does not fit raises
`Malformed`, which says what is wrong; the caller adds the place, and leaves the part out or ends with a message.
"""

from __future__ import annotations

import gzip
import io
import tomllib
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO, Annotated, Any, TypeVar, cast

import msgspec

from opera.atomic import MOST_BYTES as MOST_BYTES
from opera.atomic import open_file as open_file
from opera.atomic import read_file as read_file
from opera.bounded_json import JsonObject as JsonObject
from opera.bounded_json import JsonValue as JsonValue
from opera.bounded_json import Malformed, parsed_json

T = TypeVar("T")

MAX_LINE = 64 * 2**20
"""Bytes of a line: a longer one is nothing that can be used."""
_GZIP = b"\x1f\x8b"
MOST_NUMBER = 2**53
"""Counts are smaller: JSON's readers agree on integers up to here."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
"""A name: of an API, a source, a compiler, a file."""
Line = Annotated[str, msgspec.Meta(max_length=100_000)]
"""A text that a person may be shown a part of."""
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST_NUMBER)]
"""A number of things."""
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
"""A duration in seconds, not negative."""
Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
"""A SHA-256 in hexadecimal digits: the name of a file with that content."""
Document = dict[str, object]
"""A JSON object whose content the caller looks at part by part."""


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file, unpacked where it is packed with gzip, each with its number from 1 on; empty ones are passed over.

    Raises:
        Malformed: the file is damaged from here on, or has a line of more than `MAX_LINE` bytes; the message has the number.
        OSError: it cannot be opened.
    """
    number = 0
    with open_file(path) as file:
        packed = cast(io.BufferedReader, file).peek(2)[:2] == _GZIP
        content = cast("IO[bytes]", gzip.GzipFile(fileobj=file, mode="rb")) if packed else file
        try:
            while line := content.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise Malformed(f"line {number} has more than {MAX_LINE >> 20} MiB; nothing after it is read")
                if line.strip():
                    yield number, line
        except (EOFError, zlib.error, OSError) as error:
            raise Malformed(f"the file is damaged from line {number + 1} on: {error}") from error


def inflated(data: bytes, most: int = MOST_BYTES) -> bytes:
    """*data* unpacked with zlib, at most *most* bytes.

    Raises:
        Malformed: it is damaged, or unpacks to more.
    """
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(data, most)
    except zlib.error as error:
        raise Malformed(f"damaged compressed data: {error}") from error
    if not unpacker.eof:
        raise Malformed(f"compressed data that are cut off, or unpack to more than {most >> 20} MiB")
    return content


def parsed_toml(data: bytes) -> Document:
    """The TOML document that *data* is.

    Raises:
        Malformed: it is not valid, or is nested too deep.
    """
    try:
        return cast(Document, tomllib.loads(data.decode("utf-8")))
    except RecursionError as error:
        raise Malformed("nested too deep") from error
    except ValueError as error:
        raise Malformed(f"not valid TOML: {error}") from error


def typed(tree: object, kind: type[T]) -> T:
    """*tree*, a value made of dictionaries, lists and scalars, as *kind*. A lone surrogate in a text becomes a question mark.

    Raises:
        Malformed: it does not fit; the message names the key.
    """
    try:
        return cast(T, msgspec.convert({"it": tree}, _holder(kind), builtin_types=(bytes,)).it)
    except RecursionError as error:
        raise Malformed("nested too deep") from error
    except UnicodeEncodeError:
        return typed(_written(tree), kind)
    except msgspec.ValidationError as error:
        what, _, place = str(error).replace("`", "").partition(" - at ")
        where = place.removeprefix("$.it").removeprefix(".")
        raise Malformed(f"{where}: {what}" if where else what) from error


@cache
def _holder(kind: Any) -> Any:
    """A class with one attribute of the type *kind*: msgspec studies a class once, but any other type at every call."""
    return msgspec.defstruct("Holder", [("it", kind)])


def _written(tree: object) -> object:
    """*tree* with texts that can be written as UTF-8."""
    if isinstance(tree, str):
        return tree.encode("utf-8", "replace").decode("utf-8")
    if isinstance(tree, (list, tuple)):
        return [_written(item) for item in cast("list[object]", tree)]
    if isinstance(tree, dict):
        return {_written(key): _written(item) for key, item in cast("dict[object, object]", tree).items()}
    return tree


def from_json(text: str | bytes, kind: type[T]) -> T:
    """The JSON value that *text* is, as *kind*; raises Malformed."""
    return typed(parsed_json(text), kind)
