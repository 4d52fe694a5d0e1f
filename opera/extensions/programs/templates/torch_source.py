"""`program/1` as a module of PyTorch in plain calls of `torch`. The module does not import PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from opera.arrays import Array, Outputs
from opera.extensions.programs.languages import Unwritable
from opera.extensions.programs.program import (
    Binding,
    Block,
    Call,
    Constant,
    If,
    Invoke,
    Program,
    Projection,
    Tuple,
    bindings,
    read_by,
)
from opera.extensions.programs.types import TensorType, Type, tensor
from opera.extensions.programs.values import to_array
from opera.instance.values import DTYPE_BITS
from opera.models.template import PythonSource
from opera.templates.python_text import array_text, imports_of, listed, number_text, value_text

Write = Callable[[Sequence[str], Mapping[str, Any], Sequence[TensorType]], str]
"""The text of a call: the names of its arguments, its parameters, and the types of its arguments."""
_PLAIN = (
    "abs", "negative", "sign", "exp", "log", "sqrt", "rsqrt", "reciprocal", "square", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin",
    "acos", "atan", "asinh", "acosh", "atanh", "erf", "sigmoid", "ceil", "floor", "round", "trunc", "logical_not", "bitwise_not", "add",
    "subtract", "multiply", "divide", "floor_divide", "maximum", "minimum", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor",
    "logical_and", "logical_or", "logical_xor", "less", "less_equal", "greater", "greater_equal", "not_equal", "isnan", "isinf", "isfinite",
    "where", "matmul",
)  # fmt: skip
"""Operators that `torch` has under the same name."""
_RENAMED = {
    "power": "pow", "log_add_exp": "logaddexp", "floor_mod": "remainder", "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift", "equal": "eq", "identity": "clone",
}  # fmt: skip
_NEURAL = ("relu", "silu", "selu", "softplus", "softsign", "mish")


def _function(name: str) -> Write:
    return lambda a, _, __: f"torch.{name}({', '.join(a)})"


def _neural(name: str) -> Write:
    return lambda a, _, __: f"torch.nn.functional.{name}({a[0]})"


def _reduced(pattern: str) -> Write:
    """An operator whose call is *pattern* with `x`, `dim`, `keep` and `dtype`; reduction over no axis is one over a new axis."""

    def write(a: Sequence[str], k: Mapping[str, Any], types: Sequence[TensorType]) -> str:
        axes, keep = tuple(k["axes"]), bool(k["keepdims"])
        given, dim, keep = (a[0], axes, keep) if axes else (f"{a[0]}.unsqueeze(0)", (0,), False)
        return pattern.format(x=given, dim=list(dim), keep=keep, dtype=f"torch.{types[0].dtype}")

    return write


def _product(a: Sequence[str], k: Mapping[str, Any], types: Sequence[TensorType]) -> str:
    """`torch.prod` takes one axis."""
    found = a[0]
    for axis in sorted(k["axes"], reverse=True):
        found = f"torch.prod({found}, {axis}, {bool(k['keepdims'])}, dtype=torch.{types[0].dtype})"
    return found if k["axes"] else f"torch.clone({a[0]})"


def _located(name: str) -> Write:
    return lambda a, k, _: f"torch.{name}({a[0]}, {k['axis']}, {bool(k['keepdims'])})"


def _along(name: str) -> Write:
    return lambda a, k, types: f"torch.{name}({a[0]}, {k['axis']}, dtype=torch.{types[0].dtype})"


def _sliced(a: Sequence[str], k: Mapping[str, Any], _: Sequence[TensorType]) -> str:
    parts = [f"{low}:{high}:{step}" for low, high, step in zip(k["begin"], k["end"], k["strides"], strict=True)]
    return f"{a[0]}[{', '.join(parts)}]" if parts else f"torch.clone({a[0]})"


def _padded(a: Sequence[str], k: Mapping[str, Any], _: Sequence[TensorType]) -> str:
    widths = [each for pair in reversed(list(zip(k["before"], k["after"], strict=True))) for each in pair]
    return f"torch.nn.functional.pad({a[0]}, {widths}, value={number_text(k['value'])})"


def _taken(a: Sequence[str], k: Mapping[str, Any], types: Sequence[TensorType]) -> str:
    return f"{a[0]}[{':, ' * k['axis']}{_index(a[1], types[1])}]"


def _index(name: str, kind: TensorType) -> str:
    return name if kind.dtype == "int64" else f"{name}.to(torch.int64)"


def _normalised(name: str) -> Write:
    def write(a: Sequence[str], k: Mapping[str, Any], types: Sequence[TensorType]) -> str:
        more = ", ".join((f"{list(types[0].shape[k['axis'] :])}", *a[1:]))
        return f"torch.nn.functional.{name}({a[0]}, {more}, eps={number_text(k['epsilon'])})"

    return write


def _convolved(a: Sequence[str], k: Mapping[str, Any], types: Sequence[TensorType]) -> str:
    window = ", ".join(f"{name}={list(k[key])}" for name, key in (("stride", "strides"), ("padding", "padding"), ("dilation", "dilations")))
    return f"torch.nn.functional.conv{len(types[0].shape) - 2}d({a[0]}, {a[1]}, {window}, groups={k['groups']})"


def _pooled(a: Sequence[str], k: Mapping[str, Any], types: Sequence[TensorType], name: str) -> str:
    window = f"{list(k['kernel'])}, stride={list(k['strides'])}, padding={list(k['padding'])}"
    if name == "max":
        window += f", dilation={list(k['dilations'])}"
    elif set(k["dilations"]) - {1}:
        raise ValueError("avg_pool of PyTorch has no distances in its window")
    return f"torch.nn.functional.{name}_pool{len(types[0].shape) - 2}d({a[0]}, {window})"


WRITE: Mapping[str, Write] = {
    **{name: _function(name) for name in _PLAIN},
    **{name: _function(other) for name, other in _RENAMED.items()},
    **{name: _neural(name) for name in _NEURAL},
    "gelu": _neural("gelu"),
    "gelu_tanh": lambda a, _, __: f"torch.nn.functional.gelu({a[0]}, approximate='tanh')",
    "hard_swish": _neural("hardswish"),
    "leaky_relu": lambda a, k, _: f"torch.nn.functional.leaky_relu({a[0]}, {number_text(k['alpha'])})",
    "elu": lambda a, k, _: f"torch.nn.functional.elu({a[0]}, {number_text(k['alpha'])})",
    "celu": lambda a, k, _: f"torch.nn.functional.celu({a[0]}, {number_text(k['alpha'])})",
    "clip": lambda a, k, _: f"torch.clamp({a[0]}, {k['low']}, {k['high']})",
    "astype": lambda a, k, _: f"{a[0]}.to(torch.{k['dtype']})",
    "sum": _reduced("torch.sum({x}, {dim}, {keep}, dtype={dtype})"),
    "mean": _reduced("torch.mean({x}, {dim}, {keep})"),
    "max": _reduced("torch.amax({x}, {dim}, {keep})"),
    "min": _reduced("torch.amin({x}, {dim}, {keep})"),
    "prod": _product,
    "variance": _reduced("torch.var({x}, {dim}, correction=0, keepdim={keep})"),
    "std": _reduced("torch.std({x}, {dim}, correction=0, keepdim={keep})"),
    "sum_square": _reduced("torch.sum(torch.square({x}), {dim}, {keep})"),
    "l1": _reduced("torch.sum(torch.abs({x}), {dim}, {keep})"),
    "l2": _reduced("torch.sqrt(torch.sum(torch.square({x}), {dim}, {keep}))"),
    "log_sum": _reduced("torch.log(torch.sum({x}, {dim}, {keep}))"),
    "log_sum_exp": _reduced("torch.logsumexp({x}, {dim}, {keep})"),
    "argmax": _located("argmax"),
    "argmin": _located("argmin"),
    "reshape": lambda a, k, _: f"torch.reshape({a[0]}, {list(k['shape'])})",
    "broadcast_to": lambda a, k, _: f"torch.broadcast_to({a[0]}, {list(k['shape'])})",
    "tile": lambda a, k, _: f"torch.tile({a[0]}, {list(k['repeats'])})",
    "permute_dims": lambda a, k, _: f"torch.permute({a[0]}, {list(k['axes'])})",
    "expand_dims": lambda a, k, _: f"torch.unsqueeze({a[0]}, {k['axis']})",
    "squeeze": lambda a, k, _: f"torch.squeeze({a[0]}, {k['axis']})",
    "concat": lambda a, k, _: f"torch.cat([{', '.join(a)}], {k['axis']})",
    "split": lambda a, k, _: f"torch.split({a[0]}, {list(k['sizes'])}, {k['axis']})",
    "strided_slice": _sliced,
    "pad": _padded,
    "take": _taken,
    "gather_elements": lambda a, k, types: f"torch.gather({a[0]}, {k['axis']}, {_index(a[1], types[1])})",
    "flip": lambda a, k, _: f"torch.flip({a[0]}, [{k['axis']}])",
    "softmax": lambda a, k, _: f"torch.softmax({a[0]}, {k['axis']})",
    "log_softmax": lambda a, k, _: f"torch.log_softmax({a[0]}, {k['axis']})",
    "cumsum": _along("cumsum"),
    "cumprod": _along("cumprod"),
    "sort": lambda a, k, _: f"torch.sort({a[0]}, {k['axis']}, {bool(k['descending'])})[0]",
    "topk": lambda a, k, _: f"torch.topk({a[0]}, {k['k']}, {k['axis']}, {bool(k['largest'])})",
    "triu": lambda a, k, _: f"torch.triu({a[0]}, {k['k']})",
    "tril": lambda a, k, _: f"torch.tril({a[0]}, {k['k']})",
    "layer_norm": _normalised("layer_norm"),
    "rms_norm": _normalised("rms_norm"),
    **dict.fromkeys(("conv1d", "conv2d"), _convolved),
    **dict.fromkeys(("max_pool1d", "max_pool2d"), lambda a, k, types: _pooled(a, k, types, "max")),
    **dict.fromkeys(("avg_pool1d", "avg_pool2d"), lambda a, k, types: _pooled(a, k, types, "avg")),
}
"""The operators that PyTorch has."""


def module_lines(program: Program) -> list[str]:
    """The class `Model`, whose constructor takes the constants in order.

    Raises:
        Unwritable: the program has an operator that PyTorch lacks.
    """
    constants = list(_constants(program))
    functions = {each.name: f"function{index}" for index, each in enumerate(program.functions)}
    names = {id(each): f"self.c{index}" for index, each in enumerate(constants)}
    writer = _Writer(names, functions)
    lines = ["class Model(torch.nn.Module):"]
    if constants:
        lines += ["    def __init__(self, constants):", "        super().__init__()"]
        lines += [f'        self.register_buffer("c{place}", constants[{place}])' for place in range(len(constants))] + [""]
    for function in program.functions:
        types = {each.name: each.type for each in function.parameters}
        name = "forward" if function is program.main else functions[function.name]
        lines.append(f"    def {name}({', '.join(('self', *types))}):")
        lines += [f"        {each}" for each in writer.block(function.body, types)]
        lines += [f"        return {function.body.result}", ""]
    return lines[:-1]


class _Writer:
    """Writes blocks; the names of constants and functions are those of the class."""

    def __init__(self, constants: Mapping[int, str], functions: Mapping[str, str]) -> None:
        self._constants = constants
        self._functions = functions

    def block(self, block: Block, types: dict[str, Type]) -> Iterator[str]:
        """The statements of *block*; *types* has those of what it sees, and gets those of its variables."""
        for each in block.bindings:
            if isinstance(each.value, If):
                yield from self._chosen(each.name, each.value, types)
            else:
                yield f"{each.name} = {_value(each, types, self._constants, self._functions)}"
            types[each.name] = each.type

    def _chosen(self, name: str, value: If, types: Mapping[str, Type]) -> Iterator[str]:
        """`torch.cond`, whose branches get what they read as arguments. None of these and no result may share memory: all are copies."""
        branches = {f"{name}_then": value.then, f"{name}_else": value.otherwise}
        given = [each for each in types if any(each in _seen(block) for block in branches.values())]
        for branch, block in branches.items():
            inner = dict(types)
            yield f"def {branch}({', '.join(given)}):"
            yield from (f"    {each}" for each in self.block(block, inner))
            yield f"    return {_copied(block.result, inner[block.result])}"
        copies = "".join(f"{_copied(each, types[each])}, " for each in given)
        yield f"{name} = torch.cond({value.condition}, {', '.join(branches)}, ({copies}))"


def _seen(block: Block) -> set[str]:
    """The variables that *block*, or a block within it, reads."""
    inner = [one for each in block.bindings if isinstance(each.value, If) for one in (each.value.then, each.value.otherwise)]
    return read_by(block).union(*map(_seen, inner))


def _copied(name: str, kind: Type) -> str:
    """A new tensor, or tensors, of the value called *name*."""
    if isinstance(kind, TensorType):
        return f"torch.clone({name})"
    parts = [_copied(f"{name}[{index}]", each) for index, each in enumerate(kind.fields)]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def constants_of(program: Program) -> list[Array]:
    """The constants of *program*, in the order that the constructor takes."""
    return [to_array(each.value) for each in _constants(program)]


def python_source(program: Program, inputs: Mapping[str, Array], outputs: Outputs) -> PythonSource:
    """A program with canonical names, its inputs, and the outputs to expect of it."""
    values = [f"torch.tensor({array_text(each)})" for each in constants_of(program)]
    constants = [listed("constants", values)] if values else []
    model = f"model = Model({'constants' if values else ''})"
    given = listed("inputs", [f"torch.tensor({array_text(each)})" for each in inputs.values()], "()")
    text = "\n".join([*module_lines(program), "", *constants, model, given])
    expected = listed("expected", [value_text(each) for each in outputs])
    return PythonSource((*imports_of(text + expected), "import torch"), text, expected)


def _is_plain(value: object) -> bool:
    """Whether a parameter is a number, some integers or the name of a dtype: a program may come from anywhere, and its text is run."""
    if isinstance(value, (tuple, list)):
        return all(isinstance(each, int) for each in cast("Sequence[object]", value))
    return isinstance(value, (bool, int, float)) or (isinstance(value, str) and value in DTYPE_BITS)


def _constants(program: Program) -> Iterator[Constant]:
    yield from (each.value for each in bindings(program) if isinstance(each.value, Constant))


def _value(binding: Binding, types: Mapping[str, Type], constants: Mapping[int, str], functions: Mapping[str, str]) -> str:
    match binding.value:
        case Call(operator, arguments, attributes):
            if operator not in WRITE or not all(map(_is_plain, attributes.values())):
                raise Unwritable(f"PyTorch has no operator {operator!r} with these parameters")
            given = [tensor(types[each]) for each in arguments]
            if any(each.dtype not in DTYPE_BITS for each in given):
                raise Unwritable(f"an argument of {operator!r} has a dtype that is none")
            return WRITE[operator](arguments, attributes, given)
        case Constant():
            return constants[id(binding.value)]
        case Tuple(parts):
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        case Projection(source, index):
            return f"{source}[{index}]"
        case Invoke(function, arguments):
            return f"self.{functions[function]}({', '.join(arguments)})"
        case If():
            raise AssertionError("an `if` is no expression of Python")
