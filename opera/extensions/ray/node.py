"""One slot of a cluster: a worker pool with one slot, and a folder for the files of its current task.

Knows nothing of the cluster. What comes in and goes out is JSON and named files, so that nothing that a compiler says is unpickled.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from opera import bundle
from opera.errors import EnvironmentBroken
from opera.oracles.verdict import Failure
from opera.workers import messages
from opera.workers.machine import this_machine
from opera.workers.messages import Blob, Seconds
from opera.workers.pool import WorkerPool
from opera.workers.pool_protocol import Role, WorkerConfig
from opera.workers.process import Done, Limits, Lost, Raised, WorkerSpec
from opera.workers.protocol import Message, ProtocolError, unpack
from opera.workers.supervision import working_folder

Notes = list[Message]


class Hello(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a node is."""

    machine: Annotated[str, Meta(max_length=128)]
    document: Message
    host: Annotated[str, Meta(max_length=256)]
    pid: int


class _Answer(Struct, frozen=True, tag_field="event", forbid_unknown_fields=True):
    notes: Notes


class _Done(_Answer, frozen=True, tag="done"):
    result: Message
    seconds: Seconds
    info: Message | None


class _Raised(_Answer, frozen=True, tag="raised"):
    stage: str
    failure: Failure
    seconds: Seconds
    info: Message | None


class _Lost(_Answer, frozen=True, tag="lost"):
    cause: Literal["signal", "exit", "deadline", "memory", "protocol"]
    detail: str
    stage: str
    log: str
    seconds: Seconds
    info: Message | None


class _Broken(_Answer, frozen=True, tag="broken"):
    message: str


def hello_of(text: object) -> Hello:
    """The first message of a node; raises ProtocolError for any other message."""
    return messages.checked(_document(text), Hello)


