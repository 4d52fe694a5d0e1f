"""The workers of a campaign on the machines of a Ray cluster. Ray is imported only when such a pool is made.

Each slot is a station (`opera.extensions.ray.node`) in an actor of its own, with the same workers as on one machine. A station that is
lost, with its machine or alone, costs nothing but time: its task goes to another one. What a compiler does to its process, the station has
seen itself, and says so; that is an answer and never tried again.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from opera import bundle
from opera.errors import EnvironmentBroken
from opera.extensions.ray.node import BLOBS, CACHE, RayWorkerNode, answer_of, event_of, files_named, hello_of, posts_document
from opera.workers.machine import Machine, this_machine
from opera.workers.pool_protocol import Cluster, Ended, Job, WorkerConfig, WorkerFacts, WorkerKind
from opera.workers.process import Limits, Lost
from opera.workers.protocol import Message, ProtocolError

POLL = 0.02
MOST_LOST = 5
"""Stations that may be lost with the same task before the task is held to be what ends them."""
_FIRST_WITHIN = 300.0
"""Seconds within which the cluster has to have room for one station at least."""
_CLOSE_WITHIN = 20.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class _Pending:
    role: WorkerKind
    job: Job
    task: Message
    lost: int = 0


class _RemoteMethod(Protocol):
    def remote(self, *arguments: object) -> object: ...


class _Actor(Protocol):
    """A `RayWorkerNode` on some machine, as Ray shows it."""

    hello: _RemoteMethod
    do: _RemoteMethod
    close: _RemoteMethod


@dataclass
class _Slot:
    """A station as the driver sees it; *machine* is None until it has said where it is."""

    actor: _Actor
    pending: object
    machine: Machine | None = None
    host: str = ""
    pid: int = 0
    order: _Pending | None = None
    since: float = 0.0
    tasks: int = 0
    roles: set[WorkerKind] = field(default_factory=set[WorkerKind])


class RayPool:
    """Fulfils `opera.workers.pool_protocol.PoolProtocol`.

    Args:
        posts: How each role is filled; interpreters and paths have to be the same on every machine.
        limits: Limits of every worker.
        slots: Stations; each takes one processor of the cluster.
        workspace: The workspace's folder on this machine.
        cluster: Where the stations are.

    Raises:
        EnvironmentBroken: Ray is not installed, or there is no such cluster.
    """

    def __init__(self, posts: Mapping[WorkerKind, WorkerConfig], limits: Limits, slots: int, workspace: Path, cluster: Cluster) -> None:
        self._ray = _started(cluster, slots)
        self._setups = {role: post.spec.setup for role, post in posts.items()}
        self._posts = posts_document(posts, limits, workspace / CACHE)
        self._slots = slots
        self._workspace = workspace
        self._cluster = cluster
        self._remote = self._ray.remote(RayWorkerNode)
        self._desks: list[_Slot] = []
        self._again: deque[_Pending] = deque()
        self._settings: list[tuple[str, tuple[object, ...]]] = []
        self._misfits = 0
        self._began = time.monotonic()
        self.infos: dict[WorkerKind, Message] = {}
        self.machine = this_machine()
        self.listener: Callable[..., None] = _nobody
        self._fill()

    @property
    def free_slots(self) -> int:
        """How many stations wait for a task."""
        return len(self._idle()) - len(self._again)

    def _idle(self) -> list[_Slot]:
        return [desk for desk in self._desks if desk.machine is not None and desk.order is None]

    def busy(self, role: WorkerKind) -> int:
        """How many stations work in *role*."""
        return sum(desk.order is not None and desk.order.role is role for desk in self._desks)

    def jobs(self) -> list[tuple[WorkerKind, Job, str]]:
        """WorkerKind and job of everything in progress; the stage is known to the station only."""
        return [(desk.order.role, desk.order.job, "") for desk in self._desks if desk.order is not None]

    def workers(self) -> list[WorkerFacts]:
        """The state of each station, as a document."""
        now = time.monotonic()
        return [
            {
                "label": desk.host or "(no machine yet)",
                "role": desk.order.role.value if desk.order else "station",
                "pid": desk.pid,
                "state": "starting" if desk.machine is None else "busy" if desk.order else "idle",
                "api": getattr(getattr(desk.order and desk.order.job, "test", None), "api", None),
                "stage": "",
                "seconds": round(now - desk.since, 3),
                "resident": 0,
                "tasks": desk.tasks,
                "log": "",
            }
            for desk in self._desks
        ]

    def set_warmup(self, role: WorkerKind, task: Message) -> None:
        """Sets the task with which processes of *role* are warmed up before they are copied."""
        text = json.dumps(task)
        self._tell("set_warmup", role.value, text, self._files(text))

    def limit_stages(self, seconds: float) -> None:
        """Sets the time limit of each stage."""
        self._tell("limit_stages", seconds)

    def never_copy(self, role: WorkerKind) -> None:
        """Makes every later task of *role* run in a newly started process."""
        self._tell("never_copy", role.value)

    def prepare(self, *roles: WorkerKind) -> None:
        """Starts nothing: each station starts its workers when they are asked for."""

    def _tell(self, method: str, *arguments: object) -> None:
        """Tells every station, those of the future as well. Calls of one actor are done in their order."""
        self._settings.append((method, arguments))
        for desk in self._desks:
            getattr(desk.actor, method).remote(*arguments)

    def assign(self, role: WorkerKind, job: Job, task: Message, waiting: int = 1) -> bool:
        """Gives *task* to an idle station, to one that has a worker of *role* if possible."""
        return self._hand_over(_Pending(role, job, task))

    def is_away(self, role: WorkerKind) -> bool:
        """Never: a station has one busy worker, and all cores that Ray gave it are that worker's."""
        return False

    def _hand_over(self, order: _Pending) -> bool:
        idle = self._idle()
        if not idle:
            return False
        desk = min(idle, key=lambda each: (order.role not in each.roles, len(each.roles)))
        text = json.dumps(order.task)
        desk.order, desk.since = order, time.monotonic()
        desk.roles.add(order.role)
        desk.tasks += 1
        desk.pending = desk.actor.do.remote(order.role.value, text, self._files(text))
        return True

    def _files(self, text: str) -> dict[str, dict[str, bytes]]:
        """The files that a station needs for the task *text*. Missing files are left out: the worker reports them."""
        if self._cluster.shared:
            return {}
        return {folder: files_named(text, self._workspace / folder) for folder in (CACHE, BLOBS)}

    def _fill(self) -> None:
        """Asks for stations until there are as many as slots."""
        while len(self._desks) < self._slots:
            options = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0, "scheduling_strategy": "SPREAD"}
            actor = self._remote.options(**options).remote(self._posts, str(self._workspace) if self._cluster.shared else None)
            for method, arguments in self._settings:
                getattr(actor, method).remote(*arguments)
            self._desks.append(_Slot(actor, actor.hello.remote(), since=time.monotonic()))

    def wait(self) -> Iterator[Ended]:
        """Waits for at most `POLL` seconds and yields what has happened to jobs.

        Raises:
            EnvironmentBroken: no station can start, or a worker cannot.
        """
        while self._again and self._hand_over(self._again[0]):
            self._again.popleft()
        pending = {desk.pending: desk for desk in self._desks if desk.pending is not None}
        if not pending:
            time.sleep(POLL)
            return
        references = list(pending)
        ready, _ = self._ray.wait(references, num_returns=1, timeout=POLL)
        if ready:
            ready, _ = self._ray.wait(references, num_returns=len(references), timeout=0)
        for reference in ready:
            yield from self._arrived(pending[reference])
        if not any(desk.machine for desk in self._desks) and time.monotonic() - self._began > _FIRST_WITHIN:
            raise EnvironmentBroken(f"the cluster had no free processor for {_FIRST_WITHIN:g} s; `ray status` shows its processors")

    def _arrived(self, desk: _Slot) -> Iterator[Ended]:
        reference, desk.pending = desk.pending, None
        try:
            value = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise error.as_instanceof_cause() from error
        except self._ray.exceptions.RayError as error:
            if desk.machine is None:
                self._misfits += 1
            if self._misfits > 3 * self._slots:
                raise EnvironmentBroken(f"Ray workers do not start: {str(error).strip()[-400:]}") from error
            yield from self._lose(desk, type(error).__name__)
            return
        order = desk.order
        try:
            if desk.machine is None or order is None:
                self._greet(desk, value)
                return
            answer, files = answer_of(value, self._setups[order.role])
        except ProtocolError as error:
            self._misfits += 1
            if self._misfits > 3 * self._slots:
                raise EnvironmentBroken(f"a Ray worker sent an invalid message: {error}") from error
            self._ray.kill(desk.actor)
            yield from self._lose(desk, f"protocol: {error}")
            return
        for note in answer["notes"]:
            self.listener(note.pop("event"), host=desk.host, **note)
        if answer["event"] == "broken" or not self._fits(order.role, answer["info"]):
            self._dismiss(desk, order, answer)
            return
        for data in files:
            bundle.store(self._workspace / CACHE, data)
        desk.order, desk.since = None, time.monotonic()
        self.machine = desk.machine
        yield order.role, order.job, event_of(answer)

    def _greet(self, desk: _Slot, value: object) -> None:
        hello = hello_of(value)
        desk.machine = Machine(hello.machine, hello.document)
        desk.host, desk.pid, desk.since = hello.host, hello.pid, time.monotonic()
        self._began = time.monotonic()
        self.listener("station-ready", host=desk.host, pid=desk.pid, machine=desk.machine.id)

    def _fits(self, role: WorkerKind, info: Message | None) -> bool:
        """Whether a station's worker is of the versions that the campaign began with."""
        return info is None or self.infos.setdefault(role, info)["versions"] == info["versions"]

    def _dismiss(self, desk: _Slot, order: _Pending, answer: Message) -> None:
        """Does without a station whose workers do not start, or are of other versions than the others."""
        message = answer.get("message") or f"its {order.role.value} worker is of other versions: {answer['info']['versions']}"
        self._misfits += 1
        self.listener("station-dismissed", host=desk.host, pid=desk.pid, reason=message)
        if order.role not in self.infos or self._misfits > 3 * self._slots:
            raise EnvironmentBroken(f"{message} (on {desk.host})")
        self._ray.kill(desk.actor)
        self._desks.remove(desk)
        self._again.append(order)
        self._fill()

    def _lose(self, desk: _Slot, why: str) -> Iterator[Ended]:
        """Does without a station that is gone, and gives its task to another one."""
        self.listener("station-lost", host=desk.host, pid=desk.pid, reason=why)
        self._desks.remove(desk)
        self._fill()
        order = desk.order
        if order is None:
            return
        if order.lost < MOST_LOST:
            self._again.append(replace(order, lost=order.lost + 1))
        else:
            yield order.role, order.job, Lost("node", why, "", "", {})

    def close(self) -> None:
        """Ends every station with all it has started."""
        with contextlib.suppress(Exception):
            closing = [desk.actor.close.remote() for desk in self._desks if desk.machine is not None and desk.order is None]
            self._ray.wait(closing, num_returns=len(closing), timeout=_CLOSE_WITHIN) if closing else None
        for desk in self._desks:
            with contextlib.suppress(Exception):
                self._ray.kill(desk.actor)
        self._desks.clear()
        self._ray.shutdown()


def _nobody(event: str, **fields: object) -> None:
    """Ignores an event of a worker."""


def _started(cluster: Cluster, slots: int) -> Any:
    """Ray, connected; the signal handlers of this process stay as they are."""
    if cluster.address is None:  # Ray listens on every network of the machine, and runs the code of everyone who can connect to it
        os.environ.setdefault("RAY_AUTH_MODE", "token")  # before Ray is imported
        if importlib.util.find_spec("ray") is not None and importlib.util.find_spec("ray._private.authentication") is None:
            raise EnvironmentBroken("this Ray cannot protect a cluster with a token; install ray>=2.52, or give --address")
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise EnvironmentBroken("Ray is not installed here; install it with `pip install 'opera-dl[ray]'`") from error
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    options: dict[str, object] = {"address": cluster.address} if cluster.address else {"address": "local", "num_cpus": slots}
    try:
        ray.init(**options, log_to_driver=False, logging_level="ERROR", include_dashboard=None if cluster.address else False)
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
        raise EnvironmentBroken(f"no Ray cluster at {cluster.address or 'this machine'}: {str(error)[:300]}") from error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return ray
