"""The statements of a test: what builds the model, its inputs and the expected outputs.

Arrays whose text would be too long are taken out of the source, and go into a file.
"""

from __future__ import annotations

import ast
import base64
import lzma
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from opera.arrays import Array, ModelValue, as_array, dtype_name, from_bytes, is_array, numpy_dtype
from opera.templates.python_text import value_text

_MOST_BYTES = 2**28
_OF_TORCH = {bool: "bool", int: "int64", float: "float32"}
"""Dtypes that `torch.tensor` gives Python's numbers."""
_BREAK = re.compile(r'"(?:[^"\\]|\\.)*"|(?<=\S)(  )(?=\S)|(,) |(,)(?=[-\d])')
"""A string; or outside of strings, what stands between two nodes, a comma, or a comma between numbers."""
PLAIN = "?bhilqBHILQefdFD"
"""numpy's own type codes: arrays of other dtypes are kept as their bytes."""


@dataclass
class Store:
    """The arrays of one test that go into a file, by name."""

    arrays: dict[str, Array] = field(default_factory=dict[str, Array])

    def put(self, array: Array, name: str = "") -> ast.expr:
        """Keeps *array*; returns the expression that gives it."""
        name = name or f"array{len(self.arrays)}"
        kind = dtype_name(array.dtype)
        if array.dtype.char in PLAIN:
            self.arrays[name] = array
            return _expression(f"data[{name!r}]")
        self.arrays[name] = np.ascontiguousarray(array).view(f"uint{8 * array.dtype.itemsize}").reshape(array.shape)
        return _expression(f"data[{name!r}].view(ml_dtypes.{kind})")

    def value(self, value: ModelValue, name: str) -> ast.expr:
        """Keeps the arrays in *value*; returns the expression that gives it."""
        if isinstance(value, (list, tuple)):
            return ast.List([self.value(each, f"{name}_{index}") for index, each in enumerate(value)], ast.Load())
        if not is_array(value) or as_array(value).dtype.kind in "OSU":
            return _expression(value_text(value))
        return self.put(as_array(value), name)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def parsed(text: str, store: Store) -> list[ast.stmt]:
    """The statements of *text*, with short names, and without packed data: these go into *store*."""
    tree = cast(ast.Module, _Shortened().visit(_Unpacked(store).visit(ast.parse(text))))
    return [each for each in tree.body if ast.unparse(each) != "tensor = tensor"]


SHORT_NAMES = {
    "helper.make_tensor_value_info": "tensor",
    "helper.make_opsetid": "opset",
    "onnx.TensorProto": "TensorProto",
}
"""Names of ONNX as scripts write them, and their names in a suite."""


class _Shortened(ast.NodeTransformer):
    """Replaces names of ONNX by their short ones of `SHORT_NAMES`."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        short = SHORT_NAMES.get(ast.unparse(node))
        return self.generic_visit(node) if short is None else ast.Name(short, ast.Load())


def assignment(name: str, value: ast.expr) -> ast.stmt:
    """The statement `name = value`."""
    return ast.fix_missing_locations(ast.Assign([ast.Name(name, ast.Store())], value, lineno=0))


def folded(statement: ast.stmt, limit: int) -> ast.stmt:
    """*statement* with ONNX's own syntax in lines of at most *limit* characters, broken between nodes, else at commas."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(attr="parse_model"), args=[ast.Constant(value=str() as text) as constant]):
                constant.value = "\n".join(part for line in text.split("\n") for part in _folded_line(line.rstrip(), limit))
            case _:
                pass
    return statement


def _folded_line(line: str, limit: int) -> Iterator[str]:
    while len(line) > limit:
        breaks = [match for match in _BREAK.finditer(line) if match.lastindex]
        found = [match for match in breaks if 8 < len(line[: match.end(match.lastindex or 0)].rstrip()) <= limit]
        if not found:
            break
        last = max(found, key=lambda match: (-(match.lastindex or 0), match.end()))  # rather between nodes than within one
        place = last.end(last.lastindex or 0)
        yield line[:place].rstrip()
        line = f"      {line[place:].lstrip()}"
    yield line


def literal(values: Sequence[ModelValue]) -> ast.expr:
    """The list of *values*, written out."""
    return _expression(value_text(list(values)))


