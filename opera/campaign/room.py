"""Whether there was room on the disk for what a test did. Where there was none, its failure says nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

from opera.campaign.judge import Judgement
from opera.errors import EnvironmentBroken
from opera.oracles.verdict import Verdict

LEAST_FREE = 16 * 2**20
"""Bytes that have to be free where the workspace lies for a failure to count."""
_SIGNS = ("No space left on device", "Errno 28", "ENOSPC", "Disk quota exceeded")


class NoRoom(EnvironmentBroken):
    """The disk is full: whatever fails now may be the disk's fault."""


def check_room(judgement: Judgement, folder: Path) -> None:
    """Raises NoRoom for a test that did not pass while the disk of *folder* was full, or that says itself that one was."""
    if judgement.verdict in (Verdict.PASS, Verdict.UNSUPPORTED):
        return
    room = os.statvfs(folder)
    if room.f_bavail * room.f_frsize < LEAST_FREE or any(sign in json.dumps(judgement.detail) for sign in _SIGNS):
        raise NoRoom("no space left on the device, so that failures say nothing; free some and run the same command again")
