"""What a station may say, by type: it runs on another machine, beside a compiler that may say anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from opera.workers import messages
from opera.workers.failure import Failure
from opera.workers.messages import Blob, Seconds
from opera.workers.process import Done, Lost, Raised
from opera.workers.protocol import Message, ProtocolError, unpack

Notes = list[dict[str, Any]]


class Hello(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a station is."""

    machine: Annotated[str, Meta(max_length=128)]
    document: dict[str, Any]
    host: Annotated[str, Meta(max_length=256)]
    pid: int


class _Answer(Struct, frozen=True, tag_field="event", forbid_unknown_fields=True):
    notes: Notes


class _Done(_Answer, frozen=True, tag="done"):
    result: dict[str, Any]
    seconds: Seconds
    info: dict[str, Any] | None


class _Raised(_Answer, frozen=True, tag="raised"):
    stage: str
    failure: Failure
    seconds: Seconds
    info: dict[str, Any] | None


class _Lost(_Answer, frozen=True, tag="lost"):
    cause: Literal["signal", "exit", "deadline", "memory", "protocol"]
    detail: str
    stage: str
    log: str
    seconds: Seconds
    info: dict[str, Any] | None


class _Broken(_Answer, frozen=True, tag="broken"):
    message: str


def hello_of(text: object) -> Hello:
    """What a station has said first; raises ProtocolError where it is something else."""
    return messages.checked(_document(text), Hello)


def answer_of(value: object, role: str) -> tuple[Message, list[bytes]]:
    """A station's answer as a document, and the contents of the files that it has sent, whose names are hashes.

    Args:
        value: What has arrived.
        role: How the role of the worker behind it is set up.

    Raises:
        ProtocolError: no station says that.
    """
    text, files = messages.checked(value, tuple[str, dict[Blob, Any]])
    if not all(isinstance(content, bytes) for content in files.values()):
        raise ProtocolError("a file whose content is not bytes")
    document = _document(text)
    found = messages.checked(document, _Done | _Raised | _Lost | _Broken)
    if any(not isinstance(note.get("event"), str) or {"host", "self"} & note.keys() for note in found.notes):
        raise ProtocolError("a note of no event")
    if not isinstance(found, _Broken) and found.info is not None:
        messages.check_info(found.info, role)
    if isinstance(found, _Done):
        messages.check_answer(found.result, role)
    return document, list(files.values())


def _document(text: object) -> Message:
    return unpack(messages.checked(text, str).encode("utf-8", "replace"), messages.parsed)


def event_of(document: Mapping[str, Any]) -> Done | Raised | Lost:
    """The event that a checked answer tells of."""
    if document["event"] == "done":
        return Done(document["result"], document["seconds"])
    if document["event"] == "raised":
        return Raised(document["stage"], document["failure"], document["seconds"])
    return Lost(document["cause"], document["detail"], document["stage"], document["log"], document["seconds"])
