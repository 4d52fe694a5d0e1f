"""OpiDiff suites: a declarative YAML format for tests of PyTorch's operators and modules. Nothing here executes what a file says."""

from __future__ import annotations

from opera.plugins import Commands

COMMANDS = Commands(
    "OpiDiff suites",
    {
        "opidiff": ("opera.extensions.opidiff.cli.opidiff", "Check, expand and run YAML suites of PyTorch tests."),
        "export opidiff": ("opera.extensions.opidiff.cli.export", "Write instances of PyTorch as an OpiDiff suite."),
    },
)
