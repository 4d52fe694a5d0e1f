"""Smaller versions of an instance, from coarse to fine: fewer arguments, plainer dtypes, plainer values. The module knows no operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np

from opera.arrays import Array
from opera.instance import Argument, DType, Instance, Kind, Tensor
from opera.instance.values import Value, ends_of
from opera.triage.reduction import ordinary, shapes
from opera.triage.reduction.places import Part, Place, arguments, array_of, edit, edited, places, put, with_dtype, without

SIMPLE_DTYPES = ("float32", "int64", "int32", "bool", "float64")
_FEW_ELEMENTS = 32


def retyped(value: Value, old: str, new: str) -> Value:
    """*value* in dtype *new* where it is a tensor of dtype *old*, or that dtype itself; else as it is."""
    if isinstance(value, DType) and value.name == old:
        return DType(new)
    if isinstance(value, Tensor) and value.dtype == old:
        return with_dtype(value, new) or value
    return value


def changed(value: Value, change: Callable[[Array], Array]) -> Value:
    """*value* with its elements changed where it is a tensor that has some; else as it is."""
    return (edit(value, change) or value) if isinstance(value, Tensor) else value


def _zeros(array: Array) -> Array:
    return np.zeros_like(array)


def _ones(array: Array) -> Array:
    return np.ones_like(array)


def _counting(array: Array) -> Array:
    return np.arange(array.size, dtype=np.float64).reshape(array.shape)


def _counting_a_little(array: Array) -> Array:
    return (np.arange(array.size, dtype=np.float64) % 3).reshape(array.shape)


def _constant(array: Array) -> Array:
    return np.full_like(array, array.reshape(-1)[0]) if array.size else array


def _small_integers(array: Array) -> Array:
    return np.clip(np.rint(np.nan_to_num(np.real(array).astype(np.float64))), -4, 4)


def _signs(array: Array) -> Array:
    return np.sign(np.nan_to_num(np.real(array).astype(np.float64)))


def _rounded(array: Array) -> Array:
    return np.rint(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))


def _one_digit(array: Array) -> Array:
    return np.round(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64), 1)


def _three_digits(array: Array) -> Array:
    """Each element with three significant digits."""
    if array.dtype.kind != "f":
        return array
    numbers = array.astype(np.float64)
    return np.array([float(f"{each:.3g}") for each in numbers.reshape(-1)]).reshape(array.shape)


def _positive(array: Array) -> Array:
    return np.abs(array)


def _finite(array: Array) -> Array:
    return np.where(np.isfinite(array), array, np.zeros_like(array)) if array.dtype.kind in "fc" else array


PLAIN: tuple[Callable[[Array], Array], ...] = (
    _ones,
    _zeros,
    _constant,
    _counting_a_little,
    _counting,
    _signs,
    _small_integers,
    _rounded,
    _one_digit,
    _three_digits,
    _positive,
    _finite,
)
"""Ways to make values plain, the most radical first."""


def element_by_element(tensor: Tensor) -> Iterator[Tensor]:
    """*tensor* with parts of its elements set to 1 or 0, down to single ones, which are also set to 2 and -1."""
    array = array_of(tensor)
    if array is None or not 1 < array.size <= _FEW_ELEMENTS or array.dtype.kind == "O":
        return
    indices = np.arange(array.size)
    size = (array.size + 1) // 2
    while size:
        for start in range(0, array.size, size):
            yield from _set(tensor, indices[start : start + size], 1)
            yield from _set(tensor, indices[start : start + size], 0)
        size = 0 if size == 1 else (size + 1) // 2
    for index in indices:
        for number in (1, 0, 2, -1):
            yield from _set(tensor, indices[index : index + 1], number)


def _set(tensor: Tensor, where: Array, number: int) -> Iterator[Tensor]:
    def change(array: Array) -> Array:
        flat = array.reshape(-1).copy()
        flat[where] = np.asarray(number).astype(array.dtype)
        return flat.reshape(array.shape)

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
        yield from (dict(items[:place] + items[place + 1 :]) for place in range(len(items)))
    elif isinstance(value, str) and len(value) > 1:
        yield from ("", value[: len(value) // 2])


def _shorter(value: Sequence[Value]) -> Iterator[Value]:
    make = type(value)
    if len(value) > 1:
        for chunk in chunks(list(range(len(value)))):
            yield make([item for place, item in enumerate(value) if place not in chunk])  # type: ignore[call-arg]
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
        yield edited(instance, lambda _, value, change=change: changed(value, change))
    tensors = [(place, value) for place, value in places(instance) if isinstance(value, Tensor)]
    for place, tensor in tensors:
        for change in PLAIN:
            yield put(instance, place, changed(tensor, change))
    for place, tensor in tensors:
        for simpler in element_by_element(tensor):
            yield put(instance, place, simpler)


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
    ordinary.varied,
    ordinary.more_ordinary,
)
"""The steps of a reduction, the coarsest first; at last what a person would rather write, which costs less than it looks."""


def steps_for(instance: Instance) -> Sequence[Candidates]:
    """The steps that make sense for *instance*: a graph fixes the types and shapes of its inputs."""
    own = instance.kind.behaviour.steps(instance)
    return own or ((simpler_values,) if instance.kind is Kind.GRAPH else STEPS)
