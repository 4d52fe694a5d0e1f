"""Checks that the workspace was not moved and that its disk is not full: otherwise failures are meaningless."""

from __future__ import annotations

import json
import os
from pathlib import Path

from opera.difftest.judge import Judgement
from opera.errors import EnvironmentBroken
from opera.oracles.verdict import Verdict

LEAST_FREE = 16 * 2**20
"""Bytes that have to be free where the workspace lies for a failure to count."""
_SIGNS = ("No space left on device", "Errno 28", "ENOSPC", "Disk quota exceeded")


class WorkspacePlace:
    """Where a workspace lay when this was made; it may be moved or removed while a campaign works in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._identity = self._look()

    def _look(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._folder)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @property
    def holds(self) -> bool:
        """Whether it still lies there."""
        return self._look() == self._identity

    def check(self) -> None:
        """Raises EnvironmentBroken where it does not."""
        if not self.holds:
            raise EnvironmentBroken(
                f"{self._folder} was moved or removed while the campaign ran; finished results are kept in it, so run the same command with"
                " --workspace and its new place"
            )


class NoRoom(EnvironmentBroken):
    """The disk is full: a failure may have this cause."""


def check_room(judgement: Judgement, folder: Path) -> None:
    """Raises NoRoom for a test that did not pass while the disk of *folder* was full, or that says itself that one was."""
    if judgement.verdict in (Verdict.PASS, Verdict.UNSUPPORTED):
        return
    room = os.statvfs(folder)
    if room.f_bavail * room.f_frsize < LEAST_FREE or any(sign in json.dumps(judgement.detail) for sign in _SIGNS):
        raise NoRoom("no space left on the device, so failures are meaningless; free some space, and run the same command again")