class _Unpacked(ast.NodeTransformer):
    """Replaces packed arrays and bytes by names of arrays in a file."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def visit_Call(self, node: ast.Call) -> ast.AST:
        array = packed_array(node)
        if array is not None:
            return self._store.put(array)
        data = packed_bytes(node)
        if data is not None:
            kept = self._store.put(np.frombuffer(data, np.uint8))
            return ast.Call(ast.Attribute(kept, "tobytes", ast.Load()), [], [])
        return self.generic_visit(node)


def packed_bytes(node: ast.AST) -> bytes | None:
    """The data of `lzma.decompress(base64.b85decode("..."))`; None for anything else."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="lzma"), attr="decompress"),
            args=[ast.Call(func=ast.Attribute(value=ast.Name(id="base64"), attr="b85decode"), args=[ast.Constant(value=str() as text)])],
        ):
            return lzma.LZMADecompressor().decompress(base64.b85decode(text), _MOST_BYTES)
        case _:
            return None


def packed_array(node: ast.AST) -> Array | None:
    """The array of `np.frombuffer(<packed bytes>, dtype).reshape(shape)`; None for anything else."""
    match node:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr="frombuffer"), args=[packed, dtype]), attr="reshape"
            ),
            args=[shape],
        ):
            data = packed_bytes(packed)
            return None if data is None else from_bytes(data, _dtype_of(dtype), tuple(ast.literal_eval(shape)))
        case _:
            return None


def _dtype_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else "bool"


def longest_literal(statements: Sequence[ast.stmt]) -> ast.Call | None:
    """The longest array among *statements* that is written out, as `np.array(...)` or `torch.tensor(...)`; None without one."""
    calls = [node for each in statements for node in ast.walk(each) if isinstance(node, ast.Call) and literal_array(node) is not None]
    return max(calls, key=lambda node: len(ast.unparse(node)), default=None)


def literal_array(node: ast.Call) -> Array | None:
    """The array that a call of `np.array` or `torch.tensor` with written elements makes; None for any other call."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr="array"), args=[elements, dtype], keywords=[]):
            kind = _dtype_of(dtype) if isinstance(dtype, ast.Attribute) else None
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="tensor"), args=[elements], keywords=keywords):
            kind = next((_dtype_of(each.value) for each in keywords if each.arg == "dtype"), "")
        case _:
            return None
    try:
        values = _evaluated(elements)
    except ValueError:
        return None
    if kind is None or (kind == "" and not list(_leaves(values))):
        return None
    kind = kind or _OF_TORCH[type(next(_leaves(values)))]
    return np.array(values, numpy_dtype(kind))


def _evaluated(node: ast.expr) -> Any:
    """The value of nested lists of numbers; raises ValueError for anything else."""
    match node:
        case ast.List(elts=elements):
            return [_evaluated(each) for each in elements]
        case ast.Constant(value=bool() | int() | float() | complex() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluated(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as operator, right=right):
            return _evaluated(left) + (_evaluated(right) if isinstance(operator, ast.Add) else -_evaluated(right))
        case ast.Call(func=ast.Name(id="complex"), args=[real, imaginary]):
            return complex(_evaluated(real), _evaluated(imaginary))
        case ast.Attribute(value=ast.Name(id="np"), attr="inf"):
            return math.inf
        case ast.Attribute(value=ast.Name(id="np"), attr="nan"):
            return math.nan
        case _:
            raise ValueError(ast.dump(node))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _leaves(each)
    else:
        yield value


def without_literal(statements: Sequence[ast.stmt], call: ast.Call, store: Store) -> list[ast.stmt]:
    """*statements* with the array that *call* makes in *store*."""
    array = literal_array(call)
    assert array is not None
    is_torch = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "torch"
    kept: ast.expr
    if is_torch and array.dtype.char not in PLAIN:  # torch takes no such array from numpy
        kept = _expression(f"torch.from_numpy({ast.unparse(store.put(array.astype(np.float32)))}).to(torch.{dtype_name(array.dtype)})")
    elif is_torch:
        kept = ast.Call(_expression("torch.from_numpy"), [store.put(array)], [])
    else:
        kept = store.put(array)
    swapped = _Swapped({id(call): kept})
    return [cast(ast.stmt, swapped.visit(each)) for each in statements]


class _Swapped(ast.NodeTransformer):
    """Replaces expressions, by identity."""

    def __init__(self, by_identity: Mapping[int, ast.expr]) -> None:
        self._by_identity = by_identity

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return self._by_identity.get(id(node)) or self.generic_visit(node)
