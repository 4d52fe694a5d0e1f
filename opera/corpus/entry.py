"""One line of a corpus file: an instance and where it came from. Reading one trusts nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from opera.instance import Instance, Occurrence, Opaque, Tensor, decode_instance, digest, encode_instance
from opera.instance.values import walk

_MOST_CALLS = 2**53


@dataclass(frozen=True)
class Entry:
    """An instance with its provenance, at least one occurrence."""

    instance: Instance
    provenance: tuple[Occurrence, ...]


def dump(document: Any) -> str:
    """*document* as JSON on one line, in ASCII."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def parse(text: bytes) -> dict[str, Any]:
    """The JSON object that *text* is; raises ValueError for anything else, NaN among it."""
    try:
        document = json.loads(text, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ValueError("not a JSON object")
    return cast("dict[str, Any]", document)


def encode_entry(entry: Entry) -> dict[str, Any]:
    """The document of *entry*, all tensors inside."""
    provenance = [{"source": each.source, "test": each.test, "calls": each.calls} for each in entry.provenance]
    return {"id": digest(entry.instance), "instance": encode_instance(entry.instance), "provenance": provenance}


def decode_entry(document: dict[str, Any], place: str) -> Entry:
    """Inverse of `encode_entry`. The `id` is not looked at: an identity is what the content hashes to.

    Args:
        document: A JSON object.
        place: The test to name where the document has no provenance, with source `imported`.

    Raises:
        ValueError: it is no entry, or its instance could not be stored or called; the message says what is wrong.
    """
    if "instance" not in document:
        raise ValueError("no `instance`")
    try:
        instance = decode_instance(document["instance"])
        check_instance(instance)
    except (TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"malformed instance: {type(error).__name__}: {error}") from error
    return Entry(instance, tuple(_provenance(document.get("provenance"))) or (Occurrence("imported", place),))


def check_instance(instance: Instance) -> None:
    """Refuses what the format allows to be written and nobody can store or call; raises ValueError, or TypeError for odd names."""
    for text in _names(instance):
        if not isinstance(text, str):
            raise ValueError(f"a name is text, not {text!r}")
        text.encode("utf-8")
    for value in _values(instance):
        if isinstance(value, Opaque):
            raise ValueError(f"it holds a value that cannot be rebuilt ({value.type}: {value.reason})")
        if isinstance(value, Tensor) and value.dtype == "string" and value.data is not None:
            _check_strings(value)
    digest(instance)


def _names(instance: Instance) -> Iterator[Any]:
    yield from (instance.library, instance.api, instance.exception or "")
    yield from (argument.name for argument in instance.arguments())
    yield from (name for name, _ in (*instance.context, *instance.defaults))


def _values(instance: Instance) -> Iterator[Any]:
    for value in (*(argument.value for argument in instance.arguments()), *(value for _, value in instance.context)):
        yield from walk(value)


def _check_strings(tensor: Tensor) -> None:
    items: object = json.loads(tensor.data or b"[]")
    if not isinstance(items, list) or not all(isinstance(item, str) for item in cast("list[object]", items)):
        raise ValueError("the elements of a string tensor are a JSON array of texts")
    if len(cast("list[object]", items)) != tensor.size:
        raise ValueError(f"{len(cast('list[object]', items))} elements for a string tensor of shape {tensor.shape}")


def _provenance(rows: object) -> Iterator[Occurrence]:
    if rows is None:
        return
    if not isinstance(rows, list):
        raise ValueError("`provenance` is a list")
    for row in cast("list[Any]", rows):
        if not isinstance(row, dict):
            raise ValueError("an entry of `provenance` is an object with source, test and calls")
        found = cast("dict[str, Any]", row)
        source, test, calls = found.get("source"), found.get("test"), found.get("calls", 1)
        if not isinstance(source, str) or not source or not isinstance(test, str):
            raise ValueError("an entry of `provenance` needs a source and a test")
        if type(calls) is not int or not 0 < calls <= _MOST_CALLS:
            raise ValueError(f"`calls` is a positive number, not {calls!r}")
        (source + test).encode("utf-8")
        yield Occurrence(source, test, calls)


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")
