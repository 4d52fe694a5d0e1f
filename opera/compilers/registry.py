"""Finds adapters by entry point. A broken adapter is reported when a command asks for it, and affects no other adapter."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import metadata

from opera.compilers.adapter import Adapter, Route
from opera.errors import EnvironmentBroken, OperaError, UserError
from opera.oracles.fingerprint import NO_NOISE, Noise
from opera.plugins import registered, search_path

GROUP = "opera.compilers"


@dataclass(frozen=True)
class Plugin:
    """An adapter that is registered, imported or not."""

    name: str
    target: str
    """`module:attribute`, as a worker imports it."""

    def load(self) -> type[Adapter]:
        """The adapter class; raises EnvironmentBroken when its module cannot be imported."""
        try:
            adapter = metadata.EntryPoint(self.name, self.target, GROUP).load()
        except Exception as error:
            raise EnvironmentBroken(f"the adapter {self.name} ({self.target}) cannot be imported: {error}; reinstall it") from error
        if not (isinstance(adapter, type) and issubclass(adapter, Adapter)):
            raise EnvironmentBroken(
                f"the adapter {self.name} ({self.target}) is not a subclass of opera.compilers.adapter.Adapter; correct its entry point"
            )
        try:
            noise = _noise(adapter)
            _ = noise.dropped, noise.left_out
        except re.error as error:
            what = "a `message_noise` or `message_prefixes` that is no regular expression"
            raise EnvironmentBroken(f"the adapter {self.name} ({self.target}) has {what}: {error}; correct it") from error
        return adapter

    def search_path(self) -> tuple[str, ...]:
        """Where a worker in another environment finds the adapter's module; empty for OPERA's own."""
        return search_path(self.target)


def plugins() -> dict[str, Plugin]:
    """Every registered adapter by name, in alphabetical order."""
    return {name: Plugin(name, target) for name, target in registered(GROUP).items()}


def plugin(name: str) -> Plugin:
    """The adapter called *name*; raises UserError with the names that exist."""
    known = plugins()
    if name in known:
        return known[name]
    if not known:
        raise EnvironmentBroken("no adapter is registered, because OPERA is not installed here; run `make setup` or `pip install .`")
    raise UserError(f"unknown compiler {name!r}{did_you_mean(name, known)}; choose one of: {', '.join(known)}")


def known_adapter(name: str) -> type[Adapter] | None:
    """The adapter called *name*; None where it is not installed or cannot be imported, so that old results can still be read."""
    try:
        return plugin(name).load()
    except OperaError:
        return None


@cache
def has_script(name: str, frontend: str) -> bool:
    """Whether the adapter of the compiler called *name* can show a failure of *frontend* in a script of its own."""
    adapter = known_adapter(name)
    return adapter is not None and adapter.script_template(frontend) is not None


@cache
def noise_of(name: str) -> Noise:
    """The message noise of the compiler called *name*."""
    adapter = known_adapter(name)
    return NO_NOISE if adapter is None else _noise(adapter)


def _noise(adapter: type[Adapter]) -> Noise:
    return Noise(adapter.message_noise, adapter.message_prefixes)


def choose_route(adapter: type[Adapter], frontend: str, route: str | None) -> Route:
    """The route of that name into *frontend*, or its default; raises UserError with what exists."""
    frontends = list(dict.fromkeys(each.frontend for each in adapter.routes))
    if not frontends:
        raise UserError(f"{adapter.name} has no frontend: {'; '.join(adapter.remarks)}")
    if frontend not in frontends:
        others = _with_frontend(frontend)
        raise UserError(
            f"{adapter.name} has no {frontend!r} frontend{did_you_mean(frontend, frontends)}; choose one of: {', '.join(frontends)}"
            + (f"; compilers with a frontend of that name: {', '.join(others)}" if others else "")
        )
    routes = [each for each in adapter.routes if each.frontend == frontend]
    if route is None:
        return routes[0]
    chosen = next((each for each in routes if each.name == route), None)
    if chosen is None:
        names = ", ".join(each.name for each in routes)
        raise UserError(f"{adapter.name} has no route {route!r} from {frontend}; choose one of: {names}")
    return chosen


def _with_frontend(frontend: str) -> list[str]:
    """The names of all adapters that have *frontend*."""
    known = {name: known_adapter(name) for name in plugins()}
    return [name for name, adapter in known.items() if adapter is not None and any(each.frontend == frontend for each in adapter.routes)]


def check_level(adapter: type[Adapter], level: str | None) -> None:
    """Raises UserError when *adapter* has no optimisation level of that name."""
    if level is not None and level not in adapter.levels:
        known = f"it has: {', '.join(adapter.levels)}" if adapter.levels else "it has none to choose from"
        raise UserError(f"{adapter.name} has no optimisation level {level!r}; {known}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suggestion for a mistyped *word*, or nothing."""
    close = difflib.get_close_matches(word, list(known), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""
