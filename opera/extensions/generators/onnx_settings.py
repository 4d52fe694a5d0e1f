"""Other settings of recorded ONNX calls, by the schemas of their operators: attributes, optional inputs, dtypes, sizes; alone and in pairs.

A setting is kept if ONNX's checker accepts the model with all its shapes and the reference evaluator runs it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from opera.extensions.generators.settings.kinds import (
    BORROWED,
    ELEMENTS,
    LARGEST,
    REALS,
    SIZES,
    axes,
    cast,
    distinct,
    lists,
    related,
    related_lists,
    with_element,
    with_rank,
    with_size,
)
from opera.instrumentation.onnx import formal_name, opset_versions, schema_of
from opera.instrumentation.onnx_values import dtype_names, to_array

onnx: Any = importlib.import_module("onnx")
np: Any = importlib.import_module("numpy")

_DTYPES = ("to", "dtype", "output_dtype", "stash_type", "softmax_precision")
"""Attributes that number a dtype."""
_QUOTED = re.compile(r"['\"`](\w+)['\"`]")
_FORBIDDEN = re.compile(r"simultaneously with (\w+)")
_Shapes = tuple[Optional[tuple[int, ...]], ...]
Evaluated = tuple[Any, list[Any], list[Any]]
"""A model whose outputs have types, its inputs, and what the evaluator gives for them."""
_OLDEST = 13
_FEW = 8
"""Most numbers of an input that holds sizes, pads, axes or indices."""


@dataclass(frozen=True)
class Call:
    """A node with its inputs.

    Attributes:
        node: An onnx.NodeProto; outputs are named, inputs are the slots of `inputs`.
        inputs: An array for each slot; None for one that is left out.
        opsets: Domain to version.
    """

    node: Any
    inputs: tuple[Any, ...]
    opsets: Mapping[str, int]

    @property
    def schema(self) -> Any:
        """The schema of its operator at its opset; None for an operator that ONNX does not define."""
        return schema_of(self.node, dict(self.opsets))


@dataclass(frozen=True)
class Setting:
    """One change of a call.

    Attributes:
        factor: What changes; two settings of one factor exclude each other.
        attribute: Name and value of an attribute; the value None leaves it out.
        without: Attributes that may not be given together with that one.
        slots: New values of input slots.
        dtype: The dtype of all inputs in the slots of `cast`.
        cast: Slots of one type constraint.
        element: The first element of the first of these slots; None leaves it.
        length: Size of a dimension of the first input, and of the others that have the same there; None leaves it.
        dimension: The dimension that has this size.
        rank: Number of dimensions of the first input; None leaves it.
        opset: Version of the operator's domain; None leaves it.
    """

    factor: str
    attribute: Optional[tuple[str, Any]] = None
    without: tuple[str, ...] = ()
    slots: Mapping[int, Any] = field(default_factory=dict)  # type: ignore[arg-type]
    dtype: Any = None
    cast: tuple[int, ...] = ()
    element: Optional[int] = None
    length: Optional[int] = None
    dimension: int = 0
    rank: Optional[int] = None
    opset: Optional[int] = None

    def __str__(self) -> str:
        """The factor and its value, in the words of settings of other libraries."""
        if self.attribute is not None:
            value = self.attribute[1]
            return f"{self.factor}={value.decode() if isinstance(value, bytes) else 'left out' if value is None else value}"
        if self.slots:
            return f"{self.factor}={', '.join('left out' if each is None else str(each.tolist())[:60] for each in self.slots.values())}"
        if self.length is not None:
            return f"size of input={self.length} in dimension {self.dimension}"
        if self.rank is not None:
            return f"rank of input={self.rank}"
        return f"{self.factor}={self.opset or self.dtype}"

    def of(self, call: Call) -> Optional[Call]:
        """*call* with this setting; None where it has no such value."""
        inputs = list(call.inputs)
        node = call.node
        for slot, value in self.slots.items():
            inputs += [None] * (slot + 1 - len(inputs))
            inputs[slot] = value
        for slot in self.cast:
            if slot < len(inputs) and inputs[slot] is not None:
                inputs[slot] = cast(inputs[slot], self.dtype)
                if inputs[slot] is None:
                    return None
        if self.element is not None:
            first = self.cast[0]
            changed = with_element(inputs[first], self.element) if first < len(inputs) and inputs[first] is not None else None
            if changed is None:
                return None
            inputs[first] = changed
        if self.rank is not None:
            first = with_rank(inputs[0], self.rank) if inputs and inputs[0] is not None else None
            if first is None:
                return None
            inputs[0] = first
        if self.length is not None:
            inputs = _cut(inputs, self.dimension, self.length)
            if not inputs:
                return None
        if self.attribute is not None:
            node = onnx.NodeProto()
            node.CopyFrom(call.node)
            name, value = self.attribute
            gone = {name, *(() if value is None else self.without)}
            kept = [each for each in node.attribute if each.name not in gone]
            del node.attribute[:]
            node.attribute.extend([*kept, *([] if value is None else [_attribute(name, value)])])
        while inputs and inputs[-1] is None:
            inputs.pop()
        opsets = call.opsets if self.opset is None else {**call.opsets, _domain(node): self.opset}
        return replace(call, node=node, inputs=tuple(inputs), opsets=opsets)


def call_of(model: Any, values: Sequence[Any]) -> Optional[Call]:
    """The call of a test's model; None where it has several nodes, subgraphs, or an input that is no tensor of a moderate size."""
    if len(model.graph.node) != 1:
        return None
    node = model.graph.node[0]
    given: dict[str, Any] = {}
    for info, value in zip(model.graph.input, values, strict=True):
        if isinstance(value, list) or value is None or isinstance(value, onnx.SparseTensorProto):
            return None
        given[info.name] = array = to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
        if array.size > LARGEST:
            return None
    if any(each.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for each in node.attribute):
        return None
    return Call(node, tuple(given.get(name) if name else None for name in node.input), opset_versions(model))


