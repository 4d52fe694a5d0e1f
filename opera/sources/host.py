"""A host as a child process: started apart, watched, and killed with everything that it started."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from opera.errors import EnvironmentBroken
from opera.worker.processes import MARK, kill_tree, resident

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
_PROBE = "import importlib.util, json, sys; print(json.dumps([m for m in sys.argv[1:] if importlib.util.find_spec(m) is None]))"


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
    ) -> None:
        """Starts *command*.

        Args:
            command: The command line.
            recording: The file that it writes; the log gets its name.
            timeout: Seconds that it may take.
            stall: Seconds for which the recording may stay as it is.
            environment: Added to that of this process.
            memory: Resident bytes that it and all its children may take.

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
        self._started = self._moved = time.monotonic()
        self._size = -1
        self._verdict: str | None = None
        with self._log.open("wb") as log:
            self._process = start(command, stdout=log, cwd=self._folder, environment={"TMPDIR": self._folder, **(environment or {})})

    def poll(self) -> str | None:
        """How the host ended: `` for well, otherwise the cause. None while it runs; kills it when it is past a limit."""
        if self._verdict is None:
            code = self._process.poll()
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
        now = time.monotonic()
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
        elif resident(self._process.pid) > self._memory:
            self._end(f"more than {self._memory / (1 << 30):g} GiB of memory")

    def _end(self, verdict: str) -> None:
        self._verdict = verdict
        kill_group(self._process)
        shutil.rmtree(self._folder, ignore_errors=True)


def start(
    command: Sequence[str], stdout: IO[bytes], cwd: str | Path, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Starts *command* in a session of its own, with one thread and no GPU."""
    whole: Mapping[str, str] = {**os.environ, **PINNED, MARK: str(os.getpid()), **(environment or {})}
    try:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=whole,
            start_new_session=True,
        )
    except OSError as error:
        message = f"cannot start {command[0]}: {error.strerror}; set `python` of this library to an interpreter that has it"
        raise EnvironmentBroken(message) from error


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills *process*, its group, and everything that descends from it."""
    kill_tree(process.pid)
    process.wait()


def check_modules(python: str, modules: Sequence[str], install: str) -> None:
    """Checks that *python* can find *modules*.

    Raises:
        EnvironmentBroken: it cannot; the message has *install*, the command to mend it.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
        process = start([python, "-c", _PROBE, *modules], stdout=output, cwd=folder)
        try:
            process.wait(timeout=60)
        finally:
            kill_group(process)
        output.seek(0)
        text = output.read().decode("utf-8", errors="replace")
    try:
        missing: list[str] = json.loads(text.strip().splitlines()[-1])
    except (ValueError, IndexError):
        raise EnvironmentBroken(f"{python} does not run Python code: {text[-300:].strip()}") from None
    if missing:
        raise EnvironmentBroken(f"{python} has no module {', '.join(missing)}; install it there: {install}")


def _describe(code: int) -> str:
    if code >= 0:
        return f"exit code {code}" if code else ""
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
