"""Records the operators of whole ONNX models: each node is an instance, with the shapes and values that it has in the model."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from opera.arrays import as_array, is_array
from opera.extensions.models.templates.opened import ModelRefused, SizesMissing, opened
from opera.instrumentation import numpy_values
from opera.instrumentation import onnx as recorder
from opera.instrumentation.filters import Filters
from opera.instrumentation.hosts import arguments
from opera.instrumentation.onnx_graphs import canonical_graph
from opera.instrumentation.onnx_values import attribute, graph
from opera.instrumentation.stream import Document, Loose, Stream
from opera.instrumentation.wire import Json, Unrecordable

onnx: Any = importlib.import_module("onnx")


def main(argv: Sequence[str]) -> None:
    """Writes the recording of one shard."""
    parser = arguments.parser("models")
    parser.add_argument("--root", default="", help="a model, or a folder of .onnx files")
    parser.add_argument("--sizes", default="", help="sizes of symbolic dimensions, e.g. batch=1,sequence=8")
    options = parser.parse_args(argv)
    if not options.root:
        raise SystemExit("no model was named; add --model FILE, an .onnx file or a folder of them")
    root = Path(options.root)
    if not root.exists():
        raise SystemExit(f"{root} does not exist; name an .onnx file with --model FILE, or a folder of them")
    sizes = _sizes(options.sizes)
    files = sorted(root.rglob("*.onnx")) if root.is_dir() else [root]
    if not files:
        raise SystemExit(f"{root} has no .onnx file; export the models with torch.onnx.export, or with model.export of Keras")
    filters = arguments.filters(options)
    warnings.simplefilter("ignore")
    with Stream(options.recording, "onnx", onnx.__version__, options.source) as stream:
        for index, path in arguments.select(files, options):
            name = str(path.relative_to(root)) if root.is_dir() else path.name
            if filters.selected(name) and not filters.excluded(name):
                stream.enter(index, name)
                _record(path, f"{options.source}::{name}", sizes, options.seed, stream, filters)


def _sizes(text: str) -> dict[str, int]:
    pairs = [each.rpartition("=") for each in text.split(",") if each]
    if any(not name or not size.isdigit() for name, _, size in pairs):
        raise SystemExit(f"--option sizes={text}: write sizes as batch=1,sequence=8")
    return {name: int(size) for name, _, size in pairs}


def _record(path: Path, test: str, sizes: Mapping[str, int], seed: int, stream: Stream, filters: Filters) -> None:
    """Records the nodes of one model; a model that cannot run is dropped with the reason."""
    stream.begin(test)
    try:
        found = opened(path, None, sizes, seed)
    except SizesMissing as error:
        help = f"; give --option sizes={','.join(f'{name}=N' for name in error.named)}" if error.complete else ""
        stream.drop(f"refused:{path.name}: {error.what}{help}", path.name)
        return
    except ModelRefused as error:
        stream.drop(f"refused:{error}", path.name)
        return
    opsets = recorder.opset_versions(found.model)
    for number, node in enumerate(found.model.graph.node):
        api = recorder.api_name(node)
        stream.begin(f"{test}::{number}")
        group = filters.noise(api)
        if group is not None or not any(node.input):
            stream.drop("constant" if group is None else f"noise:{group}", api)
            continue
        try:
            stream.record(*_document(node, opsets, found.known))
        except Unrecordable as error:
            stream.drop(str(error), api)


def _document(node: Any, opsets: dict[str, int], known: Mapping[str, Any]) -> tuple[Document, list[Loose]]:
    """The instance of a node, and what tells its drawn values apart. The types of its results are kept, and not their values."""
    if any(each.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for each in node.attribute):
        raise Unrecordable("graph-inside")
    schema, loose = recorder.schema_of(node, opsets), list[Loose]()
    call: list[Json] = [
        {"name": recorder.formal_name(schema, index), "value": _value(known.get(name), loose) if name else None}
        for index, name in enumerate(node.input)
    ]
    types: list[Json] = [graph(_type(known.get(name))) if name else None for name in node.output]
    attributes = sorted(node.attribute, key=lambda each: each.name)
    return {
        **recorder.head(recorder.api_name(node), "node"),
        "init": [{"name": each.name, "value": attribute(each, canonical_graph)} for each in attributes],
        "call": call,
        "context": [*recorder.context_of(node, opsets), ["output_types", types]],
        "defaults": recorder.defaults_of(schema),
    }, loose


def _value(value: Any, loose: list[Loose]) -> Json:
    if not is_array(value):
        raise Unrecordable("not-a-tensor")
    content, apart = numpy_values.tensor(as_array(value))
    if apart is not None:
        loose.append(apart)
    return {"tensor": content}


def _type(value: Any) -> Any:
    if not is_array(value):
        raise Unrecordable("not-a-tensor")
    array = as_array(value)
    text = array.dtype.kind in "OSUT"
    kind = onnx.TensorProto.STRING if text else int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(array.dtype)))
    return onnx.helper.make_tensor_type_proto(kind, array.shape)
