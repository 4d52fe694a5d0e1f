"""Issues: the text of an issue about a finding, in the form of the project that it goes to."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Results",
    {
        "issue": ("opera.extensions.issues.cli", "Write an issue about a finding, in the form of its project."),
    },
)
