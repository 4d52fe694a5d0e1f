"""The commands of programs."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Programs of many operators",
    {
        "fuzz": ("opera.extensions.programs.cli.fuzz", "Generate programs of many operators, and test compilers with them."),
    },
)
