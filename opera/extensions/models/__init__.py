"""Whole models: checks each operator of a model on several compilers, and finds which operator or fused edge breaks it."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Whole models",
    {
        "check": ("opera.extensions.models.cli.check", "Check a model and each of its operators on several compilers."),
        "localize": ("opera.extensions.models.cli.localize", "Make scripts and tests of what a compiler gets wrong in a model."),
    },
)
