"""A pytest plug-in for the tests in Keras' wheel, which come without the `conftest.py` that they were written for.

It gives the markers their meaning, and makes `from conftest import skip_if_backend` work. Loaded with `-p`, before the tests are
imported. PyTorch is imported first where it is installed: TensorFlow and PyTorch in one process crash in the other order. Keras itself
is imported before a recorder comes, which does no harm: recorders see names that were bound early.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from typing import Any, List

pytest: Any = importlib.import_module("pytest")

with contextlib.suppress(ImportError):
    importlib.import_module("torch")
keras: Any = importlib.import_module("keras")

MARKERS = (
    "requires_trainable_backend: the backend must be able to train",
    "multi_device: there must be more than one device",
)
_CANNOT_TRAIN = ("numpy", "openvino")


def pytest_configure(config: Any) -> None:
    """Declares the markers and registers the module that the tests import."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    stand_in = types.ModuleType("conftest")
    stand_in.skip_if_backend = skip_if_backend  # type: ignore[attr-defined]
    sys.modules.setdefault("conftest", stand_in)


def pytest_collection_modifyitems(config: Any, items: List[Any]) -> None:
    """Skips the tests whose marker asks for more than this backend has."""
    untrainable = pytest.mark.skip(reason=f"the {backend()} backend cannot train")
    single = pytest.mark.skip(reason="there is one device only")
    for item in items:
        if "requires_trainable_backend" in item.keywords and backend() in _CANNOT_TRAIN:
            item.add_marker(untrainable)
        if "multi_device" in item.keywords and _devices() < 2:
            item.add_marker(single)


def skip_if_backend(given_backend: str, reason: str) -> Any:
    """A decorator that skips a test on one backend."""
    return pytest.mark.skipif(backend() == given_backend, reason=reason)


def backend() -> str:
    """The backend on which Keras runs."""
    return str(keras.config.backend())


def _devices() -> int:
    """How many devices the backend can compute on; only JAX's tests ask."""
    return int(importlib.import_module("jax").device_count()) if backend() == "jax" else 1
