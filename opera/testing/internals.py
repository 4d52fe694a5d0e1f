"""The private names of pytest that the plug-in needs; no other module uses any. Written for pytest 8.0 to 9.2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

_EMPTY: Mapping[str, object] = {}


def functions_of(node: Any, name: str) -> tuple[Callable[..., Any], ...]:
    """The functions of the fixtures called *name* that a test sees, the one that it gets last.

    Args:
        node: The test, or its definition.
        name: Of the fixture.
    """
    try:
        place = node if pytest.version_tuple >= (8, 1) else node.nodeid
        definitions = node.session._fixturemanager.getfixturedefs(name, place)
        return tuple(each.func for each in definitions or ())
    except (AttributeError, TypeError) as error:
        message = f"the fixtures of pytest {pytest.__version__} are not where opera.testing looks for them; use pytest 8.0 to 9.2"
        raise pytest.UsageError(message) from error


def parameters_of(item: Any) -> Mapping[str, object]:
    """The values with which a test was parametrised, by name."""
    callspec = getattr(item, "callspec", None)
    return _EMPTY if callspec is None else callspec.params
