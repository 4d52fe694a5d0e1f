"""Removes what a worker has left in its folder, whatever permissions it gave it."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path


def remove(folder: Path) -> None:
    """Removes *folder* with all that is in it; what cannot be removed stays, and nothing is raised."""
    shutil.rmtree(folder, onerror=_open_up)


def _open_up(function: Callable[..., object], path: str, error: object) -> None:
    """Gives the owner back the right to look into *path* and to remove it, and tries once more."""
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        os.chmod(path, 0o700, follow_symlinks=os.chmod not in os.supports_follow_symlinks)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(path)
