"""Operations of StableHLO as text. The module imports nothing of MLIR."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from opera.arrays import Array, numpy_dtype
from opera.extensions.programs.languages import Unwritable
from opera.extensions.programs.types import TensorType

_ELEMENTS = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64",
}  # fmt: skip
PLACES = "int64"
"""The dtype of indices."""


class Ssa(NamedTuple):
    """A value of the text: its name, and the type of its tensor."""

    name: str
    type: TensorType


def written(kind: TensorType) -> str:
    """The type of a tensor as MLIR writes it; raises `Unwritable` for another dtype."""
    if kind.dtype not in _ELEMENTS:
        raise Unwritable(f"StableHLO has no {kind.dtype!r}")
    return f"tensor<{''.join(f'{size}x' for size in kind.shape)}{_ELEMENTS[kind.dtype]}>"


def literal(array: Array, kind: TensorType) -> str:
    """An array as a dense attribute."""
    if array.size == 0:
        return f"dense<> : {written(kind)}"
    return f"dense<{_nested(array, kind.dtype)}> : {written(kind)}"


def _nested(array: Array, dtype: str) -> str:
    return f"[{', '.join(_nested(each, dtype) for each in array)}]" if array.ndim else _number(array, dtype)


def _number(value: Any, dtype: str) -> str:
    if dtype == "bool":
        return "true" if value else "false"
    if "int" in dtype:
        return str(int(value))
    number = float(value)
    if math.isfinite(number):
        return f"{number:.17e}"
    bits = np.asarray(value)
    return "0x" + bits.astype(bits.dtype.newbyteorder(">")).tobytes().hex().upper()


def element(dtype: str) -> TensorType:
    return TensorType((), dtype)


class Lines:
    """Operations, as they are written."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self._numbers = count()

    def fresh(self) -> str:
        return f"%v{next(self._numbers)}"

    def add(self, kind: TensorType, text: str) -> Ssa:
        """Writes an operation with one result."""
        value = Ssa(self.fresh(), kind)
        self.text.append(f"{value.name} = {text}")
        return value

    def op(self, name: str, *operands: Ssa, result: TensorType | None = None, more: str = "") -> Ssa:
        """An operation in generic form; without *result*, of the type of its first operand."""
        kind = operands[0].type if result is None else result
        names, types = (", ".join(parts) for parts in ([each.name for each in operands], [written(each.type) for each in operands]))
        return self.add(kind, f'"stablehlo.{name}"({names}){f" <{{{more}}}>" if more else ""} : ({types}) -> {written(kind)}')

    def constant(self, value: Array, kind: TensorType) -> Ssa:
        return self.add(kind, f"stablehlo.constant {literal(value, kind)}")

    def full(self, number: float, kind: TensorType) -> Ssa:
        """A tensor of equal elements."""
        value = np.asarray(number, numpy_dtype(kind.dtype))
        return self.add(kind, f"stablehlo.constant dense<{_number(value, kind.dtype)}> : {written(kind)}")

    def like(self, number: float, other: Ssa) -> Ssa:
        return self.full(number, other.type)

    def spread(self, value: Ssa, shape: tuple[int, ...], dimensions: Sequence[int] | None = None) -> Ssa:
        """*value* broadcast to *shape*; without *dimensions*, by NumPy's rule."""
        if value.type.shape == shape:
            return value
        places = range(len(shape) - len(value.type.shape), len(shape)) if dimensions is None else dimensions
        return self.op(
            "broadcast_in_dim", value, result=TensorType(shape, value.type.dtype), more=f"broadcast_dimensions = {integers(places)}"
        )

    def together(self, *values: Ssa) -> list[Ssa]:
        """*values*, broadcast to their common shape."""
        shape = np.broadcast_shapes(*(each.type.shape for each in values))
        return [self.spread(each, shape) for each in values]

    def reshape(self, value: Ssa, shape: Sequence[int]) -> Ssa:
        return self.op("reshape", value, result=TensorType(tuple(shape), value.type.dtype))

    def convert(self, value: Ssa, dtype: str) -> Ssa:
        return self.op("convert", value, result=TensorType(value.type.shape, dtype))

    def compare(self, direction: str, one: Ssa, other: Ssa) -> Ssa:
        return self.op(
            "compare",
            one,
            other,
            result=TensorType(one.type.shape, "bool"),
            more=f"comparison_direction = #stablehlo<comparison_direction {direction}>",
        )

    def select(self, where: Ssa, one: Ssa, other: Ssa) -> Ssa:
        return self.op("select", where, one, other, result=one.type)

    def iota(self, axis: int, kind: TensorType) -> Ssa:
        return self.add(kind, f"stablehlo.iota dim = {axis} : {written(kind)}")

    def reduce(self, value: Ssa, axes: Sequence[int], combine: str, start: float) -> Ssa:
        """A reduction by one operation of two elements; the axes go."""
        return self._folded("reduce", value, without(value.type, axes), combine, start, f"dimensions = {integers(axes)}")

    def kept(self, value: Ssa, axes: Sequence[int], combine: str, start: float) -> Ssa:
        """The same, where the axes stay with size 1, broadcast to the shape of *value*."""
        shape = tuple(1 if axis in axes else size for axis, size in enumerate(value.type.shape))
        return self.spread(self.reshape(self.reduce(value, axes, combine, start), shape), value.type.shape)

    def window(self, value: Ssa, result: TensorType, combine: str, start: float, more: str) -> Ssa:
        return self._folded("reduce_window", value, result, combine, start, more)

    def _folded(self, name: str, value: Ssa, result: TensorType, combine: str, start: float, more: str) -> Ssa:
        first = self.full(start, element(value.type.dtype))
        scalar = written(first.type)
        body = f'^bb0(%a: {scalar}, %b: {scalar}):\n      %c = "stablehlo.{combine}"(%a, %b) : ({scalar}, {scalar}) -> {scalar}'
        region = f"({{\n    {body}\n      stablehlo.return %c : {scalar}\n    }})"
        types = f"({written(value.type)}, {scalar}) -> {written(result)}"
        return self.add(result, f'"stablehlo.{name}"({value.name}, {first.name}) <{{{more}}}> {region} : {types}')

    def several(self, name: str, operands: Sequence[Ssa], results: Sequence[TensorType], more: str, region: str) -> tuple[Ssa, ...]:
        """An operation with a region and several results."""
        head = self.fresh()
        names, types = (", ".join(parts) for parts in ([each.name for each in operands], [written(each.type) for each in operands]))
        attributes = f" <{{{more}}}>" if more else ""
        left = f"{head}:{len(results)}" if len(results) > 1 else head
        self.text.append(f'{left} = "stablehlo.{name}"({names}){attributes} {region} : ({types}) -> ({", ".join(map(written, results))})')
        return tuple(Ssa(f"{head}#{index}" if len(results) > 1 else head, each) for index, each in enumerate(results))


def integers(numbers: Sequence[int]) -> str:
    return f"array<i64: {', '.join(map(str, numbers))}>" if len(numbers) else "array<i64>"


def without(kind: TensorType, axes: Sequence[int]) -> TensorType:
    return TensorType(tuple(size for axis, size in enumerate(kind.shape) if axis not in axes), kind.dtype)
