"""Reads an ONNX model as a program: the inverse of `opera.extensions.programs.templates.onnx`, and more spellings of the same operators."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opera.arrays import Array, dtype_name
from opera.extensions.programs.languages import registry
from opera.extensions.programs.operators import DTYPES
from opera.extensions.programs.program import MAIN, Block, Function, If, Invoke, Parameter, Program, Projection, canonical
from opera.extensions.programs.reading import Builder, Opaque, Reading, axis_from, integral, write_readings
from opera.extensions.programs.templates.onnx import NAMED, REDUCED, SAME
from opera.extensions.programs.types import Attribute, TensorType, TupleType, Type, tensor

onnx: Any = importlib.import_module("onnx")
helper: Any = importlib.import_module("onnx.helper")
numpy_helper: Any = importlib.import_module("onnx.numpy_helper")

_OLDEST = 13
"""The first opset in which operators take axes as they do today."""
_STANDARD = ("", "ai.onnx")
_MOST_FUNCTIONS = 1_000
_DEEPEST = 32


def program_from(model: Any) -> Reading:
    """The program of *model*.

    Nodes of other operators, or with values whose type is open, stay opaque: their results become parameters of the program, if their
    types are known, and what depends on others stays opaque as well.

    Raises:
        Opaque: the model has an input that is no tensor of a fixed shape, or no output can be read.
    """
    return _Reader(model).reading()


class _Reader:
    def __init__(self, model: Any) -> None:
        self.functions = {(each.domain, each.name): each for each in model.functions}
        opset = max((each.version for each in model.opset_import if each.domain in _STANDARD), default=0)
        if opset < _OLDEST:
            raise Opaque(f"opset {opset} is older than {_OLDEST}")
        self.graph = model.graph
        self.inferred = _inferred(model)
        self.read: dict[tuple[object, ...], Function] = {}
        self.opaque: list[str] = []

    def reading(self) -> Reading:
        builder = Builder(registry())
        parameters: list[Parameter] = []
        values: list[str] = []
        known: dict[str, str] = {}
        taken: list[str] = []
        constants = {each.name: numpy_helper.to_array(each) for each in self.graph.initializer}

        def enter(name: str, kind: Type) -> None:
            parameters.append(builder.parameter(kind))
            values.append(name)
            known[name] = parameters[-1].name

        for entry in self.graph.input:
            try:
                if entry.name not in constants:
                    enter(entry.name, _fixed(entry))
            except Opaque as error:
                self.opaque.append(f"input: {error}")
        scope = _Scope(self, builder, known, {}, 0)
        for name, value in constants.items():
            scope.literal(name, value)
        for node in self.graph.node:
            why = scope.node(node)
            if why is not None:
                self.opaque.append(f"{node.op_type}: {why}")
                taken += [known[name] for name in node.input if name in known]
                for name in node.output:
                    if name in self.inferred:
                        enter(name, self.inferred[name])
        results = [known[name] for each in self.graph.output if (name := scope.behind_identity(each.name)) in known]
        results = results or [name for name in dict.fromkeys(taken) if name in {each.name for each in builder.bindings}]
        if not results:
            raise Opaque(f"nothing of it can be read ({'; '.join(dict.fromkeys(self.opaque)) or 'it has no output'})")
        result = builder.parts(results)
        main = Function(MAIN, tuple(parameters), builder.block(result, main=True), builder.types[result])
        return Reading(canonical(Program((*self.read.values(), main))), tuple(dict.fromkeys(self.opaque)), tuple(values))


class _Scope:
    """One graph, whose nodes are read in order.

    Attributes:
        known: The variable of each value of the model.
        constants: The elements of those that are literals.
    """

    def __init__(self, reader: _Reader, builder: Builder, known: dict[str, str], constants: dict[str, Array], depth: int) -> None:
        if depth > _DEEPEST:
            raise Opaque(f"nested deeper than {_DEEPEST} levels")
        self._reader = reader
        self.builder = builder
        self.known = known
        self.constants = constants
        self._depth = depth
        self._identities: dict[str, str] = {}

    def literal(self, name: str, value: Array) -> None:
        """Makes a literal known, also where no operator takes it: it may be a shape."""
        self.constants[name] = value
        try:
            self.known[name] = self.builder.constant(value)
        except (Opaque, TypeError):
            self.known.pop(name, None)

    def behind_identity(self, name: str) -> str:
        """The value that *name* is a copy of, because outputs are values of their own in ONNX."""
        return self._identities.get(name, name)

    def node(self, node: Any) -> str | None:
        """Reads one node; why it stays opaque, or None."""
        mark = self.builder.mark()
        try:
            if node.op_type == "Constant" and node.domain in _STANDARD:
                self._constant(node)
            else:
                self._bound(node, self._call(node))
        except Opaque as error:
            self.builder.forget(mark)
            return str(error)
        return None

    def _constant(self, node: Any) -> None:
        if len(node.attribute) != 1 or node.attribute[0].type not in _LITERALS:
            raise Opaque("a constant of another kind")
        value = helper.get_attribute_value(node.attribute[0])
        array = numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.array(value, _LITERALS[node.attribute[0].type])
        self.literal(node.output[0], array)

    def _bound(self, node: Any, result: str) -> None:
        outputs = list(node.output)
        kind = self.builder.types[result]
        if not isinstance(kind, TupleType) or len(outputs) == 1:
            if any(outputs[1:]):
                raise Opaque("more than one result")
            self.known[outputs[0]] = result
            if node.op_type == "Identity":
                self._identities[outputs[0]] = node.input[0]
            return
        for index, name in enumerate(outputs):
            if name:
                self.known[name] = self.builder.bind(Projection(result, index), kind.fields[index])

    def _call(self, node: Any) -> str:
        function = self._reader.functions.get((node.domain, node.op_type))
        if function is not None:
            return self._invoked(function, [self._variable(each) for each in node.input])
        if node.domain not in _STANDARD:
            raise Opaque(f"its domain is {node.domain!r}")
        if node.op_type == "If":
            return self._conditional(node)
        return _spelled(Node(self, node))

    def _variable(self, name: str) -> str:
        if name not in self.known:
            raise Opaque("its input is left out" if not name else "it depends on an opaque value")
        return self.known[name]

    def variable(self, name: str) -> str:
        """The variable of a value of the model."""
        return self._variable(name)

    def _conditional(self, node: Any) -> str:
        graphs = {each.name: each.g for each in node.attribute}
        blocks = [
            self._block(graphs[name].node, graphs[name].initializer, [each.name for each in graphs[name].output])
            for name in ("then_branch", "else_branch")
        ]
        (then, kind), (otherwise, other) = blocks
        if kind != other:
            raise Opaque(f"its branches give {kind} and {other}")
        return self.builder.bind(If(self._variable(node.input[0]), then, otherwise), kind)

    def _block(self, nodes: Sequence[Any], initializers: Sequence[Any], outputs: Sequence[str]) -> tuple[Block, Type]:
        inner = _Scope(self._reader, self.builder.inner(), dict(self.known), dict(self.constants), self._depth + 1)
        result = inner.results(nodes, initializers, outputs)
        return inner.builder.block(result), inner.builder.types[result]

    def results(self, nodes: Sequence[Any], initializers: Sequence[Any], outputs: Sequence[str]) -> str:
        """Reads a graph whose nodes must all be known; its result."""
        for each in initializers:
            self.literal(each.name, numpy_helper.to_array(each))
        for node in nodes:
            why = self.node(node)
            if why is not None:
                raise Opaque(f"{node.op_type} inside: {why}")
        return self.builder.parts([self._variable(self.behind_identity(name)) for name in outputs])

    def _invoked(self, function: Any, arguments: Sequence[str]) -> str:
        kinds = tuple(self.builder.types[each] for each in arguments)
        if function.attribute or function.attribute_proto or len(kinds) != len(function.input):
            raise Opaque("a function with attributes, or with inputs left out")
        key = (function.domain, function.name, kinds)
        if key not in self._reader.read:
            if len(self._reader.read) >= _MOST_FUNCTIONS:
                raise Opaque(f"more than {_MOST_FUNCTIONS:,} functions")
            apart = self.builder.apart()
            parameters = [apart.parameter(each) for each in kinds]
            known = {name: each.name for name, each in zip(function.input, parameters, strict=True)}
            inner = _Scope(self._reader, apart, known, {}, self._depth + 1)
            result = inner.results(function.node, (), function.output)
            name = f"{function.name}_{len(self._reader.read)}"
            self._reader.read[key] = Function(name, tuple(parameters), apart.block(result), apart.types[result])
        read = self._reader.read[key]
        return self.builder.bind(Invoke(read.name, tuple(arguments)), read.result)


class Node:
    """A node, as the spellings of operators see it."""

    def __init__(self, scope: _Scope, node: Any) -> None:
        self.scope = scope
        self.operator = str(node.op_type)
        self.inputs = list(node.input)
        self.outputs = len(node.output)
        self._settings = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        self._seen: set[str] = set()

    def setting(self, name: str, otherwise: Any = None) -> Any:
        """An attribute, which has been read now."""
        self._seen.add(name)
        return self._settings.get(name, otherwise)

    def nothing_else(self) -> None:
        """Raises `Opaque` for an attribute that was not read, and has another value than by default."""
        for name in self._settings.keys() - self._seen:
            attribute = onnx.defs.get_schema(self.operator).attributes.get(name)
            default = None if attribute is None or not attribute.default_value.name else attribute.default_value
            if default is None or helper.get_attribute_value(default) != self._settings[name]:
                raise Opaque(f"attribute {name!r} has no place in a program")

    def given(self, place: int) -> bool:
        """Whether there is an input at *place*."""
        return place < len(self.inputs) and self.inputs[place] != ""

    def variable(self, place: int) -> str:
        """The variable at *place*."""
        return self.scope.variable(self.inputs[place] if place < len(self.inputs) else "")

    def variables(self) -> list[str]:
        """The variables of all inputs."""
        return [self.variable(index) for index in range(len(self.inputs))]

    def kind(self, place: int) -> TensorType:
        """The type of the input at *place*."""
        return tensor(self.scope.builder.types[self.variable(place)])

    def rank(self) -> int:
        """The number of dimensions of the first input."""
        return len(self.kind(0).shape)

    def constant(self, place: int) -> Array:
        """The elements of the input at *place*; raises `Opaque` where they are computed."""
        name = self.inputs[place]
        if name not in self.scope.constants:
            raise Opaque("a parameter is computed")
        return self.scope.constants[name]

    def integers(self, place: int, name: str, otherwise: Sequence[int] | None) -> tuple[int, ...]:
        """Integers from an input, else from an attribute."""
        if self.given(place):
            return tuple(int(each) for each in self.constant(place).reshape(-1))
        found = self.setting(name, otherwise)
        if found is None:
            raise Opaque(f"it has no {name!r}")
        return tuple(int(each) for each in found)

    def axis(self, otherwise: int) -> int:
        """The attribute `axis`, counted from the front."""
        return axis_from(int(self.setting("axis", otherwise)), self.rank())

    def number(self, place: int, otherwise: int) -> int | float:
        """The only element of an input."""
        if not self.given(place):
            return otherwise
        return integral(float(self.constant(place).reshape(-1)[0]))

    def decimal(self, name: str, otherwise: float) -> float:
        """An attribute in the shortest decimal form that single precision tells apart."""
        return float(str(np.float32(self.setting(name, otherwise))))

    def only(self, name: str, *allowed: object) -> None:
        """Raises `Opaque` for another value of an attribute."""
        found = self.setting(name, allowed[0])
        if found not in allowed:
            raise Opaque(f"{name} is {found!r}")

    def call(self, operator: str, *arguments: str, **attributes: Attribute) -> str:
        """Binds a call of the registry's operator."""
        return self.scope.builder.call(operator, arguments, attributes)


