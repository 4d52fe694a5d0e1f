"""The driver's half of a worker: starts the child, gives it one task at a time, and enforces its limits from outside."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opera.atomic import replacing
from opera.oracles.verdict import Failure
from opera.workers import clock, folders, messages, processes
from opera.workers.cores import FreeSeat, Seat
from opera.workers.program import passed_on
from opera.workers.protocol import Message, ProtocolError, Reader, pack
from opera.workers.stage import StageCell, StageWatch, shared_memory

LOG_TAIL = 8192
FROM_OUTSIDE = frozenset({"SIGKILL", "SIGTERM", "SIGHUP", "SIGPWR"})
"""Signals that no compiler sends itself when it fails."""
LOG_LIMIT = 64 * 2**20
PIPE_SIZE = 2**20
"""Bytes of a task that a worker may not have read yet; a system that allows less gives less."""

PINNED_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TQDM_DISABLE": "1",
}
"""One thread each, the same hash seed everywhere, and as little noise as they allow."""


@dataclass(frozen=True)
class WorkerSpec:
    """How to start a worker.

    Attributes:
        label: What to call it in messages and log names.
        setup: `module:attribute` of its role.
        options: What the role is built with; JSON.
        python: Its interpreter.
        path: Folders to put last on its module search path.
        environment: Added to the pinned environment.
        search_first: Folders to put first on its module search path.
        is_pinned: Whether it works on one core. Programs that run in several threads, which wait for each other, need more.
    """

    label: str
    setup: str
    options: Mapping[str, Any]
    python: str
    path: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    search_first: tuple[str, ...] = ()
    is_pinned: bool = True


@dataclass(frozen=True)
class Limits:
    """The limits of a worker: seconds per stage, seconds to start, resident bytes of its whole process tree."""

    stage: float = 60.0
    start: float = 180.0
    memory: int = 4 * 2**30


@dataclass(frozen=True)
class Ready:
    """The worker has imported what it needs."""

    info: Message


@dataclass(frozen=True)
class Broken:
    """The worker cannot work at all: its role could not be set up. *failure* is as `opera.workers.failure.describe` makes it."""

    failure: Failure


@dataclass(frozen=True)
class Done:
    """A task ended with a result."""

    result: Message
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class Raised:
    """A task ended with an exception."""

    stage: str
    failure: Failure
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class Lost:
    """The process that did the task is gone.

    Attributes:
        cause: `signal`, `exit`, `deadline`, `memory`, `protocol`, or `node` where the machine that it was on is gone.
        detail: The signal's name, the exit status, or what the limit was.
        stage: Where it was; empty between tasks.
        log: The end of what it printed.
        seconds: Seconds of the stage it was in.
    """

    cause: str
    detail: str
    stage: str
    log: str
    seconds: Mapping[str, float]

    @property
    def from_outside(self) -> bool:
        """Whether the process may have been ended from outside: by a person, by a kernel out of memory, by a shutdown."""
        return self.cause == "node" or (self.cause == "signal" and self.detail in FROM_OUTSIDE)


Event = Ready | Broken | Done | Raised | Lost


class Worker:
    """One child process. The owner polls `fileno`, calls `receive` when it is readable and `overdue` every few milliseconds."""

    def __init__(self, spec: WorkerSpec, limits: Limits, scratch: Path, logs: Path | None = None) -> None:
        self.spec = spec
        self.limits = limits
        self.ready = False
        self.busy = False
        self.spent = False
        self.alive = True
        self.tasks = 0
        self._forked_pid: int | None = None
        self._forking = self._warming = False
        self._held: Event | None = None
        self._seat = Seat(spec.label) if spec.is_pinned else FreeSeat()
        self._folder = Path(tempfile.mkdtemp(prefix=f"{spec.label}-", dir=scratch))
        self._log = self._folder / "log"
        self._logs = logs
        self._start()

    def _start(self) -> None:
        child_read, self._write_fd = os.pipe()
        read_fd, child_write = os.pipe()
        stage_fd = shared_memory()
        self._watch = StageWatch(StageCell(stage_fd))
        entry = Path(__file__).with_name("__main__.py")
        cwd = self._folder / "cwd"
        cwd.mkdir()
        environment = {**passed_on(), **PINNED_ENVIRONMENT, "TMPDIR": str(cwd), processes.MARK: str(os.getpid()), **self.spec.environment}
        environment.pop("PYTHONPATH", None)
        try:
            with self._log.open("ab") as log, processes.BIRTHS:
                self._process = subprocess.Popen(
                    [self.spec.python, "-W", "ignore", str(entry), str(child_read), str(child_write), str(stage_fd)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=cwd,
                    env=environment,
                    pass_fds=(child_read, child_write, stage_fd),
                    start_new_session=True,
                )
                processes.CHILDREN.add(self._process.pid)
        except OSError:
            os.close(self._write_fd)
            os.close(read_fd)
            raise
        finally:
            for descriptor in (child_read, child_write, stage_fd):
                os.close(descriptor)
        self._reader = Reader(read_fd, messages.parsed)
        self._read_fd = read_fd
        for descriptor in (read_fd, self._write_fd):  # reading from a worker must never block
            os.set_blocking(descriptor, False)
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._write_fd, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        self._outbox = bytearray()
        self._seat.take(self.pid)  # before it learns what to import: thread pools are made for the cores that they see
        self._send(
            {
                "setup": self.spec.setup,
                "options": dict(self.spec.options),
                "path": list(self.spec.path),
                "first": list(self.spec.search_first),
            }
        )

    @property
    def pid(self) -> int:
        """The process id of the worker itself, which is also its process group."""
        return self._process.pid

    def fileno(self) -> int:
        """The descriptor to poll for reading."""
        return self._read_fd

    def takes_home(self) -> bool:
        """Whether an idle worker can work where it was started; it has that core then, and should be given a task."""
        return self._seat.take_home()

    def home_is_free(self) -> bool:
        """Whether the core that this worker was started on is free."""
        return self._seat.home_is_free()

    def submit(self, task: Message, *, fork: bool = False, warmup: bool = False) -> None:
        """Hands over one task; the worker must be ready and idle.

        Args:
            task: The task.
            fork: Whether a fresh copy of the process does it.
            warmup: Whether it belongs to the start, and has its time: the first compilation of a process takes long.
        """
        assert self.ready
        assert not self.busy
        self.busy = True
        self.tasks += 1
        self._forking, self._forked_pid, self._held, self._warming = fork, None, None, warmup
        self._seat.take(self.pid)
        self._watch.begin()
        self._send({"task": task, "number": self.tasks, "fork": fork})

    def receive(self) -> Iterator[Event]:
        """Reads what has arrived and yields the events in it. After `Lost` or `Broken` the worker is closed."""
        self._reader.feed()
        while self.alive:
            try:
                message = self._reader.next()
                event = None if message is None else self._interpret(message)
            except ProtocolError as error:
                yield self._lose("protocol", str(error))
                return
            if message is None:
                break
            if event is not None:
                yield event
        if self.alive and self._reader.closed:
            yield self._lose(*self._obituary())

    def _interpret(self, message: Message) -> Event | None:
        said = messages.said(message, self.spec.setup)
        if isinstance(said, messages.ReadyMessage | messages.BrokenMessage):
            if self.ready:
                raise ProtocolError("said twice that it is ready")
            return self._set_up(said)
        if not self.busy or said.task != self.tasks:
            raise ProtocolError(f"an answer to task {said.task}, which is not what it was given")
        if isinstance(said, messages.DoneMessage | messages.RaisedMessage):
            self.spent = said.spent and not self._forking
        if isinstance(said, messages.DoneMessage):
            event = Done(said.result, said.seconds)
        elif isinstance(said, messages.RaisedMessage):
            event = Raised(said.stage, said.failure, said.seconds)
        elif not self._forking:
            raise ProtocolError("an unrequested reply of a copy")
        elif isinstance(said, messages.ForkedMessage):
            # It may have ended already. The worker must not touch any process that is not its child.
            self._forked_pid = said.pid if processes.is_child(said.pid, self.pid) else None
            return None
        else:
            return self._finish(self._held or self._lost(*_wait_status(said.status)))
        if self._forking:
            self._held = event
            return None
        return self._finish(event)

    def _set_up(self, said: messages.ReadyMessage | messages.BrokenMessage) -> Event:
        if isinstance(said, messages.ReadyMessage):
            self.ready = True
            self._seat.leave()
            return Ready(said.info)
        self.close()
        return Broken(said.failure)

    def _finish(self, event: Event) -> Event:
        self.busy, self._forked_pid, self._held = False, None, None
        self._seat.leave()
        self._trim_log()
        return event

    def overdue(self) -> Lost | None:
        """Kills the task that is past its deadline or over the memory cap; the worker survives when the task ran in a fork."""
        if not self.alive or (self.ready and not self.busy):
            return None
        if processes.exit_code(self.pid) is not None and not select.select([self._read_fd], [], [], 0)[0]:
            return self._lose(*self._obituary())
        self._trim_log()
        self._flush()
        allowed = self.limits.stage if self.ready and not self._warming else self.limits.start
        target = self.pid if self._forked_pid is None or not processes.is_child(self._forked_pid, self.pid) else self._forked_pid
        if self.waiting() > allowed:
            return self._end(target, "deadline", f"{allowed:g} s")
        if processes.resident(target) > self.limits.memory:
            return self._end(target, "memory", f"{self.limits.memory / 2**30:g} GiB")
        return None

    def _end(self, target: int, cause: str, detail: str) -> Lost:
        if target == self.pid:
            return self._lose(cause, detail)
        self._held = self._lost(cause, detail)
        processes.kill_tree(target)
        self._watch.restart()
        self._forked_pid = None
        return self._drain_fork(self._held)

    def _drain_fork(self, lost: Lost) -> Lost:
        """Waits for the warm parent to reap the copy that was killed; it has nothing else to do, so this takes milliseconds."""
        deadline = clock.now() + 5.0
        while clock.now() < deadline and not self._reader.closed:
            try:
                message = self._reader.next()
                said = None if message is None else messages.said(message, self.spec.setup)
            except ProtocolError:
                break
            if said is None:
                if select.select([self._read_fd], [], [], 0.05)[0]:
                    self._reader.feed()
            elif isinstance(said, messages.DiedMessage) and said.task == self.tasks:
                self._finish(lost)
                return lost
        self.close()
        return lost

    def _lost(self, cause: str, detail: str) -> Lost:
        stage = self.stage
        return Lost(cause, detail, stage, self.log_tail(), {stage: self.waiting()} if stage else {})

    def _lose(self, cause: str, detail: str) -> Lost:
        lost = self._lost(cause, detail)
        self.close()
        return lost

    def _obituary(self) -> tuple[str, str]:
        deadline = clock.now() + 5.0
        while (code := processes.exit_code(self.pid)) is None:
            if clock.now() > deadline:
                return "protocol", "closed its pipe and went on running"
            time.sleep(0.002)
        return ("signal", signal_name(-code)) if code < 0 else ("exit", str(code))

    def _send(self, message: Message) -> None:
        self._outbox += pack(message)
        self._flush()

    def _flush(self) -> None:
        """Writes what the pipe takes; the rest goes with the next look, so a worker that does not read blocks nothing."""
        while self._outbox:
            try:
                del self._outbox[: os.write(self._write_fd, self._outbox)]
            except BlockingIOError:
                return
            except BrokenPipeError:
                self._outbox.clear()

    def log_tail(self) -> str:
        """The end of what the process printed."""
        try:
            with self._log.open("rb") as file:
                file.seek(max(0, self._log.stat().st_size - LOG_TAIL))
                return file.read(LOG_TAIL).decode("utf-8", "replace")
        except OSError:
            return ""

    @property
    def log(self) -> Path:
        """The file with the output of the process, while the process lives."""
        return self._log

    @property
    def stage(self) -> str:
        """The stage of its current task; empty before the first task."""
        return self._watch.stage if self.busy else ""

    def waiting(self) -> float:
        """Seconds since it was started, was given its task, or entered the stage it is in."""
        return self._watch.seconds()

    def _keep_log(self) -> None:
        """Keeps the end of what the process printed, if it printed anything, where it can be read afterwards."""
        text = self.log_tail() if self._logs is not None else ""
        if text.strip() and self._logs is not None:
            with contextlib.suppress(OSError), replacing(self._logs / f"{self.spec.label}-{self.pid}.log") as file:
                file.write(text.encode("utf-8", "replace"))

    def _trim_log(self) -> None:
        with contextlib.suppress(OSError):
            if os.stat(self._log).st_size > LOG_LIMIT:
                os.truncate(self._log, 0)

    def resident(self) -> int:
        """Resident bytes of the whole process tree."""
        return processes.resident(self.pid)

    def close(self) -> None:
        """Kills the worker with all it has started, and removes what it has left in its folder."""
        if not self.alive:
            return
        self.alive = self.ready = self.busy = False
        processes.kill_tree(self.pid)
        self._process.wait()
        self._seat.give_up()
        processes.CHILDREN.discard(self.pid)
        self._keep_log()
        os.close(self._read_fd)
        os.close(self._write_fd)
        self._watch.close()
        folders.remove(self._folder)


def signal_name(number: int) -> str:
    """The name of a signal, e.g. `SIGSEGV` for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _wait_status(status: int) -> tuple[str, str]:
    if os.WIFSIGNALED(status):
        return "signal", signal_name(os.WTERMSIG(status))
    return "exit", str(os.WEXITSTATUS(status))
