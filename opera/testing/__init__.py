"""Parametrised tests for compilers: parameters, cached fixtures and targets, on top of pytest.

The package needs only the standard library and pytest, and stays inactive until a project loads `opera.testing.plugin`, with
`-p opera.testing.plugin` or from its topmost conftest. It implements TVM's RFC 0007 for any compiler: a project's conftest says what a
target is, by the hooks in `opera.testing.hooks`.
"""

from __future__ import annotations

from .fixtures import fixture, parameter, parameters
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
