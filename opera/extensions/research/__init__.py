"""Evaluation of strategies, on campaigns that ran a whole corpus, and comparison of corpora."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Research",
    {
        "evaluate": ("opera.extensions.research.cli.evaluate", "Compare strategies by how early they reveal the findings."),
        "diff": ("opera.extensions.research.cli.diff", "Compare two corpora: what they share, and what they do not."),
        "equipped": ("opera.extensions.research.cli.equipped", "Count the operators and settings that a compiler's tests cover."),
    },
)
