"""A plug-in provider whose package a user names, in opera.toml or in the environment."""

from __future__ import annotations

import importlib
import os
from typing import Any

from opera.extensions.providers.adapter import ProviderAdapter

NAMED = "onnxruntime-plugin"
PACKAGE = "ONNXRUNTIME_EP"
"""The variable that names the package of the plug-in."""
OPTIONS = "ONNXRUNTIME_EP_OPTIONS"
"""The variable that holds the options of its provider, e.g. `device=cpu threads=1`."""

_UNNAMED = f'no package with a plug-in is named; write env = {{{PACKAGE} = "PACKAGE"}} under [compiler.{NAMED}] into opera.toml'


def _of_user(variable: str) -> str:
    """A variable of the compiler's table in opera.toml, which workers have in their environment; else of the environment."""
    try:
        config: Any = importlib.import_module("opera.config")
    except ModuleNotFoundError:  # a worker, whose environment lacks what the driver reads opera.toml with
        return os.environ.get(variable, "")
    return config.load_config().environment(NAMED).get(variable) or os.environ.get(variable, "")


class NamedProvider(ProviderAdapter):
    """The provider in the package that opera.toml or the environment names. Without a name the adapter has no routes, and says so."""

    name = NAMED
    plugin = _of_user(PACKAGE)
    options_of_provider = {name: value for name, _, value in (each.partition("=") for each in _of_user(OPTIONS).split())}
    routes = ProviderAdapter.routes if plugin else ()
    remarks = () if plugin else (_UNNAMED,)
