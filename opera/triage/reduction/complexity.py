"""The complexity of an instance: one number, which a reduction must lower. docs/reference/reduction.md specifies it."""

from __future__ import annotations

import math

import numpy as np

from opera.arrays import Array
from opera.instance import Call, DType, Graph, Instance, Tensor
from opera.instance.codec import encode_value
from opera.instance.values import Value, ends_of
from opera.triage.reduction.places import array_of, places

ARGUMENT = 20.0
"""Cost of every given argument that is not at its default."""
_RANK = 12.0
_TENSOR = 6.0
_STRIDED = 8.0
_OUTPUT = 5.0
_MOST_OF_VALUES = 60.0
_UNKNOWN_VALUES = 40.0
_NO_DIMENSION = 34.0
_EMPTY = 44.0
_ONE_ELEMENT = 14.0
_ALONE = 60.0
_TWIN = 8.0
_ZERO = 1.6
"""Of a fractional element that is zero, on top of the number: zeros hide much."""
_UNIFORM = 3.0
"""Of an element, of at most six, in a tensor of several whose elements are alike."""
_DTYPES = {"float32": 0.0, "int64": 1.0, "int32": 2.0, "bool": 6.0, "float64": 4.0}
_OTHER_DTYPE = 8.0


def dtype_cost(name: str) -> float:
    """Cost of a dtype: 0 for float32, which every compiler has."""
    return _DTYPES.get(name, _OTHER_DTYPE)


def complexity(instance: Instance) -> float:
    """The complexity of *instance*: the sum over its arguments, outputs and context facts."""
    defaults = {name: encode_value(value) for name, value in instance.defaults}
    total = instance.kind.behaviour.cost(instance)
    for argument in instance.arguments():
        if argument.value is None and argument.name not in defaults:
            total += 1.0
        elif (
            argument.name in defaults and not isinstance(argument.value, Tensor) and encode_value(argument.value) == defaults[argument.name]
        ):
            total += 2.0
        else:
            total += ARGUMENT + value_cost(argument.value)
    for name, value in instance.context:
        if name == "outputs":
            total += _OUTPUT * sum(bool(kept) for kept in value)
        elif name in ("output_types", "input_types"):
            total += sum(item is not None for item in value)
        elif name not in ("opset", "graph", "opsets"):
            total += _OUTPUT
    return total + _TWIN * _twins(instance)


def _twins(instance: Instance) -> int:
    """How many tensors are equal to another one: what exchanges or drops an operand stays unseen."""
    known = [value for _, value in places(instance) if isinstance(value, Tensor) and value.data and value.size > 1]
    return len(known) - len(set(known))


def value_cost(value: Value) -> float:
    """Cost of one value, with nested values."""
    if isinstance(value, Tensor):
        return _tensor(value)
    if isinstance(value, bool):
        return 1.0 if value else 0.5
    if isinstance(value, (int, float)):
        return number_cost(value)
    if isinstance(value, complex):
        return 2.0 + number_cost(value.real) + number_cost(value.imag)
    if isinstance(value, (list, tuple)):
        distinct = len({str(encode_value(item)) for item in value}) if not any(isinstance(item, Tensor) for item in value) else 0
        alone = _ALONE if len(value) == 1 and isinstance(value[0], Tensor) else 0.0
        return sum(2.0 + value_cost(item) for item in value) + distinct + alone
    if isinstance(value, dict):
        return sum(2.0 + value_cost(item) for item in value.values())
    if isinstance(value, slice):
        return 1.0 + sum(value_cost(end) for end in ends_of(value))
    if isinstance(value, Call):
        return 10.0 + sum(2.0 + value_cost(item) for _, item in value.arguments)
    if isinstance(value, Graph):
        return len(value.data) / 16.0
    if isinstance(value, DType):
        return dtype_cost(value.name)
    return 0.0 if value is None else 2.0


def number_cost(number: float) -> float:
    """Cost of a number: 1 and integer 0 are the simplest, then 0.0 (hides much), small integers, large ones, fractions; a sign adds."""
    if not math.isfinite(number):
        return 6.0
    size = abs(number)
    sign = 2.0 if number < 0 else 0.0
    if size <= 1 and size == int(size):
        return sign + (1.0 if isinstance(number, int) or size == 0 else 0.5)
    if size >= 1e15 or size == int(size):
        return sign + (size if size <= 3 else 2.0 + math.log2(size))
    return sign + 6.0 + min(10, len(repr(float(f"{size:.7g}"))))


def _tensor(tensor: Tensor) -> float:
    cost = _TENSOR + _RANK * len(tensor.shape) + dtype_cost(tensor.dtype) + sum(_dimension(dim) for dim in tensor.shape)
    if tensor.strides is not None or tensor.layout != "strided":
        cost += _STRIDED
    array = array_of(tensor)
    return cost + _oddity(tensor, array) + (_UNKNOWN_VALUES if array is None else values_cost(array))


def _oddity(tensor: Tensor, array: Array | None) -> float:
    """What a tensor costs that a person would not write: no dimension, no element or one, all elements alike."""
    if not tensor.shape:
        return _NO_DIMENSION
    if tensor.size <= 1:
        return _ONE_ELEMENT if tensor.size else _EMPTY
    if array is None or array.dtype.kind == "O" or not (array == array.reshape(-1)[0]).all():
        return 0.0
    return _UNIFORM * min(tensor.size, 6)


def _dimension(dim: int) -> float:
    return 3.0 if dim == 0 else 2.0 * math.log2(dim) + (0.0 if dim == 1 else 1.0)


def values_cost(array: Array) -> float:
    """Cost of the elements of a tensor: the sum over at most 64 of them, at most 60 in all."""
    if array.size == 0 or array.dtype.kind == "O":
        return float(min(array.size, 8))
    flat = array.reshape(-1)
    if flat.dtype.kind == "b":
        return min(_MOST_OF_VALUES, 0.1 * float(np.count_nonzero(flat)))
    numbers = flat[:64].astype(np.complex128 if flat.dtype.kind == "c" else np.float64)
    cost = 0.0
    whole = flat.dtype.kind in "iu"
    for item in numbers.tolist():
        cost += value_cost(int(item) if whole else item) + (0.0 if whole or item else _ZERO)
        if cost >= _MOST_OF_VALUES:
            return _MOST_OF_VALUES + min(20.0, math.log2(1 + flat.size))
    return cost + min(8, len(np.unique(numbers)) - 1)
