"""What a campaign that was killed has left: processes, working folders, half-written files. The next one in the workspace ends them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from opera.models.bundle import PART
from opera.store import Workspace
from opera.worker import folders
from opera.worker.processes import kill_marked

_PREFIX = "crew-"
_LOGS_KEPT = 200


def crew_folder(workspace: Workspace) -> Path:
    """A new working folder for the workers of this process; its name says whose it is."""
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=workspace.scratch))


def log_folder(workspace: Workspace) -> Path:
    """Where the last words of workers go; the oldest of what earlier ones said are removed."""
    folder = workspace.folder / "logs"
    folder.mkdir(exist_ok=True)
    logs = sorted(folder.glob("*.log"), key=lambda path: path.stat().st_mtime)
    for path in logs[: max(0, len(logs) - _LOGS_KEPT)]:
        path.unlink(missing_ok=True)
    return folder


def clear(workspace: Workspace) -> None:
    """Ends what earlier campaigns have left. The workspace is locked, so none of them is at work."""
    for leftover in workspace.scratch.iterdir():
        owner = leftover.name.removeprefix(_PREFIX).partition("-")[0]
        if leftover.name.startswith(_PREFIX) and owner.isdigit():
            kill_marked(int(owner))
        folders.remove(leftover)
    for folder in (workspace.cache, workspace.blobs):
        for part in folder.glob(f"{PART}*"):
            part.unlink(missing_ok=True)
