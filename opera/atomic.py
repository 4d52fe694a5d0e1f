"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import IO


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
