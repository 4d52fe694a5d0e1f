"""Smaller versions of an instance, from coarse to fine: fewer arguments, plainer dtypes, plainer values. The module knows no operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np

from opera.arrays import Array
from opera.instance import Argument, DType, Instance, Kind, Tensor
from opera.instance.values import Value, ends_of
from opera.triage.reduction import shapes
from opera.triage.reduction.places import Part, Place, arguments, edited, on_tensors, places, put, tensors_of, without
from opera.triage.reduction.tensors import array_of, edit, retyped

SIMPLE_DTYPES = ("float32", "int64", "int32", "bool", "float64")
_FEW_ELEMENTS = 32


def _counting(array: Array) -> Array:
    return np.arange(array.size, dtype=np.float64)


def _small(array: Array) -> Array:
    return np.rint(np.nan_to_num(np.real(array).astype(np.float64)))


def _three_digits(array: Array) -> Array:
    """Each element with three significant digits."""
    if array.dtype.kind != "f":
        return array
    return np.array([float(f"{each:.3g}") for each in array.astype(np.float64).reshape(-1)])


def _wide(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


PLAIN: tuple[Callable[[Array], Array], ...] = (
    np.ones_like,
    np.zeros_like,
    lambda array: np.full_like(array, array.reshape(-1)[0]),
    lambda array: _counting(array) % 3,
    _counting,
    lambda array: np.sign(np.nan_to_num(np.real(array).astype(np.float64))),
    lambda array: np.clip(_small(array), -4, 4),
    lambda array: np.rint(_wide(array)),
    lambda array: np.round(_wide(array), 1),
    _three_digits,
    np.abs,
    lambda array: np.where(np.isfinite(array), array, np.zeros_like(array)) if array.dtype.kind in "fc" else array,
)
"""Ways to make values plain, the most radical first: ones, zeros, one value, 0 1 2, counting, signs, small integers, fewer digits."""


def element_by_element(tensor: Tensor) -> Iterator[Tensor]:
    """*tensor* with parts of its elements set to 1 or 0, down to single ones, which are also set to 2 and -1."""
    array = array_of(tensor)
    if array is None or not 1 < array.size <= _FEW_ELEMENTS or array.dtype.kind == "O":
        return
    indices = np.arange(array.size)
    for chunk in chunks(indices.tolist()):
        for number in (1, 0):
            yield from _set(tensor, chunk, number)
    for index in indices.tolist():
        for number in (1, 0, 2, -1):
            yield from _set(tensor, [index], number)


def _set(tensor: Tensor, where: Sequence[int], number: int) -> Iterator[Tensor]:
    def change(array: Array) -> Array:
        flat = array.reshape(-1).copy()
        flat[list(where)] = np.asarray(number).astype(array.dtype)
        return flat

    found = edit(tensor, change)
    if found is not None:
        yield found


T = TypeVar("T")
Candidates = Callable[[Instance], Iterator[Instance]]
_INTEGERS = (1, 0, 2, 3)
_FLOATS = (1.0, 0.0, 2.0, 0.5)


def fewer_arguments(instance: Instance) -> Iterator[Instance]:
    """Without all arguments that can be left out, then without half of them, and so on down to single ones."""
    every = [(part, index) for part in Part for index, argument in enumerate(arguments(instance, part)) if _given(instance, argument)]
    for chunk in chunks(every):
        for by_keyword in (False, True):
            smaller = without(instance, set(chunk), by_keyword=by_keyword)
            if smaller is not None:
                yield smaller


def _given(instance: Instance, argument: Argument) -> bool:
    return argument.value is not None or argument.keyword or instance.kind is not Kind.NODE


def at_defaults(instance: Instance) -> Iterator[Instance]:
    """With arguments at their defaults where these are known: all, halves, single ones."""
    defaults = dict(instance.defaults)
    every = [
        Place(part, index)
        for part in Part
        for index, argument in enumerate(arguments(instance, part))
        if argument.name in defaults and not isinstance(argument.value, Tensor)
    ]
    for chunk in chunks(every):
        smaller = instance
        for place in chunk:
            smaller = put(smaller, place, defaults[arguments(instance, place.part)[place.index].name])
        yield smaller


def fewer_outputs(instance: Instance) -> Iterator[Instance]:
    """Without optional outputs, and without facts of the context that can be inferred or have a usual value."""
    context = dict(instance.context)
    outputs = cast("list[bool]", list(context.get("outputs", ())))
    for place in reversed(range(len(outputs))):
        if outputs[place] and sum(outputs) > 1:
            kept = [*outputs[:place], False, *outputs[place + 1 :]]
            while kept and not kept[-1]:
                kept.pop()
            types = context.get("output_types")
            changed = {**context, "outputs": type(context["outputs"])(kept)}
            if types is not None:
                changed["output_types"] = types[: len(kept)]
            yield replace(instance, context=tuple(changed.items()))
    for gone in ("output_types", "parameters", "dtype_policy", "image_data_format", "floatx"):
        if gone in context:
            yield replace(instance, context=tuple(item for item in instance.context if item[0] != gone))
    if context.get("training") is True:
        yield replace(instance, context=tuple((name, False if name == "training" else value) for name, value in instance.context))


def simpler_parameters(instance: Instance) -> Iterator[Instance]:
    """Sequences shorter or of equal elements, numbers towards 0 and 1, nested calls with fewer arguments."""
    for place, value in list(places(instance)):
        for simpler in _simpler(value):
            yield put(instance, place, simpler)


def _simpler(value: Value) -> Iterator[Value]:
    if isinstance(value, bool):
        if value:
            yield False
    elif isinstance(value, int):
        yield from dict.fromkeys((*_INTEGERS, -1, value // 2, abs(value)))
    elif isinstance(value, float):
        yield from dict.fromkeys((*_FLOATS, *((float(round(value)), round(value, 1)) if abs(value) < 1e15 else ()), abs(value)))
    elif isinstance(value, complex):
        yield from (0j, 1 + 0j, 1j, complex(value.real), complex(0, value.imag))
    elif isinstance(value, (list, tuple)):
        yield from _shorter(value)
    elif isinstance(value, slice):
        start, stop, step = ends_of(value)
        yield from (slice(None), slice(start, None), slice(None, stop), slice(None, None, step), slice(start, stop))
    elif isinstance(value, dict):
        items = list(value.items())
        yield from (dict(items[:index] + items[index + 1 :]) for index in range(len(items)))
    elif isinstance(value, str) and len(value) > 1:
        yield from ("", value[: len(value) // 2])


def _shorter(value: Sequence[Value]) -> Iterator[Value]:
    make = type(value)
    if len(value) > 1:
        for chunk in chunks(list(range(len(value)))):
            yield make([item for index, item in enumerate(value) if index not in chunk])  # type: ignore[call-arg]
        for item in value:
            if not isinstance(item, (Tensor, list, tuple, dict)):
                yield make([item] * len(value))  # type: ignore[call-arg]


def simpler_dtypes(instance: Instance) -> Iterator[Instance]:
    """One dtype replaced by a simpler one in all tensors and arguments that have it, then in one tensor at a time.

    Whether some tensors are integers and others are not does not change: integers may be indices, which no library takes as fractions.
    """
    tensors = [value.dtype for _, value in places(instance) if isinstance(value, Tensor)]
    found = tensors + [value.name for _, value in places(instance) if isinstance(value, DType)]
    mixed = len({_is_integer(each) for each in tensors}) > 1
    for old in dict.fromkeys(found):
        for new in SIMPLE_DTYPES:
            if new != old and not (mixed and _is_integer(old) != _is_integer(new)):
                yield edited(instance, lambda _, value, old=old, new=new: retyped(value, old, new))
    for place, value in list(places(instance)):
        if isinstance(value, Tensor):
            for new in SIMPLE_DTYPES:
                if new != value.dtype and not (len(tensors) > 1 and _is_integer(value.dtype) != _is_integer(new)):
                    yield put(instance, place, retyped(value, value.dtype, new))


def _is_integer(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


def simpler_values(instance: Instance) -> Iterator[Instance]:
    """The values of all tensors, then of one tensor at a time, made plain; at last single elements."""
    for change in PLAIN:
        yield on_tensors(instance, lambda tensor, change=change: edit(tensor, change) or tensor)
    tensors = tensors_of(instance)
    for place, tensor in tensors:
        yield from (put(instance, place, edit(tensor, change) or tensor) for change in PLAIN)
    for place, tensor in tensors:
        yield from (put(instance, place, simpler) for simpler in element_by_element(tensor))


def chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """All of *items*, their halves, quarters, and so on down to single ones: the subsets of delta debugging."""
    size = len(items)
    while size:
        for start in range(0, len(items), size):
            yield items[start : start + size]
        size = 0 if size == 1 else (size + 1) // 2


STEPS: tuple[Candidates, ...] = (
    fewer_arguments,
    at_defaults,
    fewer_outputs,
    shapes.smaller_dimensions,
    shapes.lower_ranks,
    shapes.contiguous,
    simpler_parameters,
    simpler_dtypes,
    simpler_values,
    shapes.varied,
    shapes.more_ordinary,
)
"""The steps of a reduction, the coarsest first; at last what a person would rather write, which costs less than it looks."""


def steps_for(instance: Instance) -> Sequence[Candidates]:
    """The steps that make sense for *instance*: a graph fixes the types and shapes of its inputs."""
    own = instance.kind.behaviour.steps(instance)
    return own or ((simpler_values,) if instance.kind is Kind.GRAPH else STEPS)
