"""Groups of commands whose modules are imported when a command is called: OPERA's own, and those of extensions."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from typing import Any

import click

from opera.cli.help import Group
from opera.errors import EnvironmentBroken
from opera.plugins import Commands, loaded

GROUP = "opera.commands"
Section = Mapping[str, tuple[str, str]]
"""Module and summary of each command by name."""


def extensions() -> dict[str, Commands]:
    """The commands of each extension that can be imported."""
    return {name: found for name, found in loaded(GROUP).items() if isinstance(found, Commands)}


def twice(own: Mapping[str, Section]) -> list[str]:
    """What is wrong with the commands of extensions: names that OPERA, or an earlier extension, has."""
    owners = {name: "opera" for section in own.values() for name in section}
    found: list[str] = []
    for extension, each in extensions().items():
        for name in each.commands:
            if name in owners:
                what = f"extension {extension} has a command {name!r}, as {owners[name]} has: it is left out"
                found.append(f"{what}; uninstall {extension}, or rename the command")
            owners.setdefault(name, extension)
    return found


class LazyGroup(Group):
    """A group of commands by section.

    Args:
        own: OPERA's commands by title of the section.
        below: Name of the group, if it is itself a command: of extensions it has the commands `NAME COMMAND`.
    """

    def __init__(self, *arguments: Any, own: Mapping[str, Section], below: str = "", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._own = own
        self._below = below

    def sections(self) -> dict[str, dict[str, tuple[str, str]]]:
        """The commands by title of their section; a name that is taken is left out."""
        found = {title: dict(section) for title, section in self._own.items()}
        taken = {name for section in found.values() for name in section}
        for extension in extensions().values():
            for words, place in extension.commands.items():
                group, _, name = words.rpartition(" ")
                if group == self._below and name not in taken:
                    taken.add(name)
                    found.setdefault(extension.title, {})[name] = place
        return found

    def _commands(self) -> dict[str, tuple[str, str]]:
        return {name: place for section in self.sections().values() for name, place in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return [*self.commands, *self._commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports the command's module; raises EnvironmentBroken if it, or one that it needs, is not installed."""
        place = self._commands().get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        try:
            return importlib.import_module(place[0]).command
        except ModuleNotFoundError as error:
            raise EnvironmentBroken(f"the command {cmd_name} ({place[0]}) cannot be imported: {error}; reinstall its extension") from error

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuses an unknown name with the nearest one."""
        names = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in names:
            close = difflib.get_close_matches(args[0], names, 1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            ctx.fail(f"no such command {args[0]!r}{hint}; choose one of: {', '.join(names)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the commands under the titles of their sections."""
        own = {name: (command.get_short_help_str(80)) for name, command in self.commands.items()}
        sections = {title: {name: summary for name, (_, summary) in found.items()} for title, found in self.sections().items()}
        sections = {**({"Commands": own} if own else {}), **sections}
        widest = max(len(name) for section in sections.values() for name in section)
        for title, commands in sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), summary) for name, summary in commands.items()])
