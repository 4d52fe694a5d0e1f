"""Cuts an ONNX model into pieces whose inputs are the values that the whole model has there. Runs in a worker of the library onnx.

A piece is a model of some of the nodes. Each value that a node of it reads comes directly from another node of the piece, or, where the
edge is cut, from an input that is fed with the true value. Cut at every edge, one model holds all operators apart.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from opera import bundle
from opera.arrays import as_array, is_array
from opera.extensions.models.error import MOST_NOISE, error_of
from opera.extensions.models.templates.opened import ModelRefused, arrays_in, evaluated, opened, values
from opera.instance import Graph, decode_instance, encode_instance
from opera.instrumentation import onnx as recorder
from opera.instrumentation.onnx_values import graph
from opera.models.forms import InputForm
from opera.workers.child import Stages
from opera.workers.protocol import Message

onnx: Any = importlib.import_module("onnx")

_NUDGE = 3e-6
"""By how much values are moved, up and down, to see what rounding does to the model: as much as compilers differ in float32."""
_ABOVE_NOISE = 4.0
"""By how much the evaluator has to disagree more than such a movement, so that its opinion counts."""
_FREE_WEIGHTS = 4
"""Version of the format from which on weights need not be inputs as well."""
_COPY = "__c"
"""End of the name of an input that stands for a value."""
_SMALL = 1
"""Highest rank of integers that a converter may need as constants: shapes, axes, sizes."""
_DOUBT = 1e-4
"""Error by which ONNX's evaluator disagrees with the values of the whole model."""
_DOUBT_SECONDS = 20.0
_DOUBT_ELEMENTS = 100_000
"""Seconds for its opinions, and most elements of a node's values: it is slow."""
_OF_SHAPES = ("Shape", "Size")
"""Operators whose results do not depend on the values of their inputs."""