def _spelled(node: Node) -> str:
    if node.operator in _FROM_SAME:
        found = _folded(node, _FROM_SAME[node.operator])
    elif node.operator in _FROM_REDUCED:
        found = _reduced(node)
    elif node.operator in _SPELLINGS:
        found = _SPELLINGS[node.operator](node)
    else:
        raise Opaque("no operator of programs is written so")
    node.nothing_else()
    return found


def _folded(node: Node, operator: str) -> str:
    names = node.variables()
    if operator in ("maximum", "minimum") and len(names) != 2:
        found = names[0]
        for each in names[1:]:
            found = node.call(operator, found, each)
        return found
    if operator == "floor_mod":
        node.only("fmod", 0)
    if operator == "isinf":
        node.only("detect_negative", 1)
        node.only("detect_positive", 1)
    if operator == "gelu" and node.setting("approximate", b"none") == b"tanh":
        operator = "gelu_tanh"
    return node.call(operator, *names)


def _reduced(node: Node) -> str:
    axes = node.integers(1, "axes", ())
    if not axes:
        if node.setting("noop_with_empty_axes", 0):
            return node.variable(0)
        axes = tuple(range(node.rank()))
    axes = tuple(sorted(axis_from(each, node.rank()) for each in axes))
    if not axes:
        raise Opaque("it reduces a scalar")
    return node.call(_FROM_REDUCED[node.operator], node.variable(0), axes=axes, keepdims=bool(node.setting("keepdims", 1)))


