"""Recorded ONNX calls inside larger graphs: between quantised tensors, in a branch, in a loop, in a scan.

A kind of graph is one function that makes models of a call. Each model is checked and evaluated like a setting, and recorded as a graph
of the operator that it is about.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Optional

from opera.extensions.generators.onnx_settings import Call, element_type
from opera.extensions.generators.quantising import ZERO_POINTS, channel_axes, clear_scale, is_quantisable, on_grid, on_grids
from opera.instrumentation.onnx import formal_name

onnx: Any = importlib.import_module("onnx")
np: Any = importlib.import_module("numpy")
helper: Any = importlib.import_module("onnx.helper")

_QUANTISES = 19
"""First opset whose quantisation the evaluator has."""
_SCANS = 9
"""First opset whose `Scan` is as it is today."""
_PASSES = 2
_LARGEST_BIAS = 2**20
"""Steps of a bias below which sums with it are exact in float32."""


@dataclass(frozen=True)
class Embedded:
    """A model with its inputs.

    Attributes:
        model: An onnx.ModelProto whose outputs have types.
        inputs: Name to array.
    """

    model: Any
    inputs: Mapping[str, Any]


def quantised(call: Call) -> Iterator[Embedded]:
    """*call* between `QuantizeLinear` and `DequantizeLinear`, as tools write models of 8 bits.

    Scales of inputs are powers of two and inputs are whole numbers of steps, so what adds and multiplies is exact in float32.
    A compiler that computes in integers has to give the same.
    """
    for name, zero in ZERO_POINTS:
        yield from _quantised(call, name, zero, None)


def channels(call: Call) -> Iterator[Embedded]:
    """*call* as in `quantised`, with a scale for each place along an axis of the weights: the inputs behind the first, else the first.

    As tools write them, weights are whole numbers that only go through `DequantizeLinear`. So is a bias with an element for each place: of
    32 bits, in steps of the product of both scales.
    """
    found = [each for each in _slots(call) if each] or _slots(call)
    for axis in channel_axes(call.inputs[found[0]]) if found else ():
        for name, zero in ZERO_POINTS[:2]:
            yield from _quantised(call, name, zero, axis)


def _slots(call: Call) -> list[int]:
    """The inputs of *call* that are quantised: the first, and those that may be weights."""
    return [slot for slot, each in enumerate(call.inputs) if is_quantisable(each) and (slot == 0 or each.ndim > 1)]


def _quantised(call: Call, name: str, zero: int, axis: Optional[int]) -> Iterator[Embedded]:
    """*call* between tensors of dtype *name*, if there is something to quantise; unless *axis* is None, with scales along it."""
    opset = max(call.opsets.get("", 0), _QUANTISES)
    call = replace(call, opsets={**call.opsets, "": opset})
    inputs = {slot: on_grid(call.inputs[slot], zero) for slot in _slots(call)}
    stored: dict[int, str] = {}
    if axis is not None:
        stored = {slot: "int8" for slot in inputs if slot and axis < call.inputs[slot].ndim}
        inputs.update({slot: on_grids(call.inputs[slot], axis) for slot in stored or inputs})
    if stored and 0 in inputs:
        biases = _biases(call, inputs[0][1] * inputs[min(stored)][1])
        inputs.update(biases)
        stored.update(dict.fromkeys(biases, "int32"))
    plain = _outputs(call, {slot: value for slot, (value, _) in inputs.items()}) if inputs else None
    if plain is None or not any(is_quantisable(each) for each in plain):
        return
    graph = Graph()
    names: list[str] = []
    for slot, each in enumerate(call.inputs):
        value, scale = inputs.get(slot, (each, None))
        formal = formal_name(call.schema, slot)
        if slot in stored:
            names.append(graph.stored(formal, value, scale, axis, stored[slot]))
        elif each is None:
            names.append("")
        else:
            given = graph.given(formal, value)
            names.append(given if scale is None else graph.through(given, scale, zero, name, axis))
    for result, value in zip(graph.node(call.node, names), plain, strict=True):
        graph.result(graph.through(result, clear_scale(value), zero, name) if is_quantisable(value) else result, value)
    yield graph.embedded(opset)


def _biases(call: Call, scales: Any) -> dict[int, tuple[Any, Any]]:
    """The inputs of *call* with an element for each of *scales*, in steps of them, and these; none whose sums would not be exact."""
    found: dict[int, tuple[Any, Any]] = {}
    for slot, each in enumerate(call.inputs):
        if slot and each is not None and each.dtype == np.float32 and each.shape == scales.shape:
            steps = np.rint(each / scales)
            if np.abs(steps).max() < _LARGEST_BIAS:
                found[slot] = steps * scales, scales
    return found


def branch(call: Call) -> Iterator[Embedded]:
    """*call* as the branch of an `If` that is taken, beside one that gives zeros."""
    plain = _outputs(call, {})
    if plain is None or any(each.dtype.kind not in "fiub" for each in plain):
        return
    graph = Graph()
    names = graph.slots(call, {})
    condition = graph.given("condition", np.array(True))
    taken, other = Graph("then_"), Graph("else_")
    for result, value in zip(taken.node(call.node, names), plain, strict=True):
        taken.result(result, value)
        other.result(other.constant(np.zeros_like(value)), value)
    results = graph.add("If", [condition], len(plain), then_branch=taken.proto("then"), else_branch=other.proto("else"))
    for result, value in zip(results, plain, strict=True):
        graph.result(result, value)
    yield graph.embedded(call.opsets.get("", 0))


def loop(call: Call) -> Iterator[Embedded]:
    """*call* in a `Loop` that keeps its results; the first is the first input of the next pass where it is like it.

    The body reads other inputs from outside; in a second model they are states that it hands on as they are, the second one as the last
    first one where both are alike.
    """
    plain = _outputs(call, {})
    if plain is None or not call.inputs or call.inputs[0] is None or any(each.dtype.kind not in "fiub" for each in plain):
        return
    is_next = _alike(call.inputs[0], plain[0])
    for carries in (False, True) if any(each is not None for each in call.inputs[1:]) else (False,):
        graph, body = Graph(), Graph("body_")
        names = graph.slots(call, {})
        body.declared("pass", np.array(0))
        going = body.declared("going", np.array(True))
        states = [body.declared("state", each) for each in plain]
        carried = {each: body.declared(each, graph.value(each)) for each in names[1:] if each and carries}
        results = body.node(call.node, [states[0] if is_next else names[0], *(carried.get(each, each) for each in names[1:])])
        kept = {
            states[0] if is_next and each == names[1] and _alike(value, plain[0]) else own: value
            for each, own in carried.items()
            for value in [graph.value(each)]
        }
        body.result(body.add("Identity", [going])[0], np.array(True))
        for result, value in zip([*results, *kept], [*plain, *kept.values()], strict=True):
            body.result(result, value)
        before = [names[0] if is_next and not place else graph.constant(np.zeros_like(each)) for place, each in enumerate(plain)]
        given = [graph.constant(np.array(_PASSES)), graph.constant(np.array(True)), *before, *carried]
        found = graph.add("Loop", given, len(plain) + len(kept), body=body.proto("body"))
        for result, value in zip(found, [*plain, *kept.values()], strict=True):
            graph.result(result, value)
        yield graph.embedded(call.opsets.get("", 0))


def scan(call: Call) -> Iterator[Embedded]:
    """*call* in a `Scan` over its first input and the same turned round, which keeps the last results and stacks all of them.

    The body reads other inputs from outside; in a second model they are states.
    """
    plain = _outputs(call, {}) if call.opsets.get("", 0) >= _SCANS else None
    if plain is None or not call.inputs or call.inputs[0] is None or any(each.dtype.kind not in "fiub" for each in plain):
        return
    first = call.inputs[0]
    for carries in (False, True) if any(each is not None for each in call.inputs[1:]) else (False,):
        graph, body = Graph(), Graph("body_")
        own, *names = graph.slots(call, {0: np.stack([first, np.flip(first)])})
        for each in plain:
            body.declared("state", each)
        carried = {name: body.declared(name, value) for name, value in zip(names, call.inputs[1:], strict=True) if name and carries}
        results = body.node(call.node, [body.declared("slice", first), *(carried.get(each, each) for each in names)])
        kept = [graph.value(each) for each in carried]
        outputs = [*results, *(body.add("Identity", [each])[0] for each in (*carried.values(), *results))]
        for name, value in zip(outputs, [*plain, *kept, *plain], strict=True):
            body.result(name, value)
        given = [*(graph.constant(np.zeros_like(each)) for each in plain), *carried, own]
        found = graph.add("Scan", given, len(outputs), body=body.proto("body"), num_scan_inputs=1)
        for result, value in zip(found, [*plain, *kept, *(np.stack([each, each]) for each in plain)], strict=True):
            graph.result(result, value)
        yield graph.embedded(call.opsets.get("", 0))


KINDS: Mapping[str, Callable[[Call], Iterator[Embedded]]] = {
    "quantised": quantised,
    "channels": channels,
    "branch": branch,
    "loop": loop,
    "scan": scan,
}
"""Kinds of graphs around one call, by the name of the option."""


class Graph:
    """A graph that is being written, with the values of its inputs."""

    def __init__(self, prefix: str = "") -> None:
        """Names begin with *prefix*; no two graphs of a model share one."""
        self._prefix = prefix
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._values: dict[str, Any] = {}
        self._count = 0

    def given(self, name: str, value: Any) -> str:
        """An input with *value*; returns its name."""
        own = self.declared(name, value)
        self._values[own] = value
        return own

    def slots(self, call: Call, other: Mapping[int, Any]) -> list[str]:
        """An input for each input of *call*, with *other* values in some slots; an empty name for one that is left out."""
        values = [other.get(slot, each) for slot, each in enumerate(call.inputs)]
        return ["" if each is None else self.given(formal_name(call.schema, slot), each) for slot, each in enumerate(values)]

    def declared(self, name: str, like: Any) -> str:
        """An input of a subgraph, of the type of *like*."""
        own = self._name(name)
        self._inputs.append(_info(own, like))
        return own

    def value(self, name: str) -> Any:
        """The value of an input."""
        return self._values[name]

    def constant(self, value: Any) -> str:
        """A node `Constant`; returns the name of its value."""
        return self.add("Constant", [], value=onnx.numpy_helper.from_array(np.asarray(value)))[0]

    def add(self, operator: str, inputs: list[str], outputs: int = 1, **attributes: Any) -> list[str]:
        """A node; returns the names of its outputs."""
        names = [self._name(operator.lower()) for _ in range(outputs)]
        self._nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names

    def node(self, proto: Any, inputs: list[str]) -> list[str]:
        """A copy of the node *proto* with other inputs; returns the names of the outputs that it has."""
        copy = onnx.NodeProto()
        copy.CopyFrom(proto)
        names = [self._name("result") if each else "" for each in proto.output]
        del copy.input[:], copy.output[:]
        copy.input.extend(inputs)
        copy.output.extend(names)
        self._nodes.append(copy)
        return [each for each in names if each]

    def through(self, value: str, scale: Any, zero: int, dtype: str, axis: Optional[int] = None) -> str:
        """*value*, quantised and made a real number again; *scale* is one number, or one for each place along *axis*."""
        numbers = [self.constant(np.asarray(scale, "float32")), self.constant(np.full(np.shape(scale), zero, dtype))]
        along: dict[str, Any] = {"axis": axis} if np.shape(scale) else {}
        return self.add("DequantizeLinear", [self.add("QuantizeLinear", [value, *numbers], **along)[0], *numbers], **along)[0]

    def stored(self, name: str, value: Any, scales: Any, axis: Optional[int], dtype: str) -> str:
        """An input of whole numbers that *scales* along *axis* make *value*; one of int32 has one axis, and no zero point."""
        sizes = [-1 if place == axis % value.ndim else 1 for place in range(value.ndim)] if dtype == "int8" else [-1]
        given = self.given(name, np.rint(value / scales.reshape(sizes)).astype(dtype))
        numbers = [self.constant(scales), *([self.constant(np.zeros(scales.shape, dtype))] if dtype == "int8" else [])]
        return self.add("DequantizeLinear", [given, *numbers], axis=axis if dtype == "int8" else 0)[0]

    def result(self, name: str, like: Any) -> None:
        """Makes a value an output of the type of *like*."""
        self._outputs.append(_info(name, like))

    def proto(self, name: str) -> Any:
        """The graph as a GraphProto."""
        return helper.make_graph(self._nodes, name, self._inputs, self._outputs)

    def embedded(self, opset: int) -> Embedded:
        """The whole model, of that opset, with the values of its inputs."""
        model = helper.make_model(self.proto("embedded"), opset_imports=[helper.make_opsetid("", opset)])
        return Embedded(model, self._values)

    def _name(self, stem: str) -> str:
        self._count += 1
        return f"{self._prefix}{stem}_{self._count}"


def _alike(one: Any, other: Any) -> bool:
    return bool(one is not None and one.shape == other.shape and one.dtype == other.dtype)


def _info(name: str, like: Any) -> Any:
    value = np.asarray(like)
    return helper.make_tensor_value_info(name, element_type(value), value.shape)


def _outputs(call: Call, other: Mapping[int, Any]) -> Optional[list[Any]]:
    """What the evaluator gives for *call* with *other* inputs in some slots; None where it is no tensor, or the evaluator raises."""
    graph = Graph()
    for each in graph.node(call.node, graph.slots(call, other)):
        graph.result(each, np.float32(0))
    made = graph.embedded(call.opsets.get("", 0))
    try:
        found = importlib.import_module("onnx.reference").ReferenceEvaluator(made.model).run(None, dict(made.inputs))
    except Exception:
        return None
    return list(found) if all(isinstance(each, (np.ndarray, np.generic)) for each in found) else None
