"""What the registry knows of an operator, and the operators that come with OPERA."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import numpy as np

from opera.arrays import Array, numpy_dtype
from opera.extensions.programs import layouts, windows
from opera.extensions.programs import relations as rel
from opera.extensions.programs.types import NO_ATTRIBUTES, Attributes, IllTyped, TensorType, Type, elements, tensor, tensors_in
from opera.extensions.programs.values import ANY, Bounds, ProgramValue

Array1 = Callable[[Array], Array]
Meaning = Callable[[Sequence[Array], Attributes], ProgramValue]
"""The result of a call, computed by numpy in the dtypes of its arguments."""

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int32", "int64", "uint8")
NUMBERS = (*FLOATS, *INTEGERS)
DTYPES = (*NUMBERS, "bool")
DTYPE_LIST = "does not take"
"""Reason of an operator that does not take the dtype of an argument: these are the dtypes that are generated, a language may have more."""


def _no_settings(target: Type, random: Random) -> Attributes:
    return NO_ATTRIBUTES


@dataclass(frozen=True)
class Operator:
    """An operator, as the generator sees it.

    Attributes:
        name: In the registry.
        relation: Between the types of its arguments and of its result.
        dtypes: Those that its arguments may have, as the relation understands it.
        meaning: Its result.
        needs: What each argument has to be; arguments without an entry may be anything finite.
        settings: Draws the parameters that no type depends on.
        work: Floating-point operations for each element of the largest tensor.
        ordered: Whether its result depends on an order of all elements, which NaN has no place in.
        approximate: Whether compilers compute floating-point results by an approximation, so that even one that the dtype holds exactly may
            be off: quotients by a reciprocal, powers by logarithms.
        cancels: Whether formulas for it add numbers that may cancel, so that its error is relative to its largest argument and not to its
            result: sums, `gelu` as x (1 + erf(x)) / 2.
        printers: How it is written in a language that has no operator of this name: `module:function`, by language. Only the process
            that prints imports it.
    """

    name: str
    relation: rel.Relation
    dtypes: tuple[str, ...]
    meaning: Meaning
    needs: tuple[Bounds, ...] = ()
    settings: Callable[[Type, Random], Attributes] = _no_settings
    work: float = 1.0
    ordered: bool = False
    approximate: bool = False
    cancels: bool = False
    printers: Mapping[str, str] = field(default_factory=dict[str, str])

    def recognises(self, target: Type) -> bool:
        """Whether a call can have the type *target*."""
        return self.relation.recognises(target, self.dtypes)

    def solve(self, target: Type, random: Random) -> rel.Solution:
        """A call that has the type *target*, which is recognised."""
        arguments, attributes = self.relation.solve(target, self.dtypes, random)
        settings = self.settings(target, random)
        return rel.Solution(arguments, {**attributes, **settings} if settings else attributes)

    def sample(self, random: Random, types: Callable[[Random], Type]) -> tuple[rel.Solution, Type] | None:
        """A call and its type, which is one that *types* draws; None if none of 2,000 was recognised."""
        for _ in range(2_000):
            target = types(random)
            if self.recognises(target):
                return self.solve(target, random), target
        return None

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The type of a call; raises `IllTyped` for arguments that the operator does not take."""
        found = self.relation.infer(arguments, attributes)
        subject = tensor(arguments[1 if isinstance(self.relation, rel.Select) else 0])
        if subject.dtype not in self.dtypes:
            raise IllTyped(f"{self.name} {DTYPE_LIST} {subject.dtype}")
        return found

    def compute(self, arguments: Sequence[Array], attributes: Attributes) -> ProgramValue:
        """The result of a call; numpy gives scalars where it has tensors without dimensions."""
        found = self.meaning(arguments, attributes)
        return found if isinstance(found, tuple) else np.asarray(found)

    def need(self, place: int, arguments: Sequence[Type], attributes: Attributes, *, finite: bool = True) -> Bounds:
        """What the argument at *place* has to be.

        Args:
            place: Place of the argument.
            arguments: The types of all arguments.
            attributes: The parameters of the call.
            finite: Whether results have to be finite; without, floating-point arguments may be anything on which a result is specified.
        """
        if isinstance(self.relation, (layouts.Gathering, layouts.ElementGathering)) and place == 1:
            axis = rel.integer(attributes, "axis")
            return Bounds(0, tensor(arguments[0]).shape[axis] - 1)
        need = self.needs[place] if place < len(self.needs) else ANY
        if finite or not is_floating(arguments[place]):
            return need
        converts = isinstance(self.relation, rel.Conversion) and not str(attributes["dtype"]).startswith(_FLOATING)
        return need if converts else FINITE if self.ordered else ANY

    def cost(self, arguments: Sequence[Type], result: Type, attributes: Attributes) -> float:
        """Floating-point operations of a call, estimated from its types."""
        largest = max((elements(each.shape) for kind in (*arguments, result) for each in tensors_in(kind)), default=1)
        if isinstance(self.relation, rel.Product):
            return 2.0 * elements(tensor(result).shape) * tensor(arguments[0]).shape[-1]
        if isinstance(self.relation, (windows.Convolution, windows.Pooling)):
            window = math.prod(rel.integers(attributes, "kernel"))
            channels = tensor(arguments[1]).shape[1] if isinstance(self.relation, windows.Convolution) else 1
            return 2.0 * elements(tensor(result).shape) * window * channels
        return self.work * largest


