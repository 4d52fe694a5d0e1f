"""Process trees from /proc: resident size, descendants, and a way to end the whole tree."""

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

from opera.workers.guardian import children, marked, stat, sweep

_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST_STATM = 256
"""Bytes of a process' `statm`."""
_PR_SET_CHILD_SUBREAPER = 36
_KEPT: set[int] = set()
"""Children of this process that have nothing to do with its work."""
CHILDREN: set[int] = set()
"""The living processes that this process started and supervises: workers of all pools, tests and scripts."""
BIRTHS = threading.Lock()
"""Held while a child is started and while orphans are looked for: a thread must not take another one's newborn for an orphan."""
MARK = "OPERA_DRIVER"
"""Environment variable that every child and what it starts inherits: the process id of the driver."""


def resident(pid: int) -> int:
    """Resident bytes of *pid* and all its descendants; 0 when it is gone."""
    return sum(resident_alone(each) for each in (pid, *descendants(pid)))


def resident_alone(pid: int) -> int:
    """Resident bytes of *pid* without its descendants, which is much faster to ask; 0 when it is gone."""
    try:
        handle = os.open(f"/proc/{pid}/statm", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return int(os.read(handle, _MOST_STATM).split()[1]) * _PAGE
        finally:
            os.close(handle)
    except (OSError, IndexError, ValueError):
        return 0


def most_resident() -> int:
    """The largest resident size of this process so far, in bytes, without its parent's size. 0 if it is unknown."""
    with contextlib.suppress(OSError, IndexError, ValueError), open("/proc/self/status", encoding="ascii", errors="replace") as file:
        return next((int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:")), 0)
    return 0


def descendants(pid: int) -> list[int]:
    """All processes below *pid*, parents before children."""
    found: list[int] = []
    pending = [pid]
    while pending:
        below = children(pending.pop())
        found += below
        pending += below
    return found


def is_below(pid: int, ancestor: int) -> bool:
    """Whether *pid* descends from *ancestor*."""
    seen: set[int] = set()
    while pid > 1 and pid not in seen:
        seen.add(pid)
        known = stat(pid)
        if known is None:
            return False
        pid = known[0]
        if pid == ancestor:
            return True
    return False


def is_child(pid: int, parent: int) -> bool:
    """Whether *pid* is a process that *parent* has started and not yet waited for."""
    known = stat(pid)
    return known is not None and known[0] == parent


def exit_code(pid: int) -> int | None:
    """How our child *pid* has ended, as `Popen.returncode` says it; None while it lives. Its number stays taken until it is waited for."""
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if ended is None:
        return None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def kill_tree(pid: int) -> None:
    """Kills *pid*, its process group and every descendant, also those that left the group; nothing where *pid* does not descend from us."""
    if not is_below(pid, os.getpid()):
        return
    with contextlib.ExitStack() as stack:
        handles: list[int] = []
        for each in (pid, *descendants(pid)):
            with contextlib.suppress(OSError):  # it is gone; or there are more than we can hold, and the others are orphans in a moment
                handle = os.pidfd_open(each)
                stack.callback(os.close, handle)
                if is_below(each, os.getpid()):  # the number has not passed to another process in between
                    handles.append(handle)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        for handle in handles:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)


def adopt_orphans() -> None:
    """Makes this process the parent of descendants whose own parent dies, so that `kill_orphans` can find them."""
    _KEPT.update(children(os.getpid()))
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def kill_orphans(known: Iterable[int] = ()) -> None:
    """Ends and reaps every process that children of this driver have left behind; *known* are those that may live on.

    Such a process carries our mark, unless it was given an environment of its own; then its session tells, which is never ours.
    """
    with BIRTHS:
        orphans = set(children(os.getpid())) - set(known) - _KEPT - CHILDREN
        strangers = {pid for pid in orphans if marked(pid, f"{MARK}={os.getpid()}".encode()) or _is_foreign(pid)}
    for pid in strangers:
        kill_tree(pid)
    for pid in strangers:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _is_foreign(pid: int) -> bool:
    """Whether *pid* is or was in a session other than ours, as everything is that descends from a worker."""
    known = stat(pid)
    return known is not None and known[1] != os.getsid(0)


def kill_marked(driver: int) -> None:
    """Ends what the workers of a driver that is gone have left behind. Nothing happens while a process with its number lives."""
    if not Path(f"/proc/{driver}").exists():
        sweep(f"{MARK}={driver}".encode())


class Guardian:
    """A process that outlives this driver for a moment and ends what it has left behind, even if it was killed."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("guardian.py")
        command = [sys.executable, "-I", "-S", str(script), str(os.getpid()), f"{MARK}={os.getpid()}"]
        with BIRTHS:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
                bufsize=0,
            )
            _KEPT.add(self._process.pid)

    def also_removes(self, folder: Path) -> None:
        """Has it remove *folder* at its end."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the process was killed
            self._process.stdin.write(os.fsencode(folder.absolute()) + b"\0")

    def close(self) -> None:
        """Lets it do its work, and waits until it has."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        _KEPT.discard(self._process.pid)