def _along(operator: str, otherwise: int) -> Callable[[Node], str]:
    return lambda node: node.call(operator, *node.variables(), axis=node.axis(otherwise))


def _sloped(operator: str, otherwise: float) -> Callable[[Node], str]:
    return lambda node: node.call(operator, node.variable(0), alpha=node.decimal("alpha", otherwise))


def _located(operator: str) -> Callable[[Node], str]:
    def read(node: Node) -> str:
        node.only("select_last_index", 0)
        return node.call(operator, node.variable(0), axis=node.axis(0), keepdims=bool(node.setting("keepdims", 1)))

    return read


def _normalised(node: Node) -> str:
    if node.outputs > 1 or not node.given(2):
        raise Opaque("it has other results than one, or no offset")
    return node.call("layer_norm", *node.variables(), axis=node.axis(-1), epsilon=node.decimal("epsilon", 1e-5))


def _reshaped(node: Node) -> str:
    shape, sizes = node.kind(0).shape, list(node.integers(1, "shape", None))
    if not node.setting("allowzero", 0):
        sizes = [shape[index] if size == 0 and index < len(shape) else size for index, size in enumerate(sizes)]
    if sizes.count(-1) == 1:
        rest = int(np.prod([size for size in sizes if size != -1]))
        sizes[sizes.index(-1)] = int(np.prod(shape)) // rest if rest else 0
    return node.call("reshape", node.variable(0), shape=tuple(sizes))


