"""Keras, on a backend that is installed. All other modules import Keras from here."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any

_BACKENDS = ("torch", "tensorflow", "jax")


def _choose_backend() -> None:
    """Lets Keras run on a library that is installed, where the environment does not say on which; PyTorch first."""
    found = [name for name in _BACKENDS if importlib.util.find_spec(name) is not None]
    if found and not os.environ.get("KERAS_BACKEND"):
        os.environ["KERAS_BACKEND"] = found[0]
    if "torch" in found:
        importlib.import_module("torch")  # before TensorFlow, which crashes it in the other order


_choose_backend()
keras: Any = importlib.import_module("keras")
