"""Runs a host in the library's own interpreter: `python instrumentation/__main__.py HOST [arguments]`.

HOST is a module of `hosts`, or, with dots in its name, a module of an extension of OPERA.

`HOST --copies DESCRIPTOR [arguments]` has the host import what it needs, and runs it in copies of the process, as the driver says.

This folder becomes a package under a name of its own and leaves the module search path: it has modules called `onnx` and
`pytorch`, which must never hide a library.
"""

from __future__ import annotations

import faulthandler
import importlib
import importlib.util
import os
import sys
from typing import Any

PACKAGE = "opera_instrumentation"


def register() -> None:
    """Makes the folder of this file importable as `opera_instrumentation`, and only so."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry or os.getcwd()) != os.path.realpath(folder)]
    _load(PACKAGE, folder)


def _load(package: str, folder: str) -> None:
    """Imports the folder as a package of that name, wherever else Python would look for it."""
    init = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location(package, init, submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {init}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    spec.loader.exec_module(module)


def _host(name: str) -> Any:
    """The module of a host."""
    if "." not in name:
        return importlib.import_module(f"{PACKAGE}.hosts.{name.replace('-', '_')}")
    if "opera" not in sys.modules:
        _load("opera", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return importlib.import_module(name)


def main() -> None:
    """Runs the host that the first argument names with the arguments that follow."""
    register()
    faulthandler.enable()
    host = _host(sys.argv[1])
    if sys.argv[2:3] == ["--copies"]:
        host.prepare(sys.argv[4:])
        importlib.import_module(f"{PACKAGE}.copies").serve(int(sys.argv[3]), host.main)
    else:
        host.main(sys.argv[2:])


if __name__ == "__main__":
    main()
