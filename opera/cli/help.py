"""How help looks: commands and options under headings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])
COMMON = "Options of every command"
"""The heading of what every command takes."""
_OWN = "Options"


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
        """Writes the options."""
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


class HeadedGroup(click.Group):
    """A group of commands whose options stand under headings."""

    command_class = HeadedCommand
