"""What /proc knows of a process tree: resident size, descendants, and the means to end all of it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from opera.worker.guardian import sweep

_PAGE = os.sysconf("SC_PAGE_SIZE")
_PR_SET_CHILD_SUBREAPER = 36
_KEPT: set[int] = set()
"""Children of this process that have nothing to do with workers."""
WORKERS: set[int] = set()
"""The living workers of this process, whatever crew they belong to."""
BIRTHS = threading.Lock()
"""Held while a worker is started and while orphans are looked for: a thread must not take another one's newborn for an orphan."""
MARK = "OPERA_DRIVER"
"""Environment variable that every worker and what it starts inherits: the process id of the driver."""


def resident(pid: int) -> int:
    """Resident bytes of *pid* and all its descendants; 0 when it is gone."""
    return sum(resident_alone(each) for each in (pid, *descendants(pid)))


def resident_alone(pid: int) -> int:
    """Resident bytes of *pid* without its descendants, which is much faster to ask; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def most_resident() -> int:
    """The largest resident size that this process has had, in bytes; that of whoever started it does not count. 0 where nobody knows."""
    with contextlib.suppress(OSError, IndexError, ValueError), open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return next((int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:")), 0)
    return 0


def descendants(pid: int) -> list[int]:
    """All processes below *pid*, parents before children."""
    found: list[int] = []
    pending = [pid]
    while pending:
        children = _children(pending.pop())
        found += children
        pending += children
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return children
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                children += [int(child) for child in file.read().split()]
        except (OSError, ValueError):
            continue
    return children


def _is_ours(pid: int) -> bool:
    """Whether *pid* was started by a worker of this driver, as far as its environment tells."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{MARK}={os.getpid()}".encode() in file.read().split(b"\0")
    except OSError:
        return False


def kill_tree(pid: int) -> None:
    """Kills *pid*, its process group and every descendant, also those that left the group."""
    below = descendants(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for each in (pid, *below):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(each, signal.SIGKILL)


def adopt_orphans() -> None:
    """Makes this process the parent of descendants whose own parent dies, so that `kill_orphans` can find them."""
    _KEPT.update(_children(os.getpid()))
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def kill_orphans(known: Iterable[int]) -> None:
    """Ends and reaps every process that workers of this driver have left behind; *known* are those that may live on.

    Such a process carries our mark, unless it was given an environment of its own; then its session tells, which is never ours.
    """
    with BIRTHS:
        orphans = set(_children(os.getpid())) - set(known) - _KEPT - WORKERS
        strangers = {pid for pid in orphans if _is_ours(pid) or _is_foreign(pid)}
    for pid in strangers:
        kill_tree(pid)
    for pid in strangers:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _is_foreign(pid: int) -> bool:
    """Whether *pid* is or was in a session other than ours, as everything is that descends from a worker."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            session = file.read().rpartition(b")")[2].split()[3]
    except (OSError, IndexError):
        return False
    return int(session) != os.getsid(0)


def kill_marked(driver: int) -> None:
    """Ends what the workers of a driver that is gone have left behind. Nothing happens while a process with its number lives."""
    if not Path(f"/proc/{driver}").exists():
        sweep(f"{MARK}={driver}".encode())


class Guardian:
    """A process that outlives this driver for a moment and ends what its workers have left behind, even if it was killed.

    Args:
        home: A folder that it removes as well.
    """

    def __init__(self, home: Path | None = None) -> None:
        script = Path(__file__).with_name("guardian.py")
        command = [sys.executable, "-I", "-S", str(script), f"{MARK}={os.getpid()}", *([] if home is None else [str(home)])]
        with BIRTHS:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", start_new_session=True
            )
            _KEPT.add(self._process.pid)

    def close(self) -> None:
        """Lets it do its work, and waits until it has."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        _KEPT.discard(self._process.pid)