class Registry:
    """Operators by name, each with a `default` implementation and perhaps others."""

    def __init__(self) -> None:
        self._operators: dict[str, dict[str, Operator]] = {}

    def register(self, operator: Operator, implementation: str = "default") -> None:
        """Adds an implementation.

        Raises:
            ValueError: it is there, or it comes before the operator's default one.
        """
        there = self._operators.setdefault(operator.name, {})
        if implementation in there or (implementation != "default" and "default" not in there):
            if not there:
                del self._operators[operator.name]
            raise ValueError(f"operator {operator.name!r}: {'register its default first' if not there else f'{implementation!r} is there'}")
        there[implementation] = operator

    def names(self) -> tuple[str, ...]:
        """The names of all operators, in order of registration."""
        return tuple(self._operators)

    def get(self, name: str, implementation: str = "default") -> Operator:
        """The operator of this name; raises KeyError for an unknown name."""
        return self._operators[name][implementation]

    def implementations(self, name: str) -> tuple[str, ...]:
        """The implementations of an operator, `default` first."""
        return tuple(self._operators[name])

    def __contains__(self, name: str) -> bool:
        return name in self._operators


def _float(function: Callable[[float], float]) -> Callable[[Array], Array]:
    whole = np.frompyfunc(function, 1, 1)
    return lambda array: np.asarray(whole(array.astype(np.float64)), np.float64).astype(array.dtype)


_erf = _float(math.erf)


def _sigmoid(x: Array) -> Array:
    return (1 / (1 + np.exp(-x.astype(np.float64)))).astype(x.dtype)


def _gelu(x: Array) -> Array:
    return (0.5 * x.astype(np.float64) * (1 + _erf(x.astype(np.float64) / math.sqrt(2)))).astype(x.dtype)


def _gelu_tanh(x: Array) -> Array:
    wide = x.astype(np.float64)
    return (0.5 * wide * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))).astype(x.dtype)


def _selu(x: Array) -> Array:
    wide = x.astype(np.float64)
    alpha, scale = 1.67326319217681884765625, 1.05070102214813232421875
    return (scale * np.where(wide > 0, wide, alpha * np.expm1(np.minimum(wide, 0)))).astype(x.dtype)


def _softplus(x: Array) -> Array:
    return np.logaddexp(np.zeros((), x.dtype), x)


def _one(function: Callable[[Array], Array]) -> Meaning:
    """The meaning of an operator of one argument; the result keeps the dtype."""
    return lambda arguments, _: function(arguments[0]).astype(arguments[0].dtype, copy=False)


def _two(function: Callable[[Array, Array], Array]) -> Meaning:
    return lambda arguments, _: function(arguments[0], arguments[1]).astype(arguments[0].dtype, copy=False)


def _test(function: Callable[..., Array]) -> Meaning:
    return lambda arguments, _: np.asarray(function(*arguments), bool)


