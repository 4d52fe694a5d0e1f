"""Findings and passing tests as a suite that a compiler's project can merge and run without OPERA."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Exported suites",
    {
        "export pytest": ("opera.extensions.suites.cli", "Write findings and passing tests as a suite that runs without OPERA."),
    },
)
