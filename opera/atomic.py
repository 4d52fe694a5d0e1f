"""Opens files that may come from elsewhere, writes files whole or not at all, and has the one rule about outputs that a user names.

The standard library is enough, because processes of compilers have little more.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import IO

from opera.bounded_json import Malformed
from opera.errors import UserError

MOST_BYTES = 256 * 2**20
"""Largest size of a file that is read whole, and of an unpacked value."""
_DATABASE = "opera.db"
_OF_SQLITE = tuple(f"{_DATABASE}{end}" for end in ("", "-wal", "-shm", "-journal"))
WORKSPACE_FILES = frozenset([*_OF_SQLITE, "checked", "lock", "status.json", "log.jsonl", "log.1.jsonl", "blobs", "cache", "logs"])
"""Names of files and folders in a workspace that belong to OPERA, but its scratch folder, which commands write to themselves."""
_READ: set[tuple[int, int]] = set()
"""The files that this command has read: device and number of each."""


def open_file(path: Path) -> IO[bytes]:
    """Opens a regular file. A pipe or a device, which might never end, is refused.

    Raises:
        Malformed: *path* is no regular file.
        OSError: it cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        note_read(descriptor)
        return open(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise Malformed("it is no regular file")


def read_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file of at most *most* bytes.

    Raises:
        Malformed: it is larger, or no regular file.
        OSError: it cannot be read.
    """
    with open_file(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Malformed(f"it has more than {most >> 20} MiB")
    return data


def forget_reads() -> None:
    """Begins a command: it has read nothing."""
    _READ.clear()


def note_read(descriptor: int) -> None:
    """Notes that this command reads an open file, so that no output replaces the file."""
    found = os.fstat(descriptor)
    _READ.add((found.st_dev, found.st_ino))


def check_output(path: Path, inputs: Iterable[Path] = (), *, in_place: bool = False) -> None:
    """Refuses a file that must not be replaced by an output.

    Args:
        path: A file that a user names for output; it need not exist.
        inputs: Files that the command is going to read.
        in_place: Whether the command reads the file in order to bring it up to date.

    Raises:
        UserError: *path* is a link, a file that the command reads, or a file of a workspace.
    """
    if _is_device(path):
        return
    if path.is_symlink():
        raise UserError(f"{path} is a link; name the file that it leads to")
    place = path.parent.resolve() / path.name
    for folder in place.parents:
        if (folder / _DATABASE).is_file() and place.relative_to(folder).parts[0] in WORKSPACE_FILES:
            raise UserError(f"{path} belongs to the workspace {folder}; name another file")
    try:
        found = path.stat()
    except OSError:
        return
    there = (found.st_dev, found.st_ino)
    if not in_place and (there in _READ or any(_is_same(each, there) for each in inputs)):
        raise UserError(f"{path} is an input of this command, and the output would replace it; name another file")


def _is_same(path: Path, file: tuple[int, int]) -> bool:
    with contextlib.suppress(OSError, ValueError):
        found = path.stat()
        return (found.st_dev, found.st_ino) == file
    return False


@contextlib.contextmanager
def output(path: Path, *, in_place: bool = False) -> Generator[IO[bytes]]:
    """A file that a user has named for output; it takes the place of *path* when the block ends well. Raises as `check_output`."""
    check_output(path, in_place=in_place)
    with replacing(path) as file:
        yield file


@contextlib.contextmanager
def replacing(path: Path) -> Generator[IO[bytes]]:
    """A file that takes the place of *path* when the block ends well, with the permissions of the file before it; its folder is made.

    A link is replaced and not followed; what is no file, as /dev/null, is written to as it is.
    """
    if _is_device(path):
        with path.open("wb") as file:
            yield file
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(temporary, _permissions(path))
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def append(path: Path, data: bytes) -> None:
    """Writes *data* to the end of *path*, a regular file that is made where it is missing. A link is not followed.

    Raises:
        OSError: something else stands there, or the disk refuses.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o666), "ab") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        file.write(data)


def lock_file(path: Path) -> IO[bytes]:
    """Opens *path*, a file for locks, and makes it if it is missing. A link is not followed.

    Raises:
        UserError: something else is there, or the disk refuses.
    """
    try:
        append(path, b"")
        return open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except OSError as error:
        raise UserError(f"{path} cannot be locked ({error.strerror}); remove this file") from error


def _is_device(path: Path) -> bool:
    with contextlib.suppress(OSError):
        kind = path.lstat().st_mode
        return path.absolute().is_relative_to("/dev") or stat.S_ISCHR(kind) or stat.S_ISBLK(kind)
    return False


def _permissions(path: Path) -> int:
    """Those of the regular file *path*, or those that a new file gets."""
    with contextlib.suppress(FileNotFoundError):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            return stat.S_IMODE(mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