SMALL = Bounds(-8, 8)
UNIT = Bounds(-0.9375, 0.9375)
POSITIVE = Bounds(0.125, math.inf)
NOT_ZERO = Bounds(zero=False)
FINITE = Bounds(-sys.float_info.max, sys.float_info.max)
_FLOATING = ("float", "bfloat")


def is_floating(kind: Type) -> bool:
    """Whether *kind* is a tensor of floating-point numbers."""
    return isinstance(kind, TensorType) and kind.dtype.startswith(_FLOATING)


_UNARY: Mapping[str, tuple[Callable[[Array], Array], tuple[str, ...], Bounds]] = {
    "abs": (np.abs, NUMBERS, ANY),
    "negative": (np.negative, (*FLOATS, "int8", "int32", "int64"), ANY),
    "sign": (np.sign, NUMBERS, ANY),
    "exp": (np.exp, FLOATS, SMALL),
    "log": (np.log, FLOATS, POSITIVE),
    "sqrt": (np.sqrt, FLOATS, Bounds(0)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), FLOATS, POSITIVE),
    "reciprocal": (np.reciprocal, FLOATS, NOT_ZERO),
    "square": (np.square, NUMBERS, Bounds(-128, 128)),
    "sin": (np.sin, FLOATS, SMALL),
    "cos": (np.cos, FLOATS, SMALL),
    "tan": (np.tan, FLOATS, Bounds(-1.25, 1.25)),
    "sinh": (np.sinh, FLOATS, SMALL),
    "cosh": (np.cosh, FLOATS, SMALL),
    "tanh": (np.tanh, FLOATS, ANY),
    "asin": (np.arcsin, FLOATS, UNIT),
    "acos": (np.arccos, FLOATS, UNIT),
    "atan": (np.arctan, FLOATS, ANY),
    "asinh": (np.arcsinh, FLOATS, ANY),
    "acosh": (np.arccosh, FLOATS, Bounds(1.0625)),
    "atanh": (np.arctanh, FLOATS, UNIT),
    "erf": (_erf, FLOATS, ANY),
    "sigmoid": (_sigmoid, FLOATS, Bounds(-64, 64)),
    "relu": (lambda x: np.maximum(x, 0), FLOATS, ANY),
    "silu": (lambda x: x * _sigmoid(x), FLOATS, Bounds(-64, 64)),
    "gelu": (_gelu, FLOATS, Bounds(-64, 64)),
    "gelu_tanh": (_gelu_tanh, FLOATS, Bounds(-64, 64)),
    "selu": (_selu, FLOATS, Bounds(-64, 64)),
    "softplus": (_softplus, FLOATS, Bounds(-64, 64)),
    "softsign": (lambda x: x / (1 + np.abs(x)), FLOATS, ANY),
    "hard_swish": (lambda x: x * np.clip(x / 6 + 0.5, 0, 1), FLOATS, ANY),
    "mish": (lambda x: x * np.tanh(_softplus(x)), FLOATS, Bounds(-64, 64)),
    "ceil": (np.ceil, FLOATS, ANY),
    "floor": (np.floor, FLOATS, ANY),
    "round": (np.round, FLOATS, ANY),
    "trunc": (np.trunc, FLOATS, ANY),
    "identity": (lambda x: x, DTYPES, ANY),
    "logical_not": (np.logical_not, ("bool",), ANY),
    "bitwise_not": (np.invert, INTEGERS, ANY),
}
"""Operators of one argument: meaning, dtypes, and what the argument has to be."""

