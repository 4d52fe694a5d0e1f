"""Parameters of tests that repeat one promise: `make test` takes some of them, `make test-slow` all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def quick(values: Iterable[Any], *chosen: Any) -> list[Any]:
    """Marks each parameter as slow that is not among *chosen*; without *chosen* all but the first."""
    every = list(values)
    kept = chosen or every[:1]

    def slow(value: Any) -> Any:
        return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow)

    return [each if each in kept else slow(each) for each in every]
