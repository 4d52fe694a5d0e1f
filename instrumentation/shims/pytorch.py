"""Lets the tests of one PyTorch release run on another: helpers of the tests that have moved or changed their name.

A checkout is seldom of the installed version, and its test files import private helpers from `torch.testing._internal`. Each row says
which name is looked for, where it is found today, and why that is the same.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, Callable, List, NamedTuple, Tuple

torch: Any = importlib.import_module("torch")


class Moved(NamedTuple):
    """A helper under its former name. Nothing happens where the installed version still has it."""

    module: str
    name: str
    find: Callable[[], Any]
    reason: str


def _of(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"torch.testing._internal.{module}"), name)


def _binary_ufuncs_and_refs() -> Tuple[Any, ...]:
    kind = _of("opinfo.core", "BinaryUfuncInfo")
    return tuple(op for op in _of("common_methods_invocations", "ops_and_refs") if isinstance(op, kind))


MOVED: Tuple[Moved, ...] = (
    Moved("common_cuda", "tf32_is_not_fp32", lambda: _of("common_mkldnn", "tf32_is_not_fp32"), "moved to the module for CPU precision"),
    Moved("common_mkldnn", "bf32_on_and_off", lambda: _of("common_mkldnn", "reduced_f32_on_and_off"), "renamed when it learned TF32"),
    Moved("common_nn", "new_module_tests", lambda: _of("common_nn", "get_new_module_tests")(), "a list that is now made by a function"),
    Moved("common_methods_invocations", "binary_ufuncs_and_refs", _binary_ufuncs_and_refs, "a list that was no longer needed"),
)


CONFTEST = "pytest_shard_custom"
"""What the conftest.py of a PyTorch checkout imports, and no other. It shards and reports for PyTorch's own machines, and loads under the
one release of pytest that those have: it is left out."""


def arguments(root: str) -> List[str]:
    """What pytest is told for a suite in the folder *root*."""
    folder = os.path.abspath(root)
    while not os.path.isfile(os.path.join(folder, "conftest.py")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return ["--noconftest"] if CONFTEST in _text(os.path.join(folder, "conftest.py")) else []


def pytest_configure(config: Any) -> None:
    """Puts every helper that the files to be run mention, and that is missing, in its former place."""
    text = "".join(map(_text, config.args))
    for row in MOVED:
        if row.name not in text:
            continue
        try:
            module = importlib.import_module(f"torch.testing._internal.{row.module}")
            if not hasattr(module, row.name):
                setattr(module, row.name, row.find())
        except Exception as error:
            print(f"{row.module}.{row.name}: not found: {type(error).__name__}: {error}", flush=True)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