class Surgeon:
    """Answers `{"nodes": [...], "cut": [...] or null}` with the document of a piece, and `{"node": n}` with that of one node.

    `{"round": true}` makes the noise of each value what the rounding of every value before it does.

    Args:
        options: `path`; `inputs`, a file of numpy with values by name, or null; `sizes` of symbolic dimensions by name; `seed`. `blobs` is
            a folder for large values. `outputs` is a file of numpy with what the library that exported the model computes, or null. `fast`
            says whether ONNX Runtime may run the model.
    """

    spent = False

    def __init__(self, options: Message) -> None:
        self._path, self._blobs = Path(options["path"]), Path(options["blobs"])
        inputs = None if options["inputs"] is None else Path(options["inputs"])
        self._fast = bool(options["fast"])
        opening = opened(self._path, inputs, options["sizes"], int(options["seed"]), fast=self._fast)
        self._model, self._feeds, self._known, self._large = opening.model, opening.feeds, opening.known, opening.large
        self._outputs = None if options["outputs"] is None else list(arrays_in(Path(options["outputs"])).values())
        self._weights = {**{each.name: each for each in self._model.graph.initializer}, **dict(map(_hollow, self._large.items()))}
        used = self._used()
        self._nodes = [_without_unused(node, used) for node in self._model.graph.node]

    def _used(self) -> set[str]:
        """The values that a node reads, or that the model gives."""
        read = {name for node in self._model.graph.node for name in (*node.input, *_read_inside(node))}
        return read | {each.name for each in self._model.graph.output}

    def ready(self) -> Message:
        """Runs the model with moved inputs; tells its nodes, and which of them can be cut out."""
        self._noise = dict[str, float]()
        for amount in (_NUDGE, -_NUDGE):
            moved = {name: _nudged(value, amount) for name, value in self._feeds.items()}
            moved = values(self._model, {**self._large, **moved}, fast=self._fast)
            errors = {name: min(error_of(self._known[name], value), MOST_NOISE) for name, value in moved.items()}
            self._noise = {name: max(error, self._noise.get(name, 0.0)) for name, error in errors.items()}
        self._fixed = _independent(self._nodes, set(self._feeds))
        doubtful = self._doubtful()
        return {
            "versions": {"onnx": str(onnx.__version__)},
            "nodes": [
                {
                    "name": str(node.name),
                    "operator": recorder.api_name(node),
                    "inputs": [name for name in node.input if name and name not in self._weights],
                    "outputs": [name for name in node.output if name],
                    "why": self._why_not(node),
                    "form": self._form(node).value,
                    "doubtful": number in doubtful,
                }
                for number, node in enumerate(self._nodes)
            ],
            "outputs": [each.name for each in self._model.graph.output],
            "exported": None if self._outputs is None else self._errors_of_export(self._outputs),
        }

    def _errors_of_export(self, outputs: Sequence[Any]) -> list[list[str]]:
        """Dtype and error of each of the model's outputs, where *outputs* are the true ones; none if there are more or fewer."""
        own = [self._known[each.name] for each in self._model.graph.output]
        if len(own) != len(outputs):
            return []
        return [[str(as_array(right).dtype), str(error_of(right, value))] for right, value in zip(outputs, own, strict=True)]

    def handle(self, task: Message, stages: Stages) -> Message:
        """The document of a piece, with the noise of each output where edges are whole."""
        stages.enter("cut")
        if "round" in task:
            self._round()
            return {}
        if "node" in task:
            given = [name for name in self._nodes[int(task["node"])].input if name]
            if len(set(given)) < len(given):  # an operator of one value twice is another test than one of two values
                model, inputs, outputs, names = self._piece([int(task["node"])], set(), bake=False)
                return {"document": self._stored(recorder.graph_document(model, f"model.{self._path.stem}", inputs, outputs))}
            model, inputs, outputs, names = self._piece([int(task["node"])], None, bake=False)
            return {"document": self._stored(_without_values(recorder.node_document(model, inputs, outputs), model))}
        cut = None if task["cut"] is None else set(task["cut"])
        model, inputs, outputs, names = self._piece([int(each) for each in task["nodes"]], cut, bake=True)
        noise = [] if cut is None else [self._noise.get(name, 0.0) for name in names]
        weights = [self._large.get(each.name) for each in model.graph.initializer]
        document = recorder.graph_document(model, f"model.{self._path.stem}", inputs, outputs)
        return {"document": self._stored(document, weights), "noise": noise}

    def _round(self) -> None:
        """Adds to the noise what the rounding of every value does: values that equal weights make stay equal if inputs alone move."""
        moved = {**self._known, **{name: _nudged(value, _NUDGE) for name, value in self._feeds.items()}}
        for number, node in enumerate(self._nodes):
            names = [name for name in node.output if name]
            if not self._why_not(node):
                model, _, _, names = self._piece([number], None, bake=False)
                feeds = {each.name: moved[each.name.removesuffix(_COPY)] for each in model.graph.input}
                with suppress(ModelRefused):
                    computed = values(model, feeds, fast=self._fast)
                    moved.update({name: computed[name] for name in names})
            moved.update({name: _nudged(moved[name], _NUDGE) for name in names if is_array(moved.get(name))})
            for name in names:
                self._noise[name] = max(self._noise.get(name, 0.0), min(error_of(self._known[name], moved[name]), MOST_NOISE))

    def _stored(self, document: Message, weights: Sequence[Any] = ()) -> Message:
        """*document* with its large values in files of their own: a message has its limit.

        The initializers of its graph get the values *weights* here, where one is given, so that few copies of them exist at a time.
        """
        instance = decode_instance(document)
        if any(each is not None for each in weights):
            instance = replace(instance, context=tuple((name, _filled(fact, weights)) for name, fact in instance.context))
        return encode_instance(instance, partial(bundle.store, self._blobs))

    def _why_not(self, node: Any) -> str:
        """Why a node has no piece of its own; empty where it has one."""
        if _captured(node):
            return "a graph inside of it reads values around it"
        if not [name for name in node.input if name and name not in self._weights]:
            return "it is a constant"
        odd = next((name for name in (*node.input, *node.output) if name and not is_array(self._known.get(name))), None)
        return f"the value {odd!r} is no tensor that numpy holds" if odd is not None else ""

    def _form(self, node: Any) -> InputForm:
        """The input form of a single operator that is nearest to the model: which of its inputs are constants."""
        constant = [name in self._weights or self._is_small(name) for name in node.input[1:] if name]
        return InputForm.CONSTANT if constant and all(constant) else InputForm.BAKED if any(constant) else InputForm.RUNTIME

    def _is_small(self, name: str) -> bool:
        """Whether a value is one that converters need as a constant, and that does not depend on the model's inputs."""
        value = self._known[name]
        return name in self._fixed and is_array(value) and value.dtype.kind in "iu" and value.ndim <= _SMALL

    def _doubtful(self) -> set[int]:
        """The nodes of whose values ONNX's evaluator has another opinion, the smallest first, as far as time allows."""
        sizes = {
            number: sum(as_array(self._known[name]).size for name in (*node.input, *node.output) if name)
            for number, node in enumerate(self._nodes) if not self._why_not(node)
        }  # fmt: skip
        found, ends = set[int](), time.monotonic() + _DOUBT_SECONDS
        for number, size in sorted(sizes.items(), key=lambda pair: pair[1]):
            if size > _DOUBT_ELEMENTS or time.monotonic() > ends:
                break
            model, inputs, outputs, _ = self._piece([number], None, bake=False)
            feeds = dict(zip([each.name for each in model.graph.input], inputs, strict=True))
            try:
                disagrees = _disagrees(model, feeds, outputs)
            except Exception:
                continue
            if disagrees:
                found.add(number)
        return found

    def _piece(self, chosen: Sequence[int], cut: set[str] | None, *, bake: bool) -> tuple[Any, list[Any], list[Any], list[str]]:
        """Model, inputs, expected outputs and names of these of the nodes *chosen*; *cut* None cuts every edge."""
        nodes = [self._nodes[each] for each in chosen]
        made = {name for node in nodes for name in node.output if name}
        own = {each.name for each in self._model.graph.output}
        direct = set[str]() if cut is None else made - cut
        inputs, weights, copies = dict[str, Any](), dict[str, Any](), list[Any]()
        for node in nodes:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.input[:] = [self._source(name, direct, inputs, weights, bake=bake) for name in node.input]
            copies.append(copy)
        inside = {name for node in nodes for name in _read_inside(node)}
        for name in sorted(inside - made):  # a graph inside of a node reads values by the names that they have
            if name in self._weights:
                weights[name] = self._weights[name]
            elif name in self._known:
                inputs[name] = self._known[name]
        read = inside | {name for node in nodes for name in node.input}
        wanted = [name for node in nodes for name in node.output if name and (name in own or name not in direct or name not in read)]
        graph = onnx.helper.make_graph(
            copies, "piece", [_info(name, value) for name, value in inputs.items()],
            [_info(name, self._known[name]) for name in wanted], [*weights.values()],
        )  # fmt: skip
        version = max(self._model.ir_version, _FREE_WEIGHTS)
        model = onnx.helper.make_model(graph, opset_imports=self._model.opset_import, ir_version=version)
        return model, list(inputs.values()), [self._known[name] for name in wanted], wanted

    def _source(self, name: str, direct: set[str], inputs: dict[str, Any], weights: dict[str, Any], *, bake: bool) -> str:
        """The name under which a piece has the value *name*, which becomes an input or a constant where it must."""
        if not name or name in direct:
            return name
        if name in self._weights and bake:
            weights[name] = self._weights[name]
            return name
        value, copy = self._known[name], f"{name}{_COPY}"
        if bake and self._is_small(name):
            weights[copy] = onnx.numpy_helper.from_array(value, copy)
        else:
            inputs[copy] = value
        return copy


