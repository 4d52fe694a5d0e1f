"""The hooks by which a project's conftest says what a target is.

A conftest below counts for the tests in its folder; the nearest conftest that answers decides.
"""

from __future__ import annotations

import pytest

from .targets import Target


@pytest.hookspec(firstresult=True)
def pytest_opera_targets(config: pytest.Config) -> list[Target] | None:
    """The targets that tests run for when the environment names none, e.g. `["llvm", "cuda"]`.

    The environment and decorators may name targets of any kind.

    A target is a text whose first word is its kind, a dictionary with the key `kind`, or any object whose text begins with its kind.
    """


@pytest.hookspec(firstresult=True)
def pytest_opera_kinds(config: pytest.Config) -> list[str] | None:
    """All kinds that targets can have, e.g. `["llvm", "c", "cuda"]`, so that other names are errors; without this hook none is."""


@pytest.hookspec(firstresult=True)
def pytest_opera_marks(target: Target) -> list[pytest.MarkDecorator] | None:
    """The marks of tests of *target*, e.g. `[pytest.mark.gpu]`, by which `-m` selects them."""


@pytest.hookspec(firstresult=True)
def pytest_opera_device(target: Target) -> object:
    """The device of *target*, as tests get it for `dev`."""


@pytest.hookspec(firstresult=True)
def pytest_opera_requirement(target: Target) -> str | None:
    """Why tests of *target* cannot run here, e.g. `"no CUDA device"`; None where they can. Such tests are skipped with that reason."""