_BINARY: Mapping[str, tuple[Callable[[Array, Array], Array], tuple[str, ...], tuple[Bounds, ...]]] = {
    "add": (np.add, NUMBERS, ()),
    "subtract": (np.subtract, NUMBERS, ()),
    "multiply": (np.multiply, NUMBERS, ()),
    "divide": (np.divide, FLOATS, (ANY, NOT_ZERO)),
    "floor_divide": (np.floor_divide, ("int32", "int64"), (ANY, NOT_ZERO)),
    "floor_mod": (np.mod, ("int32", "int64"), (ANY, NOT_ZERO)),
    "power": (np.power, FLOATS, (Bounds(0.125, 8), Bounds(-3, 3))),
    "maximum": (np.maximum, NUMBERS, ()),
    "minimum": (np.minimum, NUMBERS, ()),
    "atan2": (np.arctan2, FLOATS, (NOT_ZERO, NOT_ZERO)),
    "log_add_exp": (np.logaddexp, FLOATS, (SMALL, SMALL)),
    "bitwise_and": (np.bitwise_and, INTEGERS, ()),
    "bitwise_or": (np.bitwise_or, INTEGERS, ()),
    "bitwise_xor": (np.bitwise_xor, INTEGERS, ()),
    "left_shift": (np.left_shift, ("int32", "int64", "uint8"), (Bounds(0, 127), Bounds(0, 7))),
    "right_shift": (np.right_shift, ("int32", "int64", "uint8"), (Bounds(0, 127), Bounds(0, 7))),
    "logical_and": (np.logical_and, ("bool",), ()),
    "logical_or": (np.logical_or, ("bool",), ()),
    "logical_xor": (np.logical_xor, ("bool",), ()),
}
"""Operators of two arguments that broadcast: meaning, dtypes, and what each argument has to be."""

_COMPARISONS: Mapping[str, tuple[Callable[[Array, Array], Array], tuple[str, ...]]] = {
    "equal": (np.equal, DTYPES),
    "not_equal": (np.not_equal, DTYPES),
    "less": (np.less, NUMBERS),
    "less_equal": (np.less_equal, NUMBERS),
    "greater": (np.greater, NUMBERS),
    "greater_equal": (np.greater_equal, NUMBERS),
}


def _axes(attributes: Attributes) -> tuple[int, ...]:
    return rel.integers(attributes, "axes")


def _reduced(function: Callable[..., Any], before: Array1 | None, after: Array1 | None) -> Meaning:
    def meaning(arguments: Sequence[Array], attributes: Attributes) -> ProgramValue:
        given = arguments[0] if before is None else before(arguments[0])
        found: Array = np.asarray(function(given, axis=_axes(attributes), keepdims=attributes["keepdims"]))
        return (found if after is None else np.asarray(after(found))).astype(arguments[0].dtype, copy=False)

    return meaning


def _located(function: Callable[..., Any]) -> Meaning:
    return lambda arguments, attributes: np.asarray(
        function(arguments[0], axis=attributes["axis"], keepdims=attributes["keepdims"]), np.int64
    )


_WIDE = ("float32", "float64")
_SUMMED = (*_WIDE, "int32", "int64")
_REDUCTIONS: Mapping[str, tuple[Meaning, tuple[str, ...], Bounds]] = {
    "sum": (_reduced(np.sum, None, None), _SUMMED, ANY),
    "mean": (_reduced(np.mean, None, None), _WIDE, ANY),
    "max": (_reduced(np.max, None, None), NUMBERS, ANY),
    "min": (_reduced(np.min, None, None), NUMBERS, ANY),
    "prod": (_reduced(np.prod, None, None), _SUMMED, SMALL),
    "variance": (_reduced(np.var, None, None), _WIDE, ANY),
    "std": (_reduced(np.std, None, None), _WIDE, ANY),
    "sum_square": (_reduced(np.sum, np.square, None), _WIDE, SMALL),
    "l1": (_reduced(np.sum, np.abs, None), _WIDE, ANY),
    "l2": (_reduced(np.sum, np.square, np.sqrt), _WIDE, SMALL),
    "log_sum": (_reduced(np.sum, None, np.log), _WIDE, POSITIVE),
    "log_sum_exp": (_reduced(np.sum, np.exp, np.log), _WIDE, SMALL),
}


def _unless_empty(meaning: Meaning) -> Meaning:
    """*meaning*, which numpy refuses for a tensor without elements: such a tensor stays as it is."""
    return lambda arguments, attributes: meaning(arguments, attributes) if arguments[0].size else arguments[0]


def _softmax(arguments: Sequence[Array], attributes: Attributes) -> Array:
    x, axis = arguments[0], rel.integer(attributes, "axis")
    raised = np.exp(x - x.max(axis=axis, keepdims=True))
    return (raised / raised.sum(axis=axis, keepdims=True)).astype(x.dtype)


