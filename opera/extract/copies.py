"""Hosts that are copies of one warm process: what a suite's files need is imported once, not once for each file."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from opera.errors import EnvironmentBroken
from opera.extract.host import start
from opera.workers import processes
from opera.workers.program import Program, Running

_IMPORT_SECONDS = 300.0
_COPY_SECONDS = 60.0
_READY = b"ready\n"


class WarmProcess:
    """A process that has imported what the hosts of one source need, and is copied for each of them.

    It starts when it is first needed. If it cannot be copied, because it has threads, or if it has ended, each host is a new process.

    Args:
        command: The command line of the warm process, without the descriptor, which stands after the name of the host.
        folder: Where it works and prints to.
        environment: Variables in addition to the environment of this process.
    """

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._command = command
        self._folder = folder
        self._environment = environment
        self._channel: socket.socket | None = None
        self._program: Program | None = None
        self._asked = False

    @property
    def pid(self) -> int:
        """The number of the process; 0 if there is none."""
        return 0 if self._program is None else self._program.pid

    def launch(self, command: Sequence[str], output: IO[bytes], folder: str, environment: Mapping[str, str]) -> Running:
        """Starts *command*, whose host is that of the warm process, as `opera.extract.host.Launch` says."""
        task = {"arguments": command[3:], "output": output.name, "folder": folder, "environment": dict(environment)}
        with processes.BIRTHS:
            if (line := self._tell(task)).strip().isdigit():
                return Running(int(line))
        return start(command, output, folder, environment)

    def close(self) -> None:
        """Ends the process, and closes the channel to it."""
        if self._channel is not None:
            self._channel.close()
        if self._program is not None:
            self._program.end()
        self._channel = self._program = None

    def prepare(self) -> None:
        """Starts it, and waits until it has imported everything."""
        if self._asked:
            return
        self._asked = True
        ours, theirs = socket.socketpair()
        ours.settimeout(_IMPORT_SECONDS)
        with theirs, (self._folder / "warm.log").open("wb") as log, contextlib.suppress(EnvironmentBroken):
            command = [*self._command[:3], "--copies", str(theirs.fileno()), *self._command[3:]]
            self._program = start(command, log, self._folder, self._environment, kept=(theirs.fileno(),))
        self._channel = ours
        if self._program is None or self._line() != _READY:
            self.close()

    def _tell(self, task: Mapping[str, object]) -> bytes:
        """The answer of the warm process; nothing if it cannot be asked."""
        if self._channel is None:
            return b""
        self._channel.settimeout(_COPY_SECONDS)
        with contextlib.suppress(OSError):
            self._channel.sendall(json.dumps(task).encode() + b"\n")
            return self._line()
        return b""

    def _line(self) -> bytes:
        """The next line; nothing if the process has ended, or does not answer in time."""
        assert self._channel is not None
        line = b""
        with contextlib.suppress(OSError):
            while not line.endswith(b"\n") and (part := self._channel.recv(1)):
                line += part
        return line
