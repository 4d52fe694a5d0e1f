"""A host as a child process: started in its own session, watched, and killed with all its child processes."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from opera.errors import EnvironmentBroken
from opera.workers import clock, folders
from opera.workers.program import Program, Running

LOG_TAIL = 2000
ENFORCE_SECONDS = 0.02
OUTPUT = 256 << 20
"""Bytes that one host may print."""
MEMORY = 8 << 30
"""Resident bytes that one host and all its children may take."""
PINNED = {
    "PYTHONHASHSEED": "0",
    "PYTHONUNBUFFERED": "1",
    "PYTHONNOUSERSITE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "HIP_VISIBLE_DEVICES": "",
}
_ANSWER_SECONDS = 60.0
_ANSWER = 1 << 20
_PROBE = "import importlib.util, json, sys; print(json.dumps([m for m in sys.argv[1:] if importlib.util.find_spec(m) is None]))"


Launch = Callable[[Sequence[str], IO[bytes], str, Mapping[str, str]], Running]
"""Starts a command: where it prints to, where it works, and variables in addition to the environment of this process."""


class Host:
    """One running host.

    It has a process group and a working folder of its own; what it prints goes to a log file.
    """

    def __init__(
        self,
        command: Sequence[str],
        recording: Path,
        timeout: float,
        stall: float,
        environment: Mapping[str, str] | None = None,
        memory: int = MEMORY,
        launch: Launch | None = None,
    ) -> None:
        """Starts *command*.

        Args:
            command: The command line.
            recording: The file that it writes; the log gets its name.
            timeout: Seconds that it may take.
            stall: Seconds for which the recording may stay as it is.
            environment: Variables in addition to the environment of this process.
            memory: Resident bytes that it and all its children may take.
            launch: Starts the command; `start` by default.

        Raises:
            EnvironmentBroken: the interpreter cannot be started.
        """
        self.recording = recording
        self._log = recording.with_suffix(".log")
        self._folder = tempfile.mkdtemp(prefix="cwd-", dir=recording.parent)
        self._timeout = timeout
        self._stall = stall
        self._memory = memory
        self._enforced = 0.0
        self._started = self._moved = clock.now()
        self._size = -1
        self._verdict: str | None = None
        with self._log.open("wb") as log:
            self._program = (launch or start)(command, log, self._folder, {"TMPDIR": self._folder, **(environment or {})})

    def poll(self) -> str | None:
        """How the host ended: `` for well, otherwise the cause. None while it runs; kills it when it is past a limit."""
        if self._verdict is None:
            code = self._program.poll()
            if code is not None:
                self._end(_describe(code))
            else:
                self._enforce()
        return self._verdict

    def kill(self) -> None:
        """Kills the whole process group."""
        if self._verdict is None:
            self._end("stopped")

    def log_tail(self) -> str:
        """The end of what it printed."""
        try:
            return self._log.read_bytes()[-LOG_TAIL:].decode("utf-8", errors="replace")
        except OSError:
            return ""

    def _enforce(self) -> None:
        now = clock.now()
        if now - self._enforced < ENFORCE_SECONDS:
            return
        self._enforced = now
        size = self.recording.stat().st_size if self.recording.exists() else 0
        if size != self._size:
            self._size, self._moved = size, now
        if now - self._started > self._timeout:
            self._end(f"longer than {self._timeout:g} s")
        elif now - self._moved > self._stall:
            self._end(f"no progress for {self._stall:g} s")
        elif self._log.stat().st_size > OUTPUT:
            self._end(f"printed more than {OUTPUT >> 20} MiB")
        elif self._program.resident() > self._memory:
            self._end(f"more than {self._memory / (1 << 30):g} GiB of memory")

    def _end(self, verdict: str) -> None:
        self._verdict = verdict
        self._program.end()
        folders.remove(Path(self._folder))


def start(
    command: Sequence[str],
    output: IO[bytes],
    folder: str | Path,
    environment: Mapping[str, str] | None = None,
    kept: Sequence[int] = (),
) -> Program:
    """Starts *command* in *folder* with one thread and no GPU, otherwise in the environment of this process, whose own tests it runs."""
    try:
        return Program(command, output, folder, {**os.environ, **PINNED, **(environment or {})}, kept)
    except OSError as error:
        message = f"cannot start {command[0]}: {error.strerror}; set `python` of this library to another interpreter"
        raise EnvironmentBroken(message) from error


def answer(command: Sequence[str], scratch: Path) -> str:
    """The end of the output of *command*, which has a minute of time."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder, tempfile.TemporaryFile(dir=scratch) as output:
        program = start(command, output, folder)
        try:
            program.wait(_ANSWER_SECONDS)
        finally:
            program.end()
        output.seek(max(0, output.seek(0, os.SEEK_END) - _ANSWER))
        return output.read(_ANSWER).decode("utf-8", errors="replace").strip()


def check_modules(python: str, modules: Sequence[str], install: str, scratch: Path) -> None:
    """Checks that *python* can find *modules*.

    Raises:
        EnvironmentBroken: *python* does not work, or a module is missing; the message has *install*, the command that installs it.
    """
    text = answer([python, "-c", _PROBE, *modules], scratch)
    try:
        missing: list[str] = json.loads(text.splitlines()[-1])
    except (ValueError, IndexError):
        raise EnvironmentBroken(f"{python} does not run Python code: {text[-300:]}") from None
    if missing:
        raise EnvironmentBroken(f"{python} has no module {', '.join(missing)}; install it there: {install}")


def _describe(code: int) -> str:
    if code >= 0:
        return f"exit code {code}" if code else ""
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
