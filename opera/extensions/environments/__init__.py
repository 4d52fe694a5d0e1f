"""Environments of their own for compilers and libraries: makes, lists and removes them, and names them in opera.toml."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Settings",
    {
        "env": ("opera.extensions.environments.cli", "Manage separate environments of compilers and libraries."),
    },
)
