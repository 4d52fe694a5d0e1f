"""The commands of exported suites."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Exported suites",
    {
        "export pytest": ("opera.extensions.suites.cli", "Write findings and passing tests as a suite that runs without OPERA."),
    },
)
