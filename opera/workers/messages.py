"""The messages that a worker may send, by type. The driver accepts no other message, because the compiler in a worker may send anything.

A worker can run where neither OPERA nor msgspec is installed; what it sends is written down in `opera.workers.child`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, cast

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder

from opera.oracles.verdict import Failure
from opera.untrusted import Malformed, typed
from opera.workers.protocol import Message, ProtocolError

MOST_NESTED = 200
"""Values within values in one message: what a recursion over them takes without trouble."""
_FAST = Decoder()

Blob = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
"""The name of a file of the cache."""
Seconds = dict[str, Annotated[float, Meta(ge=0)]]


class ReadyMessage(Struct, frozen=True, tag_field="is", tag="ready", forbid_unknown_fields=True):
    """The role is set up."""

    info: Message


class BrokenMessage(Struct, frozen=True, tag_field="is", tag="broken", forbid_unknown_fields=True):
    """The role cannot be set up."""

    failure: Failure


class ForkedMessage(Struct, frozen=True, tag_field="is", tag="forked", forbid_unknown_fields=True):
    """A task is done in the copy *pid* of the worker."""

    task: int
    pid: Annotated[int, Meta(gt=1, lt=2**31)]


class DoneMessage(Struct, frozen=True, tag_field="is", tag="done", forbid_unknown_fields=True):
    """A task ended with a result; *spent* says that the process can do no further one."""

    task: int
    result: Message
    seconds: Seconds
    spent: bool = False


class RaisedMessage(Struct, frozen=True, tag_field="is", tag="raised", forbid_unknown_fields=True):
    """A task ended with an exception."""

    task: int
    failure: Failure
    stage: str
    seconds: Seconds
    spent: bool = False


class DiedMessage(Struct, frozen=True, tag_field="is", tag="died", forbid_unknown_fields=True):
    """The copy that did a task has ended; *status* is what `waitpid` says."""

    task: int
    status: Annotated[int, Meta(ge=0, lt=2**16)]


Said = ReadyMessage | BrokenMessage | ForkedMessage | DoneMessage | RaisedMessage | DiedMessage


@dataclass(frozen=True)
class Answers:
    """The messages that workers of a role may send, as types of msgspec.

    Attributes:
        info: Of itself, when it is ready.
        answers: To a task, by what stands under `is`.
    """

    info: type
    answers: Mapping[str, type]


ROLES: dict[str, Answers] = {}
"""By how a role is set up. Who employs workers adds theirs; a role that is not here may answer with any JSON object."""


def parsed(body: bytes) -> object:
    """The value that *body*, JSON of a worker, is. Its numbers are finite, and it is nested `MOST_NESTED` deep at most.

    Raises:
        ValueError, RecursionError: it is no such value.
    """
    try:
        value = _FAST.decode(body)
    except DecodeError:  # also for half of a character, which a message may hold
        value = json.loads(body.decode("utf-8"), parse_constant=_finite, parse_float=_finite)
    if body.count(b"[") + body.count(b"{") > MOST_NESTED and _depth(value) > MOST_NESTED:
        raise ValueError(f"nested more than {MOST_NESTED} deep")
    return value


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"not a finite number: {text}")
    return number


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (cast("dict[str, object]", each).values() if isinstance(each, dict) else cast("list[object]", each))
        ]
    return depth


def said(message: Message, role: str) -> Said:
    """The decoded *message* of a worker of *role*.

    Raises:
        ProtocolError: a worker never says that.
    """
    found = checked(message, Said)
    if isinstance(found, ReadyMessage):
        check_info(found.info, role)
    elif isinstance(found, DoneMessage):
        check_answer(found.result, role)
    return found


def check_info(info: Message, role: str) -> None:
    """Raises ProtocolError where *info* is not what a worker of that role says of itself."""
    if role in ROLES:
        checked(info, ROLES[role].info)


def check_answer(answer: Message, role: str) -> None:
    """Raises ProtocolError where *answer* is not what a worker of that role answers."""
    if role in ROLES:
        tag = str(answer.get("is"))
        kind = ROLES[role].answers.get(tag)
        if kind is None:
            raise ProtocolError(f"unexpected message: an answer that is {tag[:40]!r}")
        checked(answer, kind)


def checked(document: object, form: Any) -> Any:
    """*document* as an object of the type *form*; raises ProtocolError if it is not one."""
    try:
        return typed(document, form)
    except Malformed as error:
        raise ProtocolError(f"unexpected message: {error}") from error