def _expanded(node: Node) -> str:
    shape = np.broadcast_shapes(node.kind(0).shape, node.integers(1, "shape", None))
    return node.call("broadcast_to", node.variable(0), shape=tuple(int(each) for each in shape))


def _squeezed(node: Node) -> str:
    ones = [index for index, size in enumerate(node.kind(0).shape) if size == 1]
    axes = {axis_from(each, node.rank()) for each in node.integers(1, "axes", ones)}
    found = node.variable(0)
    for axis in sorted(axes, reverse=True):
        found = node.call("squeeze", found, axis=axis)
    return found


def _unsqueezed(node: Node) -> str:
    wanted = node.integers(1, "axes", None)
    found = node.variable(0)
    for axis in sorted(axis_from(each, node.rank() + len(wanted)) for each in wanted):
        found = node.call("expand_dims", found, axis=axis)
    return found


def _transposed(node: Node) -> str:
    axes = node.setting("perm", range(node.rank() - 1, -1, -1))
    return node.call("permute_dims", node.variable(0), axes=tuple(int(each) for each in axes))


def _cast(node: Node) -> str:
    dtype = dtype_name(helper.tensor_dtype_to_np_dtype(node.setting("to")))
    if dtype not in DTYPES:
        raise Opaque(f"no operator takes {dtype}")
    return node.call("astype", node.variable(0), dtype=dtype)


