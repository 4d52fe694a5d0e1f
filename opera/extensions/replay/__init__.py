"""Replay: calls recorded instances again in their own library, and so measures whether a record says all that a call needs."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Replay",
    {
        "replay": ("opera.extensions.replay.replay", "Call recorded instances again in their own library."),
    },
)