def _log_softmax(arguments: Sequence[Array], attributes: Attributes) -> Array:
    x, axis = arguments[0], rel.integer(attributes, "axis")
    shifted = x - x.max(axis=axis, keepdims=True)
    return (shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))).astype(x.dtype)


def _hardmax(arguments: Sequence[Array], attributes: Attributes) -> Array:
    x, axis = arguments[0], rel.integer(attributes, "axis")
    found = np.zeros_like(x)
    np.put_along_axis(found, np.expand_dims(np.argmax(x, axis), axis), 1, axis)
    return found


def _ordered(arguments: Sequence[Array], attributes: Attributes) -> Array:
    found = np.sort(arguments[0], axis=rel.integer(attributes, "axis"))
    return np.flip(found, rel.integer(attributes, "axis")) if attributes["descending"] else found


def _along(function: Callable[..., Array]) -> Meaning:
    return lambda arguments, attributes: np.asarray(function(arguments[0], axis=rel.integer(attributes, "axis"))).astype(
        arguments[0].dtype, copy=False
    )


def _layer_norm(arguments: Sequence[Array], attributes: Attributes) -> Array:
    x, axes = arguments[0], tuple(range(rel.integer(attributes, "axis"), arguments[0].ndim))
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=axes, keepdims=True)
    found = centred / np.sqrt(np.square(centred).mean(axis=axes, keepdims=True) + cast("float", attributes["epsilon"]))
    return (found * arguments[1] + arguments[2]).astype(x.dtype)


def _rms_norm(arguments: Sequence[Array], attributes: Attributes) -> Array:
    x, axes = arguments[0], tuple(range(rel.integer(attributes, "axis"), arguments[0].ndim))
    wide = x.astype(np.float64)
    found = wide / np.sqrt(np.square(wide).mean(axis=axes, keepdims=True) + cast("float", attributes["epsilon"]))
    return (found * arguments[1]).astype(x.dtype)


def _sliced(arguments: Sequence[Array], attributes: Attributes) -> Array:
    parts = (rel.integers(attributes, name) for name in ("begin", "end", "strides"))
    return arguments[0][tuple(slice(*each) for each in zip(*parts, strict=True))]


def _padded(arguments: Sequence[Array], attributes: Attributes) -> Array:
    widths = list(zip(rel.integers(attributes, "before"), rel.integers(attributes, "after"), strict=True))
    return np.pad(arguments[0], widths, constant_values=cast("float", attributes["value"])) if widths else arguments[0]


def _divided(arguments: Sequence[Array], attributes: Attributes) -> ProgramValue:
    cuts = np.cumsum(rel.integers(attributes, "sizes"))[:-1]
    return tuple(np.split(arguments[0], cuts, axis=rel.integer(attributes, "axis")))


def _largest(arguments: Sequence[Array], attributes: Attributes) -> ProgramValue:
    x, axis, number = arguments[0], rel.integer(attributes, "axis"), rel.integer(attributes, "k")
    keys = -x.astype(np.float64) if attributes["largest"] else x
    places = np.take(np.argsort(keys, axis=axis, kind="stable"), np.arange(number), axis=axis)
    return np.take_along_axis(x, places, axis), places.astype(np.int64)


def _triangle(function: Callable[..., Array]) -> Meaning:
    return lambda arguments, attributes: function(arguments[0], k=attributes["k"])


def _epsilon(target: Type, random: Random) -> Attributes:
    return {"epsilon": random.choice((1e-5, 1e-3, 1e-12))}


def _slope(target: Type, random: Random) -> Attributes:
    return {"alpha": random.choice((0.01, 0.25, 1.0))}


def _limits(target: Type, random: Random) -> Attributes:
    return {"low": random.choice((-1, 0)), "high": random.choice((1, 2))}


def _fill(target: Type, random: Random) -> Attributes:
    return {"value": random.choice((0, 0, 1))}


def _order(target: Type, random: Random) -> Attributes:
    return {"descending": random.random() < 0.5}


def _shaped(function: Callable[[Array, tuple[int, ...]], Array], name: str) -> Meaning:
    return lambda arguments, attributes: function(arguments[0], rel.integers(attributes, name))


