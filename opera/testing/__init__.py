"""Parametrised tests for compilers, on top of pytest: parameters, cached fixtures and targets; and a comparison of outputs.

The package needs only the standard library; its decorators need pytest, and `assert_matches` needs numpy. The plug-in stays inactive
until a project loads `opera.testing.plugin`, with `-p opera.testing.plugin` or from its topmost conftest. It implements TVM's RFC 0007 for
any compiler: a project's conftest says what a target is, by the hooks in `opera.testing.hooks`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .fixtures import fixture, parameter, parameters
    from .matching import assert_matches
    from .targets import (
        device_enabled,
        enabled_targets,
        exclude_targets,
        known_failing_targets,
        main,
        parametrize_targets,
        requirements,
    )

__all__ = [
    "assert_matches",
    "device_enabled",
    "enabled_targets",
    "exclude_targets",
    "fixture",
    "known_failing_targets",
    "main",
    "parameter",
    "parameters",
    "parametrize_targets",
    "requirements",
]
_FROM = {"assert_matches": "matching", "fixture": "fixtures", "parameter": "fixtures", "parameters": "fixtures"}


def __getattr__(name: str) -> Any:
    """A public name, from its module, imported when it is first used: to compare outputs, pytest is not needed."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f".{_FROM.get(name, 'targets')}", __name__)
    return getattr(module, name)
