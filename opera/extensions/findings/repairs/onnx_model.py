"""Repairs of ONNX models: what an importer could do to each node before it converts it.

The file runs beside a script, in the environment of a compiler that may not have OPERA: it needs only numpy and onnx.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, defs, helper
from onnx.reference import ReferenceEvaluator

_NARROW = (TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32)
_HALVES = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
_SIZE = 100_000
_MAKE = helper.make_model


@dataclass(frozen=True)
class Value:
    """What is known of a tensor: its dtype, as a number of ONNX, and its shape, if that is known."""

    dtype: int
    shape: tuple[int, ...] | None


class Graph:
    """The nodes of one model, and what is known of its tensors."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.opsets = {each.domain or "ai.onnx": each.version for each in model.opset_import}
        self.values = dict(_values(model))
        self._names = 0

    def schema(self, node: onnx.NodeProto) -> defs.OpSchema | None:
        """The schema of *node*; None for an operator that onnx does not know."""
        try:
            domain = node.domain or "ai.onnx"
            return defs.get_schema(node.op_type, self.opsets.get(domain, 1), "" if domain == "ai.onnx" else domain)
        except defs.SchemaError:
            return None

    def name(self, of: str) -> str:
        """A new name of a tensor."""
        self._names += 1
        return f"{of}_repaired{self._names}"

    def constant(self, value: Any, of: str, made: list[onnx.NodeProto]) -> str:
        """Adds a constant to *made*, and returns its name."""
        name = self.name(of)
        made.append(helper.make_node("Constant", [], [name], value=onnx.numpy_helper.from_array(value, name)))
        return name


def _values(model: onnx.ModelProto) -> Iterator[tuple[str, Value]]:
    for each in model.graph.initializer:
        yield each.name, Value(each.data_type, tuple(each.dims))
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    for each in (*inferred.value_info, *inferred.input, *inferred.output):
        if each.type.HasField("tensor_type"):
            kind = each.type.tensor_type
            sizes = [one.dim_value if one.HasField("dim_value") else None for one in kind.shape.dim] if kind.HasField("shape") else [None]
            known = tuple(one for one in sizes if one is not None)
            yield each.name, Value(kind.elem_type, known if len(known) == len(sizes) else None)


Repair = Callable[[Graph, onnx.NodeProto], "list[onnx.NodeProto] | None"]
"""The nodes that take the place of one; None if the repair has nothing to do."""


def _parameters(schema: defs.OpSchema, node: onnx.NodeProto) -> Iterator[tuple[int, str, str]]:
    """Place, name of the tensor, and type of each input that *node* has."""
    for place, name in enumerate(node.input):
        if name and schema.inputs:
            yield place, name, schema.inputs[min(place, len(schema.inputs) - 1)].type_str


def _as(narrow: Sequence[int], wide: int) -> Repair:
    """Computes in the dtype *wide* where the operator takes it, and gives results their own dtype."""
    spelled = f"tensor({onnx.helper.tensor_dtype_to_np_dtype(wide).name})".replace("float32", "float")

    def repair(graph: Graph, node: onnx.NodeProto) -> list[onnx.NodeProto] | None:
        schema = graph.schema(node)
        if schema is None or node.op_type in ("Cast", "Constant"):
            return None
        taken = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
        types = {kind for _, name, kind in _parameters(schema, node) if name in graph.values and graph.values[name].dtype in narrow}
        types = {kind for kind in types if spelled in taken.get(kind, ())}
        if not types:
            return None
        before: list[onnx.NodeProto] = []
        new, after = onnx.NodeProto(), list[onnx.NodeProto]()
        new.CopyFrom(node)
        for place, name, kind in _parameters(schema, node):
            if kind in types and name in graph.values:
                new.input[place] = graph.name(name)
                before.append(helper.make_node("Cast", [name], [new.input[place]], to=wide))
        for place, name in enumerate(node.output):
            if name and schema.outputs[min(place, len(schema.outputs) - 1)].type_str in types and name in graph.values:
                new.output[place] = graph.name(name)
                after.append(helper.make_node("Cast", [new.output[place]], [name], to=graph.values[name].dtype))
        return [*before, new, *after]

    return repair


def _defaults(graph: Graph, node: onnx.NodeProto) -> list[onnx.NodeProto] | None:
    """Writes attributes at their defaults into the node."""
    schema = graph.schema(node)
    if schema is None:
        return None
    given = {each.name for each in node.attribute}
    left = [each.default_value for name, each in sorted(schema.attributes.items()) if name not in given and each.default_value.type]
    if not left:
        return None
    new = onnx.NodeProto()
    new.CopyFrom(node)
    new.attribute.extend(left)
    return [new]


def _rank_zero(graph: Graph, node: onnx.NodeProto) -> list[onnx.NodeProto] | None:
    """Gives each tensor of rank 0 that has the type of the first input one dimension, and takes it from the results."""
    schema = graph.schema(node)
    inputs = list(_parameters(schema, node)) if schema is not None else []
    flat = [
        (place, name) for place, name, kind in inputs if kind == inputs[0][2] and name in graph.values and graph.values[name].shape == ()
    ]
    if not flat or node.op_type in ("Unsqueeze", "Reshape", "Constant"):
        return None
    made, new, after = list[onnx.NodeProto](), onnx.NodeProto(), list[onnx.NodeProto]()
    new.CopyFrom(node)
    for place, name in flat:
        new.input[place] = graph.name(name)
        made.append(helper.make_node("Reshape", [name, graph.constant(np.array([1], np.int64), name, made)], [new.input[place]]))
    for place, name in enumerate(node.output):
        value = graph.values.get(name)
        if name and value is not None and value.shape is not None:
            new.output[place] = graph.name(name)
            size = graph.constant(np.array(value.shape, np.int64), name, made)
            after.append(helper.make_node("Reshape", [new.output[place], size], [name]))
    return [*made, new, *after]


