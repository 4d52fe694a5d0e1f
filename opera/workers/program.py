"""A child process that is no worker: the tests of a library, a script, an installer."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from opera.workers import clock, processes

LOOK_SECONDS = 0.02
"""Between two looks at a program that somebody waits for."""
_LAUNCH = str(Path(__file__).with_name("launch.py"))


class Program:
    """One running program: in a session of its own, marked as ours, ended by the kernel when this process ends.

    Args:
        command: The command line.
        output: Where it prints to.
        folder: Where it works.
        environment: All of its environment but our mark.
        kept: Descriptors that it inherits.

    Raises:
        OSError: there is no such program.
    """

    def __init__(
        self, command: Sequence[str], output: IO[bytes], folder: str | Path, environment: Mapping[str, str], kept: Sequence[int] = ()
    ) -> None:
        if shutil.which(command[0]) is None:
            missing = errno.EACCES if os.path.exists(command[0]) else errno.ENOENT
            raise OSError(missing, os.strerror(missing), command[0])
        launch = [sys.executable, "-I", "-S", _LAUNCH, str(os.getpid()), *command]
        with processes.BIRTHS:
            self._process = subprocess.Popen(
                launch, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=folder, pass_fds=kept,
                env={**environment, processes.MARK: str(os.getpid())}, start_new_session=True,
            )  # fmt: skip
            processes.CHILDREN.add(self._process.pid)

    def poll(self) -> int | None:
        """Its exit code, the negative number of the signal that ended it; None while it runs."""
        return processes.exit_code(self._process.pid) if self._process.returncode is None else self._process.returncode

    def wait(self, timeout: float) -> int | None:
        """As `poll`, after at most *timeout* seconds."""
        deadline = clock.now() + timeout
        while (code := self.poll()) is None and clock.now() < deadline:
            time.sleep(LOOK_SECONDS)
        return code

    def resident(self) -> int:
        """Resident bytes of it and all that it has started."""
        return processes.resident(self._process.pid)

    def end(self) -> None:
        """Kills it with all that it has started."""
        if self._process.returncode is None:
            processes.kill_tree(self._process.pid)
            self._process.wait()
            processes.CHILDREN.discard(self._process.pid)
