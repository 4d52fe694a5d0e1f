"""Properties of instances that a failure may depend on: data with a canonical text, decided without running anything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from opera.arrays import Array
from opera.instance import DType, Graph, Instance, Kind, Tensor
from opera.instance.codec import encode_value
from opera.instance.values import Value
from opera.instrumentation.wire import Json
from opera.models.forms import form_parts
from opera.triage.reduction.places import Place, array_of, names, places

_FORMAT = "onnx.TypeProto"
_NUMBERS = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16, "float8_e4m3fn": 17,
    "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20, "uint4": 21, "int4": 22, "float4_e2m1fn": 23, "float8_e8m0fnu": 24,
    "uint2": 25, "int2": 26,
}  # fmt: skip
"""Numbers of `onnx.TensorProto.DataType`."""
_NAMES = {number: name for name, number in _NUMBERS.items()}
_ATTRIBUTES = frozenset({"to", "dtype", "output_dtype", "output_datatype", "softmax_precision", "stash_type"})
"""Attributes that hold such a number, in every operator of ONNX that has one of that name."""
_OPEN_DIMENSION = b"\x0a\x00"


def dtype_meant(instance: Instance, name: str, value: Value) -> str | None:
    """The dtype that the parameter *name* of *instance* stands for; None where it is no dtype."""
    if isinstance(value, DType):
        return value.name
    return _NAMES.get(value) if type(value) is int and _holds_numbers(instance, name) else None


def parameter_for(instance: Instance, name: str, dtype: str) -> Value:
    """Inverse of `dtype_meant`: what the parameter *name* has to be for *dtype*."""
    return _NUMBERS[dtype] if _holds_numbers(instance, name) else DType(dtype)


def _holds_numbers(instance: Instance, name: str) -> bool:
    return instance.kind is Kind.NODE and name in _ATTRIBUTES


def with_open_outputs(instance: Instance, expected: Sequence[Value]) -> Instance:
    """*instance* with the dtype and the rank of each of *expected* declared, and no size; as it is where that cannot be said.

    A model must declare the outputs of an ONNX node whose types nothing else tells.
    """
    types = [Graph(_FORMAT, _type(each)) for each in expected if isinstance(each, Tensor) and each.dtype in _NUMBERS]
    if instance.kind is not Kind.NODE or len(types) < len(expected):
        return instance
    context = tuple(item for item in instance.context if item[0] != "output_types")
    return replace(instance, context=(*context, ("output_types", types))) if types else instance


def _type(tensor: Tensor) -> bytes:
    """A serialised TypeProto: a tensor of that element type, with as many dimensions of unknown size."""
    shape = _OPEN_DIMENSION * len(tensor.shape)
    content = bytes((0x08, _NUMBERS[tensor.dtype], 0x12, len(shape))) + shape
    return bytes((0x0A, len(content))) + content


TYPES = frozenset({"type", "type-class"})
"""Kinds that are about a parameter which stands for a dtype."""
WHOLE = ""
"""Name of what a property is about where that is the test as a whole."""


class View:
    """An instance in a form, with its values by name."""

    def __init__(self, instance: Instance, form: str) -> None:
        self.instance = instance
        self.form = form

    @cached_property
    def values(self) -> Mapping[str, Value]:
        """Every value by its name."""
        called = names(self.instance)
        return {called[place]: value for place, value in places(self.instance)}

    @cached_property
    def places(self) -> Mapping[str, Place]:
        """Where every value stands, by its name."""
        return {name: place for place, name in names(self.instance).items()}

    @cached_property
    def tensors(self) -> Mapping[str, Tensor]:
        """All tensors by their names, in the order of the arguments."""
        return {name: value for name, value in self.values.items() if isinstance(value, Tensor)}


@dataclass(frozen=True)
class Property:
    """One property.

    Attributes:
        kind: A key of the predicates below.
        name: The value that it is about; empty for the test as a whole.
        value: What it is compared with: a JSON value, or the name of another value.
    """

    kind: str
    name: str = WHOLE
    value: Any = None

    def __hash__(self) -> int:
        return hash((self.kind, self.name, str(self.value)))

    def holds(self, view: View) -> bool:
        """Whether *view* has it. Of values that were not kept, everything is believed that their constraint allows."""
        predicate, _ = _KINDS[self.kind]
        if self.name != WHOLE and self.name not in view.values:
            return self.kind == "absent"
        value = view.values.get(self.name)
        return predicate(view, dtype_meant(view.instance, self.name, value) if self.kind in TYPES else value, self.value)

    def text(self) -> str:
        """The canonical text: `dtype(x)=float64`."""
        value: Json = self.value
        parts = value if isinstance(value, list) else [value]
        first, last = _readable(parts[0]) if parts else "", _readable(parts[-1]) if parts else ""
        return _KINDS[self.kind][1].format(name=self.name, value=_readable(self.value), first=first, last=last)

    def renamed(self, new: Mapping[str, str]) -> Property:
        """The same about other values."""
        value = new.get(self.value, self.value) if self.kind in _OF_TWO and isinstance(self.value, str) else self.value
        return Property(self.kind, new.get(self.name, self.name), value)

    def document(self) -> tuple[str, str, Json]:
        """As JSON."""
        return self.kind, self.name, self.value


def property_of(document: Sequence[Any]) -> Property:
    """Inverse of `Property.document`; raises ValueError for a kind that is not known, or a value that its predicate cannot compare."""
    kind, name, value = document
    if kind not in _KINDS:
        raise ValueError(f"no property of kind {kind!r}")
    numbers = [value] if kind in _OF_NUMBER else value if kind == "dimension" else []
    if not isinstance(numbers, list) or not all(type(each) is int for each in cast("list[object]", numbers)):
        raise ValueError(f"a property of kind {kind!r} that is compared with {str(value)[:40]!r}")
    if kind in ("dimension", "context") and not (isinstance(value, list) and len(cast("list[object]", value)) == 2):
        raise ValueError(f"a property of kind {kind!r} without two values")
    return Property(str(kind), str(name), value)


def json_of(value: Value) -> Json:
    """A value in the form in which properties compare it."""
    return encode_value(value)


def _readable(value: Json) -> str:
    if isinstance(value, dict):
        tag, content = next(iter(value.items()))
        items = content if isinstance(content, list) else [content]
        if tag == "tuple":
            return "(" + ", ".join(_readable(item) for item in items) + ")"
        return str(items[-1]) if items else ""
    if isinstance(value, list):
        return "[" + ", ".join(_readable(item) for item in value) + "]"
    return repr(value) if value is None or isinstance(value, bool) else str(value)


Predicate = Callable[[View, Value, Any], bool]


def _of_number(test: Callable[[float], bool]) -> Predicate:
    return lambda _view, value, _other: isinstance(value, (int, float)) and not isinstance(value, bool) and test(value)


def _of_sequence(test: Callable[[Sequence[Value]], bool]) -> Predicate:
    return lambda _view, value, _other: isinstance(value, (list, tuple)) and test(value)


def _of_tensor(test: Callable[[Tensor, Any], bool]) -> Predicate:
    return lambda _view, value, other: isinstance(value, Tensor) and test(value, other)


def _of_elements(test: Callable[[Array], bool], allowed: Callable[[float, float], bool] = lambda _low, _high: True) -> Predicate:
    """Of the elements of a tensor; where they were not kept, *allowed* says whether bounds leave room for it."""

    def holds(_view: View, value: Value, _other: object) -> bool:
        if not isinstance(value, Tensor):
            return False
        array = array_of(value)
        if array is None:
            limits = value.constraint
            return limits is None or limits.low is None or limits.high is None or allowed(limits.low, limits.high)
        return array.dtype.kind != "O" and bool(array.size) and test(np.real(array).astype(np.float64))

    return holds


def _has(flag: str, test: Callable[[Array], Array]) -> Predicate:
    def holds(_view: View, value: Value, _other: object) -> bool:
        if not isinstance(value, Tensor):
            return False
        array = array_of(value)
        if array is None:
            return value.constraint is not None and bool(getattr(value.constraint, flag))
        return array.dtype.kind != "O" and bool(test(np.real(array).astype(np.float64)).any())

    return holds


def _differs(part: Callable[[Tensor], object]) -> Predicate:
    def holds(view: View, value: Value, other: object) -> bool:
        second = view.values.get(str(other))
        return isinstance(value, Tensor) and isinstance(second, Tensor) and part(value) != part(second)

    return holds


def dtype_class(name: str) -> str:
    """`floating-point`, `integer`, `complex`, or the dtype itself."""
    if name.startswith("complex"):
        return "complex"
    if name.startswith(("float", "bfloat")):
        return "floating-point"
    return "integer" if name.startswith(("int", "uint")) else name


def _numbers(sequence: Sequence[Value]) -> list[float]:
    return [item for item in sequence if isinstance(item, (int, float)) and not isinstance(item, bool)]


def _length(value: Value) -> int:
    return len(value) if isinstance(value, (list, tuple)) else -1


def _dimension(tensor: Tensor, axis: int) -> int:
    return tensor.shape[axis] if axis < len(tensor.shape) else -1


def _alike(array: Array | None) -> bool:
    return array is not None and array.dtype.kind != "O" and array.size > 1 and len(np.unique(array)) == 1


_AND = " + "
ANY_OPERATOR = "any operator"
"""Stands for what a failure needs a call of, whatever the operator."""


def _features(instance: Instance) -> tuple[str, ...]:
    return instance.kind.behaviour.features(instance)


def calls_of(instance: Instance, general: Collection[str]) -> Property:
    """The property that a program has everything that the program of *instance* is made of; *general* may be any operator."""
    found = dict.fromkeys(ANY_OPERATOR if each in general else each for each in instance.kind.behaviour.features(instance))
    return Property("calls", WHOLE, _AND.join(found))


def parts_of(properties: Sequence[Property]) -> frozenset[str]:
    """What a failing program needs to be made of; empty for other instances. A call of any operator is part of each program."""
    return frozenset(part for each in properties if each.kind == "calls" for part in str(each.value).split(_AND)) - {ANY_OPERATOR}


_NO_OPSET = 1_000
"""In place of the opset of a model at its own lowest one: of that, neither bound is known to hold."""
_SIZES = frozenset({"length", "rank", "rank-at-least", "rank-at-most", "dimension-above-one", "dimension-empty"})
_OF_NUMBER = _SIZES | {"opset-at-least", "opset-at-most", "output"}
"""Kinds that compare with an integer."""
_OF_TWO = frozenset({"dtype-differs", "rank-differs", "shape-differs"})
_KINDS: Mapping[str, tuple[Predicate, str]] = {
    "form": (lambda view, _value, other: form_parts(view.form)[0] == other, "input form={value}"),
    "opset-at-least": (lambda view, _value, other: (form_parts(view.form)[1] or 0) >= other, "opset≥{value}"),
    "opset-at-most": (lambda view, _value, other: (form_parts(view.form)[1] or _NO_OPSET) <= other, "opset≤{value}"),
    "context": (lambda view, _v, other: [other[0], json_of(view.instance.context_value(other[0]))] == list(other), "{first}={last}"),
    "calls": (
        lambda view, _value, other: set(str(other).split(_AND)) <= {*_features(view.instance), ANY_OPERATOR},
        "calls {value}",
    ),
    "output": (lambda view, _value, other: _wanted(view.instance, int(other)), "output {value} is wanted"),
    "given": (lambda _view, value, _other: value is not None, "{name} is given"),
    "absent": (lambda _view, value, _other: value is None, "{name} is not given"),
    "is": (lambda _view, value, other: not isinstance(value, Tensor) and json_of(value) == other, "{name}={value}"),
    "is-not": (lambda _view, value, other: not isinstance(value, Tensor) and json_of(value) != other, "{name}≠{value}"),
    "type": (lambda _view, dtype, other: dtype == other, "{name}={value}"),
    "type-class": (lambda _view, dtype, other: isinstance(dtype, str) and dtype_class(dtype) == other, "{name} is {value}"),
    "negative": (_of_number(lambda number: number < 0), "{name}<0"),
    "positive": (_of_number(lambda number: number > 0), "{name}>0"),
    "above-one": (_of_number(lambda number: number > 1), "{name}>1"),
    "length": (lambda _view, value, other: _length(value) == other, "len({name})={value}"),
    "several-items": (_of_sequence(lambda items: len(items) > 1), "len({name})>1"),
    "item-negative": (_of_sequence(lambda items: any(item < 0 for item in _numbers(items))), "{name} has an entry <0"),
    "item-positive": (_of_sequence(lambda items: any(item > 0 for item in _numbers(items))), "{name} has an entry >0"),
    "item-above-one": (_of_sequence(lambda items: any(item > 1 for item in _numbers(items))), "{name} has an entry >1"),
    "item-zero": (_of_sequence(lambda items: any(item == 0 for item in _numbers(items))), "{name} has an entry 0"),
    "items-differ": (_of_sequence(lambda items: len({str(json_of(item)) for item in items}) > 1), "entries of {name} differ"),
    "dtype": (_of_tensor(lambda tensor, other: tensor.dtype == other), "dtype({name})={value}"),
    "dtype-class": (_of_tensor(lambda tensor, other: dtype_class(tensor.dtype) == other), "dtype({name}) is {value}"),
    "dtype-class-not": (_of_tensor(lambda tensor, other: dtype_class(tensor.dtype) != other), "dtype({name}) is not {value}"),
    "dtype-not": (_of_tensor(lambda tensor, other: tensor.dtype != other), "dtype({name})≠{value}"),
    "dtype-differs": (_differs(lambda tensor: tensor.dtype), "dtype({name})≠dtype({value})"),
    "rank": (_of_tensor(lambda tensor, other: len(tensor.shape) == other), "rank({name})={value}"),
    "rank-at-least": (_of_tensor(lambda tensor, other: len(tensor.shape) >= other), "rank({name})≥{value}"),
    "rank-at-most": (_of_tensor(lambda tensor, other: len(tensor.shape) <= other), "rank({name})≤{value}"),
    "rank-differs": (_differs(lambda tensor: len(tensor.shape)), "rank({name})≠rank({value})"),
    "shape-differs": (_differs(lambda tensor: tensor.shape), "shape({name})≠shape({value})"),
    "dimension": (_of_tensor(lambda tensor, other: _dimension(tensor, other[0]) == other[1]), "shape({name})[{first}]={last}"),
    "dimension-above-one": (_of_tensor(lambda tensor, other: _dimension(tensor, other) > 1), "shape({name})[{value}]>1"),
    "empty": (_of_tensor(lambda tensor, _other: tensor.size == 0), "{name} is empty"),
    "dimension-empty": (_of_tensor(lambda tensor, other: _dimension(tensor, other) == 0), "shape({name})[{value}]=0"),
    "single": (_of_tensor(lambda tensor, _other: tensor.size == 1), "{name} has one element"),
    "several": (_of_tensor(lambda tensor, _other: tensor.size > 1), "{name} has several elements"),
    "strided": (_of_tensor(lambda tensor, _other: tensor.strides is not None), "{name} is not contiguous"),
    "nan": (_has("nan", np.isnan), "{name} has a NaN"),
    "inf": (_has("inf", np.isinf), "{name} has an infinity"),
    "positive-infinity": (_has("inf", np.isposinf), "{name} has a value of +infinity"),
    "negative-infinity": (_has("inf", np.isneginf), "{name} has a value of -infinity"),
    "element-negative": (_of_elements(lambda array: bool((array < 0).any()), lambda low, _high: low < 0), "{name} has a value <0"),
    "element-nonzero": (_of_elements(lambda array: bool(array.any()), lambda low, high: low != 0 or high != 0), "{name} has a value ≠0"),
    "element-zero": (_of_elements(lambda array: bool((array == 0).any()), lambda low, high: low <= 0 <= high), "{name} has a value =0"),
    "element-above-one": (_of_elements(lambda array: bool((array > 1).any()), lambda _low, high: high > 1), "{name} has a value >1"),
    "element-fraction": (_of_elements(lambda array: bool((np.isfinite(array) & (array != np.rint(array))).any())), "{name} has a fraction"),
    "elements-differ": (_of_elements(lambda array: len(np.unique(array)) > 1, lambda low, high: low != high), "values of {name} differ"),
    "elements-alike": (_of_tensor(lambda tensor, _other: _alike(array_of(tensor))), "values of {name} are alike"),
}


def _wanted(instance: Instance, place: int) -> bool:
    outputs = instance.context_value("outputs", [])
    return place < len(outputs) and bool(outputs[place])
