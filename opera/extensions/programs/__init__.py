"""Programs of many operators: their document, their types, and a generator that works from the type of the result backwards.

The package stands on the standard library and numpy. Compilers' languages are printed by modules in `templates/`.
"""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "Programs of many operators",
    {
        "fuzz": ("opera.extensions.programs.cli.fuzz", "Generate programs of many operators, and test compilers with them."),
    },
)
