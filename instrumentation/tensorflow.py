"""The TensorFlow recorder: sees every outermost eager call of a public function or operator of tensors.

Functions are watched where they are, by an exchange of their code, so aliases and names that were bound early are seen too, and
every function stays the object that TensorFlow's dispatch knows. Calls while a graph is traced are dropped: their tensors have no
values.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, Callable, Dict, Optional, Tuple

from .calls import TRACER, Api, Calls, Draft
from .filters import Filters
from .foreign_tensors import tracing
from .signatures import signature
from .stream import Document, Stream
from .swap import Swap
from .tensorflow_names import functions
from .tensorflow_values import TensorFlowValues, constant
from .wire import Unrecordable

tensorflow: Any = importlib.import_module("tensorflow")

_BACKWARD = ("gradient", "jacobian", "batch_jacobian")
"""Methods of a tape that run the backward pass, whose operators no test calls."""
_SEEDS = (
    ("keras.src.random.seed_generator", "SeedGenerator.next"),
    ("keras.src.random.seed_generator", "draw_seed"),
    ("keras.src.backend.tensorflow.random", "_cast_seed"),
)
"""Functions of Keras, where it is loaded, that count random seeds up with TensorFlow's operators: each draw has integers of its own."""


def version() -> str:
    """The version of TensorFlow."""
    return str(tensorflow.__version__)


class Recorder:
    """Records into a stream while `watching` is entered; a context manager that puts every function back."""

    def __init__(self, stream: Stream, filters: Optional[Filters] = None) -> None:
        self._calls = Calls(stream, filters)
        self.watching = self._calls.watching
        self._swap = Swap()

    def __enter__(self) -> Recorder:
        for name, function in functions().items():
            api = self._calls.api(name, name, lambda f=function: signature(f, constant))
            self._swap.put(function, self._watcher(api))
        for name in _BACKWARD:
            self._swap.put(getattr(tensorflow.GradientTape, name), self._aside)
        for module, path in _SEEDS:
            found: Any = sys.modules.get(module)
            for part in path.split("."):
                found = getattr(found, part, None)
            if found is not None:
                self._swap.put(found, self._aside)
        return self

    def __exit__(self, *_: object) -> None:
        self._swap.undo()

    def _aside(self, original: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        with self._calls.aside():
            return original(*args, **kwargs)

    def _watcher(self, api: Api) -> Callable[..., Any]:
        def watch(original: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
            return self._calls.call(api, lambda: _draft(api, args, kwargs), original, args, kwargs)

        return watch


def _draft(api: Api, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Draft:
    if tracing("tensorflow"):
        raise Unrecordable(TRACER)
    values = TensorFlowValues()
    call = api.signature.bind(args, kwargs, values.encode)
    document: Document = {"schema": "instance/1", "library": "tensorflow", "api": api.name, "kind": "function", "call": call}
    document["defaults"] = api.signature.encoded_defaults()
    return Draft(document, values.loose)
