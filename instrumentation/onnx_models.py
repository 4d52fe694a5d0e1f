"""The ONNX recorder for suites: sees every model that a test builds with `onnx.helper.make_model` or parses from text.

Each node becomes an instance. A test that builds a model seldom says what the inputs hold: a node's inputs are known by shape and dtype,
by value where they are initialisers or constants of the model.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from typing import Any, Dict, Generator, List, Optional, Tuple

from . import onnx_values as values
from .filters import Filters
from .onnx import api_name, context_of, defaults_of, formal_name, head, opset_versions, schema_of
from .onnx_graphs import canonical_graph
from .stream import Document, Stream
from .wire import Json, Unrecordable

onnx: Any = importlib.import_module("onnx")

BUILDERS = (("onnx.helper", "make_model"), ("onnx.parser", "parse_model"))
"""Functions that return a model."""


def version() -> str:
    """The version of the library."""
    return str(onnx.__version__)


class Recorder:
    """Records the nodes of models while `watching` is entered; a context manager that puts every wrap back."""

    def __init__(self, stream: Stream, filters: Optional[Filters] = None) -> None:
        self._stream = stream
        self._filters = filters or Filters()
        self._undo: List[Tuple[Any, str, Any]] = []
        self._watching = False

    def __enter__(self) -> Recorder:
        for place, name in BUILDERS:
            module = importlib.import_module(place)
            original = getattr(module, name)
            self._undo.append((module, name, original))
            setattr(module, name, self._wrap(original))
        return self

    def __exit__(self, *_: object) -> None:
        while self._undo:
            module, name, original = self._undo.pop()
            setattr(module, name, original)

    @contextlib.contextmanager
    def watching(self) -> Generator[None]:
        """Records the models that are built inside."""
        before, self._watching = self._watching, True
        try:
            yield
        finally:
            self._watching = before

    def _wrap(self, original: Any) -> Any:
        @functools.wraps(original)
        def build(*args: Any, **kwargs: Any) -> Any:
            model = original(*args, **kwargs)
            if self._watching:
                try:
                    self._record(model)
                except Exception as error:
                    self._stream.drop(f"recorder-error:{type(error).__name__}", "?")
            return model

        return build

    def _record(self, model: Any) -> None:
        known = _Known(model)
        opsets = opset_versions(model)
        for node in model.graph.node:
            api = api_name(node)
            group = self._filters.noise(api)
            if group is not None:
                self._stream.drop(f"noise:{group}", api)
                continue
            try:
                self._stream.record(_node(node, opsets, known))
            except Unrecordable as error:
                self._stream.drop(str(error), api)
            except Exception as error:
                self._stream.drop(f"recorder-error:{type(error).__name__}", api)


class _Known:
    """What a model says of its values: their content, or their shape and dtype."""

    def __init__(self, model: Any) -> None:
        graph = _inferred(model).graph
        self._values: Dict[str, Json] = {tensor.name: values.encode(tensor) for tensor in model.graph.initializer}
        for node in model.graph.node:
            if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
                self._values[node.output[0]] = values.encode(node.attribute[0].t)
        self._types = {info.name: info.type for info in (*graph.input, *graph.value_info, *graph.output)}
        self._dtypes = values.dtype_names()

    def encode(self, name: str) -> Json:
        """The value called *name*; raises `Unrecordable` where its shape is open or its type no tensor's."""
        if name in self._values:
            return self._values[name]
        kind = self._types.get(name)
        if kind is None or not kind.HasField("tensor_type"):
            raise Unrecordable("type-unknown" if kind is None else "not-a-tensor")
        tensor = kind.tensor_type
        if not tensor.HasField("shape") or any(not dim.HasField("dim_value") for dim in tensor.shape.dim):
            raise Unrecordable("open-shape")
        if tensor.elem_type not in self._dtypes:
            raise Unrecordable(f"tensor-dtype:{tensor.elem_type}")
        shape: List[Json] = [int(dim.dim_value) for dim in tensor.shape.dim]
        return {"tensor": {"shape": shape, "dtype": self._dtypes[tensor.elem_type]}}


def _inferred(model: Any) -> Any:
    """*model* with the types of its inner values, as far as they follow from those of its inputs."""
    try:
        return onnx.shape_inference.infer_shapes(model)
    except Exception:
        return model


def _node(node: Any, opsets: Dict[str, int], known: _Known) -> Document:
    schema = schema_of(node, opsets)
    attributes = sorted(node.attribute, key=lambda item: item.name)
    return {
        **head(api_name(node), "node"),
        "init": [{"name": item.name, "value": values.attribute(item, canonical_graph)} for item in attributes],
        "call": [
            {"name": formal_name(schema, position), "value": known.encode(name) if name else None}
            for position, name in enumerate(node.input)
        ],
        "context": context_of(node, opsets),
        "defaults": defaults_of(schema),
    }
