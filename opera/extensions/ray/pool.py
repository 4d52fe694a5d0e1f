"""The workers of a campaign on the machines of a Ray cluster. Ray is imported only when such a pool is made.

Each slot is a node (`opera.extensions.ray.node`) in an actor of its own, with the same workers as on one machine. A node that is
lost, with its machine or alone, costs nothing but time: its task goes to another one. What a compiler does to its process, the node has
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
from opera.extensions.ray.node import BLOBS, CACHE, RayWorkerNode, answer_of, configs_document, event_of, files_named, hello_of
from opera.workers.machine import Machine, this_machine
from opera.workers.pool_protocol import Cluster, Ended, Job, Role, WorkerConfig, WorkerFacts
from opera.workers.process import Limits, Lost
from opera.workers.protocol import Message, ProtocolError

POLL = 0.02
MOST_LOST = 5
"""Nodes that may be lost with the same task before the task is held to be what ends them."""
_FIRST_WITHIN = 300.0
"""Seconds within which the cluster has to have room for one node at least."""
_CLOSE_WITHIN = 20.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class _Pending:
    role: Role
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
    """A node as the driver sees it; *machine* is None until it has said where it is."""

    actor: _Actor
    pending: object
    machine: Machine | None = None
    host: str = ""
    pid: int = 0
    order: _Pending | None = None
    since: float = 0.0
    tasks: int = 0
    roles: set[Role] = field(default_factory=set[Role])


class RayPool:
    """Fulfils `opera.workers.pool_protocol.PoolProtocol`.

    Args:
        configs: How each role is filled; interpreters and paths have to be the same on every machine.
        limits: Limits of every worker.
        slots: Nodes; each takes one processor of the cluster.
        workspace: The workspace's folder on this machine.
        cluster: Where the nodes are.

    Raises:
        EnvironmentBroken: Ray is not installed, or there is no such cluster.
    """

    def __init__(self, configs: Mapping[Role, WorkerConfig], limits: Limits, slots: int, workspace: Path, cluster: Cluster) -> None:
        self._ray = _started(cluster, slots)
        self._setups = {role: config.spec.setup for role, config in configs.items()}
        self._configs = configs_document(configs, limits, workspace / CACHE)
        self._capacity = slots
        self._workspace = workspace
        self._cluster = cluster
        self._remote = self._ray.remote(RayWorkerNode)
        self._slots: list[_Slot] = []
        self._again: deque[_Pending] = deque()
        self._settings: list[tuple[str, tuple[object, ...]]] = []
        self._misfits = 0
        self._began = time.monotonic()
        self.infos: dict[Role, Message] = {}
        self.machine = this_machine()
        self.listener: Callable[..., None] = _nobody
        self._fill()

    @property
    def free_slots(self) -> int:
        """How many nodes wait for a task."""
        return len(self._idle()) - len(self._again)

    def _idle(self) -> list[_Slot]:
        return [slot for slot in self._slots if slot.machine is not None and slot.order is None]

    def busy(self, role: Role) -> int:
        """How many nodes work in *role*."""
        return sum(slot.order is not None and slot.order.role is role for slot in self._slots)

    def jobs(self) -> list[tuple[Role, Job, str]]:
        """Role and job of everything in progress; the stage is known to the node only."""
        return [(slot.order.role, slot.order.job, "") for slot in self._slots if slot.order is not None]

    def workers(self) -> list[WorkerFacts]:
        """The state of each node, as a document."""
        now = time.monotonic()
        return [
            {
                "label": slot.host or "(no machine yet)",
                "role": slot.order.role.value if slot.order else "node",
                "pid": slot.pid,
                "state": "starting" if slot.machine is None else "busy" if slot.order else "idle",
                "api": getattr(getattr(slot.order and slot.order.job, "test", None), "api", None),
                "stage": "",
                "seconds": round(now - slot.since, 3),
                "resident": 0,
                "tasks": slot.tasks,
                "log": "",
            }
            for slot in self._slots
        ]

    def set_warmup(self, role: Role, task: Message) -> None:
        """Sets the task with which processes of *role* are warmed up before they are copied."""
        text = json.dumps(task)
        self._tell("set_warmup", role.value, text, self._files(text))

    def limit_stages(self, seconds: float) -> None:
        """Sets the time limit of each stage."""
        self._tell("limit_stages", seconds)

    def never_copy(self, role: Role) -> None:
        """Makes every later task of *role* run in a newly started process."""
        self._tell("never_copy", role.value)

    def prepare(self, *roles: Role) -> None:
        """Starts nothing: each node starts its workers when they are asked for."""

    def _tell(self, method: str, *arguments: object) -> None:
        """Tells every node, those of the future as well. Calls of one actor are done in their order."""
        self._settings.append((method, arguments))
        for slot in self._slots:
            getattr(slot.actor, method).remote(*arguments)

    def assign(self, role: Role, job: Job, task: Message, waiting: int = 1) -> bool:
        """Gives *task* to an idle node, to one that has a worker of *role* if possible."""
        return self._hand_over(_Pending(role, job, task))

    def is_away(self, role: Role) -> bool:
        """Never: a node has one busy worker, and all cores that Ray gave it are that worker's."""
        return False

    def _hand_over(self, order: _Pending) -> bool:
        idle = self._idle()
        if not idle:
            return False
        slot = min(idle, key=lambda each: (order.role not in each.roles, len(each.roles)))
        text = json.dumps(order.task)
        slot.order, slot.since = order, time.monotonic()
        slot.roles.add(order.role)
        slot.tasks += 1
        slot.pending = slot.actor.do.remote(order.role.value, text, self._files(text))
        return True

    def _files(self, text: str) -> dict[str, dict[str, bytes]]:
        """The files that a node needs for the task *text*. Missing files are left out: the worker reports them."""
        if self._cluster.shared:
            return {}
        return {folder: files_named(text, self._workspace / folder) for folder in (CACHE, BLOBS)}

    def _fill(self) -> None:
        """Asks for nodes until there are as many as slots."""
        while len(self._slots) < self._capacity:
            options = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0, "scheduling_strategy": "SPREAD"}
            actor = self._remote.options(**options).remote(self._configs, str(self._workspace) if self._cluster.shared else None)
            for method, arguments in self._settings:
                getattr(actor, method).remote(*arguments)
            self._slots.append(_Slot(actor, actor.hello.remote(), since=time.monotonic()))

    def wait(self) -> Iterator[Ended]:
        """Waits for at most `POLL` seconds and yields what has happened to jobs.

        Raises:
            EnvironmentBroken: no node can start, or a worker cannot.
        """
        while self._again and self._hand_over(self._again[0]):
            self._again.popleft()
        pending = {slot.pending: slot for slot in self._slots if slot.pending is not None}
        if not pending:
            time.sleep(POLL)
            return
        references = list(pending)
        ready, _ = self._ray.wait(references, num_returns=1, timeout=POLL)
        if ready:
            ready, _ = self._ray.wait(references, num_returns=len(references), timeout=0)
        for reference in ready:
            yield from self._arrived(pending[reference])
        if not any(slot.machine for slot in self._slots) and time.monotonic() - self._began > _FIRST_WITHIN:
            raise EnvironmentBroken(f"the cluster had no free processor for {_FIRST_WITHIN:g} s; `ray status` shows its processors")

    def _arrived(self, slot: _Slot) -> Iterator[Ended]:
        reference, slot.pending = slot.pending, None
        try:
            value = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise error.as_instanceof_cause() from error
        except self._ray.exceptions.RayError as error:
            if slot.machine is None:
                self._misfits += 1
            if self._misfits > 3 * self._capacity:
                raise EnvironmentBroken(f"Ray workers do not start: {str(error).strip()[-400:]}") from error
            yield from self._lose(slot, type(error).__name__)
            return
        order = slot.order
        try:
            if slot.machine is None or order is None:
                self._greet(slot, value)
                return
            answer, files = answer_of(value, self._setups[order.role])
        except ProtocolError as error:
            self._misfits += 1
            if self._misfits > 3 * self._capacity:
                raise EnvironmentBroken(f"a Ray worker sent an invalid message: {error}") from error
            self._ray.kill(slot.actor)
            yield from self._lose(slot, f"protocol: {error}")
            return
        for note in answer["notes"]:
            self.listener(note.pop("event"), host=slot.host, **note)
        if answer["event"] == "broken" or not self._fits(order.role, answer["info"]):
            self._dismiss(slot, order, answer)
            return
        for data in files:
            bundle.store(self._workspace / CACHE, data)
        slot.order, slot.since = None, time.monotonic()
        self.machine = slot.machine
        yield order.role, order.job, event_of(answer)

    def _greet(self, slot: _Slot, value: object) -> None:
        hello = hello_of(value)
        slot.machine = Machine(hello.machine, hello.document)
        slot.host, slot.pid, slot.since = hello.host, hello.pid, time.monotonic()
        self._began = time.monotonic()
        self.listener("node-ready", host=slot.host, pid=slot.pid, machine=slot.machine.id)

    def _fits(self, role: Role, info: Message | None) -> bool:
        """Whether a node's worker is of the versions that the campaign began with."""
        return info is None or self.infos.setdefault(role, info)["versions"] == info["versions"]

    def _dismiss(self, slot: _Slot, order: _Pending, answer: Message) -> None:
        """Does without a node whose workers do not start, or are of other versions than the others."""
        message = answer.get("message") or f"its {order.role.value} worker is of other versions: {answer['info']['versions']}"
        self._misfits += 1
        self.listener("node-dismissed", host=slot.host, pid=slot.pid, reason=message)
        if order.role not in self.infos or self._misfits > 3 * self._capacity:
            raise EnvironmentBroken(f"{message} (on {slot.host})")
        self._ray.kill(slot.actor)
        self._slots.remove(slot)
        self._again.append(order)
        self._fill()

    def _lose(self, slot: _Slot, why: str) -> Iterator[Ended]:
        """Does without a node that is gone, and gives its task to another one."""
        self.listener("node-lost", host=slot.host, pid=slot.pid, reason=why)
        self._slots.remove(slot)
        self._fill()
        order = slot.order
        if order is None:
            return
        if order.lost < MOST_LOST:
            self._again.append(replace(order, lost=order.lost + 1))
        else:
            yield order.role, order.job, Lost("node", why, "", "", {})

    def close(self) -> None:
        """Ends every node with all it has started."""
        with contextlib.suppress(Exception):
            closing = [slot.actor.close.remote() for slot in self._slots if slot.machine is not None and slot.order is None]
            self._ray.wait(closing, num_returns=len(closing), timeout=_CLOSE_WITHIN) if closing else None
        for slot in self._slots:
            with contextlib.suppress(Exception):
                self._ray.kill(slot.actor)
        self._slots.clear()
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
