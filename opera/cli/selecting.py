"""The options that select which results `opera export` writes: findings, and instances that pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

from opera.cli.help import heading
from opera.cli.names import CAMPAIGN, COMPILER, FRONTEND
from opera.cli.options import Count

F = TypeVar("F", bound=Callable[..., Any])
_option = heading("Selection")


def selecting(function: F) -> F:
    """Adds the options: campaign, compiler, frontend, keyword, passing and no_failures."""
    return reduce(
        lambda made, option: option(made),
        (
            _option("--no-failures", is_flag=True, help="Export passing instances only."),
            _option(
                "--passing",
                type=Count(0),
                metavar="N",
                default=0,
                show_default=True,
                help="Export N passing instances too, chosen for variety.",
            ),
            _option("-k", "keyword", metavar="EXPR", help="Select only APIs whose name matches, e.g. -k 'conv and not transpose'."),
            _option("--frontend", type=FRONTEND, metavar="NAME", help="Select only results of this model format."),
            _option("--compiler", type=COMPILER, metavar="NAME", help="Select only results of this compiler."),
            _option(
                "--campaign",
                type=CAMPAIGN,
                metavar="ID",
                help="Select only results of this campaign; any unambiguous prefix of its id works.",
            ),
        ),
        function,
    )
