"""Single removals from an instance, and the properties that each one removes: from the most specific to the most general."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from opera.arrays import Array
from opera.instance import Enum, Named, Tensor
from opera.instance.values import Value
from opera.models.forms import InputForm, ModelForm
from opera.models.onnx_types import dtype_meant, parameter_for
from opera.models.opsets import NEWEST_CLAIMED, OLDEST
from opera.triage.reduction.candidates import fewer_outputs
from opera.triage.reduction.places import Place, edited, get, on_tensors, put, without
from opera.triage.reduction.properties import WHOLE, Property, View, dtype_class, given, json_of
from opera.triage.reduction.tensors import edit, retyped, shrunk, stretched, with_axis, without_axis

_DTYPES = ("float32", "int64", "int32", "float64", "bool", "float16")
_ELEMENTS: tuple[tuple[str, str, object, Callable[[Array], Array]], ...] = (
    ("element", "is", "a NaN", lambda array: np.nan_to_num(array, nan=1.0, posinf=np.inf, neginf=-np.inf)),
    ("element", "is", "an infinity", lambda array: np.where(np.isinf(array), np.ones_like(array), array)),
    ("element", "is", "a value of +infinity", lambda array: np.where(np.isposinf(array), -array, array)),
    ("element", "is", "a value of -infinity", lambda array: np.where(np.isneginf(array), -array, array)),
    ("element", "<", 0, np.abs),
    ("element", "≠", 0, np.zeros_like),
    ("element", "=", 0, lambda array: np.where(array == 0, np.ones_like(array), array)),
    ("element", ">", 1, lambda array: np.minimum(array, np.ones_like(array))),
    ("element", "is", "a fraction", np.rint),
    ("distinct elements", ">", 1, lambda array: np.full_like(array, array.reshape(-1)[-1])),
    ("distinct elements", "=", 1, lambda array: np.arange(array.size) + 1),
)
"""Properties of elements, and what takes each away and leaves the most of the rest."""


@dataclass(frozen=True)
class Aspect:
    """Something about an instance that a failure may depend on.

    Attributes:
        properties: What the instance has in this respect, from the most specific to the most general.
        removals: The instance without it: more than one way, because one may be invalid for reasons of its own.
    """

    properties: tuple[Property, ...]
    removals: tuple[View, ...]


def aspects(view: View) -> Iterator[Aspect]:
    """Everything about *view* that can be removed alone."""
    for aspect in _all(view):
        held = tuple(each for each in aspect.properties if each.holds(view))
        removals = tuple(each for each in aspect.removals if (each.instance, each.form) != (view.instance, view.form))
        if held and removals:
            yield Aspect(held, removals)


def _all(view: View) -> Iterator[Aspect]:
    yield from _form(view)
    yield from _context(view)
    fixed = view.instance.kind.behaviour.fixes_inputs
    if not fixed:
        yield from _arguments(view)
    for name, value in view.values.items():
        if isinstance(value, Tensor) and fixed:
            yield from _elements(view, name, value)
        elif isinstance(value, Tensor):
            yield from _tensor(view, name, value)
        else:
            yield from _parameter(view, name, value)


def _form(view: View) -> Iterator[Aspect]:
    form = ModelForm.parse(view.form)
    baked = form.inputs in (InputForm.RUNTIME, InputForm.SYMBOLIC) or form.inputs.has_outcome
    other = replace(form, inputs=InputForm.BAKED if baked else InputForm.RUNTIME)
    yield Aspect((Property("form", WHOLE, "=", form.inputs.value),), (View(view.instance, str(other)),))
    opset = form.opset
    if opset is not None:
        older, newer = (None, *range(OLDEST, opset)), range(opset + 1, NEWEST_CLAIMED + 1)
        yield Aspect((Property("opset", WHOLE, "≥", opset),), tuple(_at(view, each) for each in older))
        limits = tuple(Property("opset", WHOLE, "≤", each) for each in range(opset, NEWEST_CLAIMED))
        yield Aspect(limits, tuple(_at(view, each) for each in newer))


def _at(view: View, opset: int | None) -> View:
    return View(view.instance, str(replace(ModelForm.parse(view.form), opset=opset)))


def _with(view: View, name: str, value: Value) -> View:
    return View(put(view.instance, view.places[name], value), view.form)


def _context(view: View) -> Iterator[Aspect]:
    training = view.instance.context_value("training")
    if training is not None:
        context = tuple((name, not value if name == "training" else value) for name, value in view.instance.context)
        yield Aspect((Property("context", "training", "=", training),), (View(replace(view.instance, context=context), view.form),))
    outputs = cast("Sequence[bool]", view.instance.context_value("outputs", ()))
    fewer = [each for each in fewer_outputs(view.instance) if each.context_value("outputs") != outputs]
    for place in (place for place, kept in enumerate(outputs) if kept and sum(outputs) > 1):
        gone = Property("output", WHOLE, "=", place)
        yield Aspect((gone,), tuple(found for each in fewer if not gone.holds(found := View(each, view.form))))


def _arguments(view: View) -> Iterator[Aspect]:
    for name, place in view.places.items():
        value = get(view.instance, place)
        if not place.way and value is not None:
            smaller = without(view.instance, {(place.part, place.index)})
            named = (Property("value", name, "=", json_of(value)),) if isinstance(value, (bool, str, Enum, Named)) else ()
            if smaller is not None:
                yield Aspect((given(name), *named), (View(smaller, view.form),))


def _parameter(view: View, name: str, value: Value) -> Iterator[Aspect]:
    place = view.places[name]
    top = name.split("[")[0]
    default: list[Value] = [item for key, item in view.instance.defaults if key == top and not place.way]
    different = [Property("value", name, "≠", json_of(item)) for item in default if json_of(item) != json_of(value)]
    exact = Property("value", name, "=", json_of(value))
    defaults = [_with(view, name, item) for item in default]
    dtype = dtype_meant(view.instance, name, value)
    if dtype is not None:
        others = [_with(view, name, parameter_for(view.instance, name, each)) for each in _DTYPES if each != dtype]
        yield Aspect(
            (Property("type", name, "=", dtype), Property("type", name, "is", dtype_class(dtype)), *different), (*defaults, *others)
        )
    elif isinstance(value, bool):
        yield Aspect((exact,), (_with(view, name, not value),))
    elif isinstance(value, (int, float)):
        sign = [Property("value", name, *each) for each in ((">", 1), (">", 0), ("<", 0))]
        numbers = dict.fromkeys(type(value)(number) for number in (0, 0.5, 1, 2, -1, value + 1, value - 1, 2 * value, -value))
        yield Aspect((exact, *different, *sign), (*defaults, *(_with(view, name, each) for each in numbers)))
    elif isinstance(value, (list, tuple)):
        yield from _sequence(view, name, value, exact, defaults)
    elif value is not None:
        yield Aspect((exact, *different), tuple(defaults))


def _sequence(view: View, name: str, value: Sequence[Value], exact: Property, defaults: list[View]) -> Iterator[Aspect]:
    numbers = [item for item in value if isinstance(item, (int, float))]
    if not value or len(numbers) < len(value):
        return
    make = cast("Callable[[Sequence[Value]], Value]", type(value))

    def other(change: Callable[[float], float]) -> View:
        return _with(view, name, make([change(item) for item in numbers]))

    signs = tuple(Property("entry", name, ">", number) for number in (1, 0))
    plain = (other(lambda _: 0), other(lambda _: 1))
    yield Aspect((exact, *signs), (*defaults, *plain, other(lambda item: item + 1)))
    yield Aspect((Property("entry", name, "<", 0),), (other(abs), *plain))
    yield Aspect((Property("entry", name, "=", 0),), (other(lambda item: item or 1), other(lambda item: item or 2)))
    yield Aspect((Property("distinct entries", name, ">", 1),), (other(lambda _: numbers[0]), other(lambda _: numbers[-1])))
    shorter = _with(view, name, make(value[:1]))
    longer = _with(view, name, make([*value, value[-1]]))
    yield Aspect((Property("length", name, "=", len(value)), Property("length", name, ">", 1)), (shorter, longer))


def _tensor(view: View, name: str, tensor: Tensor) -> Iterator[Aspect]:
    yield from _dtype(view, name, tensor)
    yield from _rank(view, name, tensor)
    yield from _dimensions(view, name, tensor)
    if tensor.strides is not None:
        yield Aspect((Property("strides", name, "≠"),), (_with(view, name, replace(tensor, strides=None)),))
    yield from _elements(view, name, tensor)


def _elements(view: View, name: str, tensor: Tensor) -> Iterator[Aspect]:
    for accessor, comparison, value, change in _ELEMENTS:
        plain = edit(tensor, change)
        if plain is not None:
            yield Aspect((Property(accessor, name, comparison, value),), (_with(view, name, plain),))


def _others(view: View, name: str) -> list[tuple[str, Tensor]]:
    return [(each, tensor) for each, tensor in view.tensors.items() if each != name]


def _dtype(view: View, name: str, tensor: Tensor) -> Iterator[Aspect]:
    different = [Property("dtype", name, "differs from", each) for each, other in _others(view, name) if other.dtype != tensor.dtype]
    classes = (Property("dtype", name, "is not", "floating-point"), Property("dtype", name, "is", dtype_class(tensor.dtype)))
    general = (*classes, Property("dtype", name, "≠", "float32"), *different)
    first = next(each for each, other in view.tensors.items() if other.dtype == tensor.dtype) == name
    new = [each for each in dict.fromkeys((*_DTYPES, *(other.dtype for _, other in _others(view, name)))) if each != tensor.dtype]
    alone = [_with(view, name, retyped(tensor, tensor.dtype, each)) for each in new]
    together = [View(edited(view.instance, lambda _, value, each=each: retyped(value, tensor.dtype, each)), view.form) for each in new]
    exact = Property("dtype", name, "=", tensor.dtype)
    yield Aspect((exact, *general), tuple(together if first and not different else alone))


def _rank(view: View, name: str, tensor: Tensor) -> Iterator[Aspect]:
    rank = len(tensor.shape)
    limits = (Property("rank", name, "≥", rank), Property("rank", name, "≤", rank)) if rank else ()
    different = [Property("rank", name, "differs from", each) for each, other in _others(view, name) if len(other.shape) != rank]
    alone = [with_axis(tensor, 0), *([without_axis(tensor, 0), without_axis(tensor, -1)] if rank else [])]
    removals = [_with(view, name, each) for each in alone]
    if len(view.tensors) > 1:
        for change in (with_axis, without_axis) if rank else (with_axis,):
            together = on_tensors(view.instance, lambda each, change=change: change(each, 0) if len(each.shape) == rank else each)
            removals.append(View(together, view.form))
    yield Aspect((Property("rank", name, "=", rank), *limits, *different), tuple(removals))


def _dimensions(view: View, name: str, tensor: Tensor) -> Iterator[Aspect]:
    if tensor.size == 0:
        filled = tensor
        for axis, dim in enumerate(tensor.shape):
            filled = filled if dim else stretched(filled, axis, 1)
        yield Aspect((Property("size", name, "=", 0),), (_with(view, name, filled),))
        yield from _empty_dimensions(view, name, filled)
        return
    if tensor.size == 1 and tensor.shape:
        yield Aspect((Property("size", name, "=", 1),), (_with(view, name, stretched(tensor, len(tensor.shape) - 1, 2)),))
    for axis, dim in enumerate(tensor.shape):
        sizes = [size for size in (1, 2, dim + 1) if size != dim]
        alone = [_with(view, name, stretched(tensor, axis, size) if size > dim else shrunk(tensor, axis, size)) for size in sizes]
        together = [View(edited(view.instance, _resized(dim, size)), view.form) for size in sizes]
        different = [Property("shape", name, "differs from", each) for each, other in _others(view, name) if other.shape != tensor.shape]
        properties = (Property(f"shape[{axis}]", name, "=", dim), Property(f"shape[{axis}]", name, ">", 1), Property("size", name, ">", 1))
        removals = [*alone, *together] if dim > 1 or different else []
        yield Aspect((*(properties if dim > 1 else ()), *different), tuple(removals))


def _empty_dimensions(view: View, name: str, filled: Tensor) -> Iterator[Aspect]:
    """Which dimension of a tensor is empty; the removals have another one that is."""
    others = [_with(view, name, shrunk(filled, axis, 0)) for axis in range(len(filled.shape))]
    for axis in range(len(filled.shape)):
        gone = Property(f"shape[{axis}]", name, "=", 0)
        yield Aspect((gone,), tuple(other for other in others if not gone.holds(other)))


def _resized(old: int, new: int) -> Callable[[Place, Value], Value]:
    def resize(_: Place, value: Value) -> Value:
        if isinstance(value, Tensor):
            for axis, dim in enumerate(value.shape):
                if dim == old:
                    value = stretched(value, axis, new) if new > old else shrunk(value, axis, new)
            return value
        return new if type(value) is int and value == old else value

    return resize