def _hollow(weight: tuple[str, Any]) -> tuple[str, Any]:
    """The name of a weight, and its tensor without the values."""
    name, array = weight
    kind = int(onnx.helper.np_dtype_to_tensor_dtype(array.dtype))
    return name, onnx.TensorProto(name=name, data_type=kind, dims=array.shape)


def _filled(fact: Any, weights: Sequence[Any]) -> Any:
    """A graph whose initializers, in order, have the values *weights*, where one is given; any other fact as it is.

    Protobuf reads messages that follow each other as one, so each weight is a message of its own: a whole model would be held twice more
    while it is written.
    """
    if not isinstance(fact, Graph):
        return fact
    model = onnx.ModelProto.FromString(fact.data)
    tensors = list(model.graph.initializer)
    del model.graph.initializer[:]
    parts = [model.SerializeToString(deterministic=True)]
    for each, array in zip(tensors, weights, strict=True):
        tensor = (
            onnx.TensorProto(name=each.name, data_type=each.data_type, dims=each.dims, raw_data=array.tobytes())
            if array is not None
            else each
        )
        parts.append(onnx.ModelProto(graph=onnx.GraphProto(initializer=[tensor])).SerializeToString(deterministic=True))
    return Graph(fact.format, b"".join(parts))


def _without_values(document: Message, model: Any) -> Message:
    """The *document* of a node with the types of its results in place of their values: its test has a reference of its own."""
    types = {each.name: graph(each.type) for each in model.graph.output}
    context = [each for each in document["context"] if each[0] != "output_types"]
    known = {**document, "context": [*context, ["output_types", [types.get(name) for name in model.graph.node[0].output]]]}
    return {name: value for name, value in known.items() if name != "expected"}


