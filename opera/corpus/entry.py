"""One line of a corpus file: an instance and where it came from. Reading one trusts nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, cast

import msgspec

from opera.instance import Instance, Occurrence, Opaque, decode_instance, digest, encode_instance
from opera.instance.values import walk
from opera.instrumentation import wire
from opera.untrusted import MOST_NUMBER, Document, Line, Malformed, Name, parsed_json, typed


@dataclass(frozen=True)
class Entry:
    """An instance with its provenance, at least one occurrence."""

    instance: Instance
    provenance: tuple[Occurrence, ...]


def dump(document: Any) -> str:
    """*document* as JSON on one line, in ASCII."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def parse(text: bytes) -> Document:
    """The JSON object that *text* is; raises Malformed for anything else, NaN among it."""
    tree = parsed_json(text)
    if not isinstance(tree, dict):
        raise Malformed("not a JSON object")
    return cast(Document, tree)


def encode_entry(entry: Entry) -> dict[str, Any]:
    """The document of *entry*, all tensors inside."""
    provenance = [{"source": each.source, "test": each.test, "calls": each.calls} for each in entry.provenance]
    return {"id": digest(entry.instance), "instance": encode_instance(entry.instance), "provenance": provenance}


def decode_entry(document: Document, place: str) -> Entry:
    """Inverse of `encode_entry`. The `id` is not looked at: an identity is what the content hashes to.

    Args:
        document: A JSON object.
        place: The test to name where the document has no provenance, with source `imported`.

    Raises:
        ValueError: it is no entry, or its instance could not be stored or called; the message says what is wrong.
    """
    if "instance" not in document:
        raise Malformed("no `instance`")
    instance = decode_instance(document["instance"])
    check_instance(instance)
    rows = document.get("provenance")
    try:
        found = [] if rows is None else typed(rows, list[_Provenance])
    except Malformed as error:
        raise Malformed(f"malformed `provenance`: {error}") from error
    return Entry(instance, tuple(each.occurrence() for each in found) or (Occurrence("imported", place),))


class _Provenance(msgspec.Struct):
    """One entry of `provenance`."""

    source: Name
    test: Line
    calls: Annotated[int, msgspec.Meta(ge=1, le=MOST_NUMBER)] = 1

    def occurrence(self) -> Occurrence:
        """Raises ValueError for text that cannot be written as UTF-8."""
        (self.source + self.test).encode("utf-8")
        return Occurrence(self.source, self.test, self.calls)


def check_instance(instance: Instance) -> None:
    """Raises ValueError for what the format allows to be written and nobody can call or store."""
    for text in (instance.api, *(argument.name for argument in instance.arguments())):
        wire.text(text)
    for value in (*(argument.value for argument in instance.arguments()), *(value for _, value in instance.context)):
        for part in walk(value):
            if isinstance(part, Opaque):
                raise ValueError(f"it holds a value that cannot be rebuilt ({part.type}: {part.reason})")
    digest(instance)
