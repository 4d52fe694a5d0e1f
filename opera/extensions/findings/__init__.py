"""Findings for others: the text of an issue, in the form of the project that it goes to, and a check of recorded findings."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Results",
    {
        "issue": ("opera.extensions.findings.issue", "Write an issue about a finding, in the form of its project."),
        "verify": ("opera.extensions.findings.verify", "Run the scripts of recorded findings, and say which still fail."),
    },
)
