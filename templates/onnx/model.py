"""ONNX instances as models: one node, or the graph that spells an operator out, with typed inputs and outputs."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from opera.arrays import Array, as_array, dtype_name, is_array, wide_integers
from opera.instance import Graph, Instance, Kind, Tensor
from opera.models.forms import InputForm, ModelForm, constant_inputs, is_drawn
from opera.models.sampling import nudged, sample
from opera.models.template import LIBRARY_RAISED, Artefact, Invalid, Model, PythonSource, Reference
from opera.templates.onnx.documentation import forbidden
from opera.templates.onnx.operators import check_message, check_operator
from opera.templates.onnx.opset import LATELY, OLDER_OPERATOR, lowest, newest, oldest_ir, restated
from opera.templates.onnx.source import python_source
from opera.templates.onnx.symbolic import with_open_sizes
from opera.templates.onnx.wide import NARROW, widened, with_wide_integers

onnx: Any = importlib.import_module("onnx")
helper: Any = importlib.import_module("onnx.helper")
numpy_helper: Any = importlib.import_module("onnx.numpy_helper")

_RANDOM_ATTRIBUTE = "seed"
"""Every ONNX operator that draws random numbers has an attribute of this name, and no other has."""
_FORMATS = {f"onnx.{kind.__name__}": kind for kind in (onnx.GraphProto, onnx.SparseTensorProto, onnx.TypeProto)}
"""What the value of an attribute can be, by its name in the instance format."""
_LARGE = 2**20
"""Bytes of a weight that is not copied to be checked."""
_VISIBLE = 2.0**-24
"""Relative size of the smallest change that a number in less than double precision shows."""


class OnnxTemplate:
    """Makes a checked ModelProto of each instance."""

    library = "onnx"
    forkable = True
    revision = 12

    def versions(self) -> Mapping[str, str]:
        return {"onnx": str(onnx.__version__)}

    def build(self, instance: Instance, key: str, seed: int) -> Model:
        own: Model | None = instance.kind.behaviour.model(self.library, instance, key, seed)
        if own is not None:
            return own
        if instance.kind not in (Kind.NODE, Kind.GRAPH):
            raise Invalid("not-an-onnx-instance")
        return OnnxModel(instance, key, seed)


class OnnxModel:
    """One instance as a ModelProto, with its inputs."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        self.instance = instance
        self._seed = seed
        self._values = [self._value(argument.value, f"{key}:{index}") for index, argument in enumerate(instance.call)]
        self._names = _input_names(instance)
        try:
            self.proto = self._node_model() if instance.kind is Kind.NODE else self._graph_model()
            onnx.checker.check_model(_light(self.proto), full_check=False)
            self.proto = lowest(self.proto, self._means_the_same)
            if sentence := forbidden(self.proto, dict(self.inputs)):
                raise Invalid("documentation") from ValueError(sentence)
        except Invalid:
            raise
        except Exception as error:
            raise Invalid("checker") from error
        facts = tuple(each for each in instance.context if not isinstance(each[1], Graph))
        self.instance = replace(instance, context=facts)  # a graph is in the model, and may be large

    @property
    def inputs(self) -> Sequence[tuple[str, Any]]:
        return [(name, value) for name, value in zip(self._names, self._values, strict=True) if name]

    def run_once(self) -> list[Any]:
        """The outputs of one evaluation; raises `Invalid` where the library rejects it."""
        return self._evaluate(self.proto)

    def reference(self) -> Reference:
        random = self._is_random()
        if self.instance.expected is not None and not random and not is_drawn(self.instance):
            return Reference([self._value(value, "") for value in self._expected()], origin="declared")
        outputs = self._evaluate(self.proto)
        if not random:
            if (newer := newest(self.proto)) is not None and not self._is_of_its_opset(outputs, newer):
                raise Invalid(OLDER_OPERATOR)
            return Reference(outputs)
        other = self._evaluate(_reseeded(self.proto))
        return Reference(outputs, undefined=None if _same(outputs, other) else "nondeterministic")

    def nearby(self, scale: float, draw: int, computes_as: Mapping[str, str] | None = None) -> list[Any] | None:
        own = self._rounds_inside(scale, draw)
        amount = 0.0 if own and draw == 1 else scale
        feeds = {name: self._nudged(value, amount, draw, index, computes_as) for index, (name, value) in enumerate(self.inputs)}
        try:
            if own:
                return self._evaluate(self.proto, {name: _like(value, feeds[name]) for name, value in self.inputs})
            return self._evaluate(widened(self.proto), feeds)
        except Invalid:
            return None

    def exact(self, dtype: str) -> list[Any] | None:
        feeds = {name: wide_integers(as_array(value), dtype) if is_array(value) else value for name, value in self.inputs}
        try:
            return self._evaluate(with_wide_integers(self.proto, dtype), feeds)
        except Invalid:
            return None

    def _rounds_inside(self, scale: float, draw: int) -> bool:
        """Whether a draw keeps the model's own precision: values between nodes may be rounded or not. The first keeps the inputs."""
        return self.instance.kind is Kind.GRAPH and scale >= _VISIBLE and draw % 2 == 1

    def _nudged(self, value: Any, scale: float, draw: int, place: int, computes_as: Mapping[str, str] | None) -> Any:
        if isinstance(value, list):
            return [self._nudged(item, scale, draw, place, computes_as) for item in cast("list[Any]", value)]
        if not is_array(value) or dtype_name(as_array(value).dtype) not in (*NARROW, "float64"):
            return value
        return nudged(as_array(value).astype("float64"), scale, draw, place, computes_as)

    def shapes_elsewhere(self) -> None:
        return None

    def captured(self, kind: str, data: bytes) -> tuple[str, Sequence[Any]] | None:
        """The evaluator's word against the outputs that the test case declares."""
        try:
            return ("onnx", self._evaluate(self.proto)) if kind == "onnx" else None
        except Invalid:
            return None

    def artefact(self, kind: str, form: str) -> Artefact:
        if kind != "onnx":
            raise ValueError(f"ONNX models have no artefact of kind {kind!r}")
        wanted = ModelForm.parse(form)
        proto = self.proto if wanted.opset is None else restated(self.proto, wanted.opset, self._means_the_same)
        if wanted.inputs is not InputForm.RUNTIME:
            proto = _bake(proto, {self._names[place]: self._values[place] for place in constant_inputs(self.instance, wanted.inputs)})
            _check_types(proto)
        if wanted.inputs is InputForm.SYMBOLIC:
            proto = with_open_sizes(proto, dict(self.inputs), self._evaluate)
        return Artefact(proto.SerializeToString(deterministic=True))

    def source(self, form: str) -> PythonSource:
        reference = self.reference()
        proto = onnx.load_model_from_string(self.artefact("onnx", form).data)
        return python_source(proto, dict(self.inputs), reference.outputs)

    def _value(self, value: Any, key: str) -> Any:
        if isinstance(value, Tensor):
            return sample(value, key, self._seed)
        if isinstance(value, (list, tuple)):
            return [self._value(item, f"{key}.{index}") for index, item in enumerate(cast("list[Any]", value))]
        if value is None:
            return None
        raise Invalid("input-is-no-tensor")

    def _evaluate(self, proto: Any, values: Mapping[str, Any] | None = None) -> list[Any]:
        """The evaluator's outputs for the model's own inputs, or for other *values*."""
        reference: Any = importlib.import_module("onnx.reference")
        feeds = {entry.name: (values or dict(self.inputs))[entry.name] for entry in proto.graph.input}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outputs = reference.ReferenceEvaluator(proto).run(None, feeds)
        except Exception as error:
            raise Invalid(LIBRARY_RAISED) from error
        return [as_array(item) if is_array(item) else item for item in outputs]

    def _expected(self) -> list[Any]:
        """The declared outputs that the model really has: an optional one may be left out."""
        kept = self.instance.context_value("outputs", [])
        return [value for index, value in enumerate(self.instance.expected or ()) if index >= len(kept) or kept[index]]

    def _is_of_its_opset(self, outputs: Sequence[Any], newer: Any) -> bool:
        """Whether *outputs* are what the operator gives at its own opset, as far as the same in the *newer* opset and its types show."""
        if self._is_only_lately():
            return False
        declared = [entry.type.tensor_type.elem_type for entry in self.proto.graph.output]
        if any(
            is_array(value) and kind and as_array(value).dtype != helper.tensor_dtype_to_np_dtype(kind)
            for kind, value in zip(declared, outputs, strict=True)
        ):
            return False
        try:
            return _same(outputs, self._evaluate(newer))
        except Invalid:
            return True

    def _is_only_lately(self) -> bool:
        operator = self.instance.operator
        return operator in LATELY and LATELY[operator](self.instance, [as_array(each) for each in self._values])

    def _means_the_same(self, proto: Any) -> bool:
        """Whether a model at another opset is specified, and gives the outputs of this one, bit for bit."""
        if self._is_random() or self._is_only_lately():
            return False
        try:
            one, other = self._evaluate(self.proto), self._evaluate(proto)
        except Invalid:
            return False
        return len(one) == len(other) and all(map(_identical, one, other))

    def _is_random(self) -> bool:
        versions = {entry.domain: entry.version for entry in self.proto.opset_import}
        for node in self.proto.graph.node:
            schema = onnx.defs.get_schema(node.op_type, versions.get(node.domain, 1), node.domain)
            if _RANDOM_ATTRIBUTE in schema.attributes:
                return True
        return False

    def _node_model(self) -> Any:
        domain, _, operator = self.instance.api.rpartition(".")
        domain = _plain(domain)
        check_operator(domain, operator)  # before anything is made of it
        outputs = [f"out{index}" if kept else "" for index, kept in enumerate(self.instance.context_value("outputs", [True]))]
        node = helper.make_node(operator, self._names, outputs, domain=domain)
        for argument in self.instance.init:
            node.attribute.append(_attribute(argument.name, argument.value, node.op_type, domain, self._opset()))
        check_message(node)
        inputs = [
            _value_info(name, value, self._declared("input_types", index))
            for index, (name, value) in enumerate(zip(self._names, self._values, strict=True))
            if name
        ]
        present = [name for name in outputs if name]
        graph = helper.make_graph([node], "single_operator", inputs, self._output_infos(node, inputs, present, domain))
        return self._model(graph, domain)

    def _opset(self) -> int:
        return int(self.instance.context_value("opset"))

    def _model(self, graph: Any, domain: str) -> Any:
        imports = [helper.make_opsetid(domain, self._opset())]
        for name, version in cast("dict[str, int]", self.instance.context_value("opsets", {})).items():
            if _plain(name) != domain:
                imports.append(helper.make_opsetid(_plain(name), version))
        for each in imports:
            check_message(each)
        model = helper.make_model(graph, opset_imports=imports, producer_name="opera")
        model.ir_version = oldest_ir(model)
        return model

    def _declared(self, name: str, place: int) -> Any:
        """The recorded type of an input or output whose value does not tell it, as a TypeProto."""
        types = self.instance.context_value(name, [])
        graph = types[place] if place < len(types) else None
        if not isinstance(graph, Graph):
            return None
        return onnx.TypeProto.FromString(graph.data)

    def _output_infos(self, node: Any, inputs: list[Any], names: list[str], domain: str) -> list[Any]:
        expected = self._expected()
        infos: list[Any] = []
        inferred: dict[str, Any] | None = None
        for index, name in enumerate(names):
            declared = self._declared("output_types", index)
            value = self._value(expected[index], "") if index < len(expected) else None
            if declared is not None or is_array(value) or (isinstance(value, list) and value):
                infos.append(_value_info(name, value, declared))
                continue
            if inferred is None:
                inferred = self._inferred(node, inputs, names, domain)
            infos.append(inferred.get(name) or helper.make_empty_tensor_value_info(name))
        return infos

    def _inferred(self, node: Any, inputs: list[Any], names: list[str], domain: str) -> dict[str, Any]:
        graph = helper.make_graph([node], "single_operator", inputs, [helper.make_empty_tensor_value_info(name) for name in names])
        try:
            model = onnx.shape_inference.infer_shapes(self._model(graph, domain))
        except Exception:
            return {}
        return {entry.name: entry for entry in model.graph.output if entry.type.WhichOneof("value") is not None}

    def _graph_model(self) -> Any:
        graph = self.instance.context_value("graph")
        if not isinstance(graph, Graph) or graph.format != "onnx.ModelProto":
            raise Invalid("graph-not-recorded")
        model = onnx.load_model_from_string(graph.data)
        check_message(model)
        return model


