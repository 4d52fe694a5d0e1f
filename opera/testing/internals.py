"""The private names of pytest that the plug-in needs; no other module uses any. Written for pytest 8.0 to 9.2."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import pytest

_EMPTY: Mapping[str, object] = {}


_SCOPES = ("function", "class", "module", "package", "session")


def functions_of(node: Any, name: str) -> tuple[Callable[..., Any], ...]:
    """The functions of the fixtures called *name* that a test sees, the one that it gets last.

    Args:
        node: The test, or its definition.
        name: Name of the fixture.
    """
    return tuple(each.func for each in _definitions(node, name))


def widest_user(node: Any, fixtures: Sequence[str], names: Collection[str]) -> Any:
    """The widest scope of the *fixtures* of a test that depend on any of *names*; a parameter must not have a narrower one."""
    needs = {name: definitions[-1] for name in fixtures if (definitions := _definitions(node, name))}
    users = set(names)
    while more := {name for name, each in needs.items() if name not in users and not users.isdisjoint(each.argnames)}:
        users |= more
    scopes = [str(each.scope) for name, each in needs.items() if name in users and name not in names]
    return max(scopes, key=_SCOPES.index, default=_SCOPES[0])


def _definitions(node: Any, name: str) -> Sequence[Any]:
    try:
        place = node if pytest.version_tuple >= (8, 1) else node.nodeid  # pyrefly: ignore[unsupported-operation]
        return node.session._fixturemanager.getfixturedefs(name, place) or ()
    except (AttributeError, TypeError) as error:
        message = f"the fixtures of pytest {pytest.__version__} are not where opera.testing looks for them; use pytest 8.0 to 9.2"
        raise pytest.UsageError(message) from error


def parameters_of(item: Any) -> Mapping[str, object]:
    """The values with which a test was parametrised, by name."""
    callspec = getattr(item, "callspec", None)
    return _EMPTY if callspec is None else callspec.params
