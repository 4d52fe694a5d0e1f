"""Folders that OPERA empties. They belong to OPERA, and OPERA changes nothing outside them."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from opera.errors import UserError


def own_folder(path: Path) -> Path:
    """*path*, made if it is not there: a real folder of this user, and no link to one.

    Raises:
        UserError: something else stands there.
    """
    try:
        path.mkdir(exist_ok=True)
    except FileExistsError as error:
        raise UserError(f"{path} is a file, but OPERA needs a folder there; move the file away") from error
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise UserError(
            f"{path} is a link, and OPERA would remove the target's files; put the whole workspace on that disk with --workspace"
        )
    if found.st_uid != os.geteuid():
        raise UserError(f"{path} belongs to another user; choose your own workspace with --workspace")
    return path


def remove(folder: Path) -> None:
    """Removes *folder* and its content, also without write permission. Removes a link, but not its target.

    What cannot be removed stays, and nothing is raised.
    """
    if folder.is_symlink():
        with contextlib.suppress(OSError):
            folder.unlink()
        return

    def open_up(function: Callable[..., object], path: str, error: object) -> None:
        """Gives the owner back the right to look into *path* and to remove it, and tries once more."""
        inside = Path(path) != folder
        with contextlib.suppress(OSError):
            if inside:
                os.chmod(os.path.dirname(path), 0o700)
            if stat.S_ISDIR(os.lstat(path).st_mode):
                os.chmod(path, 0o700)
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)

    shutil.rmtree(folder, onerror=open_up)