def _like(value: Any, nudged: Any) -> Any:
    """*nudged* in the dtype of *value*, from which it was made."""
    if isinstance(value, list):
        return [_like(item, other) for item, other in zip(cast("list[Any]", value), nudged, strict=True)]
    return as_array(nudged).astype(as_array(value).dtype) if is_array(value) else value


def _identical(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        items, others = cast("list[Any]", one), cast("list[Any]", other)
        return isinstance(other, list) and len(items) == len(others) and all(map(_identical, items, others))
    if not (is_array(one) and is_array(other)):
        return one is None and other is None
    first, second = as_array(one), as_array(other)
    if (first.dtype, first.shape) != (second.dtype, second.shape):
        return False
    return bool((first == second).all()) if first.dtype.hasobject else first.tobytes() == second.tobytes()


def _plain(domain: str) -> str:
    """A domain as models name it: the default one is empty."""
    return "" if domain == "ai.onnx" else domain


def _input_names(instance: Instance) -> list[str]:
    """One name per input slot; empty for an optional input that is left out."""
    if instance.kind is Kind.GRAPH:
        return [argument.name for argument in instance.call]
    counts: dict[str, int] = {}
    names: list[str] = []
    declared = instance.context_value("input_types", [])
    totals = [argument.name for argument in instance.call]
    for index, argument in enumerate(instance.call):
        typed = index < len(declared) and declared[index] is not None
        if argument.value is None and not typed:
            names.append("")
            continue
        count = counts[argument.name] = counts.get(argument.name, -1) + 1
        names.append(argument.name if totals.count(argument.name) == 1 else f"{argument.name}_{count}")
    return names


def _value_info(name: str, value: Any, declared: Any) -> Any:
    if declared is not None:
        return helper.make_value_info(name, declared)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        element = as_array(items[0]) if items else None
        inner = helper.make_tensor_type_proto(1 if element is None else _element_type(element), None)
        return helper.make_value_info(name, helper.make_sequence_type_proto(inner))
    array = as_array(value)
    return helper.make_tensor_value_info(name, _element_type(array), list(array.shape))


def _element_type(array: Array) -> int:
    return int(onnx.TensorProto.STRING if array.dtype.kind in "OSU" else helper.np_dtype_to_tensor_dtype(array.dtype))


def _attribute(name: str, value: Any, operator: str, domain: str, opset: int) -> Any:
    """An AttributeProto. The schema decides where the value alone cannot: an empty list, or a float that is whole."""
    if isinstance(value, Graph):
        return _graph_attribute(name, value)
    if isinstance(value, Tensor):
        return helper.make_attribute(name, _tensor_proto(value))
    kind = _schema_type(name, operator, domain, opset)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (Graph, Tensor)):
        items = [_tensor_proto(item) if isinstance(item, Tensor) else _graph_proto(item) for item in cast("list[Any]", value)]
        return helper.make_attribute(name, items)
    return helper.make_attribute(name, value, attr_type=kind)


