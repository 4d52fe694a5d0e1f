"""Properties of tests that a failure may depend on: data with a canonical text, decided without running anything.

A property compares what an accessor reads of a test with a value: `rank(x)≥2`, `dtype(x) is integer`. An accessor may read several
numbers, such as the elements of a tensor; the property holds if the comparison does for one of them.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from opera.instance import Instance, Tensor
from opera.instance.codec import encode_value
from opera.instance.values import DTYPE_BITS, Constraint, Value
from opera.instrumentation.wire import Json
from opera.models.forms import form_parts
from opera.models.onnx_types import dtype_meant
from opera.triage.reduction.places import Place, names, places
from opera.triage.reduction.tensors import array_of

WHOLE = ""
"""Name of what a property is about if that is the test as a whole."""
_FEW = 16
"""Distinct elements of a tensor that are all kept for comparisons."""


class View:
    """An instance in a form, with its values by name."""

    def __init__(self, instance: Instance, form: str) -> None:
        self.instance = instance
        self.form = form
        self._elements: dict[str, tuple[list[float], int]] = {}

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

    def elements(self, name: str) -> tuple[list[float], int]:
        """The elements of a tensor that decide comparisons, and the number of distinct ones; no more than 2 if they were not kept."""
        if name not in self._elements:
            tensor = self.tensors.get(name)
            self._elements[name] = ([], 0) if tensor is None else _elements(tensor)
        return self._elements[name]


def _elements(tensor: Tensor) -> tuple[list[float], int]:
    array = array_of(tensor)
    if array is None:
        return _believed(tensor.constraint)
    if array.dtype.kind == "O" or not array.size:
        return [], 0
    distinct = len(np.unique(array))
    numbers = np.unique(np.real(array).astype(np.float64))
    if len(numbers) > _FEW:
        fractions, ordinary = numbers[np.isfinite(numbers) & (numbers != np.rint(numbers))], numbers[~np.isnan(numbers)]
        numbers = np.concatenate([numbers[:1], ordinary[-1:], numbers[~np.isfinite(numbers)], numbers[numbers == 0], fractions[:1]])
    return numbers.tolist(), distinct


def _believed(limits: Constraint | None) -> tuple[list[float], int]:
    """Elements that were not kept may be any that *limits* allow."""
    special = [] if limits is None else [math.nan] * limits.nan + [math.inf, -math.inf] * limits.inf
    if limits is None or limits.low is None or limits.high is None:
        return [-2.0, -0.5, 0.0, 0.5, 2.0, *special], 2
    between = limits.low + 0.3 * (limits.high - limits.low)
    zero = [0.0] if limits.low <= 0 <= limits.high else []
    return [limits.low, limits.high, between, *zero, *special], 1 + (limits.low < limits.high)


def json_of(value: Value) -> Json:
    """A value in the form in which properties compare it."""
    return encode_value(value)


def dtype_class(name: str) -> str:
    """`floating-point`, `integer`, `complex`, or the dtype itself."""
    if name.startswith("complex"):
        return "complex"
    if name.startswith(("float", "bfloat")):
        return "floating-point"
    return "integer" if name.startswith(("int", "uint")) else name


def _numbers(value: Value) -> list[float]:
    """The numbers of a sequence."""
    return [item for item in value if _is_number(item)] if isinstance(value, (list, tuple)) else []  # type: ignore[misc]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_AND = " + "
ANY_OPERATOR = "any operator"
"""Stands for what a failure needs a call of, whatever the operator."""


def calls_of(instance: Instance, general: Collection[str]) -> Property:
    """The property that a program has everything that the program of *instance* is made of; *general* may be any operator."""
    found = dict.fromkeys(ANY_OPERATOR if each in general else each for each in instance.kind.behaviour.features(instance))
    return Property("calls", WHOLE, "has", _AND.join(found))


def parts_of(properties: Sequence[Property]) -> frozenset[str]:
    """What a failing program needs to be made of; empty for other instances. A call of any operator is part of each program."""
    return frozenset(part for each in properties if each.kind == "calls" for part in str(each.value).split(_AND)) - {ANY_OPERATOR}


Read = Callable[[View, str, int], Sequence[Any]]


@dataclass(frozen=True)
class Accessor:
    """What a property can be about.

    Attributes:
        text: How a text begins that names it.
        facet: In what tests differ that differ in this; `opera.triage.reduction.differences` knows them.
        read: Reads it of a test, for a value by its name; nothing if the value has no such thing.
        of_test: Whether it is about the test as a whole, not about a value.
    """

    text: str
    facet: str
    read: Read
    of_test: bool = False


def _of_value(text: str, facet: str, read: Callable[[View, str, Value], Sequence[Any]]) -> Accessor:
    return Accessor(text, facet, lambda view, name, _: read(view, name, view.values[name]))


def _of_tensor(text: str, facet: str, read: Callable[[Tensor], Any]) -> Accessor:
    return _of_value(text, facet, lambda _view, _name, value: [read(value)] if isinstance(value, Tensor) else [])


def _of_sequence(text: str, read: Callable[[Sequence[Value]], Any]) -> Accessor:
    return _of_value(text, "parameter", lambda _view, _name, value: [read(value)] if isinstance(value, (list, tuple)) else [])


def _shape(view: View, name: str, axis: int) -> list[Any]:
    tensor = view.tensors.get(name)
    if tensor is None:
        return []
    return [tensor.shape] if axis < 0 else list(tensor.shape[axis : axis + 1])


def _features(instance: Instance) -> tuple[str, ...]:
    return instance.kind.behaviour.features(instance)


_TENSOR = object()
"""What is read of a tensor in the place of a parameter: no JSON value equals it."""
ACCESSORS: Mapping[str, Accessor] = {
    "form": Accessor("input form", "form", lambda view, _name, _axis: form_parts(view.form)[:1], of_test=True),
    "opset": Accessor(
        "opset", "opset", lambda view, _name, _axis: [each for each in form_parts(view.form)[1:] if each is not None], of_test=True
    ),
    "context": Accessor("{name}", "context", lambda view, name, _axis: [json_of(view.instance.context_value(name))], of_test=True),
    "output": Accessor(
        "output", "context", lambda view, _name, _axis: [place for place, kept in enumerate(_outputs(view)) if kept], of_test=True
    ),
    "calls": Accessor("calls", "context", lambda view, _name, _axis: [{*_features(view.instance), ANY_OPERATOR}], of_test=True),
    "value": _of_value("{name}", "parameter", lambda _view, _name, value: [_TENSOR if isinstance(value, Tensor) else json_of(value)]),
    "type": _of_value(
        "{name}", "parameter", lambda view, name, value: [each for each in [dtype_meant(view.instance, name, value)] if each is not None]
    ),
    "length": _of_sequence("len({name})", len),
    "entry": _of_value("{name} has an entry ", "parameter", lambda _view, _name, value: _numbers(value)),
    "distinct entries": _of_sequence("entries of {name}", lambda items: len({str(json_of(item)) for item in items})),
    "shape": Accessor("shape({name})", "shape", _shape),
    "dtype": _of_tensor("dtype({name})", "dtype", lambda tensor: tensor.dtype),
    "element": _of_value("{name} has a value ", "contents", lambda view, name, _value: view.elements(name)[0]),
    "distinct elements": _of_value(
        "values of {name}",
        "contents",
        lambda view, name, value: [view.elements(name)[1]] if isinstance(value, Tensor) and value.size > 1 else [],
    ),
    "rank": _of_tensor("rank({name})", "shape", lambda tensor: len(tensor.shape)),
    "size": _of_tensor("size({name})", "shape", lambda tensor: tensor.size),
    "strides": _of_tensor("strides({name})", "strides", lambda tensor: tensor.strides),
}
"""What properties are about, in the order of texts; `shape[1]` is the second dimension."""


def _outputs(view: View) -> Sequence[bool]:
    return cast("Sequence[bool]", view.instance.context_value("outputs", ()))


_CLASSES: Mapping[str, Callable[[float], bool]] = {
    "a NaN": math.isnan,
    "an infinity": math.isinf,
    "a value of +infinity": lambda number: number == math.inf,
    "a value of -infinity": lambda number: number == -math.inf,
    "a fraction": lambda number: math.isfinite(number) and not number.is_integer(),
}
"""Kinds of elements, and which numbers belong to each."""


def _is(reading: object, kind: str) -> bool:
    if isinstance(reading, str):
        return dtype_class(reading) == kind
    return isinstance(reading, float) and str(kind) in _CLASSES and _CLASSES[str(kind)](reading)


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda reading, value: _is_number(reading) and _is_number(value) and test(reading, value)


COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "is": _is,
    "is not": lambda reading, kind: not _is(reading, kind),
    "differs from": operator.ne,
    "≠": operator.ne,
    "<": _ordered(operator.lt),
    ">": _ordered(operator.gt),
    "≥": _ordered(operator.ge),
    "≤": _ordered(operator.le),
    "has": lambda reading, value: isinstance(reading, set) and set(str(value).split(_AND)) <= reading,
}
"""Comparisons of what an accessor reads with a value, in the order of texts. For `differs from` the value names another value."""
_WORDS: Mapping[tuple[str, ...], str] = {
    ("value", "≠", "null"): "{name} is given",
    ("value", "=", "null"): "{name} is not given",
    ("size", "=", "0"): "{name} is empty",
    ("size", "=", "1"): "{name} has one element",
    ("size", ">", "1"): "{name} has several elements",
    ("strides", "≠", "null"): "{name} is not contiguous",
    ("distinct entries", ">", "1"): "entries of {name} differ",
    ("distinct elements", ">", "1"): "values of {name} differ",
    ("distinct elements", "=", "1"): "values of {name} are alike",
    ("entry", "="): "{name} has an entry {value}",
    ("element", "is"): "{name} has {value}",
    ("output", "="): "output {value} is wanted",
    ("is",): "{subject} is {value}",
    ("is not",): "{subject} is not {value}",
    ("has",): "{subject} {value}",
    ("differs from",): "{subject}≠{other}",
}
"""Texts by accessor, comparison and value as JSON; by accessor and comparison; by comparison. All others name the parts in order."""
_OF_NUMBER = frozenset({"<", ">", "≤", "≥"})
_AXIS = re.compile(r"shape\[(\d{1,3})\]")


@dataclass(frozen=True)
class Property:
    """One property.

    Attributes:
        accessor: A key of `ACCESSORS`, `shape` with an axis or without.
        name: The value that it is about, or the fact of the context; empty for the test as a whole.
        comparison: A key of `COMPARISONS`.
        value: A JSON value, the name of a class, or that of another value.
    """

    accessor: str
    name: str
    comparison: str
    value: Any = None

    def __hash__(self) -> int:
        return hash((self.accessor, self.name, self.comparison, str(self.value)))

    @cached_property
    def axis(self) -> int:
        """The axis of a shape; -1 for the whole shape, and for other accessors."""
        found = _AXIS.fullmatch(self.accessor)
        return -1 if found is None else int(found[1])

    @cached_property
    def kind(self) -> str:
        """The accessor without an axis."""
        return self.accessor if self.axis < 0 else "shape"

    @property
    def of_test(self) -> bool:
        """Whether it is about the test as a whole."""
        return ACCESSORS[self.kind].of_test

    def holds(self, view: View) -> bool:
        """Whether *view* has it. Of values that were not kept, everything is believed that their constraint allows."""
        if not self.of_test and self.name not in view.values:
            return self == absent(self.name)
        value: Any = self.value
        if self.comparison == "differs from":
            others = list(self._read(view, str(value))) if str(value) in view.values else list[Any]()
            if not others:
                return False
            value = others[0]
        return any(self.fits(each, value) for each in self._read(view, self.name))

    def _read(self, view: View, name: str) -> Sequence[Any]:
        return ACCESSORS[self.kind].read(view, name, self.axis)

    def fits(self, reading: object, value: object) -> bool:
        """Whether its comparison holds between what was read and *value*."""
        return bool(COMPARISONS[self.comparison](reading, value))

    def text(self) -> str:
        """The canonical text: `dtype(x)=float64`."""
        key = self.kind, self.comparison
        found = (_WORDS[each] for each in ((*key, json.dumps(self.value)), key, key[1:]) if each in _WORDS)
        form = next(found, "{subject}{comparison}{value}")
        subject, other = (self._subject(name) for name in (self.name, str(self.value)))
        return form.format(subject=subject, comparison=self.comparison, value=_readable(self.value), other=other, name=self.name)

    def _subject(self, name: str) -> str:
        return ACCESSORS[self.kind].text.format(name=name) + (f"[{self.axis}]" if self.axis >= 0 else "")

    def renamed(self, new: Mapping[str, str]) -> Property:
        """The same about other values."""
        value = new.get(str(self.value), self.value) if self.comparison == "differs from" else self.value
        return self if self.of_test else replace(self, name=new.get(self.name, self.name), value=value)

    def document(self) -> tuple[str, str, str, Json]:
        """The property as a JSON array."""
        return self.accessor, self.name, self.comparison, self.value


def absent(name: str) -> Property:
    """The property that the argument *name* is not given."""
    return Property("value", name, "=")


def given(name: str) -> Property:
    """The property that the argument *name* is given."""
    return Property("value", name, "≠")


def property_of(document: Sequence[Any]) -> Property:
    """Inverse of `Property.document`; raises ValueError for an accessor or comparison that is not known, or a value that does not fit."""
    accessor, name, comparison, value = document
    found = Property(str(accessor), str(name), str(comparison), value)
    if found.kind not in ACCESSORS or comparison not in COMPARISONS:
        raise ValueError(f"no property {str(accessor)[:40]!r} {str(comparison)[:40]!r}")
    if comparison in _OF_NUMBER and not _is_number(value):
        raise ValueError(f"a property {accessor!r} {comparison!r} that is compared with {str(value)[:40]!r}")
    return found


def _readable(value: Json) -> str:
    if isinstance(value, dict) and value:
        tag, content = next(iter(value.items()))
        items = content if isinstance(content, list) else [content]
        if tag == "tuple":
            return "(" + ", ".join(_readable(item) for item in items) + ")"
        return str(items[-1]) if items else ""
    if isinstance(value, list):
        return "[" + ", ".join(_readable(item) for item in value) + "]"
    return repr(value) if value is None or isinstance(value, bool) else str(value)


def canonical(properties: Collection[Property]) -> tuple[Property, ...]:
    """*properties* in canonical order, without those that others imply."""
    kept = sorted(properties, key=_order)
    for each in list(kept):
        if any(implies(other, each) for other in kept if other is not each):
            kept.remove(each)
    return tuple(kept)


def _order(one: Property) -> tuple[str, int, int, str]:
    return WHOLE if one.of_test else one.name, list(ACCESSORS).index(one.kind), list(COMPARISONS).index(one.comparison), one.text()


def implies(one: Property, other: Property) -> bool:
    """Whether each test that has *one* has *other*: because of what they compare with, or of what their accessors read."""
    return any(_is_narrower(each, other) for each in (one, *_consequences(one)))


def _is_narrower(one: Property, other: Property) -> bool:
    """Whether, of one thing, whatever fits *one* fits *other*: samples around the two values decide it."""
    comparisons = {one.comparison, other.comparison}
    if (one.accessor, one.name) != (other.accessor, other.name) or comparisons & {"differs from", "has"}:
        return one == other
    return all(other.fits(each, other.value) for each in _samples(one.value, other.value) if one.fits(each, one.value))


def _samples(*values: Any) -> Iterator[Any]:
    yield from (*values, *DTYPE_BITS, _TENSOR, math.nan, math.inf, -math.inf, 0.25)
    for value in values:
        if _is_number(value):
            yield from (value - 1, value - 0.5, value + 0.5, value + 1)


def _consequences(one: Property) -> Iterator[Property]:
    """What *one* says of other things."""
    name = one.name
    if not one.of_test and one != absent(name):
        yield given(name)
    if one.axis >= 0:
        yield Property("rank", name, "≥", one.axis + 1)
        if (one.comparison, one.value) == ("=", 0):
            yield Property("size", name, "=", 0)
    if one.accessor == "distinct elements":
        yield Property("size", name, ">", 1)
        if one.comparison == ">":
            yield Property("element", name, "≠", 0)
