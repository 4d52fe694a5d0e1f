"""Lets a recorder see the operators of models that a compiler's tests only ever export.

Such a test builds a module and hands it to `torch.export.export`, which runs it on fake tensors, where there is nothing to record. So
the module is run once on the example inputs, eagerly, before it is exported. That may change what a test of a stateful module sees: this
is for counting, not for judging the compiler.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from typing import Any, Dict, Optional

torch: Any = importlib.import_module("torch")


def pytest_configure(config: Any) -> None:
    """Wraps the exporter before any test file is imported."""
    del config
    importlib.import_module("torch.export")
    torch.export.export = _eager_first(torch.export.export)


def _eager_first(original: Any) -> Any:
    @functools.wraps(original)
    def export(mod: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None, **options: Any) -> Any:
        with contextlib.suppress(Exception), torch.no_grad():
            mod(*args, **(kwargs or {}))
        return original(mod, args, kwargs, **options)

    return export
