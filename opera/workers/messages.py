"""What a worker may say, by type. The driver takes nothing from a worker that is not one of these: the compiler in it may say anything.

A worker can run where neither OPERA nor msgspec is installed; what it sends is written down in `opera.workers.child`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder

from opera.untrusted import Malformed, typed
from opera.workers.protocol import Message, ProtocolError

MOST_NESTED = 200
"""Values within values in one message: what a recursion over them takes without trouble."""
_FAST = Decoder()

Blob = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
"""The name of a file of the cache."""
Seconds = dict[str, Annotated[float, Meta(ge=0)]]
Frame = tuple[str, str, int | None, str]


class Cause(Struct, frozen=True):
    """The exception behind another one."""

    type: str
    message: str
    frames: list[Frame] = []


class Failure(Struct, frozen=True):
    """As `opera.workers.failure.describe` makes it."""

    type: str
    message: str
    frames: list[Frame] = []
    bases: list[str] = []
    cause: Cause | None = None


class Ready(Struct, frozen=True, tag_field="is", tag="ready", forbid_unknown_fields=True):
    """The role is set up."""

    info: dict[str, Any]


class Broken(Struct, frozen=True, tag_field="is", tag="broken", forbid_unknown_fields=True):
    """The role cannot be set up."""

    failure: Failure


class Forked(Struct, frozen=True, tag_field="is", tag="forked", forbid_unknown_fields=True):
    """A task is done in the copy *pid* of the worker."""

    task: int
    pid: Annotated[int, Meta(gt=1, lt=2**31)]


class Done(Struct, frozen=True, tag_field="is", tag="done", forbid_unknown_fields=True):
    """A task ended with a result."""

    task: int
    result: dict[str, Any]
    seconds: Seconds


class Raised(Struct, frozen=True, tag_field="is", tag="raised", forbid_unknown_fields=True):
    """A task ended with an exception."""

    task: int
    failure: Failure
    stage: str
    seconds: Seconds


class Died(Struct, frozen=True, tag_field="is", tag="died", forbid_unknown_fields=True):
    """The copy that did a task has ended; *status* is what `waitpid` says."""

    task: int
    status: Annotated[int, Meta(ge=0, lt=2**16)]


Said = Ready | Broken | Forked | Done | Raised | Died


class _Versions(Struct, frozen=True):
    versions: dict[str, str]


class _Materialiser(_Versions, frozen=True):
    template: str
    forkable: bool


class _Made(Struct, frozen=True, tag_field="status", tag="ready"):
    bundle: Blob | None = None
    artefact: Blob | None = None
    undefined: str | None = None
    suspect: str | None = None


class _Invalid(Struct, frozen=True, tag_field="status", tag="invalid"):
    reason: str
    failure: Failure
    stage: str = ""


class _ExportFailed(Struct, frozen=True, tag_field="status", tag="export-failed"):
    exporter: str
    failure: Failure
    bundle: Blob | None = None
    undefined: str | None = None


class _Unwritable(Struct, frozen=True, tag_field="status", tag="unwritable"):
    failure: Failure


class _Source(Struct, frozen=True, tag_field="status", tag="source"):
    imports: list[str]
    text: str
    expected: str


class _Reviewed(Struct, frozen=True, tag_field="status", tag="reviewed"):
    reason: str | None
    why: str | None
    culprit: str | None


class _Refusal(Struct, frozen=True):
    reason: str
    type: str
    message: str


class _Called(Struct, frozen=True, tag_field="status", tag="called"):
    answers: list[_Refusal | None]


class Difference(Struct, frozen=True):
    """As `opera.oracles.compare.Difference` writes it: numbers that are not finite are text."""

    kind: str
    output: int
    expected: str
    actual: str
    distance: float | str | None = None
    allowed: float | str | None = None
    share: float | str | None = None
    explained: str | None = None
    dtype: str | None = None


class _Compared(Struct, frozen=True, tag_field="status", tag="compared"):
    difference: Difference | None
    converter: str | None = None
    outputs: Blob | None = None

    def __post_init__(self) -> None:
        if self.difference is not None and self.converter is None:
            raise ValueError("a difference without a converter")


class _Failed(Struct, frozen=True, tag_field="status", tag="raised"):
    stage: Literal["export", "load", "optimize", "codegen", "run", "compare", "release"]
    failure: Failure
    unsupported: str | None
    converter: str


class _Damaged(Struct, frozen=True, tag_field="status", tag="damaged"):
    reason: str


_ROLES: Mapping[str, tuple[Any, Any]] = {
    "opera.difftest.model_worker:Materialiser": (
        _Materialiser,
        _Made | _Invalid | _ExportFailed | _Unwritable | _Source | _Reviewed | _Called,
    ),
    "opera.difftest.compiler_worker:CompilerWorker": (_Versions, _Compared | _Failed | _Invalid | _Damaged),
}
"""What workers of a role say of themselves, and answer."""
_ANY = (dict[str, Any], dict[str, Any])


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


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [
            inner for each in level if isinstance(each, (dict, list))
            for inner in (cast("dict[str, Any]", each).values() if isinstance(each, dict) else cast("list[Any]", each))
        ]  # fmt: skip
    return depth


def said(message: Message, role: str) -> Said:
    """What *message* of a worker says, whose role is called *role*.

    Raises:
        ProtocolError: a worker never says that.
    """
    found = checked(message, Said)
    if isinstance(found, Ready):
        check_info(found.info, role)
    elif isinstance(found, Done):
        check_answer(found.result, role)
    return found


def check_info(info: Message, role: str) -> None:
    """Raises ProtocolError where *info* is not what a worker of that role says of itself."""
    checked(info, _ROLES.get(role, _ANY)[0])


def check_answer(answer: Message, role: str) -> None:
    """Raises ProtocolError where *answer* is not what a worker of that role answers."""
    checked(answer, _ROLES.get(role, _ANY)[1])


def checked(document: Any, form: Any) -> Any:
    """*document* as an object of the type *form*; raises ProtocolError where it is none."""
    try:
        return typed(document, form)
    except Malformed as error:
        raise ProtocolError(f"unexpected message: {error}") from error
