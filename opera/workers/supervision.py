"""Supervises the processes of a command, and removes its processes and folders, however the command ends.

At the normal end, after an exception and after Ctrl-C, SIGTERM or SIGHUP the driver itself ends what is left. Where it is killed, its
guardian does. Where both are killed, the next command does that has a working folder in the same place; it finds what carries the mark.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from opera.interruption import undisturbed
from opera.workers import folders
from opera.workers.processes import Guardian, adopt_orphans, kill_marked, kill_orphans

COMMANDS = (
    "combine",
    "crew",
    "doctor",
    "env",
    "equipped",
    "evaluate",
    "export",
    "extract",
    "issue",
    "replay",
    "reproduce",
    "node",
    "triage",
)
"""How the names of working folders begin; the number of the process that made it follows."""
_TEMPORARY = "opera-"
"""Goes before the name in the folder for temporary files, which others use as well."""
_NAME = re.compile(rf"({_TEMPORARY})?({'|'.join(COMMANDS)})-(\d+)-")
_LOCK = threading.RLock()
_guardian: Guardian | None = None
_depth = 0


@contextmanager
def supervised() -> Generator[None]:
    """Ends all processes that this process has started when the outermost of these blocks ends, in any way."""
    global _depth
    _enter()
    try:
        yield
    finally:
        with _LOCK:
            if _depth == 1:
                with undisturbed():
                    _leave()
            else:
                _depth -= 1


def _enter() -> None:
    global _depth, _guardian
    with _LOCK:
        if _depth == 0:
            adopt_orphans()
            _guardian = Guardian()
        _depth += 1


def _leave() -> None:
    global _depth, _guardian
    guardian, _guardian, _depth = _guardian, None, 0
    assert guardian is not None
    kill_orphans()
    guardian.close()
    kill_orphans()  # what the guardian has killed is reaped


@contextmanager
def working_folder(command: str, scratch: Path | None = None) -> Generator[Path]:
    """A supervised block with a folder of its own, which goes with it; those that killed commands have left there go before.

    Args:
        command: One of `COMMANDS`.
        scratch: Where to make it; the folder for temporary files where None, and where nothing can be made in it.
    """
    place, prefix = (scratch, "") if scratch is not None and _takes_files(scratch) else (Path(tempfile.gettempdir()), _TEMPORARY)
    clear(place)
    with supervised():
        folder, lock = _make(place, f"{prefix}{command}-{os.getpid()}-")
        try:
            if _guardian is not None:
                _guardian.also_removes(folder)
            yield folder
        finally:
            with undisturbed():
                folders.remove(folder)
                os.close(lock)


def clear(place: Path) -> None:
    """Ends the processes of killed commands, and removes their working folders in *place*.

    OPERA changes a folder only if it has one of OPERA's names and belongs to this user, and no process holds its lock (as its maker does).
    """
    for folder, owner in _candidates(place):
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            if os.fstat(lock).st_uid != os.geteuid():
                continue
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            kill_marked(owner)
            folders.remove(folder)
        except OSError:
            continue
        finally:
            os.close(lock)


def _candidates(place: Path) -> Iterator[tuple[Path, int]]:
    with contextlib.suppress(OSError):
        for each in sorted(os.listdir(place)):
            match = _NAME.match(each)
            if match is not None:
                yield place / each, int(match[3])


def _takes_files(scratch: Path) -> bool:
    with contextlib.suppress(OSError):
        scratch.mkdir(exist_ok=True)
        return not scratch.is_symlink() and os.access(scratch, os.W_OK | os.X_OK)
    return False


def _make(place: Path, prefix: str) -> tuple[Path, int]:
    """A new folder and its lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():  # another process may have removed it before the lock
                return folder, lock
            os.close(lock)
