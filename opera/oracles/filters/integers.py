"""Integers that their type cannot hold: computes the result again without bounds, and compares it with the library's result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, combinations
from typing import Any

import numpy as np

from opera.arrays import Array, as_array, is_array
from opera.instance import Instance, Tensor
from opera.oracles.evidence import Evidence
from opera.oracles.filters.rows import excuses

_MOST = 20_000
"""Elements of all inputs together, beyond which arithmetic without bounds takes too long."""
_BOTH = 2
_MOST_AXES = 8
"""Axes beyond which there are too many ways of reducing some of them."""
_HIGHEST = 1024
"""Exponent beyond which powers without bounds take too long."""


def _power(base: Array, exponent: Array) -> Array:
    if any(not 0 <= int(each) <= _HIGHEST for each in exponent.reshape(-1)):
        raise ValueError("no power that can be computed in integers")
    return np.power(base, exponent)


_ARITHMETIC: Mapping[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "subtract": np.subtract,
    "mul": np.multiply,
    "multiply": np.multiply,
    "pow": _power,
    "power": _power,
    "matmul": np.matmul,
    "mm": np.matmul,
    "bmm": np.matmul,
    "mv": np.matmul,
    "dot": np.dot,
    "vdot": np.vdot,
    "inner": np.inner,
    "outer": np.outer,
    "negative": np.negative,
    "neg": np.negative,
    "abs": np.abs,
    "absolute": np.abs,
    "square": np.square,
}


def _sum_of_squares(values: Array, axis: Any) -> Any:
    return np.sum(values * values, axis=axis)


_REDUCTIONS: Mapping[str, Callable[..., Any]] = {"sum": np.sum, "prod": np.prod, "sumsquare": _sum_of_squares}
_SCANS: Mapping[str, Callable[..., Any]] = {"cumsum": np.cumsum, "cumprod": np.cumprod}


@excuses(
    "integer-overflow",
    r"(?!\w*(shift|bitwise|saturate|qlinear|quantize|cast)|_*(to|type|type_as|astype|as_type|int|long|short|char|copy_)_*$)\w+",
    why=(
        "a result that a signed integer type cannot hold is undefined in C and LLVM: libraries take it modulo the range, "
        "others take the end of the range; the row leaves out operators on bits, which lose the bits that leave the type, "
        "conversions between integers, which keep the low bits, and quantised operators, which must stop at the ends"
    ),
)
def wraps(evidence: Evidence) -> Array:
    """Where the exact result is past the ends of a signed type, and the library gives it modulo the type's range, or an end.

    The exact result is the library's own with wider integers, or, where it keeps to its type, that of arithmetic without bounds which gives
    the library's result modulo the range. Where the wider type has its own end as well, that is what the operator is to give, such as the
    largest of no numbers. In a program, the integers may be on the way to any result.
    """
    narrow = evidence.expected
    if not evidence.instance.kind.behaviour.has_one_operator:
        wide = evidence.exact("int64")
        return evidence.nowhere() if wide is None else (wide != narrow) & ~((wide != wide) & (narrow != narrow))
    if narrow.dtype.kind != "i":
        ends = [np.iinfo(as_array(each).dtype).max for each in evidence.inputs if is_array(each) and as_array(each).dtype.kind == "i"]
        wide = evidence.exact("int64") if ends and narrow.dtype.kind == "f" else None
        return evidence.nowhere() if wide is None else (np.abs(wide) > max(ends)) & ~np.isclose(wide, narrow, rtol=0.1)
    limits, found = np.iinfo(narrow.dtype), evidence.nowhere()
    at_an_end = (narrow == limits.min) | (narrow == limits.max)
    wide = evidence.exact("int64") if narrow.dtype.itemsize < np.dtype(np.int64).itemsize else None
    if wide is not None and wide.dtype.kind == "i":
        widest = np.iinfo(wide.dtype)
        at_an_end &= (wide != widest.min) & (wide != widest.max)
        found = found | (((wide < limits.min) | (wide > limits.max)) & (at_an_end | (wide.astype(narrow.dtype) == narrow)))
    for exact in _unbounded(evidence):
        if exact.size == narrow.size and bool((_modulo(exact, limits) == narrow.reshape(-1)).all()):
            outside = [not limits.min <= int(each) <= limits.max for each in exact.reshape(-1)]
            return found | np.asarray(outside, dtype=bool).reshape(narrow.shape)
    return found


@excuses(
    "integer-overflow",
    r"(reduce_?|segment_)?mean|average",
    libraries=("onnx", "keras", "tensorflow"),
    why=("an implementation may add up in the dtype itself, and a sum that a signed integer type cannot hold is undefined in C and LLVM"),
)
def sum_wraps(evidence: Evidence) -> Array:
    """Everywhere, where the input is of signed integers, and their type cannot hold the sum of their sizes."""
    source = evidence.input
    if source is None or source.dtype.kind != "i":
        return evidence.nowhere()
    return evidence.everywhere(float(np.abs(source.astype(np.float64)).sum()) > np.iinfo(source.dtype).max)


def _modulo(exact: Array, limits: np.iinfo[Any]) -> Array:
    """Integers of any size taken modulo the range of a signed type, one after the other."""
    span = limits.max - limits.min + 1
    return np.asarray([(int(each) - limits.min) % span + limits.min for each in exact.reshape(-1)], dtype=object)


def _unbounded(evidence: Evidence) -> Iterator[Array]:
    """The possible results of the operator in integers without bounds, for each possible choice of axes."""
    arrays = [as_array(value) for value in evidence.inputs if is_array(value)]
    if not arrays or any(array.dtype.kind not in "iu" for array in arrays) or sum(array.size for array in arrays) > _MOST:
        return
    tensors = [array.astype(object) for array in arrays]
    name = evidence.instance.operator.lower().strip("_").removeprefix("reduce").strip("_")
    first, axes = tensors[0], range(tensors[0].ndim)
    compute: Callable[..., Any] | None = _ARITHMETIC.get(name)
    operands = _operands(evidence.instance, tensors)
    if compute is not None and len(operands) <= _BOTH:
        try:
            yield np.asarray(compute(*operands), dtype=object)
        except (TypeError, ValueError):  # too few operands, or of other shapes
            return
    if len(tensors) == 1 and name in _REDUCTIONS and first.ndim <= _MOST_AXES:
        for along in chain.from_iterable(combinations(axes, count) for count in range(len(axes), 0, -1)):
            yield np.asarray(_REDUCTIONS[name](first, axis=along), dtype=object)
    if len(tensors) == 1 and name in _SCANS:
        for axis in axes:
            yield np.asarray(_SCANS[name](first, axis=axis), dtype=object)


def _operands(instance: Instance, arrays: list[Array]) -> list[Array]:
    """The inputs of a call, and the integers among them that are no tensors, in their order."""
    given, found = iter(arrays), list[Array]()
    for argument in instance.call:
        if type(argument.value) is int and not argument.keyword:
            found.append(np.asarray(argument.value, dtype=object))
        elif isinstance(argument.value, Tensor) and (array := next(given, None)) is not None:
            found.append(array)
    return found if next(given, None) is None and len(found) > len(arrays) else arrays