def _empty(graph: Graph, node: onnx.NodeProto) -> list[onnx.NodeProto] | None:
    """Replaces a node on tensors without elements by its result."""
    inputs = [graph.values.get(name) for name in node.input if name]
    outputs = [graph.values.get(name) for name in node.output if name]
    if not any(each is not None and each.shape is not None and 0 in each.shape for each in inputs) or not all(
        each is not None and each.shape is not None and np.prod(each.shape) < _SIZE for each in (*inputs, *outputs)
    ):
        return None
    known = [each for each in (*inputs, *outputs) if each is not None and each.shape is not None]
    results = known[len(inputs) :]
    if all(0 in (each.shape or ()) for each in results):
        found = [np.zeros(each.shape or (), helper.tensor_dtype_to_np_dtype(each.dtype)) for each in results]
    elif all(0 in (each.shape or ()) for each in known[: len(inputs)]):
        names = [name for name in node.input if name]
        entries = [helper.make_tensor_value_info(name, each.dtype, each.shape) for name, each in zip(names, known, strict=False)]
        ends = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
        alone = _MAKE(helper.make_graph([node], "one", entries, ends), opset_imports=graph.model.opset_import)
        zeros = {
            name: np.zeros(each.shape or (), helper.tensor_dtype_to_np_dtype(each.dtype)) for name, each in zip(names, known, strict=False)
        }
        found = ReferenceEvaluator(alone).run(None, zeros)
    else:
        return None
    names = [name for name in node.output if name]
    return [
        helper.make_node("Constant", [], [name], value=onnx.numpy_helper.from_array(np.asarray(each), name))
        for name, each in zip(names, found, strict=True)
    ]


def _positive(graph: Graph, node: onnx.NodeProto) -> list[onnx.NodeProto] | None:
    """Counts axes from the front."""
    value = graph.values.get(node.input[0]) if node.input else None
    if value is None or not value.shape:
        return None
    new, changed = onnx.NodeProto(), False
    new.CopyFrom(node)
    for each in new.attribute:
        if each.name == "axis" and each.i < 0:
            each.i, changed = each.i + len(value.shape), True
        elif each.name == "axes" and any(one < 0 for one in each.ints):
            numbers = [one + len(value.shape) if one < 0 else one for one in each.ints]
            del each.ints[:]
            each.ints.extend(numbers)
            changed = True
    return [new] if changed else None


NODES: dict[str, Repair] = {
    "defaults written": _defaults,
    "booleans as integers": _as((TensorProto.BOOL,), TensorProto.INT32),
    "narrow integers as int64": _as(_NARROW, TensorProto.INT64),
    "narrow integers as int32": _as(_NARROW, TensorProto.INT32),
    "integers as float32": _as((*_NARROW, TensorProto.INT64, TensorProto.UINT64), TensorProto.FLOAT),
    "halves as float32": _as(_HALVES, TensorProto.FLOAT),
    "doubles as float32": _as((TensorProto.DOUBLE,), TensorProto.FLOAT),
    "rank 0 as rank 1": _rank_zero,
    "no elements": _empty,
    "axes from the front": _positive,
}
"""By name, in the order in which they are tried."""
NAMES = tuple(NODES)


def repaired(model: onnx.ModelProto, name: str) -> tuple[onnx.ModelProto, int]:
    """*model* with the repair *name* of each node of its main graph, and the number of nodes that it changed."""
    graph, nodes, changed = Graph(model), list[onnx.NodeProto](), 0
    for node in model.graph.node:
        instead = NODES[name](graph, node)
        changed += instead is not None
        nodes.extend([node] if instead is None else instead)
    new = onnx.ModelProto()
    new.CopyFrom(model)
    del new.graph.node[:]
    new.graph.node.extend(nodes)
    return new, changed


def _make(change: Callable[[onnx.ModelProto], onnx.ModelProto]) -> None:
    """Makes the functions of onnx that scripts make models with give what *change* makes of them."""

    def wrapped(make: Callable[..., onnx.ModelProto]) -> Callable[..., onnx.ModelProto]:
        return lambda *args, **kwargs: change(make(*args, **kwargs))

    making = ((helper, "make_model"), (onnx.parser, "parse_model"), (onnx, "load_model_from_string"))
    functions = [(module, attribute, getattr(module, attribute)) for module, attribute in making]
    for module, attribute, function in functions:
        setattr(module, attribute, wrapped(function))


def probe(tell: Callable[[list[str]], None]) -> None:
    """Makes onnx tell which repairs change a node of the model."""

    def told(model: onnx.ModelProto) -> onnx.ModelProto:
        tell([name for name in NAMES if repaired(model, name)[1]])
        return model

    _make(told)


def install(name: str) -> None:
    """Makes onnx give models with the repair *name*."""
    _make(lambda model: repaired(model, name)[0])


def warm() -> None:
    """Does nothing: models take no time to make."""
