"""Random calls as a kind of instance: what a test compares are statements about the numbers, not the numbers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from opera.instance import Instance
from opera.instance.kinds import InstanceKind, Steps

_MODELS = {"pytorch": "torch_model", "tensorflow": "tensorflow_model", "keras": "keras_model"}
"""Module of the model, by library."""


class DrawnKind(InstanceKind):
    """A call that draws random numbers: the fact `law` in `context` says what holds for them."""

    fixes_inputs = True

    def steps(self, instance: Instance) -> Steps:
        """None: fewer draws would show less."""
        return ()

    def model(self, library: str, instance: Instance, key: str, seed: int) -> Any:
        if library not in _MODELS:
            return None
        return import_module(f"opera.extensions.generators.draws.{_MODELS[library]}").DrawnModel(instance, key, seed)
