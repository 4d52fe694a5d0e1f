"""A distribution that OPERA does not know: an extension with names that are taken, and entry points that lead nowhere."""

from __future__ import annotations

from pathlib import Path

TWIN = """
from opera.plugins import Commands

COMMANDS = Commands("Twins", {"run": ("twin_command", "Take a name of OPERA."), "other": ("twin_command", "Take a name of an extension."),
                              "mine": ("twin_command", "Say hello."), "export mine": ("twin_command", "Say hello below export.")})
OTHER = Commands("Others", {"other": ("twin_command", "Say hello.")})
"""
COMMAND = """
import click


@click.command("mine")
def command():
    click.echo("hello")
"""


def install(folder: Path) -> None:
    """Puts the distribution into *folder*, which has to be on the module search path."""
    (folder / "twin_extension.py").write_text(TWIN)
    (folder / "twin_command.py").write_text(COMMAND)
    info = folder / "twin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: twin\nVersion: 1.0\n")
    entries = {
        "opera.commands": {"twin": "twin_extension:COMMANDS", "other": "twin_extension:OTHER", "absent": "no_such_module:COMMANDS"},
        "opera.kinds": {"absent": "no_such_module:Kind"},
    }
    lines = [line for group, names in entries.items() for line in (f"[{group}]", *(f"{name} = {target}" for name, target in names.items()))]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