def _disagrees(model: Any, feeds: Mapping[str, Any], outputs: Sequence[Any]) -> bool:
    """Whether the evaluator's values differ from *outputs* by more than a moved input moves them."""
    computed = evaluated(model, feeds)
    far = [
        (each.name, error) for each, value in zip(model.graph.output, outputs, strict=True)
        if (error := error_of(value, computed[each.name])) > (0.0 if as_array(value).dtype.kind in "iub" else _DOUBT)
    ]  # fmt: skip
    if not far:
        return False
    moved = evaluated(model, {name: _nudged(value, _NUDGE) for name, value in feeds.items()})
    return any(error > _ABOVE_NOISE * error_of(computed[name], moved[name]) for name, error in far)


def _nudged(value: Any, amount: float) -> Any:
    """*value* with every second floating number larger by a share of *amount*, and the others smaller."""
    array = as_array(value)
    if array.dtype.kind != "f":
        return value
    signs = np.where(np.arange(array.size) % 2, 1.0, -1.0).reshape(array.shape)
    return np.asarray(array * (1 + amount * signs)).astype(array.dtype)  # a product of scalars is no array


def _without_unused(node: Any, used: set[str]) -> Any:
    """*node* without the outputs that nothing uses, but for the first one, which operators need."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    first = node.output[0]
    copy.output[:] = [name if name == first or name in used else "" for name in node.output]
    return copy


def _independent(nodes: Sequence[Any], fed: set[str]) -> set[str]:
    """The values that do not depend on the values of the model's inputs *fed*, only on their shapes."""
    dependent = set(fed)
    fixed: set[str] = set()
    for node in nodes:
        read = {*node.input, *_read_inside(node)}
        names = {name for name in node.output if name}
        if node.op_type not in _OF_SHAPES and read & dependent:
            dependent |= names
        else:
            fixed |= names
    return fixed


def _read_inside(node: Any) -> set[str]:
    """The values that graphs inside of a node read, at any depth; also those that they make themselves."""
    bodies = [body for each in node.attribute for body in (each.g, *each.graphs)]
    names = {name for body in bodies for inner in body.node for name in (*inner.input, *_read_inside(inner))}
    return names | {each.name for body in bodies for each in body.output}


def _captured(node: Any) -> set[str]:
    """The values that graphs inside of a node read and do not have."""
    bodies = [body for each in node.attribute for body in (each.g, *each.graphs)]
    found = set[str]()
    for body in bodies:
        own = {each.name for each in (*body.input, *body.initializer)} | {name for inner in body.node for name in inner.output}
        read = {name for inner in body.node for name in (*inner.input, *_captured(inner)) if name} | {each.name for each in body.output}
        found |= read - own
    return found


def _info(name: str, value: Any) -> Any:
    array = as_array(value)
    return onnx.helper.make_tensor_value_info(name, int(onnx.helper.np_dtype_to_tensor_dtype(array.dtype)), array.shape)
