"""How Relax writes each operator: for TVM's builder, and for the source of a script. The module does not import TVM."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Build = Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]
"""The expression of a call: the namespace `relax.op` or what writes its source, the arguments, and the parameters."""
PLAIN = (
    "abs", "sign", "negative", "exp", "log", "sqrt", "rsqrt", "square", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan",
    "asinh", "acosh", "atanh", "erf", "sigmoid", "ceil", "floor", "round", "trunc", "logical_not", "bitwise_not", "add", "subtract",
    "multiply", "divide", "floor_divide", "floor_mod", "power", "maximum", "minimum", "atan2", "log_add_exp", "bitwise_and", "bitwise_or",
    "bitwise_xor", "left_shift", "right_shift", "logical_and", "logical_or", "logical_xor", "equal", "not_equal", "less", "less_equal",
    "greater", "greater_equal", "isnan", "isinf", "isfinite", "where", "matmul",
)  # fmt: skip
NEURAL = ("relu", "silu", "gelu", "gelu_tanh", "selu", "softplus")
REDUCED = ("sum", "mean", "max", "min", "prod", "variance", "std")


def _window(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(attributes[key]) for name, key in (("strides", "strides"), ("padding", "padding"), ("dilation", "dilations"))}


def _pooled(name: str, **settings: bool) -> Build:
    return lambda op, a, k: getattr(op.nn, name)(a[0], list(k["kernel"]), **_window(k), **settings)


def _convolved(name: str) -> Build:
    return lambda op, a, k: getattr(op.nn, name)(a[0], a[1], **_window(k), groups=k["groups"])


def _plain(name: str) -> Build:
    return lambda op, a, _: getattr(op, name)(*a)


def _neural(name: str) -> Build:
    return lambda op, a, _: getattr(op.nn, name)(a[0])


def _reduction(name: str) -> Build:
    return lambda op, a, k: getattr(op, name)(a[0], list(k["axes"]), keepdims=bool(k["keepdims"]))


def _sliced(op: Any, arguments: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    begin, end, strides = (list(attributes[name]) for name in ("begin", "end", "strides"))
    return op.strided_slice(arguments[0], list(range(len(begin))), begin, end, strides)


def _divided(op: Any, arguments: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    cuts: list[int] = []
    for size in attributes["sizes"][:-1]:
        cuts.append(size + (cuts[-1] if cuts else 0))
    return op.split(arguments[0], cuts, attributes["axis"])


def _padded(op: Any, arguments: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    before, after = (attributes[name] for name in ("before", "after"))
    widths = [each for pair in zip(before, after, strict=True) for each in pair]
    return op.nn.pad(arguments[0], widths, "constant", float(attributes["value"]))


def _last_axes(arguments: Sequence[Any], attributes: Mapping[str, Any]) -> list[int]:
    return list(range(attributes["axis"], len(arguments[0].ty.shape)))


BUILD: Mapping[str, Build] = {
    **{name: _plain(name) for name in PLAIN},
    **{name: _neural(name) for name in NEURAL},
    **{name: _reduction(name) for name in REDUCED},
    "leaky_relu": lambda op, a, k: op.nn.leakyrelu(a[0], k["alpha"]),
    "clip": lambda op, a, k: op.clip(a[0], k["low"], k["high"]),
    "astype": lambda op, a, k: op.astype(a[0], k["dtype"]),
    "argmax": lambda op, a, k: op.astype(op.argmax(a[0], k["axis"], bool(k["keepdims"])), "int64"),
    "argmin": lambda op, a, k: op.astype(op.argmin(a[0], k["axis"], bool(k["keepdims"])), "int64"),
    "reshape": lambda op, a, k: op.reshape(a[0], k["shape"]),
    "broadcast_to": lambda op, a, k: op.broadcast_to(a[0], k["shape"]),
    "tile": lambda op, a, k: op.tile(a[0], list(k["repeats"])),
    "permute_dims": lambda op, a, k: op.permute_dims(a[0], list(k["axes"])),
    "expand_dims": lambda op, a, k: op.expand_dims(a[0], k["axis"]),
    "squeeze": lambda op, a, k: op.squeeze(a[0], k["axis"]),
    "concat": lambda op, a, k: op.concat(list(a), k["axis"]),
    "split": _divided,
    "strided_slice": _sliced,
    "pad": _padded,
    "take": lambda op, a, k: op.take(a[0], a[1], k["axis"]),
    "gather_elements": lambda op, a, k: op.gather_elements(a[0], a[1], k["axis"]),
    "flip": lambda op, a, k: op.flip(a[0], k["axis"]),
    "softmax": lambda op, a, k: op.nn.softmax(a[0], k["axis"]),
    "log_softmax": lambda op, a, k: op.nn.log_softmax(a[0], k["axis"]),
    "cumsum": lambda op, a, k: op.cumsum(a[0], k["axis"]),
    "cumprod": lambda op, a, k: op.cumprod(a[0], k["axis"]),
    "sort": lambda op, a, k: op.sort(a[0], k["axis"], bool(k["descending"])),
    "topk": lambda op, a, k: op.topk(a[0], k["k"], k["axis"], "both", bool(k["largest"]), "int64"),
    "triu": lambda op, a, k: op.triu(a[0], k["k"]),
    "tril": lambda op, a, k: op.tril(a[0], k["k"]),
    "layer_norm": lambda op, a, k: op.nn.layer_norm(*a, _last_axes(a, k), k["epsilon"]),
    "rms_norm": lambda op, a, k: op.nn.rms_norm(*a, _last_axes(a, k), k["epsilon"]),
    "conv1d": _convolved("conv1d"),
    "conv2d": _convolved("conv2d"),
    "max_pool1d": _pooled("max_pool1d"),
    "max_pool2d": _pooled("max_pool2d"),
    "avg_pool1d": _pooled("avg_pool1d", count_include_pad=True),
    "avg_pool2d": _pooled("avg_pool2d", count_include_pad=True),
}
"""The operators that Relax has."""
