"""OPERA: finds bugs in the frontends of deep-learning compilers by migrating the DL libraries' own tests.

`opera.api` lists the public names. They are imported when one is first used: workers import this package in environments that have
numpy and little else.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opera.api import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    is_public = not name.startswith("_") and importlib.util.find_spec(f"opera.{name}") is None
    if is_public and name in (api := importlib.import_module("opera.api")).__all__:
        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; `opera.api` lists the public names")
