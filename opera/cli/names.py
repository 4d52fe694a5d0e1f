"""Types of options that name something, so that a shell can complete the name.

Completion never fails and writes nothing: where a name cannot be found out, it offers none.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
from click.shell_completion import CompletionItem

from opera.config import choosing, load_config
from opera.console import one_line
from opera.errors import OperaError

if TYPE_CHECKING:  # a command that completes nothing imports none of these
    from opera.compilers.adapter import Adapter
    from opera.store import Workspace

_MOST = 60
"""Most ids to offer."""


class Name(click.ParamType[str]):
    """A name that a shell completes. Commands check it, because they can say what to do about a wrong one."""

    name = "name"

    def __init__(self, known: Callable[[click.Context, str], Iterator[tuple[str, str]]]) -> None:
        self._known = known

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The known names that begin with *incomplete*, each with a short description."""
        with contextlib.suppress(OperaError, sqlite3.Error, OSError):
            return [CompletionItem(name, help=text or None) for name, text in self._known(ctx, incomplete) if name.startswith(incomplete)]
        return []

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str | None:
        """The names to choose from."""
        names = [] if ctx is None else [each.value for each in self.shell_complete(ctx, param, "")]
        return f"Choose one of {', '.join(names)}." if names else None


class CompilerName(Name):
    """The name of a compiler, or `NAME==VERSION`: then the command uses that version of opera.toml."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name, equals, version = value.partition("==")
        if equals and ctx is not None:
            load_config().at(name, version)  # which says what is wrong
            ctx.with_resource(choosing(name, version))
        return name


class Names(click.ParamType[list[str]]):
    """Names of compilers with commas between them; a shell completes the last one."""

    name = "names"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        if isinstance(value, list):
            return cast("list[str]", value)
        found = [each.strip() for each in str(value).split(",")]
        if not all(found):
            self.fail(f"{one_line(str(value), 80)!r} is no list of names; write tvm,openvino", param, ctx)
        return found

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The known compilers that begin with what stands behind the last comma."""
        before, comma, last = incomplete.rpartition(",")
        return [CompletionItem(f"{before}{comma}{each.value}") for each in COMPILER.shell_complete(ctx, param, last)]


def _adapters(context: click.Context) -> Iterator[type[Adapter]]:
    """The adapter that the command line names so far, or else every adapter."""
    from opera.compilers.registry import known_adapter, plugins

    chosen = context.params.get("compiler")
    for name in [chosen] if isinstance(chosen, str) else plugins():
        adapter = known_adapter(name)
        if adapter is not None:
            yield adapter


def _compilers(_context: click.Context, _incomplete: str) -> Iterator[tuple[str, str]]:
    from opera.compilers.registry import plugins

    yield from ((name, "") for name in plugins())
    yield from ((f"{name}=={version}", "") for name, version in load_config().versions)


def _frontends(context: click.Context, _incomplete: str) -> Iterator[tuple[str, str]]:
    return ((name, "") for name in sorted({route.frontend for adapter in _adapters(context) for route in adapter.routes}))


def _routes(context: click.Context, _incomplete: str) -> Iterator[tuple[str, str]]:
    frontend = context.params.get("frontend")
    found = {(route.name, route.frontend) for adapter in _adapters(context) for route in adapter.routes}
    return ((name, f"from {each}") for name, each in sorted(found) if frontend in (None, each))


def _levels(context: click.Context, _incomplete: str) -> Iterator[tuple[str, str]]:
    return ((level, adapter.name) for adapter in _adapters(context) for level in adapter.levels)


def _libraries(_context: click.Context, _incomplete: str) -> Iterator[tuple[str, str]]:
    from opera.extract import libraries

    return ((name, "") for name in libraries())


def _sources(context: click.Context, _incomplete: str) -> Iterator[tuple[str, str]]:
    from opera.extract import describe, libraries
    from opera.extract.source import sources_of

    chosen = context.params.get("library")
    names = [chosen] if isinstance(chosen, str) else list(libraries())
    return ((source, library) for library in names for source in sources_of(describe(library)))


def _strategies(_context: click.Context, _incomplete: str) -> Iterator[tuple[str, str]]:
    from opera.prioritize import strategy_names

    return ((name, "") for name in strategy_names())


@contextlib.contextmanager
def _workspace(context: click.Context) -> Generator[Workspace]:
    from opera.store.database import open_workspace

    folder = context.params.get("workspace")
    with open_workspace(folder if isinstance(folder, Path) else Path(".opera"), write=False) as space:
        yield space


def _findings(context: click.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    from opera.triage.findings import findings_in

    with _workspace(context) as space:
        found = findings_in(space)
        yield from ((each.id, one_line(each.summary, 60)) for each in [each for each in found if each.id.startswith(incomplete)][:_MOST])


def _campaigns(context: click.Context, _incomplete: str) -> Iterator[tuple[str, str]]:
    from opera.store import Campaigns

    with _workspace(context) as space:
        yield from ((each.id, f"{each.compiler}/{each.frontend}") for each in Campaigns(space).all())


COMPILER = CompilerName(_compilers)
FRONTEND = Name(_frontends)
ROUTE = Name(_routes)
LEVEL = Name(_levels)
LIBRARY = Name(_libraries)
SOURCE = Name(_sources)
STRATEGY = Name(_strategies)
FINDING = Name(_findings)
CAMPAIGN = Name(_campaigns)