_APPROXIMATE = frozenset((
    "exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh",
    "atanh", "erf", "sigmoid", "silu", "gelu", "gelu_tanh", "selu", "softplus", "softsign", "hard_swish", "mish", "divide", "power",
    "atan2", "log_add_exp", "mean", "variance", "std", "l2", "log_sum", "log_sum_exp",
))  # fmt: skip
_CANCELLING = frozenset((
    "sinh", "asinh", "acosh", "atanh", "sin", "cos", "tan", "sigmoid", "silu", "gelu", "gelu_tanh", "selu", "softplus", "mish",
    "log_add_exp", "sum", "mean", "variance", "std", "log_sum", "log_sum_exp",
))  # fmt: skip


def alternatives() -> Iterable[tuple[str, Operator]]:
    """Further implementations of these operators, each with its name; they share all but the solver."""
    for spatial in (1, 2):
        yield "same", Operator(f"conv{spatial}d", windows.SameConvolution(spatial), ("float32",), windows.convolution)


def builtin() -> Iterable[Operator]:
    """The operators that come with OPERA."""
    for name, (function, dtypes, need) in _UNARY.items():
        yield Operator(
            name, rel.Elementwise(1), dtypes, _one(function), (need,), approximate=name in _APPROXIMATE, cancels=name in _CANCELLING
        )
    for name, (binary, dtypes, needs) in _BINARY.items():
        yield Operator(name, rel.Elementwise(2), dtypes, _two(binary), needs, approximate=name in _APPROXIMATE, cancels=name in _CANCELLING)
    for name, (comparison, dtypes) in _COMPARISONS.items():
        yield Operator(name, rel.Elementwise(2, "bool"), dtypes, _test(comparison))
    yield Operator("isnan", rel.Elementwise(1, "bool"), FLOATS, _test(np.isnan))
    yield Operator("isinf", rel.Elementwise(1, "bool"), FLOATS, _test(np.isinf))
    yield Operator("isfinite", rel.Elementwise(1, "bool"), FLOATS, _test(np.isfinite))
    yield Operator("leaky_relu", rel.Elementwise(1), FLOATS, _leaky, settings=_slope)
    yield Operator("elu", rel.Elementwise(1), FLOATS, _elu, (Bounds(-64, 64),), settings=_slope, approximate=True, cancels=True)
    yield Operator("celu", rel.Elementwise(1), ("float32",), _celu, (Bounds(-8, 8),), settings=_slope, approximate=True, cancels=True)
    yield Operator("clip", rel.Elementwise(1), (*FLOATS, "int8", "int32", "int64"), _clipped, settings=_limits)
    yield Operator("where", rel.Select(), DTYPES, lambda a, _: np.where(a[0], a[1], a[2]))
    yield Operator("astype", rel.Conversion(), DTYPES, lambda a, k: a[0].astype(numpy_dtype(str(k["dtype"]))), (Bounds(0, 100),))
    for name, (reduction, dtypes, need) in _REDUCTIONS.items():
        yield Operator(
            name, rel.Reduction(), dtypes, reduction, (need,), work=2.0, approximate=name in _APPROXIMATE, cancels=name in _CANCELLING
        )
    for name, locate in (("argmax", np.argmax), ("argmin", np.argmin)):
        yield Operator(name, rel.Reduction("int64", single=True), ("float32", "float64", "int32", "int64"), _located(locate), ordered=True)
    yield Operator("reshape", layouts.Reshape(), DTYPES, _shaped(np.reshape, "shape"))
    yield Operator("broadcast_to", layouts.Broadcast(), DTYPES, _shaped(lambda x, shape: np.broadcast_to(x, shape).copy(), "shape"))
    yield Operator("tile", layouts.Tiling(), DTYPES, _shaped(np.tile, "repeats"))
    yield Operator("permute_dims", layouts.Transposition(), DTYPES, _shaped(np.transpose, "axes"))
    yield Operator("expand_dims", layouts.Unsqueeze(), DTYPES, lambda a, k: np.expand_dims(a[0], rel.integer(k, "axis")))
    yield Operator("squeeze", layouts.Squeeze(), DTYPES, lambda a, k: np.squeeze(a[0], rel.integer(k, "axis")))
    yield Operator("concat", layouts.Concatenation(), DTYPES, lambda a, k: np.concatenate(a, rel.integer(k, "axis")))
    yield Operator("split", layouts.Division(), DTYPES, _divided)
    yield Operator("strided_slice", layouts.Slice(), DTYPES, _sliced)
    yield Operator("pad", layouts.Padding(), ("float32", "float64", "int32", "int64"), _padded, settings=_fill)
    yield Operator("take", layouts.Gathering(), DTYPES, lambda a, k: np.take(a[0], a[1], rel.integer(k, "axis")))
    yield Operator(
        "gather_elements", layouts.ElementGathering(), DTYPES, lambda a, k: np.take_along_axis(a[0], a[1], rel.integer(k, "axis"))
    )
    yield Operator("flip", rel.AlongAxis(), DTYPES, lambda a, k: np.flip(a[0], rel.integer(k, "axis")))
    yield Operator("softmax", rel.AlongAxis(), FLOATS, _unless_empty(_softmax), (Bounds(-64, 64),), work=4.0, approximate=True)
    yield Operator("log_softmax", rel.AlongAxis(), FLOATS, _unless_empty(_log_softmax), (SMALL,), work=5.0, approximate=True, cancels=True)
    yield Operator("hardmax", rel.AlongAxis(), FLOATS, _unless_empty(_hardmax), ordered=True)
    yield Operator("cumsum", rel.AlongAxis(), ("float32", "float64", "int32", "int64"), _along(np.cumsum), cancels=True)
    yield Operator("cumprod", rel.AlongAxis(), ("float32", "float64", "int32", "int64"), _along(np.cumprod), (SMALL,))
    yield Operator("sort", rel.AlongAxis(), ("float32", "float64", "int32", "int64"), _ordered, settings=_order, work=8.0, ordered=True)
    yield Operator("topk", layouts.Largest(), ("float32", "float64", "int32", "int64"), _largest, work=8.0, ordered=True)
    yield Operator("triu", rel.Triangle(), ("float32", "float64", "int32", "int64"), _triangle(np.triu))
    yield Operator("tril", rel.Triangle(), ("float32", "float64", "int32", "int64"), _triangle(np.tril))
    yield Operator("matmul", rel.Product(), ("float32", "float64"), lambda a, _: np.matmul(a[0], a[1]), cancels=True)
    yield Operator(
        "layer_norm",
        rel.Normalisation(),
        ("float32",),
        _unless_empty(_layer_norm),
        settings=_epsilon,
        work=8.0,
        approximate=True,
        cancels=True,
    )
    yield Operator(
        "rms_norm", rel.Normalisation(offset=False), ("float32",), _unless_empty(_rms_norm), settings=_epsilon, work=6.0, approximate=True
    )
    for spatial in (1, 2):
        yield Operator(f"conv{spatial}d", windows.Convolution(spatial), ("float32",), windows.convolution, cancels=True)
        yield Operator(f"max_pool{spatial}d", windows.Pooling(spatial), ("float32",), windows.max_pool, ordered=True)
        yield Operator(f"avg_pool{spatial}d", windows.Pooling(spatial), ("float32",), windows.average_pool, approximate=True, cancels=True)


def _clipped(arguments: Sequence[Array], attributes: Attributes) -> Array:
    return np.clip(arguments[0], rel.integer(attributes, "low"), rel.integer(attributes, "high"))


def _leaky(arguments: Sequence[Array], attributes: Attributes) -> Array:
    x, alpha = arguments[0], cast("float", attributes["alpha"])
    return np.where(x < 0, x * x.dtype.type(alpha), x)


def _elu(arguments: Sequence[Array], attributes: Attributes) -> Array:
    x, alpha = arguments[0], cast("float", attributes["alpha"])
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x).astype(x.dtype)


def _celu(arguments: Sequence[Array], attributes: Attributes) -> Array:
    x, alpha = arguments[0], cast("float", attributes["alpha"])
    return (np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(np.minimum(x, 0) / alpha))).astype(x.dtype)
