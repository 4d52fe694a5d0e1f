"""Prints `program/1` as a module of Relax, TVM's language of graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tvm
import tvm.relax

from opera.programs.languages import own_printer
from opera.programs.program import Binding, Block, Call, Constant, Function, If, Invoke, Program, Projection, Tuple
from opera.programs.types import TensorType, Type, tensor
from opera.programs.values import to_array

relax: Any = tvm.relax
op = relax.op
Build = Callable[[Sequence[Any], Mapping[str, Any]], Any]
"""The expression of a call: its arguments, and its parameters."""
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


def _pooled(function: Callable[..., Any]) -> Build:
    return lambda a, k: function(a[0], list(k["kernel"]), **_window(k))


def _convolved(function: Callable[..., Any]) -> Build:
    return lambda a, k: function(a[0], a[1], **_window(k), groups=k["groups"])


def _reduction(function: Callable[..., Any]) -> Build:
    return lambda a, k: function(a[0], list(k["axes"]), keepdims=bool(k["keepdims"]))


def _sliced(arguments: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    begin, end, strides = (list(attributes[name]) for name in ("begin", "end", "strides"))
    return op.strided_slice(arguments[0], list(range(len(begin))), begin, end, strides)


def _divided(arguments: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    cuts: list[int] = []
    for size in attributes["sizes"][:-1]:
        cuts.append(size + (cuts[-1] if cuts else 0))
    return op.split(arguments[0], cuts, attributes["axis"])


def _padded(arguments: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
    before, after = (attributes[name] for name in ("before", "after"))
    widths = [each for pair in zip(before, after, strict=True) for each in pair]
    return op.nn.pad(arguments[0], widths, "constant", float(attributes["value"]))


def _last_axes(arguments: Sequence[Any], attributes: Mapping[str, Any]) -> list[int]:
    return list(range(attributes["axis"], len(arguments[0].ty.shape)))


BUILD: Mapping[str, Build] = {
    **{name: (lambda function: lambda a, _: function(*a))(getattr(op, name)) for name in PLAIN},
    **{name: (lambda function: lambda a, _: function(a[0]))(getattr(op.nn, name)) for name in NEURAL},
    **{name: _reduction(getattr(op, name)) for name in REDUCED},
    "leaky_relu": lambda a, k: op.nn.leakyrelu(a[0], k["alpha"]),
    "clip": lambda a, k: op.clip(a[0], k["low"], k["high"]),
    "astype": lambda a, k: op.astype(a[0], k["dtype"]),
    "argmax": lambda a, k: op.astype(op.argmax(a[0], k["axis"], bool(k["keepdims"])), "int64"),
    "argmin": lambda a, k: op.astype(op.argmin(a[0], k["axis"], bool(k["keepdims"])), "int64"),
    "reshape": lambda a, k: op.reshape(a[0], k["shape"]),
    "broadcast_to": lambda a, k: op.broadcast_to(a[0], k["shape"]),
    "tile": lambda a, k: op.tile(a[0], list(k["repeats"])),
    "permute_dims": lambda a, k: op.permute_dims(a[0], list(k["axes"])),
    "expand_dims": lambda a, k: op.expand_dims(a[0], k["axis"]),
    "squeeze": lambda a, k: op.squeeze(a[0], k["axis"]),
    "concat": lambda a, k: op.concat(list(a), k["axis"]),
    "split": _divided,
    "strided_slice": _sliced,
    "pad": _padded,
    "take": lambda a, k: op.take(a[0], a[1], k["axis"]),
    "gather_elements": lambda a, k: op.gather_elements(a[0], a[1], k["axis"]),
    "flip": lambda a, k: op.flip(a[0], k["axis"]),
    "softmax": lambda a, k: op.nn.softmax(a[0], k["axis"]),
    "log_softmax": lambda a, k: op.nn.log_softmax(a[0], k["axis"]),
    "cumsum": lambda a, k: op.cumsum(a[0], k["axis"]),
    "cumprod": lambda a, k: op.cumprod(a[0], k["axis"]),
    "sort": lambda a, k: op.sort(a[0], k["axis"], bool(k["descending"])),
    "topk": lambda a, k: op.topk(a[0], k["k"], k["axis"], "both", bool(k["largest"]), "int64"),
    "triu": lambda a, k: op.triu(a[0], k["k"]),
    "tril": lambda a, k: op.tril(a[0], k["k"]),
    "layer_norm": lambda a, k: op.nn.layer_norm(*a, _last_axes(a, k), k["epsilon"]),
    "rms_norm": lambda a, k: op.nn.rms_norm(*a, _last_axes(a, k), k["epsilon"]),
    "conv1d": _convolved(op.nn.conv1d),
    "conv2d": _convolved(op.nn.conv2d),
    "max_pool1d": _pooled(op.nn.max_pool1d),
    "max_pool2d": _pooled(op.nn.max_pool2d),
    "avg_pool1d": _pooled(op.nn.avg_pool1d),
    "avg_pool2d": _pooled(op.nn.avg_pool2d),
}
"""The operators that Relax has."""


def module_of(program: Program) -> tvm.IRModule:
    """The module of *program*; its functions have the names of the program's."""
    builder = relax.BlockBuilder()
    known: dict[str, Any] = {}
    for function in program.functions:
        known[function.name] = _Printer(builder, known).function(function)
    return builder.finalize()


