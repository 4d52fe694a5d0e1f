"""Self-checking StableHLO programs: the text, the checks and the printed forms. Needs numpy and ml_dtypes, and no compiler."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "StableHLO",
    {
        "stablehlo": ("opera.extensions.stablehlo.cli.stablehlo", "Evaluate StableHLO programs with the reference interpreter."),
        "export stablehlo": ("opera.extensions.stablehlo.cli.export", "Write findings as self-checking StableHLO programs."),
    },
)
