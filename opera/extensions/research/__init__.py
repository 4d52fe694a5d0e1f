"""Evaluation of strategies, on campaigns that ran a whole corpus."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Research",
    {
        "evaluate": ("opera.extensions.research.cli.evaluate", "Compare strategies by how early they reveal the findings."),
        "equipped": ("opera.extensions.research.cli.equipped", "Count the operators and settings that a compiler's tests cover."),
    },
)
