"""The order of instances by complexity, in which a reduction must get lower. docs/reference/reduction.md specifies it.

It is shortlex, as in shrinkers of property-based tests: the instance with fewer parts is simpler; of two with as many, the one whose
oddest number is plainer. A person would rather write two ordinary elements than one odd one, so odd tensors count as larger ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from opera.arrays import Array
from opera.instance import DType, Graph, Instance, Tensor
from opera.instance.codec import encode_value
from opera.instance.values import Value
from opera.triage.reduction.places import places
from opera.triage.reduction.tensors import array_of

Complexity = tuple[float | tuple[float, ...], ...]
_DTYPES = ("float32", "int64", "int32", "float64", "bool")
"""Dtypes from the plainest on; all others come after them."""
_FEW = 4
"""Elements of a tensor that a person writes one by one, so that they differ."""
_MOST = 64
"""Elements of a tensor that are compared one by one."""
_EMPTY, _SCALAR, _SINGLE, _ALONE, _ALIKE = 6, 5, 4, 8, 1
"""Elements that an odd tensor counts for: one without an element, without a dimension, of one element. The last two are added: for a
tensor that is alone in a sequence, and for one of few elements that are alike, or are those of another tensor."""
_WHOLE, _SPECIAL, _FRACTION, _COMPLEX, _OPAQUE = range(5)
"""Kinds of values, the plainest first."""
_ZERO = 2.5
"""Place of a zero among the whole elements of a floating-point tensor: zeros hide much."""


def complexity(instance: Instance) -> Complexity:
    """The complexity of *instance*: what compares lower is simpler."""
    values = [value for _, value in places(instance)]
    tensors = [value for value in values if isinstance(value, Tensor)]
    given, others = _arguments(instance)
    keys = sorted((key for value in values for key in _keys(value)), reverse=True)
    return (
        instance.kind.behaviour.cost(instance),
        given,
        _facts(instance),
        others,
        sum(each.strides is not None or each.layout != "strided" for each in tensors),
        sum(_place_of_dtype(each) for each in values),
        sum(key > (_WHOLE, math.inf) for key in keys),
        _elements(values, tensors),
        len(values),
        sum(len(each.shape) for each in tensors),
        sum(sum(each.shape) for each in tensors),
        *keys,
    )


def _arguments(instance: Instance) -> tuple[int, int]:
    """The numbers of arguments that say something, and of those that are absent or at their defaults."""
    defaults = {name: encode_value(value) for name, value in instance.defaults}
    given = 0
    for each in instance.arguments():
        if each.name in defaults:
            given += isinstance(each.value, Tensor) or encode_value(each.value) != defaults[each.name]
        else:
            given += each.value is not None
    return given, sum(1 for _ in instance.arguments()) - given


def _facts(instance: Instance) -> int:
    """The number of outputs that are wanted, of types that are declared, and of facts that are no version."""
    count = 0
    for name, value in instance.context:
        if name in ("outputs", "output_types", "input_types"):
            count += sum(bool(each) for each in value)
        elif name not in ("opset", "graph", "opsets"):
            count += 1
    return count


def _elements(values: list[Value], tensors: list[Tensor]) -> int:
    """The number of elements of all tensors; odd ones count as larger."""
    count = _ALONE * sum(isinstance(each, (list, tuple)) and len(each) == 1 and isinstance(each[0], Tensor) for each in values)
    for each in tensors:
        count += _SCALAR if not each.shape else {0: _EMPTY, 1: _SINGLE}.get(each.size, each.size)
        if 1 < each.size <= _FEW and (array := array_of(each)) is not None:
            count += _ALIKE * _are_alike(array)
    known = [each for each in tensors if each.data and each.size > 1]
    return count + _ALIKE * (len(known) - len(set(known)))


def _are_alike(array: Array) -> bool:
    return array.dtype.kind != "O" and bool((array == array.reshape(-1)[0]).all())


def _place_of_dtype(value: Value) -> int:
    if not isinstance(value, (Tensor, DType)):
        return 0
    name = value.dtype if isinstance(value, Tensor) else value.name
    return _DTYPES.index(name) if name in _DTYPES else len(_DTYPES)


def _keys(value: Value) -> Iterator[tuple[float, ...]]:
    """What tells which of two values is plainer: of each number of a value that contains no other."""
    if isinstance(value, Tensor):
        yield from _numbers(value)
    elif isinstance(value, Graph):
        yield _OPAQUE, len(value.data)
    elif isinstance(value, (bool, int, float, complex)):
        yield _number(value)
    elif not isinstance(value, (list, tuple, dict)):
        yield () if value is None else (_WHOLE,)


def _numbers(tensor: Tensor) -> Iterator[tuple[float, ...]]:
    array = array_of(tensor)
    if array is None:
        yield (_OPAQUE,)
    elif array.dtype.kind != "O":
        numbers = array.reshape(-1)[:_MOST]
        whole = array.dtype.kind in "biu"
        for each in numbers.astype(np.complex128 if array.dtype.kind == "c" else np.float64).tolist():
            yield _number(int(each) if whole else each) if whole or each else (_WHOLE, False, _ZERO)


def _number(number: complex) -> tuple[float, ...]:
    """One before zero, then whole numbers by size, infinities and NaN, fractions by their digits; negative ones after all others."""
    if isinstance(number, complex):
        return (_COMPLEX, *_number(number.real), *_number(number.imag))
    size, negative = abs(number), number < 0
    if not math.isfinite(size):
        return _SPECIAL, negative
    if isinstance(number, int) or size >= 1e15 or size.is_integer():
        return _WHOLE, negative, size or (1 if isinstance(number, int) else 1.5)
    return _FRACTION, negative, len(repr(float(f"{size:.7g}")))
