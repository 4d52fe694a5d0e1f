"""The Keras recorder: sees every outermost call of a public operator function or of one of the library's layers.

Functions are watched where they are, by an exchange of their code, so names that a test bound early are seen too and every function
stays the object that it was. Layers are seen by what their constructor is called with and by `Layer.__call__`. Values are written
down as numpy sees them: on which library Keras runs makes no difference. Calls on symbolic tensors are recorded by shape and dtype.
"""

from __future__ import annotations

import importlib
import types
import weakref
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from .calls import TRACER, Api, Calls, Draft, class_of
from .filters import Filters
from .foreign_tensors import compiling, tracing
from .keras_values import KerasValues, constant, public_name
from .signatures import Signature, signature
from .stream import Document, Loose, Stream
from .swap import Swap
from .wire import Json, Unrecordable

keras: Any = importlib.import_module("keras")
_state: Any = importlib.import_module("keras.src.backend.common.global_state")

_PLACES = ("keras.ops.", "keras.activations.", "keras.losses.", "keras.metrics.", "keras.random.")
_USUAL = "float32"


def version() -> str:
    """The version of Keras."""
    return str(keras.__version__)


class BuiltLayer(NamedTuple):
    """What a layer was built with, or why that cannot be written down."""

    arguments: List[Json]
    loose: List[Loose]
    dropped: Optional[str] = None


class Recorder:
    """Records into a stream while `watching` is entered; a context manager that puts every function back."""

    def __init__(self, stream: Stream, filters: Optional[Filters] = None) -> None:
        self._calls = Calls(stream, filters)
        self.watching = self._calls.watching
        self._swap = Swap(compiling(keras.config.backend()))
        self._classes: Dict[type, Api] = {}
        self._forwards: Dict[type, Signature] = {}
        self._built: weakref.WeakKeyDictionary[Any, BuiltLayer] = weakref.WeakKeyDictionary()

    def __enter__(self) -> Recorder:
        for name, function in functions().items():
            self._swap.put(function, self._on_function(self._calls.api(name, name, lambda f=function: signature(f, constant))))
        layer = keras.layers.Layer
        self._swap.put(layer.__new__, self._on_new)
        self._swap.put(layer.__call__, self._on_layer)
        return self

    def __exit__(self, *_: object) -> None:
        self._swap.undo()

    # Functions

    def _on_function(self, api: Api) -> Callable[..., Any]:
        def watch(original: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
            return self._calls.call(api, lambda: self._draft_function(api, args, kwargs), original, args, kwargs)

        return watch

    def _draft_function(self, api: Api, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Draft:
        _check_tracing()
        values = KerasValues(self._nested)
        document = _document(api, "function", api.signature.bind(args, kwargs, values.encode), values)
        context = _settings()
        if keras.config.floatx() != _USUAL:
            context.append(["floatx", keras.config.floatx()])
        if context:
            document["context"] = context
        document["defaults"] = api.signature.encoded_defaults()
        return Draft(document, values.loose)

    # Layers

    def _on_new(self, original: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        layer = original(*args, **kwargs)
        with self._calls.aside():
            try:
                self._built[layer] = self._remember(args[0], args[1:], kwargs)
            except Exception:
                return layer
        return layer

    def _remember(self, kind: type, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> BuiltLayer:
        values = KerasValues(self._nested)
        try:
            return BuiltLayer(self._class(kind).signature.bind(args, kwargs, values.encode), values.loose)
        except Unrecordable as error:
            return BuiltLayer([], [], str(error))
        except Exception as error:
            return BuiltLayer([], [], f"recorder-error:{type(error).__name__}")

    def _class(self, kind: type) -> Api:
        known = self._classes.get(kind)
        if known is None:
            fallback = f"{kind.__module__}.{kind.__qualname__}"
            known = self._calls.api(public_name(kind), fallback, lambda: signature(kind.__init__, constant, 1))
            self._classes[kind] = known
        return known

    def _on_layer(self, original: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        api = self._class(class_of(args[0]))
        return self._calls.call(api, lambda: self._draft_layer(api, args[0], args[1:], kwargs), original, args, kwargs)

    def _draft_layer(self, api: Api, layer: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Draft:
        _check_tracing()
        built = self._how_built(layer)
        kind = class_of(layer)
        if kind not in self._forwards:
            self._forwards[kind] = signature(getattr(kind, "call", None), constant, 1)
        values = KerasValues(self._nested)
        document = _document(api, "module", self._forwards[kind].bind(args, kwargs, values.encode), values)
        document["init"] = built.arguments
        document["context"] = _layer_context(layer, kwargs)
        document["defaults"] = api.signature.encoded_defaults()
        return Draft(document, [*values.loose, *built.loose])

    def _how_built(self, layer: Any) -> BuiltLayer:
        built = self._built.get(layer)
        if built is None:
            raise Unrecordable("module-built-unseen")
        if built.dropped:
            raise Unrecordable(built.dropped)
        return built

    def _nested(self, layer: Any) -> Json:
        """The form of a layer that is passed as an argument."""
        name = public_name(class_of(layer))
        if name is None:
            raise Unrecordable("module-not-of-the-library")
        known = self._class(class_of(layer)).signature.names
        arguments: List[Json] = []
        for argument in self._how_built(layer).arguments:
            item: Any = argument
            arguments.append([item["name"] if item.get("keyword") or item["name"] in known else None, item["value"]])
        return {"call": [name, arguments]}


def functions() -> Dict[str, types.FunctionType]:
    """The public functions that compute with tensors, by the name under which the library keeps them."""
    exported: Any = importlib.import_module("keras.src.api_export").REGISTERED_OBJS_TO_NAMES
    return {
        name: value
        for value, name in exported.items()
        if isinstance(value, types.FunctionType) and name.startswith(_PLACES) and public_name(value) == name
    }


def _check_tracing() -> None:
    if tracing(keras.config.backend()):
        raise Unrecordable(TRACER)


def _document(api: Api, kind: str, call: List[Json], values: KerasValues) -> Document:
    document: Document = {"schema": "instance/1", "library": "keras", "api": api.name, "kind": kind, "call": call}
    if values.symbolic:
        document["outcome"] = "unknown"
    return document


def _settings() -> List[Json]:
    """The global settings on which a call depends, where they are not the usual ones."""
    layout = keras.config.image_data_format()
    return [] if layout == "channels_last" else [["image_data_format", layout]]


def _layer_context(layer: Any, kwargs: Dict[str, Any]) -> List[Json]:
    """Global settings, the dtype policy where it is not the usual one, and the training mode that an outer layer imposes."""
    context = _settings()
    policy = layer.dtype_policy.name
    if policy != _USUAL:
        context.append(["dtype_policy", policy])
    outer = _state.get_global_attribute("current_call_ctx")
    if outer is not None and layer._call_has_training_arg and kwargs.get("training") is None:
        training = outer.get_value("training")
        if isinstance(training, bool):
            context.append(["training", training])
    return context