def _schema_type(name: str, operator: str, domain: str, opset: int) -> int | None:
    try:
        attribute = onnx.defs.get_schema(operator, opset, domain).attributes.get(name)
    except Exception:
        return None
    return None if attribute is None else int(attribute.type.value)


def _tensor_proto(tensor: Tensor) -> Any:
    return numpy_helper.from_array(as_array(sample(tensor, "attribute", 0)))


def _graph_proto(graph: Graph) -> Any:
    if graph.format not in _FORMATS:
        raise Invalid("graph-not-recorded")
    return _FORMATS[graph.format].FromString(graph.data)


def _graph_attribute(name: str, graph: Graph) -> Any:
    return helper.make_attribute(name, _graph_proto(graph))


def _light(proto: Any) -> Any:
    """A model as *proto* whose large weights are inputs: the checker would make two copies of them."""
    heavy = [each for each in proto.graph.initializer if len(each.raw_data) >= _LARGE and len(each.raw_data) == _bytes_of(each)]
    if not heavy:
        return proto
    graph = proto.graph
    declared = {each.name for each in graph.input}
    fed = [helper.make_tensor_value_info(each.name, each.data_type, each.dims) for each in heavy if each.name not in declared]
    weights = {each.name for each in heavy}
    light = onnx.GraphProto(
        name=graph.name, node=graph.node, input=[*graph.input, *fed], output=graph.output, value_info=graph.value_info,
        initializer=[each for each in graph.initializer if each.name not in weights], sparse_initializer=graph.sparse_initializer,
    )  # fmt: skip
    return onnx.ModelProto(ir_version=proto.ir_version, opset_import=proto.opset_import, functions=proto.functions, graph=light)


