"""What a process can do to the one who started it."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np


class Declined(Exception):
    """The compiler says that it has no such operator."""


class Panic(BaseException):
    """What an extension in Rust raises: no Exception."""


class Mute(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


abort, leave = os.abort, os._exit
"""End the process. Where workers have none, `fake.pool` puts others in their place."""
_SPENT: list[str] = []
"""What has spoilt this process."""


def act(behaviour: str) -> None:
    """Behaves."""
    if _SPENT:
        raise RuntimeError(f"this process has seen {_SPENT[0]}")
    _BEHAVIOURS[behaviour]()


def is_spent() -> bool:
    """Whether everything fails in this process from now on."""
    return bool(_SPENT)


def note(event: str) -> None:
    """Writes a line into the journal, if there is one: seconds, process, event."""
    if "OPERA_FAKE_STATE" in os.environ:
        journal = os.open(Path(os.environ["OPERA_FAKE_STATE"]) / "journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(journal, f"{time.monotonic():.6f} {os.getpid()} {event}\n".encode())
        os.close(journal)


def first_time(name: str) -> bool:
    """Whether this is the first request for *name*."""
    try:
        os.close(os.open(Path(os.environ["OPERA_FAKE_STATE"]) / f"once-{name}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def _nothing() -> None:
    pass


def _raise() -> None:
    raise ValueError(f"cannot convert value_{os.getpid()} of shape ({os.getpid()}, 3) at {hex(id(object()))}")


def _spoil() -> None:
    _SPENT.append("a kernel that the device stopped")
    raise ValueError("the device stopped the kernel")


def _decline() -> None:
    raise Declined("no converter for this")


def _panic() -> None:
    raise Panic("index out of bounds")


def _megabyte() -> None:
    raise RuntimeError("begin " + "x" * 2**20 + " end")


def _unicode() -> None:
    raise RuntimeError("bytes \udcff\udc80 nul \x00 escape \x1b[31m done")


def _mute() -> None:
    raise Mute


def _recurse() -> None:
    _recurse()


def _segfault() -> None:
    ctypes.string_at(0)


def _overflow() -> None:
    nested: tuple[object, ...] = ()
    for _ in range(400_000):
        nested = (nested,)
    hash(nested)


def _hang() -> None:
    while True:
        time.sleep(1)


def _hang_native() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    held = ctypes.PyDLL(None)
    while True:
        held.pause()


def _stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _leak() -> None:
    kept: list[object] = []
    while True:
        kept.append(np.ones(2**21))
        time.sleep(0.001)


def _noise() -> None:
    print("garbage" * 100_000)
    sys.stdout.write("\x00\x01\n")
    for descriptor in (1, 2):
        os.write(descriptor, b"\x00\x00\x00\x05hello" + os.urandom(2**20))


def _fail_noisily() -> None:
    _noise()
    os.write(1, b"\nthe last words\n")
    os.abort()


def _die_after_answering() -> None:
    from opera.workers import child

    write = child.write_all

    def write_and_die(descriptor: int, data: bytes) -> None:
        write(descriptor, data)
        if b'"done"' in data:
            os._exit(1)

    child.write_all = write_and_die


def _children() -> None:
    for _ in range(3):
        subprocess.Popen(["sleep", "1000"])


def _detached() -> None:
    subprocess.Popen(["sh", "-c", "sleep 1000 & sleep 1000 &"], start_new_session=True).wait()
    note("detached ready")


def _detach_unmarked() -> None:
    subprocess.Popen(["/bin/sh", "-c", "sleep 987654 & sleep 987654 &"], start_new_session=True, env={}).wait()


def _fork_and(then: Callable[[], None]) -> None:
    if os.fork() == 0:
        os.setsid()
        while True:
            time.sleep(1)
    then()


def _two_return() -> None:
    os.fork()


def _wander() -> None:
    os.chdir("/")
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])


def _flood() -> None:
    for _ in range(100):
        os.write(1, b"x" * 2**20)


def _redirect() -> None:
    elsewhere = os.open("elsewhere", os.O_WRONLY | os.O_CREAT)
    for descriptor in (0, 1, 2):
        os.dup2(elsewhere, descriptor)
    sys.stdout = sys.stderr = open(elsewhere, "w")  # noqa: SIM115
    print("nobody reads this")


def _change_environment() -> None:
    state = os.environ["OPERA_FAKE_STATE"]
    os.environ.clear()
    os.environ.update({"OPERA_FAKE_STATE": state, "PATH": "/nowhere", "TMPDIR": "/nowhere", "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "64"})
    tempfile.tempdir = "/nowhere"


def _take_signals() -> None:
    def handle(number: int, frame: object) -> None:
        raise SystemExit(number)

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGALRM):
        signal.signal(number, handle)


def _litter() -> None:
    folder = Path(tempfile.mkdtemp())
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_bytes(bytes(1000))
    Path("in-the-working-folder").write_text("x")
    (folder / "deep").chmod(0)


def _close_streams() -> None:
    with contextlib.suppress(OSError):
        sys.stderr.close()
    os.close(1)


def _threads() -> None:
    for _ in range(4):
        threading.Thread(target=_hang).start()


def _flaky() -> None:
    if first_time("flaky"):
        raise ValueError("only this once")


def _abort_once(side: str) -> None:
    if first_time(f"abort-{side}"):
        abort()


def _moody() -> None:
    if first_time("mood-1"):
        raise ValueError("first mood")
    if first_time("mood-2"):
        raise TypeError("second mood")
    raise KeyError("third mood")


def _fill_the_disk() -> None:
    from opera import bundle

    def refuse(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    bundle.tempfile = types.SimpleNamespace(mkstemp=refuse)


def _lack_space() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere/of/the/compiler")


def _let_files_vanish() -> None:
    from opera import bundle

    store = bundle.store

    def store_and_remove(folder: Path, data: bytes) -> str:
        name = store(folder, data)
        bundle.path_of(folder, name).unlink(missing_ok=True)
        return name

    bundle.store = store_and_remove


def _say_where() -> None:
    """Notes the processor cores that it may use, and works for a moment."""
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    note(f"here {cores} begin")
    time.sleep(0.05)
    note(f"here {cores} end")


_HOME = os.sched_getaffinity(0)


def _go_home() -> None:
    """Puts itself back on the cores that it had when it was loaded, as OpenVINO does with its threads."""
    os.sched_setaffinity(0, _HOME)
    _say_where()


_BEHAVIOURS: dict[str, Callable[[], None]] = {
    "spoil": _spoil,
    "pass": _nothing, "raise": _raise, "decline": _decline, "panic": _panic, "megabyte": _megabyte, "unicode": _unicode, "mute": _mute,
    "recurse": _recurse, "overflow": _overflow, "segfault": _segfault, "abort": lambda: abort(), "exit-0": lambda: leave(0),
    "exit-3": lambda: leave(3), "sys-exit": lambda: sys.exit("gave up"), "hang": _hang, "hang-native": _hang_native, "stop": _stop,
    "leak": _leak, "noise": _noise, "fail-noisily": _fail_noisily, "die-after-answering": _die_after_answering, "children": _children,
    "detached": _detached, "fork-and-return": lambda: _fork_and(_nothing), "fork-and-abort": lambda: _fork_and(os.abort),
    "fork-and-hang": lambda: _fork_and(_hang), "two-return": _two_return, "wander": _wander, "litter": _litter,
    "flood": _flood, "redirect": _redirect, "environ": _change_environment, "signals": _take_signals,
    "detached-unmarked": _detach_unmarked,
    "close-streams": _close_streams, "threads": _threads, "flaky": _flaky, "abort-once": lambda: _abort_once("compiler"),
    "library-abort-once": lambda: _abort_once("library"), "moody": _moody,
    "kill-itself": lambda: os.kill(os.getpid(), signal.SIGKILL), "no-space": _lack_space,
    "slow": lambda: time.sleep(0.05), "full": _fill_the_disk, "vanish": _let_files_vanish,
    "here": _say_where, "home": _go_home,
}  # fmt: skip