def answer_of(value: object, role: str) -> tuple[Message, list[bytes]]:
    """A node's answer as a document, and the contents of the files that it has sent, whose names are hashes.

    Args:
        value: What has arrived.
        role: How the role of the worker behind it is set up.

    Raises:
        ProtocolError: no node says that.
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


def event_of(document: Message) -> Done | Raised | Lost:
    """The event that a checked answer tells of."""
    if document["event"] == "done":
        return Done(document["result"], document["seconds"])
    if document["event"] == "raised":
        return Raised(document["stage"], document["failure"], document["seconds"])
    return Lost(document["cause"], document["detail"], document["stage"], document["log"], document["seconds"])


_NAME = re.compile(r'"([0-9a-f]{64})"')
CACHE, BLOBS = "cache", "blobs"

Files = Mapping[str, Mapping[str, bytes]]
"""Folder, `cache` or `blobs`, to name to content."""


class RayWorkerNode:
    """Does one task at a time.

    Args:
        configs: JSON of `configs_document`.
        shared: The workspace's folder where this machine has it at the same place; else None, and files travel with the tasks.
    """

    def __init__(self, configs: str, shared: str | None) -> None:
        document: Message = json.loads(configs)
        self._stack = ExitStack()
        self._home = self._stack.enter_context(working_folder("node"))
        self._workspace = self._home if shared is None else Path(shared)
        self._shared = shared is not None
        for name in (CACHE, BLOBS):
            (self._workspace / name).mkdir(exist_ok=True)
        (self._home / "crew").mkdir()
        self._kept: set[str] = set()
        self._notes: Notes = []
        self._told: set[Role] = set()
        filled = {Role(role): _post(each, document["cache"], str(self._workspace / CACHE)) for role, each in document["configs"].items()}
        self._pool = WorkerPool(filled, Limits(**document["limits"]), 1, self._home / "crew")
        self._stack.callback(self._pool.close)
        self._pool.listener = self._note

    def _note(self, event: str, **fields: object) -> None:
        self._notes.append({"event": event, **fields})

    def hello(self) -> str:
        """JSON: the machine, by identity and document, its name, and this process."""
        machine = this_machine()
        return json.dumps({"machine": machine.id, "document": dict(machine.document), "host": os.uname().nodename, "pid": os.getpid()})

    def set_warmup(self, role: str, task: str, files: Files) -> None:
        """Like `WorkerPool.set_warmup`; the files of the task stay here."""
        self._kept.update(self._take(files))
        self._pool.set_warmup(Role(role), json.loads(task))

    def limit_stages(self, seconds: float) -> None:
        """Does on this node what `WorkerPool.limit_stages` does."""
        self._pool.limit_stages(seconds)

    def never_copy(self, role: str) -> None:
        """Does on this node what `WorkerPool.never_copy` does."""
        self._pool.never_copy(Role(role))

    def do(self, role: str, task: str, files: Files) -> tuple[str, dict[str, bytes]]:
        """Does *task*; returns JSON of the answer, and the files that it names."""
        taken = self._take(files)
        made: dict[str, bytes] = {}
        try:
            answer = self._answer(Role(role), json.loads(task))
            if not self._shared:
                made = self._made(answer)
        finally:
            self._forget({*taken, *(f"{CACHE}/{name}" for name in made)})
        answer["notes"], self._notes = self._notes, []
        return json.dumps(answer), made

    def _answer(self, role: Role, task: Message) -> Message:
        try:
            while not self._pool.assign(role, role.value, task):
                for _ in self._pool.wait():
                    pass
            while True:
                for _, _, event in self._pool.wait():
                    return {**event_document(event), "info": self._info(role)}
        except EnvironmentBroken as error:
            return {"event": "broken", "message": str(error)}

    def _info(self, role: Role) -> Message | None:
        """The information that the first worker of *role* has sent about itself."""
        if role in self._told or role not in self._pool.infos:
            return None
        self._told.add(role)
        return self._pool.infos[role]

    def _take(self, files: Files) -> list[str]:
        taken: list[str] = []
        for folder, contents in files.items():
            for name, data in contents.items():
                bundle.store(self._workspace / folder, data)
                taken.append(f"{folder}/{name}")
        return taken

    def _made(self, answer: Message) -> dict[str, bytes]:
        return files_named(json.dumps(answer.get("result")), self._workspace / CACHE)

    def _forget(self, names: set[str]) -> None:
        """Removes the files of one task; the driver has copies."""
        for each in () if self._shared else names - self._kept:
            folder, _, name = each.partition("/")
            bundle.path_of(self._workspace / folder, name).unlink(missing_ok=True)

    def workers(self) -> str:
        """The result of `WorkerPool.workers`, as JSON."""
        return json.dumps(self._pool.workers())

    def close(self) -> None:
        """Ends the workers and removes everything."""
        self._stack.close()


def files_named(text: str, folder: Path) -> dict[str, bytes]:
    """The files of *folder* that *text*, a JSON document, names, with their contents; missing and damaged ones are left out."""
    found: dict[str, bytes] = {}
    for name in set(_NAME.findall(text)):
        with contextlib.suppress(bundle.DamagedArtefact):
            found[name] = bundle.fetch(folder, name)
    return found


def configs_document(configs: Mapping[Role, WorkerConfig], limits: Limits, cache: Path) -> str:
    """JSON of what a node needs to know; *cache* is the folder that the configs' options name."""
    return json.dumps(
        {
            "cache": str(cache),
            "limits": {"stage": limits.stage, "start": limits.start, "memory": limits.memory},
            "configs": {
                role.value: {
                    "label": config.spec.label,
                    "setup": config.spec.setup,
                    "options": dict(config.spec.options),
                    "python": config.spec.python,
                    "path": list(config.spec.path),
                    "environment": dict(config.spec.environment),
                    "first": list(config.spec.search_first),
                    "forkable": config.forkable,
                    "recycle": config.recycle,
                }
                for role, config in configs.items()
            },
        }
    )


def _post(document: Message, cache: str, here: str) -> WorkerConfig:
    """A config whose workers use the cache *here*."""

    def moved(values: Mapping[str, object]) -> Message:
        return {key: _moved(value, cache, here) for key, value in values.items()}

    spec = WorkerSpec(
        label=document["label"],
        setup=document["setup"],
        options=moved(document["options"]),
        python=document["python"],
        path=tuple(document["path"]),
        environment=moved(document["environment"]),
        search_first=tuple(document["first"]),
    )
    return replace(WorkerConfig(spec), forkable=document["forkable"], recycle=document["recycle"])


def _moved(value: object, there: str, here: str) -> object:
    return here + value[len(there) :] if isinstance(value, str) and value.startswith(there) else value


def event_document(event: Done | Raised | Lost) -> Message:
    """An event as a document."""
    seconds = dict(event.seconds)
    if isinstance(event, Done):
        return {"event": "done", "result": event.result, "seconds": seconds}
    if isinstance(event, Raised):
        return {"event": "raised", "stage": event.stage, "failure": event.failure, "seconds": seconds}
    lost = {"cause": event.cause, "detail": event.detail, "stage": event.stage, "log": event.log}
    return {"event": "lost", **lost, "seconds": seconds}