def _bytes_of(tensor: Any) -> int:
    return math.prod(tensor.dims) * int(np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type)).itemsize)


def _bake(proto: Any, values: Mapping[str, Array]) -> Any:
    """A copy of *proto* in which the inputs named in *values* are initializers."""
    baked = onnx.ModelProto()
    baked.CopyFrom(proto)
    kept = [entry for entry in baked.graph.input if entry.name not in values]
    del baked.graph.input[:]
    baked.graph.input.extend(kept)
    baked.graph.initializer.extend(numpy_helper.from_array(as_array(value), name) for name, value in values.items() if name)
    return baked


def _check_types(proto: Any) -> None:
    """A constant can contradict the shapes that a graph declares; this was unknown while the value was an input."""
    try:
        onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
    except Exception as error:
        raise Invalid("shape-inference") from error


def _reseeded(proto: Any) -> Any:
    """A copy in which every random operator has another seed, of its own."""
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    for seed, node in enumerate(copy.graph.node, 7919):
        for attribute in [attribute for attribute in node.attribute if attribute.name == _RANDOM_ATTRIBUTE]:
            node.attribute.remove(attribute)
        schema = onnx.defs.get_schema(node.op_type, copy.opset_import[0].version, node.domain)
        if _RANDOM_ATTRIBUTE in schema.attributes:
            is_float = schema.attributes[_RANDOM_ATTRIBUTE].type == onnx.defs.OpSchema.AttrType.FLOAT
            node.attribute.append(helper.make_attribute(_RANDOM_ATTRIBUTE, float(seed) if is_float else seed))
    return copy


def _same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    from opera.oracles.compare import Policy, compare

    return compare(one, None, other, Policy({})) is None
