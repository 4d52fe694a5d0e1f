"""How help looks: commands and options under headings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from opera.console import cut

_F = TypeVar("_F", bound=Callable[..., Any])
COMMON = "Common options"
"""The heading of what most commands take."""
_OWN = "Options"
_EVERYWHERE = ("--workspace", "--seed", "--json")
"""Options of most commands."""


class HeadedOption(click.Option):
    """An option that stands under a heading of its command's help.

    Attributes:
        heading: The heading.
    """

    def __init__(self, *declarations: Any, heading: str = _OWN, **settings: Any) -> None:
        super().__init__(*declarations, **settings)
        self.heading = heading


def heading(title: str) -> Callable[..., Callable[[_F], _F]]:
    """A `click.option` whose options stand under *title*."""

    def option(*declarations: str, **settings: Any) -> Callable[[_F], _F]:
        return click.option(*declarations, cls=HeadedOption, heading=title, **settings)

    return option


class HeadedCommand(click.Command):
    """A command whose help lists its options by heading; headings keep the order of their first option."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options into the help, one section for each heading."""
        for title, options in options_by_heading(self, ctx).items():
            records = [record for each in options if (record := each.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def options_by_heading(command: click.Command, context: click.Context) -> dict[str, list[click.Option]]:
    """The options of *command* under the heading of each; those of every command come last."""
    found: dict[str, list[click.Option]] = {}
    for each in command.get_params(context):
        if not isinstance(each, click.Option):
            continue
        title = each.heading if isinstance(each, HeadedOption) else COMMON if "--help" in each.opts else _OWN
        found.setdefault(title, []).append(each)
    last = found.pop(COMMON, [])
    return {**found, COMMON: last}


class Group(click.Group):
    """A group of commands that says where an option belongs which stands in front of the command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the options of the group itself; all others belong to its commands."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            self._say_where(ctx, given, error.option_name)
            raise

    def _say_where(self, ctx: click.Context, args: list[str], option: str) -> None:
        """Raises UsageError if *option* is one of the command that *args* name, or of every command."""
        place = next((place for place, each in enumerate(args) if self.get_command(ctx, each) is not None), len(args))
        names, command = _named_command(self, ctx, args[place:])
        known = {name for each in command.get_params(ctx) for name in (*each.opts, *each.secondary_opts)}
        if names and option not in known:
            return
        at = next((at for at, each in enumerate(args[:place]) if each.split("=")[0] == option), None)
        if at is None or not (names or option in _EVERYWHERE):
            return
        written = " ".join(args[at : place if names else at + 2])
        whole = " ".join([ctx.command_path, *(names or ["COMMAND"])])
        ctx.fail(f"{option} stands behind the command: {cut(whole, 200)} ... {cut(written, 200)}")


def _named_command(group: click.Group, ctx: click.Context, args: Sequence[str]) -> tuple[list[str], click.Command]:
    """The command that *args* begin with, and its names below *group*; *group* itself if they name none."""
    names: list[str] = []
    command: click.Command = group
    for each in args:
        inner = command.get_command(ctx, each) if isinstance(command, click.Group) else None
        if inner is None:
            break
        names.append(each)
        command = inner
    return names, command


class HeadedGroup(Group):
    """A group of commands whose options stand under headings."""

    command_class = HeadedCommand
