"""The operators of programs as operations of StableHLO: one, or a few."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opera.arrays import numpy_dtype
from opera.extensions.programs.templates.stablehlo_lines import PLACES, Lines, Ssa, element, integers, without, written
from opera.extensions.programs.types import TensorType

Write = Callable[[Lines, Sequence[Ssa], Mapping[str, Any]], "Ssa | tuple[Ssa, ...]"]
"""Writes a call of an operator: its arguments, and its parameters."""


def _least(dtype: str) -> float:
    return -math.inf if "float" in dtype else 0 if dtype == "bool" else int(np.iinfo(numpy_dtype(dtype)).min)


def _most(dtype: str) -> float:
    return math.inf if "float" in dtype else 1 if dtype == "bool" else int(np.iinfo(numpy_dtype(dtype)).max)


def _plain(name: str) -> Write:
    return lambda t, a, _: t.op(name, *t.together(*a))


def _one(write: Callable[[Lines, Ssa], Ssa]) -> Write:
    return lambda t, a, _: write(t, a[0])


def _two(write: Callable[[Lines, Ssa, Ssa], Ssa]) -> Write:
    return lambda t, a, _: write(t, *t.together(*a))


def _compared(direction: str) -> Write:
    return _two(lambda t, x, y: t.compare(direction, x, y))


def _abs(t: Lines, x: Ssa) -> Ssa:
    return t.reshape(x, x.type.shape) if x.type.dtype.startswith("uint") else t.op("abs", x)


def _sign(t: Lines, x: Ssa) -> Ssa:
    return t.op("minimum", x, t.like(1, x)) if x.type.dtype.startswith("uint") else t.op("sign", x)


def _asin(t: Lines, x: Ssa) -> Ssa:
    """2 atan2(x, 1 + sqrt(1 - x x))."""
    one = t.like(1, x)
    root = t.op("sqrt", t.op("subtract", one, t.op("multiply", x, x)))
    return t.op("multiply", t.like(2, x), t.op("atan2", x, t.op("add", one, root)))


def _acos(t: Lines, x: Ssa) -> Ssa:
    """2 atan2(sqrt(1 - x x), 1 + x)."""
    one = t.like(1, x)
    root = t.op("sqrt", t.op("subtract", one, t.op("multiply", x, x)))
    return t.op("multiply", t.like(2, x), t.op("atan2", root, t.op("add", one, x)))


def _atanh(t: Lines, x: Ssa) -> Ssa:
    rest = t.op("subtract", t.op("log_plus_one", x), t.op("log_plus_one", t.op("negate", x)))
    return t.op("multiply", t.like(0.5, x), rest)


def _asinh(t: Lines, x: Ssa) -> Ssa:
    """sign(x) log(|x| + sqrt(x x + 1)), where x x is at most the largest number."""
    size = t.op("abs", x)
    root = t.op("sqrt", t.op("add", t.op("multiply", size, size), t.like(1, x)))
    return t.op("multiply", t.op("sign", x), t.op("log", t.op("add", size, root)))


def _acosh(t: Lines, x: Ssa) -> Ssa:
    root = t.op("sqrt", t.op("subtract", t.op("multiply", x, x), t.like(1, x)))
    return t.op("log", t.op("add", x, root))


def _hyperbolic(last: str) -> Write:
    def write(t: Lines, x: Ssa) -> Ssa:
        both = t.op(last, t.op("exponential", x), t.op("exponential", t.op("negate", x)))
        return t.op("multiply", t.like(0.5, x), both)

    return _one(write)


def _silu(t: Lines, x: Ssa) -> Ssa:
    return t.op("multiply", x, t.op("logistic", x))


def _gelu_tanh(t: Lines, x: Ssa) -> Ssa:
    cube = t.op("multiply", t.op("multiply", x, x), x)
    inner = t.op("add", x, t.op("multiply", t.like(0.044715, x), cube))
    raised = t.op("tanh", t.op("multiply", t.like(math.sqrt(2 / math.pi), x), inner))
    return t.op("multiply", t.op("multiply", t.like(0.5, x), x), t.op("add", t.like(1, x), raised))


def _exponential_below_zero(t: Lines, x: Ssa, alpha: float, scale: float = 1.0) -> Ssa:
    """The formula scale x above 0, scale alpha (exp(x) - 1) below."""
    zero = t.like(0, x)
    below = t.op("multiply", t.like(alpha, x), t.op("exponential_minus_one", t.op("minimum", x, zero)))
    chosen = t.select(t.compare("GT", x, zero), x, below)
    return chosen if scale == 1.0 else t.op("multiply", t.like(scale, x), chosen)


def _softplus(t: Lines, x: Ssa) -> Ssa:
    return _log_add_exp(t, x, t.like(0, x))


def _log_add_exp(t: Lines, x: Ssa, y: Ssa) -> Ssa:
    distance = t.op("negate", t.op("abs", t.op("subtract", x, y)))
    return t.op("add", t.op("maximum", x, y), t.op("log_plus_one", t.op("exponential", distance)))


def _hard_swish(t: Lines, x: Ssa) -> Ssa:
    inner = t.op("add", t.op("divide", x, t.like(6, x)), t.like(0.5, x))
    return t.op("multiply", x, t.op("clamp", t.like(0, x), inner, t.like(1, x), result=x.type))


def _trunc(t: Lines, x: Ssa) -> Ssa:
    return t.select(t.compare("LT", x, t.like(0, x)), t.op("ceil", x), t.op("floor", x))


def _floored(t: Lines, x: Ssa, y: Ssa, *, remainder: bool) -> Ssa:
    """Division that rounds down, or what it leaves."""
    zero, rest = t.like(0, x), t.op("remainder", x, y)
    signs = t.op("xor", t.compare("LT", rest, zero), t.compare("LT", y, zero))
    off = t.op("and", t.compare("NE", rest, zero), signs)
    if remainder:
        return t.select(off, t.op("add", rest, y), rest)
    whole = t.op("divide", x, y)
    return t.select(off, t.op("subtract", whole, t.like(1, x)), whole)


def _shifted_right(t: Lines, x: Ssa, y: Ssa) -> Ssa:
    return t.op("shift_right_logical" if x.type.dtype.startswith("uint") else "shift_right_arithmetic", x, y)


def _reduction(combine: str, start: float | None = None) -> Write:
    """A reduction by one operation, from *start* or the end of the dtype."""

    def write(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
        first = start if start is not None else (_least if combine == "maximum" else _most)(a[0].type.dtype)
        return _sized(t, t.reduce(a[0], k["axes"], combine, first), a[0], k)

    return write


def _sized(t: Lines, reduced: Ssa, value: Ssa, k: Mapping[str, Any]) -> Ssa:
    """*reduced* with the axes that went, if they are to stay."""
    axes = k["axes"] if "axes" in k else (k["axis"],)
    if not k["keepdims"]:
        return reduced
    return t.reshape(reduced, [1 if axis in axes else size for axis, size in enumerate(value.type.shape)])


def _sum_of(before: Write | None, after: Write | None, *, mean: bool = False) -> Write:
    def write(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Any:
        value: Any = a[0] if before is None else before(t, a[:1], k)
        found: Any = t.reduce(value, k["axes"], "add", 0)
        if mean:
            found = t.op("divide", found, t.like(math.prod(a[0].type.shape[axis] for axis in k["axes"]), found))
        last: Any = found if after is None else after(t, [found], k)
        return _sized(t, last, a[0], k)

    return write


def _centred(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
    """The squared distance of each element from the mean."""
    mean = t.op("divide", t.kept(a[0], k["axes"], "add", 0), t.like(math.prod(a[0].type.shape[axis] for axis in k["axes"]), a[0]))
    distance = t.op("subtract", a[0], mean)
    return t.op("multiply", distance, distance)


def _located(direction: str) -> Write:
    """The first place of the largest or smallest element."""

    def write(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
        value, axis = a[0], k["axis"]
        dtype = value.type.dtype
        places = t.iota(axis, TensorType(value.type.shape, PLACES))
        first = t.full((_least if direction == "GT" else _most)(dtype), element(dtype))
        e, i = written(element(dtype)), written(element(PLACES))
        body = [
            f"^bb0(%a: {e}, %i: {i}, %b: {e}, %j: {i}):",
            f"  %better = stablehlo.compare {direction}, %a, %b : ({e}, {e}) -> tensor<i1>",
            f"  %same = stablehlo.compare EQ, %a, %b : ({e}, {e}) -> tensor<i1>",
            f"  %before = stablehlo.compare LT, %i, %j : ({i}, {i}) -> tensor<i1>",
            "  %earlier = stablehlo.and %same, %before : tensor<i1>",
            "  %first = stablehlo.or %better, %earlier : tensor<i1>",
            f"  %value = stablehlo.select %first, %a, %b : tensor<i1>, {e}",
            f"  %place = stablehlo.select %first, %i, %j : tensor<i1>, {i}",
            f"  stablehlo.return %value, %place : {e}, {i}",
        ]
        region = "({\n    " + "\n    ".join(body) + "\n    })"
        none = t.full(int(np.iinfo(np.int64).max), element(PLACES))
        less = without(value.type, (axis,))
        operands, results = [value, places, first, none], [less, TensorType(less.shape, PLACES)]
        return _sized(t, t.several("reduce", operands, results, f"dimensions = {integers([axis])}", region)[1], value, k)

    return write


def _tiled(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
    shape = a[0].type.shape
    wide = tuple(part for times, size in zip(k["repeats"], shape, strict=True) for part in (times, size))
    spread = t.spread(a[0], wide, range(1, 2 * len(shape), 2))
    return t.reshape(spread, [times * size for times, size in zip(k["repeats"], shape, strict=True)])


def _transposed(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
    shape = tuple(a[0].type.shape[axis] for axis in k["axes"])
    return t.op("transpose", a[0], result=TensorType(shape, a[0].type.dtype), more=f"permutation = {integers(k['axes'])}")


def _unsqueezed(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
    shape, axis = list(a[0].type.shape), k["axis"]
    shape.insert(axis if axis >= 0 else axis + len(shape) + 1, 1)
    return t.reshape(a[0], shape)


def _squeezed(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
    shape = list(a[0].type.shape)
    del shape[k["axis"]]
    return t.reshape(a[0], shape)


def _joined(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
    shape, axis = list(a[0].type.shape), k["axis"]
    shape[axis] = sum(each.type.shape[axis] for each in a)
    return t.op("concatenate", *a, result=TensorType(tuple(shape), a[0].type.dtype), more=f"dimension = {axis} : i64")


def _part(t: Lines, value: Ssa, begin: Sequence[int], end: Sequence[int], strides: Sequence[int]) -> Ssa:
    shape = tuple(len(range(*each)) for each in zip(begin, end, strides, strict=True))
    more = f"start_indices = {integers(begin)}, limit_indices = {integers(end)}, strides = {integers(strides)}"
    return t.op("slice", value, result=TensorType(shape, value.type.dtype), more=more)


def _range(t: Lines, value: Ssa, axis: int, low: int, high: int) -> Ssa:
    """The places from *low* to before *high* of an axis."""
    begin, end = [0] * len(value.type.shape), list(value.type.shape)
    begin[axis], end[axis] = low, high
    return _part(t, value, begin, end, [1] * len(begin))


def _divided(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> tuple[Ssa, ...]:
    ends = np.cumsum(k["sizes"]).tolist()
    return tuple(_range(t, a[0], k["axis"], end - size, end) for size, end in zip(k["sizes"], ends, strict=True))


def _padded(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
    shape = tuple(low + size + high for low, size, high in zip(k["before"], a[0].type.shape, k["after"], strict=True))
    fill = t.full(k["value"], element(a[0].type.dtype))
    low, high, between = (integers(each) for each in (k["before"], k["after"], [0] * len(shape)))
    more = f"edge_padding_low = {low}, edge_padding_high = {high}, interior_padding = {between}"
    return t.op("pad", a[0], fill, result=TensorType(shape, a[0].type.dtype), more=more)


def _gathered(t: Lines, value: Ssa, places: Ssa, result: tuple[int, ...], sizes: Sequence[int], numbers: str) -> Ssa:
    more = f"dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = {integers(sizes)}, indices_are_sorted = false"
    return t.op("gather", value, places, result=TensorType(result, value.type.dtype), more=more)


def _taken(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
    value, places, axis = a[0], a[1], k["axis"]
    shape, rank = value.type.shape, len(places.type.shape)
    kept = [*range(axis), *range(axis + rank, len(shape) - 1 + rank)]
    numbers = f"offset_dims = {kept}, collapsed_slice_dims = [{axis}], start_index_map = [{axis}], index_vector_dim = {rank}"
    sizes = [1 if index == axis else size for index, size in enumerate(shape)]
    return _gathered(t, value, places, (*shape[:axis], *places.type.shape, *shape[axis + 1 :]), sizes, numbers)


def _gathered_elements(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
    """Each element by all its places: those of the axis are given, the others are counted."""
    value, given, axis = a[0], t.convert(a[1], PLACES), k["axis"]
    shape, rank = given.type.shape, len(given.type.shape)
    parts = [given if each == axis else t.iota(each, TensorType(shape, PLACES)) for each in range(rank)]
    places = _joined(t, [t.reshape(each, [*shape, 1]) for each in parts], {"axis": rank})
    all_of = list(range(rank))
    numbers = f"collapsed_slice_dims = {all_of}, start_index_map = {all_of}, index_vector_dim = {rank}"
    return _gathered(t, value, places, shape, [1] * rank, numbers)


def _softmax(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
    shifted = t.op("subtract", a[0], t.kept(a[0], [k["axis"]], "maximum", -math.inf))
    raised = t.op("exponential", shifted)
    return t.op("divide", raised, t.kept(raised, [k["axis"]], "add", 0))


def _log_softmax(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
    shifted = t.op("subtract", a[0], t.kept(a[0], [k["axis"]], "maximum", -math.inf))
    return t.op("subtract", shifted, t.op("log", t.kept(t.op("exponential", shifted), [k["axis"]], "add", 0)))


def _window(sizes: Sequence[int], padding: Sequence[tuple[int, int]], strides: Sequence[int] = ()) -> str:
    steps = f", window_strides = {integers(strides)}" if len(strides) else ""
    pairs = ", ".join(f"[{low}, {high}]" for low, high in padding)
    return f"window_dimensions = {integers(sizes)}{steps}, padding = dense<[{pairs}]> : tensor<{len(sizes)}x2xi64>"


def _accumulated(combine: str, start: float) -> Write:
    """A sum or product up to each place, as a window that reaches back to the first."""

    def write(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
        reach = [max(size, 1) if axis == k["axis"] else 1 for axis, size in enumerate(a[0].type.shape)]
        return t.window(a[0], a[0].type, combine, start, _window(reach, [(size - 1, 0) for size in reach]))

    return write


def _sorted(t: Lines, values: Sequence[Ssa], axis: int, direction: str) -> tuple[Ssa, ...]:
    """*values* in the order of the first of them; equal ones stay in order."""
    scalars = [written(element(each.type.dtype)) for each in values]
    given = ", ".join(f"%a{index}: {each}, %b{index}: {each}" for index, each in enumerate(scalars))
    test = f"%c = stablehlo.compare {direction}, %a0, %b0 : ({scalars[0]}, {scalars[0]}) -> tensor<i1>"
    region = f"({{\n    ^bb0({given}):\n      {test}\n      stablehlo.return %c : tensor<i1>\n    }})"
    return t.several("sort", values, [each.type for each in values], f"dimension = {axis} : i64, is_stable = true", region)


def _largest(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> tuple[Ssa, ...]:
    axis = k["axis"]
    places = t.iota(axis, TensorType(a[0].type.shape, PLACES))
    found = _sorted(t, [a[0], places], axis, "GT" if k["largest"] else "LT")
    return tuple(_range(t, each, axis, 0, k["k"]) for each in found)


def _triangle(direction: str) -> Write:
    """The elements whose column compares to their row plus `k` in this way; 0 elsewhere."""

    def write(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
        kind = TensorType(a[0].type.shape, PLACES)
        rows, columns = (t.iota(len(kind.shape) - back, kind) for back in (2, 1))
        kept = t.compare(direction, columns, t.op("add", rows, t.full(k["k"], kind)))
        return t.select(kept, a[0], t.like(0, a[0]))

    return write


def _product(t: Lines, a: Sequence[Ssa], _: Mapping[str, Any]) -> Ssa:
    batch = np.broadcast_shapes(*(each.type.shape[:-2] for each in a))
    left, right = (t.spread(each, (*batch, *each.type.shape[-2:])) for each in a)
    number, batches = len(batch), list(range(len(batch)))
    numbers = (
        f"lhs_batching_dimensions = {batches}, rhs_batching_dimensions = {batches}, "
        f"lhs_contracting_dimensions = [{number + 1}], rhs_contracting_dimensions = [{number}]"
    )
    shape = (*batch, left.type.shape[-2], right.type.shape[-1])
    more = f"dot_dimension_numbers = #stablehlo.dot<{numbers}>"
    return t.op("dot_general", left, right, result=TensorType(shape, left.type.dtype), more=more)


def _normalised(*, offset: bool) -> Write:
    def write(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
        x, shape = a[0], a[0].type.shape
        axes = list(range(k["axis"], len(shape)))
        size = t.like(math.prod(shape[k["axis"] :]), x)
        centred = t.op("subtract", x, t.op("divide", t.kept(x, axes, "add", 0), size)) if offset else x
        variance = t.op("divide", t.kept(t.op("multiply", centred, centred), axes, "add", 0), size)
        found = t.op("multiply", centred, t.op("rsqrt", t.op("add", variance, t.like(k["epsilon"], x))))
        found = t.op("multiply", found, t.spread(a[1], shape))
        return t.op("add", found, t.spread(a[2], shape)) if offset else found

    return write


def _slid(shape: Sequence[int], k: Mapping[str, Any]) -> tuple[int, ...]:
    windows = zip(shape, k["kernel"], k["strides"], k["padding"], k["dilations"], strict=True)
    return tuple((size + 2 * pad - step * (width - 1) - 1) // stride + 1 for size, width, stride, pad, step in windows)


def _convolved(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
    data, weight = a
    spatial = list(range(len(data.type.shape) - 2))
    places = ", ".join(map(str, spatial))
    numbers = f"[b, f, {places}]x[o, i, {places}]->[b, f, {places}]"
    pairs = ", ".join(f"[{each}, {each}]" for each in k["padding"])
    more = (
        f"window_strides = {integers(k['strides'])}, padding = dense<[{pairs}]> : tensor<{len(spatial)}x2xi64>, "
        f"rhs_dilation = {integers(k['dilations'])}, dimension_numbers = #stablehlo.conv<{numbers}>, "
        f"feature_group_count = {k['groups']} : i64, batch_group_count = 1 : i64"
    )
    shape = (data.type.shape[0], weight.type.shape[0], *_slid(data.type.shape[2:], k))
    return t.op("convolution", data, weight, result=TensorType(shape, data.type.dtype), more=more)


def _pooled(combine: str, start: float) -> Write:
    def write(t: Lines, a: Sequence[Ssa], k: Mapping[str, Any]) -> Ssa:
        shape = a[0].type.shape
        result = TensorType((*shape[:2], *_slid(shape[2:], k)), a[0].type.dtype)
        padding = [(0, 0), (0, 0), *((each, each) for each in k["padding"])]
        dilations = f", window_dilations = {integers([1, 1, *k['dilations']])}"
        window = _window([1, 1, *k["kernel"]], padding, [1, 1, *k["strides"]])
        found = t.window(a[0], result, combine, start, window + dilations)
        return found if combine == "maximum" else t.op("divide", found, t.like(math.prod(k["kernel"]), found))

    return write


_SAME = {
    "negative": "negate", "exp": "exponential", "log": "log", "sqrt": "sqrt", "rsqrt": "rsqrt", "sin": "sine", "cos": "cosine",
    "tan": "tan", "tanh": "tanh", "sigmoid": "logistic", "ceil": "ceil", "floor": "floor", "round": "round_nearest_even",
    "logical_not": "not", "bitwise_not": "not", "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide",
    "power": "power", "maximum": "maximum", "minimum": "minimum", "atan2": "atan2", "bitwise_and": "and", "bitwise_or": "or",
    "bitwise_xor": "xor", "logical_and": "and", "logical_or": "or", "logical_xor": "xor", "left_shift": "shift_left",
}  # fmt: skip
"""Operators that are one operation of StableHLO."""

WRITE: Mapping[str, Write] = {
    **{name: _plain(other) for name, other in _SAME.items()},
    "abs": _one(_abs),
    "sign": _one(_sign),
    "reciprocal": _one(lambda t, x: t.op("divide", t.like(1, x), x)),
    "square": _one(lambda t, x: t.op("multiply", x, x)),
    "sinh": _hyperbolic("subtract"),
    "cosh": _hyperbolic("add"),
    "asin": _one(_asin),
    "acos": _one(_acos),
    "atan": _one(lambda t, x: t.op("atan2", x, t.like(1, x))),
    "asinh": _one(_asinh),
    "acosh": _one(_acosh),
    "atanh": _one(_atanh),
    "relu": _one(lambda t, x: t.op("maximum", x, t.like(0, x))),
    "silu": _one(_silu),
    "gelu_tanh": _one(_gelu_tanh),
    "selu": _one(lambda t, x: _exponential_below_zero(t, x, 1.67326319217681884765625, 1.05070102214813232421875)),
    "elu": lambda t, a, k: _exponential_below_zero(t, a[0], k["alpha"]),
    "leaky_relu": lambda t, a, k: t.select(t.compare("LT", a[0], t.like(0, a[0])), t.op("multiply", a[0], t.like(k["alpha"], a[0])), a[0]),
    "softplus": _one(_softplus),
    "log_add_exp": _two(_log_add_exp),
    "softsign": _one(lambda t, x: t.op("divide", x, t.op("add", t.like(1, x), t.op("abs", x)))),
    "hard_swish": _one(_hard_swish),
    "mish": _one(lambda t, x: t.op("multiply", x, t.op("tanh", _softplus(t, x)))),
    "trunc": _one(_trunc),
    "identity": _one(lambda t, x: t.reshape(x, x.type.shape)),
    "floor_divide": _two(lambda t, x, y: _floored(t, x, y, remainder=False)),
    "floor_mod": _two(lambda t, x, y: _floored(t, x, y, remainder=True)),
    "right_shift": _two(_shifted_right),
    "equal": _compared("EQ"),
    "not_equal": _compared("NE"),
    "less": _compared("LT"),
    "less_equal": _compared("LE"),
    "greater": _compared("GT"),
    "greater_equal": _compared("GE"),
    "isnan": _one(lambda t, x: t.compare("NE", x, x)),
    "isinf": _one(lambda t, x: t.compare("EQ", t.op("abs", x), t.like(math.inf, x))),
    "isfinite": _one(lambda t, x: t.op("is_finite", x, result=TensorType(x.type.shape, "bool"))),
    "clip": lambda t, a, k: t.op("clamp", t.like(k["low"], a[0]), a[0], t.like(k["high"], a[0]), result=a[0].type),
    "where": lambda t, a, _: t.select(*t.together(*a)),
    "astype": lambda t, a, k: t.convert(a[0], k["dtype"]),
    "sum": _reduction("add", 0),
    "prod": _reduction("multiply", 1),
    "max": _reduction("maximum"),
    "min": _reduction("minimum"),
    "mean": _sum_of(None, None, mean=True),
    "variance": _sum_of(_centred, None, mean=True),
    "std": _sum_of(_centred, _plain("sqrt"), mean=True),
    "sum_square": _sum_of(_one(lambda t, x: t.op("multiply", x, x)), None),
    "l1": _sum_of(_plain("abs"), None),
    "l2": _sum_of(_one(lambda t, x: t.op("multiply", x, x)), _plain("sqrt")),
    "log_sum": _sum_of(None, _plain("log")),
    "log_sum_exp": _sum_of(_plain("exponential"), _plain("log")),
    "argmax": _located("GT"),
    "argmin": _located("LT"),
    "reshape": lambda t, a, k: t.reshape(a[0], k["shape"]),
    "broadcast_to": lambda t, a, k: t.spread(a[0], tuple(k["shape"])),
    "tile": _tiled,
    "permute_dims": _transposed,
    "expand_dims": _unsqueezed,
    "squeeze": _squeezed,
    "concat": _joined,
    "split": _divided,
    "strided_slice": lambda t, a, k: _part(t, a[0], k["begin"], k["end"], k["strides"]),
    "pad": _padded,
    "take": _taken,
    "gather_elements": _gathered_elements,
    "flip": lambda t, a, k: t.op("reverse", a[0], more=f"dimensions = {integers([k['axis']])}"),
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "cumsum": _accumulated("add", 0),
    "cumprod": _accumulated("multiply", 1),
    "sort": lambda t, a, k: _sorted(t, a[:1], k["axis"], "GT" if k["descending"] else "LT")[0],
    "topk": _largest,
    "triu": _triangle("GE"),
    "tril": _triangle("LE"),
    "matmul": _product,
    "layer_norm": _normalised(offset=True),
    "rms_norm": _normalised(offset=False),
    **dict.fromkeys(("conv1d", "conv2d"), _convolved),
    **dict.fromkeys(("max_pool1d", "max_pool2d"), _pooled("maximum", -math.inf)),
    **dict.fromkeys(("avg_pool1d", "avg_pool2d"), _pooled("add", 0)),
}
"""The operators that StableHLO has, or that a few of its operations are."""