def _clipped(node: Node) -> str:
    if not (node.given(1) and node.given(2)):
        raise Opaque("it has one limit")
    return node.call("clip", node.variable(0), low=node.number(1, 0), high=node.number(2, 0))


def _shifted(node: Node) -> str:
    return node.call(f"{node.setting('direction').decode().lower()}_shift", *node.variables())


def _divided(node: Node) -> str:
    axis = node.axis(0)
    size = node.kind(0).shape[axis]
    number = int(node.setting("num_outputs", node.outputs))
    part = -(-size // number)
    equal = [min(part, max(0, size - index * part)) for index in range(number)]
    return node.call("split", node.variable(0), axis=axis, sizes=node.integers(1, "split", equal))


def _sliced(node: Node) -> str:
    shape = node.kind(0).shape
    starts, ends = node.integers(1, "starts", None), node.integers(2, "ends", None)
    axes = [axis_from(each, len(shape)) for each in node.integers(3, "axes", range(len(starts)))]
    steps = node.integers(4, "steps", [1] * len(starts))
    if min(steps, default=1) < 1:
        raise Opaque("it goes backwards")
    begin, end, strides = [0] * len(shape), list(shape), [1] * len(shape)
    for axis, low, high, step in zip(axes, starts, ends, steps, strict=True):
        begin[axis], end[axis], strides[axis] = slice(low, high, step).indices(shape[axis])
        end[axis] = max(begin[axis], end[axis])
    return node.call("strided_slice", node.variable(0), begin=tuple(begin), end=tuple(end), strides=tuple(strides))


def _padded(node: Node) -> str:
    node.only("mode", b"constant")
    widths = node.integers(1, "pads", None)
    if node.given(3):
        raise Opaque("it pads some axes")
    half = len(widths) // 2
    return node.call("pad", node.variable(0), before=widths[:half], after=widths[half:], value=node.number(2, 0))


def _summed(node: Node) -> str:
    node.only("exclusive", 0)
    node.only("reverse", 0)
    return node.call("cumsum", node.variable(0), axis=axis_from(int(node.constant(1).reshape(-1)[0]), node.rank()))


def _largest(node: Node) -> str:
    node.only("sorted", 1)
    number = int(node.constant(1).reshape(-1)[0])
    return node.call("topk", node.variable(0), axis=node.axis(-1), k=number, largest=bool(node.setting("largest", 1)))


def _triangle(node: Node) -> str:
    diagonal = int(node.number(1, 0))
    return node.call("triu" if node.setting("upper", 1) else "tril", node.variable(0), k=diagonal)


def _slid(node: Node, kernel: Sequence[int]) -> dict[str, Attribute]:
    """The window of a node; raises `Opaque` for one that pads its ends differently."""
    node.only("auto_pad", b"NOTSET")
    node.only("ceil_mode", 0)
    node.only("storage_order", 0)
    spatial = len(kernel)
    pads = [int(each) for each in node.setting("pads", [0] * (2 * spatial))]
    if pads[:spatial] != pads[spatial:]:
        raise Opaque("its ends are padded differently")
    steps, distances = (tuple(int(each) for each in node.setting(name, [1] * spatial)) for name in ("strides", "dilations"))
    return {"kernel": tuple(kernel), "strides": steps, "padding": tuple(pads[:spatial]), "dilations": distances}


def _convolved(node: Node) -> str:
    spatial = node.rank() - 2
    if spatial not in (1, 2):
        raise Opaque(f"it has {spatial} spatial axes")
    kernel = node.kind(1).shape[2:]
    if tuple(node.setting("kernel_shape", kernel)) != kernel:
        raise Opaque(f"its kernel is not {list(kernel)}")
    window = _slid(node, kernel)
    found = node.call(f"conv{spatial}d", node.variable(0), node.variable(1), **window, groups=int(node.setting("group", 1)))
    if not node.given(2):
        return found
    offset = node.call("reshape", node.variable(2), shape=(1, *node.kind(2).shape, *[1] * spatial))
    return node.call("add", found, offset)


def _pooled(operator: str) -> Callable[[Node], str]:
    def read(node: Node) -> str:
        spatial = node.rank() - 2
        if spatial not in (1, 2) or node.outputs > 1:
            raise Opaque(f"it has {spatial} spatial axes, or several results")
        window = _slid(node, [int(each) for each in node.setting("kernel_shape")])
        counts = operator == "max_pool" or node.setting("count_include_pad", 0)
        if not counts and any(node.setting("pads", ())):
            raise Opaque("it leaves padding out of the mean")
        return node.call(f"{operator}{spatial}d", node.variable(0), **window)

    return read


_FROM_SAME = {name: operator for operator, name in SAME.items()}
_FROM_REDUCED = {name: operator for operator, name in REDUCED.items()}
_DEFAULT_AXES = {"softmax": -1, "log_softmax": -1, "hardmax": -1, "concat": 0, "take": 0, "gather_elements": 0}
_SPELLINGS: Mapping[str, Callable[[Node], str]] = {
    **{NAMED[operator][0]: _along(operator, axis) for operator, axis in _DEFAULT_AXES.items()},
    "LeakyRelu": _sloped("leaky_relu", 0.01),
    "Elu": _sloped("elu", 1.0),
    "Celu": _sloped("celu", 1.0),
    "LayerNormalization": _normalised,
    "ArgMax": _located("argmax"),
    "ArgMin": _located("argmin"),
    "Reshape": _reshaped,
    "Expand": _expanded,
    "Tile": lambda node: node.call("tile", node.variable(0), repeats=node.integers(1, "repeats", None)),
    "Unsqueeze": _unsqueezed,
    "Squeeze": _squeezed,
    "Transpose": _transposed,
    "Cast": _cast,
    "Clip": _clipped,
    "BitShift": _shifted,
    "Split": _divided,
    "Slice": _sliced,
    "Pad": _padded,
    "CumSum": _summed,
    "TopK": _largest,
    "Trilu": _triangle,
    "Conv": _convolved,
    "MaxPool": _pooled("max_pool"),
    "AveragePool": _pooled("avg_pool"),
}
_LITERALS: Mapping[int, Any] = {
    onnx.AttributeProto.TENSOR: None,
    onnx.AttributeProto.INT: np.int64,
    onnx.AttributeProto.INTS: np.int64,
    onnx.AttributeProto.FLOAT: np.float32,
    onnx.AttributeProto.FLOATS: np.float32,
}


def _inferred(model: Any) -> dict[str, TensorType]:
    """The values whose types ONNX infers without a doubt."""
    try:
        graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    except Exception:  # what cannot be inferred at all
        graph = model.graph
    found: dict[str, TensorType] = {}
    for entry in (*graph.value_info, *graph.output):
        try:
            found[entry.name] = _fixed(entry)
        except Opaque:
            continue
    return found


def _fixed(entry: Any) -> TensorType:
    """The type of an entry; raises `Opaque` where it is open or no tensor's."""
    kind = entry.type.tensor_type
    if entry.type.WhichOneof("value") != "tensor_type" or not kind.HasField("shape"):
        raise Opaque(f"the type of {entry.name[:80]!r} is open, or no tensor's")
    if not all(each.HasField("dim_value") for each in kind.shape.dim):
        raise Opaque(f"the shape of {entry.name[:80]!r} is open")
    try:
        dtype = dtype_name(helper.tensor_dtype_to_np_dtype(kind.elem_type))
    except (KeyError, TypeError) as error:
        raise Opaque(f"the dtype of {entry.name[:80]!r} is unknown") from error
    if dtype == "string":
        raise Opaque(f"the elements of {entry.name[:80]!r} are texts")
    return TensorType(tuple(int(each.dim_value) for each in kind.shape.dim), dtype)


if __name__ == "__main__":
    write_readings(lambda name: program_from(onnx.load_model(name)), sys.argv[2:])