class Pool:
    """What recorded calls say of operators and attributes."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self._attributes: dict[tuple[str, str], list[Any]] = {}
        self._beside: dict[tuple[str, str, _Shapes], list[Any]] = {}
        self._everywhere: dict[str, list[Any]] = {}
        self._slots: dict[tuple[str, int, _Shapes], list[Any]] = {}
        for call in calls:
            given = {each.name: onnx.helper.get_attribute_value(each) for each in call.node.attribute}
            shapes = _shapes(call, len(call.inputs))
            for name in {*given, *(() if call.schema is None else call.schema.attributes)}:
                value = given.get(name)
                if value is None or isinstance(value, (int, float, bytes)):
                    _add(self._attributes.setdefault((call.node.op_type, name), []), value)
                    _add(self._beside.setdefault((call.node.op_type, name, shapes), []), value)
                    _add(self._everywhere.setdefault(name, []), value)
            for slot, value in enumerate(call.inputs):
                if value is not None:
                    self._slots.setdefault((call.node.op_type, slot, _shapes(call, slot)), []).append(value)

    def settings(self, call: Call) -> list[Setting]:
        """All settings of *call* by the schema of its operator."""
        schema = call.schema
        if schema is None:
            return []
        found = [each for name in sorted(schema.attributes) for each in self._of_attribute(call, schema.attributes[name])]
        found += self._of_inputs(call, schema)
        found += _of_dtypes(call, schema)
        found += [Setting("opset", opset=version) for version in _older(call, schema)]
        if call.inputs and call.inputs[0] is not None:
            lengths = SIZES if sum(each is not None for each in call.inputs) == 1 else SIZES[:1]
            found += [Setting("size", length=length, dimension=dimension) for dimension in range(call.inputs[0].ndim) for length in lengths]
        if sum(each is not None for each in call.inputs) == 1 and call.inputs[0] is not None:
            found += [Setting("rank", rank=rank) for rank in range(call.inputs[0].ndim + 2) if rank != call.inputs[0].ndim]
        return found

    def _of_attribute(self, call: Call, declared: Any) -> Iterator[Setting]:
        name, kind, kinds = str(declared.name), declared.type, onnx.defs.OpSchema.AttrType
        seen = self._attributes.get((call.node.op_type, name), [])
        present = next((onnx.helper.get_attribute_value(each) for each in call.node.attribute if each.name == name), None)
        defaulted = declared.default_value.type != onnx.AttributeProto.UNDEFINED
        values: list[Any] = [None] if defaulted or None in seen else []
        if kind == kinds.INT:
            values += self._integers(call, declared, seen)
        elif kind == kinds.FLOAT:
            values += [*seen, *REALS]
        elif kind == kinds.STRING:
            values += [*seen, *self._enumeration(name, declared)]
        elif kind == kinds.INTS and present is not None and not self._is_tied(call, name):
            present = [int(each) for each in present]
            values += lists(present) + ([] if name == "axes" else related_lists(present, _numbers(call)))
        for value in distinct(values):
            if repr(value) != repr(present):
                yield Setting(f"attribute {name}", attribute=(name, value), without=_exclusive(call.schema, name))

    @staticmethod
    def _is_tied(call: Call, name: str) -> bool:
        """Whether a list of integers has to fit other values: the shape of weights, or the other lists of a table."""
        lists = (onnx.defs.OpSchema.AttrType.FLOATS, onnx.defs.OpSchema.AttrType.STRINGS)
        return (name == "kernel_shape" and len(call.inputs) > 1) or any(each.type in lists for each in call.schema.attributes.values())

    def _integers(self, call: Call, declared: Any, seen: Sequence[Any]) -> list[Any]:
        """Both values of a flag, all dtypes that tests name, each axis; of other numbers, those that calls of the same shapes have."""
        name = str(declared.name)
        known = {each for each in (*seen, int(declared.default_value.i)) if each is not None}
        if name in _DTYPES:
            return sorted(known)
        if known <= {0, 1}:
            return [0, 1]
        if name == "axis" and call.inputs and call.inputs[0] is not None:
            return axes(call.inputs[0].ndim)
        return [*self._beside.get((call.node.op_type, name, _shapes(call, len(call.inputs))), []), *related(_numbers(call))]

    def _enumeration(self, name: str, declared: Any) -> list[Any]:
        """The values of an enumeration: the words that its description quotes, if attributes of this name have some of them."""
        known = [each for each in self._everywhere.get(name, []) if isinstance(each, bytes)]
        quoted = [word.encode() for word in dict.fromkeys(_QUOTED.findall(str(declared.description))) if word != name]
        own = [word for word in quoted if word in known]
        return quoted if own and len(own) >= 2 else own

    def _of_inputs(self, call: Call, schema: Any) -> Iterator[Setting]:
        optional = onnx.defs.OpSchema.FormalParameterOption.Optional
        for slot, formal in enumerate(schema.inputs):
            yield from _of_numbers(call, slot, str(formal.name))
            if formal.option != optional:
                continue
            if slot < len(call.inputs) and call.inputs[slot] is not None:
                yield Setting(f"input {formal.name}", slots={slot: None})
                continue
            for value in self._slots.get((call.node.op_type, slot, _shapes(call, slot)), [])[:BORROWED]:
                yield Setting(f"input {formal.name}", slots={slot: value})


def _of_numbers(call: Call, slot: int, name: str) -> Iterator[Setting]:
    """Other numbers for an input behind the first that holds a few integers: sizes, pads, axes, indices."""
    value = call.inputs[slot] if 0 < slot < len(call.inputs) else None
    if value is None or value.dtype.kind not in "iu" or value.ndim > 1 or not 0 < value.size <= _FEW:
        return
    present = [int(each) for each in value.reshape(-1)]
    least, most = np.iinfo(value.dtype).min, np.iinfo(value.dtype).max
    for each in distinct([*lists(present)[:-1], *related_lists(present, _numbers(call))]):
        if each != present and min(each) >= least and max(each) <= most:
            yield Setting(f"input {name}", slots={slot: np.array(each, value.dtype).reshape(value.shape)})


def _numbers(call: Call) -> list[int]:
    """The sizes of the inputs of *call*, then the integers in its attributes and in small inputs."""
    sizes = [int(size) for each in call.inputs if each is not None for size in each.shape]
    given = [value for each in call.node.attribute for value in (each.ints or ([each.i] if each.HasField("i") else []))]
    small = [each for each in call.inputs if each is not None and each.dtype.kind in "iu" and each.ndim <= 1 and each.size <= _FEW]
    return [*sizes, *map(int, given), *(int(item) for each in small for item in each.reshape(-1))]


def _cut(inputs: Sequence[Any], dimension: int, length: int) -> list[Any]:
    """*inputs* with another size in a dimension of the first, and of those that have the same size there; none where it has no more."""
    first = inputs[0] if inputs else None
    if first is None or with_size(first, dimension, length) is None:
        return []
    size = first.shape[dimension]
    same = [each is not None and each.ndim > dimension and each.shape[dimension] == size for each in inputs]
    return [with_size(each, dimension, length) if cut else each for each, cut in zip(inputs, same, strict=True)]


def _older(call: Call, schema: Any) -> list[int]:
    """The first opset of each older schema of the operator, no older than `_OLDEST`: converters differ by schema."""
    found: set[int] = set()
    since = int(schema.since_version)
    while since > _OLDEST and onnx.defs.has(call.node.op_type, since - 1, _domain(call.node)):
        since = int(onnx.defs.get_schema(call.node.op_type, since - 1, _domain(call.node)).since_version)
        found.add(max(since, _OLDEST))
    return sorted(found, reverse=True)


def _attribute(name: str, value: Any) -> Any:
    return onnx.helper.make_attribute(name, value, attr_type=onnx.AttributeProto.INTS if value == [] else None)


def _domain(node: Any) -> str:
    return "" if node.domain == "ai.onnx" else str(node.domain)


def _of_dtypes(call: Call, schema: Any) -> Iterator[Setting]:
    """Each dtype of each type constraint that inputs have, and large integers for those that may be floating-point numbers, too.

    What may only be integers is a shape or an index.
    """
    slots: dict[str, list[int]] = {}
    formals = list(schema.inputs)
    for slot, value in enumerate(call.inputs):
        formal = formals[min(slot, len(formals) - 1)] if formals else None
        if formal is not None and value is not None and value.dtype.kind not in "OSUT":
            slots.setdefault(str(formal.type_str), []).append(slot)
    for constraint in schema.type_constraints:
        held = slots.get(str(constraint.type_param_str))
        if not held:
            continue
        factor, dtypes = f"type {constraint.type_param_str}", {}
        for text in sorted(constraint.allowed_type_strs):
            dtype = _dtype(str(text))
            if dtype is not None:
                dtypes[str(dtype)] = dtype
            if dtype is not None and dtype != call.inputs[held[0]].dtype:
                yield Setting(factor, dtype=dtype, cast=tuple(held))
        for name, element in ELEMENTS if "float32" in dtypes else ():
            if name in dtypes:
                yield Setting(factor, dtype=dtypes[name], cast=tuple(held), element=element)


def _dtype(text: str) -> Any:
    """The numpy dtype of `tensor(float16)`; None for strings, complex numbers, and what is no tensor."""
    match = re.fullmatch(r"tensor\((\w+)\)", text)
    if match is None or match[1].startswith(("string", "complex")):
        return None
    number = dict(onnx.TensorProto.DataType.items()).get(match[1].upper())
    return onnx.helper.tensor_dtype_to_np_dtype(number) if number in dtype_names() else None


def evaluated(call: Call) -> Optional[Evaluated]:
    """A model of *call*, its inputs and its outputs; None where checker or evaluator rejects it, or an output is no tensor or too large."""
    names = [formal_name(call.schema, slot) + f"_{slot}" if value is not None else "" for slot, value in enumerate(call.inputs)]
    node = onnx.NodeProto()
    node.CopyFrom(call.node)
    del node.input[:]
    node.input.extend(names)
    feeds = {name: value for name, value in zip(names, call.inputs, strict=True) if name}
    domain = _domain(node)
    imports = [onnx.helper.make_opsetid(domain, call.opsets.get(domain, 1))]
    inputs = [onnx.helper.make_tensor_value_info(name, element_type(value), value.shape) for name, value in feeds.items()]
    empty = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name]
    return evaluated_model(onnx.helper.make_model(onnx.helper.make_graph([node], "settings", inputs, empty), opset_imports=imports), feeds)


def evaluated_model(model: Any, feeds: Mapping[str, Any]) -> Optional[Evaluated]:
    """*model* with the types of what the evaluator gives for *feeds*, these, and that; None as for `evaluated`."""
    whole = all(each.dtype.kind in "iub" for each in feeds.values())  # their division by zero has no result
    try:
        with np.errstate(divide="raise" if whole else "warn"):
            found = importlib.import_module("onnx.reference").ReferenceEvaluator(model).run(None, dict(feeds))
        if not all(isinstance(each, (np.ndarray, np.generic)) and each.size <= LARGEST for each in found):
            return None
        names = [each.name for each in model.graph.output]
        del model.graph.output[:]
        model.graph.output.extend(
            onnx.helper.make_tensor_value_info(name, element_type(each), each.shape) for name, each in zip(names, found, strict=True)
        )
        onnx.checker.check_model(model, full_check=True)
        onnx.checker.check_model(_with_constants(model, feeds), full_check=True)
    except Exception:
        return None
    return model, list(feeds.values()), list(found)


def _with_constants(model: Any, feeds: Mapping[str, Any]) -> Any:
    """*model* with its small inputs of integers as constants, by which shape inference tells what the evaluator takes and ONNX forbids."""
    first = next(iter(feeds), "")
    known = {name for name, each in feeds.items() if name != first and each.dtype.kind in "iu" and each.ndim <= 1 and each.size <= _FEW}
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.graph.initializer.extend(onnx.numpy_helper.from_array(feeds[name], name) for name in sorted(known))
    kept = [each for each in copy.graph.input if each.name not in known]
    del copy.graph.input[:]
    copy.graph.input.extend(kept)
    return copy


def element_type(value: Any) -> int:
    """ONNX's number of the dtype of an array."""
    if value.dtype.kind in "OSUT":
        return int(onnx.TensorProto.STRING)
    return int(onnx.helper.np_dtype_to_tensor_dtype(value.dtype))


def _exclusive(schema: Any, name: str) -> tuple[str, ...]:
    """The attributes that may not be given together with *name*, by its description or theirs."""
    forbidden = {each: _FORBIDDEN.findall(str(declared.description)) for each, declared in schema.attributes.items()}
    return tuple(sorted({*forbidden[name], *(each for each, others in forbidden.items() if name in others)}))


def _shapes(call: Call, slot: int) -> _Shapes:
    """The shapes of the inputs before a slot."""
    return tuple(None if each is None else tuple(each.shape) for each in call.inputs[:slot])


def _add(known: list[Any], value: Any) -> None:
    if value not in known:
        known.append(value)
