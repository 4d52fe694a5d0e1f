"""`opera config show`: every setting, its value and its origin."""

from __future__ import annotations

from pathlib import Path

import click

from opera.cli.help import HeadedGroup
from opera.cli.options import common
from opera.compilers.registry import did_you_mean, plugins
from opera.config import load_config
from opera.console import print_json, print_table, say
from opera.errors import Exit
from opera.models.template import libraries_with_templates

SCHEMA = "config/1"


@click.group("config", cls=HeadedGroup)
def command() -> None:
    """Show settings and their origins."""


@command.command("show")
@common
def show(workspace: Path, seed: int, as_json: bool) -> int:
    """Print every setting with its origin.

    The origin is an environment variable, opera.toml, or the default.
    """
    config = load_config()
    entries = [("library", name) for name in libraries_with_templates()] + [("compiler", name) for name in plugins()]
    for section, name, _ in config.values:
        if (section, name) not in entries:
            hint = did_you_mean(name, [known for kind, known in entries if kind == section])
            say(f"opera.toml names the {section} {name!r}, which is not here{hint}")
    rows = [(f"{section}.{name}.python", config.setting(section, name, "python")) for section, name in entries]
    if as_json:
        settings = [{"name": name, "value": setting.value, "origin": setting.origin} for name, setting in rows]
        print_json({"schema": SCHEMA, "settings": settings})
    else:
        print_table(["setting", "value", "origin"], [[name, setting.value, setting.origin] for name, setting in rows])
    return Exit.CLEAN
