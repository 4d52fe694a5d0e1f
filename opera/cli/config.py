"""`opera config show`: every setting, its value and its origin."""

from __future__ import annotations

from dataclasses import replace

import click

from opera.cli.help import HeadedGroup
from opera.cli.options import common
from opera.compilers.registry import did_you_mean, plugins
from opera.config import Setting, load_config
from opera.console import print_json, print_table, say
from opera.errors import Exit
from opera.models.template import libraries_with_templates
from opera.workers.program import is_secret

SCHEMA = "config/1"


@click.group("config", cls=HeadedGroup)
def command() -> None:
    """Show settings and their origins."""


@command.command("show")
@common
def show(as_json: bool) -> int:
    """Print every setting with its origin.

    The origin is an environment variable, opera.toml, or the default.
    """
    config = load_config()
    entries = [("library", name) for name in libraries_with_templates()] + [("compiler", name) for name in plugins()]
    for section, name in dict.fromkeys((section, name) for section, name, _ in config.values):
        if (section, name) not in entries:
            hint = did_you_mean(name, [known for kind, known in entries if kind == section])
            say(f"opera.toml names the {section} {name!r}, which is not here{hint}")
    rows = [
        (f"{section}.{name}.{key}", _shown(key, config.setting(section, name, key)))
        for section, name in entries
        for key in config.keys(section, name)
    ]
    if as_json:
        settings = [{"name": name, "value": setting.value, "origin": setting.origin} for name, setting in rows]
        print_json({"schema": SCHEMA, "settings": settings})
    else:
        print_table(["setting", "value", "origin"], [[name, setting.value, setting.origin] for name, setting in rows])
    return Exit.CLEAN


def _shown(key: str, setting: Setting) -> Setting:
    """*setting* without a value that may be a secret."""
    return replace(setting, value="(hidden)") if is_secret(key, setting.value) else setting
