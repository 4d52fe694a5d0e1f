"""Versions of a compiler: since which release a failure is there, what each release supports, and what changes between two."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Versions",
    {
        "compare": ("opera.extensions.versions.compare", "Compare campaigns: new and fixed failures, or what versions support."),
        "bisect": ("opera.extensions.versions.bisect", "Say since which version a failure is there, and which one mends it."),
    },
)
