"""What a command that was killed has left: processes, working folders, half-written files. The next campaign ends them.

Only what bears the name that OPERA gives such things is touched, in real folders of this user.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from opera.bundle import PART
from opera.store import Workspace
from opera.workers import folders, supervision

_LOGS_KEPT = 200


def log_folder(workspace: Workspace) -> Path:
    """Where the last words of workers go; the oldest of what earlier ones said are removed."""
    folder = folders.own_folder(workspace.folder / "logs")
    logs = sorted(_files(folder, "*.log"), key=lambda path: path.lstat().st_mtime)
    for path in logs[: max(0, len(logs) - _LOGS_KEPT)]:
        path.unlink(missing_ok=True)
    return folder


def clear(workspace: Workspace) -> None:
    """Ends what earlier commands have left. The workspace is locked, so that nothing writes to it meanwhile."""
    supervision.clear(workspace.scratch)
    for folder in (workspace.cache, workspace.blobs):
        if not folder.is_symlink():
            for part in _files(folder, f"{PART}*"):
                part.unlink(missing_ok=True)


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    """The regular files of *folder* whose names match."""
    return (path for path in folder.glob(pattern) if stat.S_ISREG(path.lstat().st_mode))
