"""Findings for others: the text of an issue, in the form of its project, what is known upstream, and a check of recorded ones."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Results",
    {
        "issue": ("opera.extensions.findings.issue", "Write an issue about a finding, in the form of its project."),
        "repairs": ("opera.extensions.findings.repairs", "Try small repairs of the model on findings."),
        "upstream": ("opera.extensions.findings.upstream", "Search a tracker's issues for recorded findings."),
        "verify": ("opera.extensions.findings.verify", "Run the scripts of recorded findings, and say which still fail."),
    },
)