def _type(kind: Type) -> Any:
    if isinstance(kind, TensorType):
        return relax.TensorType(kind.shape, kind.dtype)
    return relax.TupleType([_type(each) for each in kind.fields])


class _Printer:
    """Prints one function."""

    def __init__(self, builder: Any, known: Mapping[str, Any]) -> None:
        self._builder = builder
        self._known = known

    def function(self, function: Function) -> Any:
        """Adds *function* to the module; what calls it names."""
        parameters = [relax.Var(each.name, _type(each.type)) for each in function.parameters]
        variables = {each.name: variable for each, variable in zip(function.parameters, parameters, strict=True)}
        with self._builder.function(function.name, parameters):
            if function.body.dataflow:
                with self._builder.dataflow():
                    result = self._builder.emit_output(self._block(function.body, variables))
            else:
                result = self._block(function.body, variables)
            self._builder.emit_func_output(result)
        return next(each for each in self._builder.get().get_global_vars() if each.name_hint == function.name)

    def _block(self, block: Block, outer: Mapping[str, Any]) -> Any:
        variables = dict(outer)
        for binding in block.bindings:
            variables[binding.name] = self._binding(binding, variables)
        return variables[block.result]

    def _binding(self, binding: Binding, variables: Mapping[str, Any]) -> Any:
        match binding.value:
            case Call(operator, arguments, attributes):
                build = BUILD.get(operator) or own_printer(operator, "relax")
                return self._builder.emit(build([variables[each] for each in arguments], attributes))
            case Constant(literal):
                return relax.const(to_array(literal), tensor(binding.type).dtype)
            case Tuple(parts):
                return self._builder.emit(relax.Tuple([variables[each] for each in parts]))
            case Projection(source, index):
                return self._builder.emit(relax.TupleGetItem(variables[source], index))
            case If(condition, then, otherwise):
                branches = [self._branch(each, variables) for each in (then, otherwise)]
                return self._builder.emit(relax.If(variables[condition], *branches))
            case Invoke(function, arguments):
                return self._builder.emit(relax.Call(self._known[function], [variables[each] for each in arguments]))

    def _branch(self, block: Block, variables: Mapping[str, Any]) -> Any:
        self._builder._begin_binding_block()
        self._builder.begin_scope()
        result = self._block(block, variables)
        made = self._builder._end_block()
        self._builder.end_scope()
        return self._builder.normalize(relax.SeqExpr([made], result))
