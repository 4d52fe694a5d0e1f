"""Keras as a target of generation, on whichever library it runs."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from typing import Any, Optional

from opera.extensions.generators.docter import documents
from opera.extensions.generators.docter.arrays import array
from opera.extensions.generators.docter.constraints import Facts, TargetApi, merged, with_facts
from opera.extensions.generators.docter.python import signature_of, with_words
from opera.extensions.generators.docter.recipes import TensorRecipe
from opera.instrumentation.filters import Filters
from opera.instrumentation.stream import Stream

_BACKENDS = ("torch", "tensorflow", "jax")
_HIDDEN = re.compile(
    r"name|dtype|trainable|seed|training|mask|.*_(initializer|regularizer|constraint|scope)|autocast|lora_.*|quantization_.*|"
    r"gptq_.*|initial_state|cell|layer|out"
)
"""Optional parameters of layers that say nothing of the forward pass, or that nothing generated fits."""


class KerasBench:
    """Functions of `keras.ops` and the other public modules, and layers."""

    library = "keras"

    def __init__(self) -> None:
        _choose_backend()
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        self._keras: Any = importlib.import_module("keras")
        self._recorder: Any = importlib.import_module("opera.instrumentation.keras")
        self.version = str(self._keras.__version__)
        self._functions: dict[str, Any] = self._recorder.functions()
        layer = self._keras.layers.Layer
        content = dict(self._keras.layers.__dict__).items()
        kinds = {name: value for name, value in content if isinstance(value, type) and issubclass(value, layer) and value is not layer}
        self._layers: dict[str, Any] = {f"keras.layers.{name}": value for name, value in kinds.items()}

    def names(self, scope: list[str]) -> list[str]:
        return [*(sorted(self._functions) if "functions" in scope else ()), *(sorted(self._layers) if "modules" in scope else ())]

    def api(self, name: str, given: Optional[dict[str, Facts]] = None) -> Optional[TargetApi]:
        layer = self._layers.get(name)
        target = self._functions[name] if layer is None else layer
        doc = str(getattr(target, "__doc__", None) or "")
        facts, words = merged(documents.read(doc), given or {}), documents.vocabulary(doc)

        def signature(function: Any, skip: int) -> Any:
            found = signature_of(function, frozenset(), skip)
            return with_words(with_facts(_shown(found), facts), words)

        try:
            build = None if layer is None else signature(layer.__init__, 1)
            call = signature(target, 0) if layer is None else signature(layer.call, 1)
        except (TypeError, ValueError):
            return None
        whole = (*(build or ()), *call)
        return TargetApi(name, target, (call,), build) if all(item.drawable or not item.required for item in whole) else None

    def tensor(self, recipe: TensorRecipe, seed: int) -> Any:
        return self._keras.ops.convert_to_tensor(array(recipe, seed), dtype=recipe.dtype)

    def dtype(self, name: str) -> Any:
        return name

    def reset(self, seed: int, entry: str) -> None:
        self._keras.utils.set_random_seed(seed)
        self._keras.backend.clear_session()

    def recorder(self, stream: Stream, filters: Filters) -> Any:
        return self._recorder.Recorder(stream, filters)


def _choose_backend() -> None:
    """Lets Keras run on a library that is installed, where the environment does not say on which."""
    found = [name for name in _BACKENDS if importlib.util.find_spec(name) is not None]
    if found and not os.environ.get("KERAS_BACKEND"):
        os.environ["KERAS_BACKEND"] = found[0]


def _shown(signature: Any) -> Any:
    """*signature* without the optional parameters that are hidden, and without what takes anything."""
    return tuple(item for item in signature if not item.rest and (item.required or _HIDDEN.fullmatch(item.name) is None))
