"""The inputs of a StableHLO function: from an array attribute of MLIR, or from arrays of a file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from opera.arrays import dtype_name
from opera.extensions.stablehlo.literals import Constant, constants_of
from opera.extensions.stablehlo.messages import RawArray
from opera.extensions.stablehlo.printing import printed_dense
from opera.extensions.stablehlo.scanner import TextError
from opera.extensions.stablehlo.templates.module import Function, Rejected, ir, message_of
from opera.extensions.stablehlo.types import TensorType, Value, element_type, of_dtype, value_of

_USAGE = "--args '[dense<1> : tensor<2xi32>, dense<2> : tensor<2xi32>]'"


def inputs_of(function: Function, arguments: str | None, arrays: Sequence[RawArray] | None) -> list[Constant]:
    """The inputs as constants, in the order of the function's arguments.

    Raises:
        Rejected: they are no constants, or do not fit the function in number, shape or dtype.
    """
    given = _of_text(arguments) if arguments is not None else []
    wanted = list(function.inputs)
    if arrays is not None:
        given = [_of_array(each, wanted[index] if index < len(wanted) else None, function) for index, each in enumerate(arrays)]
    if len(given) != len(wanted):
        types = f": {', '.join(map(str, wanted))}" if wanted else ""
        raise Rejected(f"@{function.name} takes {len(wanted)} input{'' if len(wanted) == 1 else 's'}, not {len(given)}{types}")
    for index, (constant, type) in enumerate(zip(given, wanted, strict=True)):
        try:
            own = ir.Type.parse(constant.type)
        except ir.MLIRError as error:
            raise Rejected(f"input {index} is of no type of MLIR: {message_of(error)}") from error
        if own != type and not _fits(own, type):
            raise Rejected(f"input {index} of @{function.name} is {type}, not {constant.type}")
    return given


def _of_text(text: str) -> list[Constant]:
    try:
        return constants_of(text)
    except TextError as error:
        raise Rejected(f"the inputs are no array of dense constants: {error}; write {_USAGE}") from error


def _of_array(array: RawArray, declared: Any, function: Function) -> Constant:
    """An array in the type that the function declares in its place, if its dtype is that of this type."""
    return constant(_type_of(array, declared, function), base64.b64decode(array.data))


def _type_of(array: RawArray, declared: Any, function: Function) -> TensorType:
    """The type of an array; numpy's files hold elements that numpy does not know as raw bytes (`|V2`), which get the declared type."""
    try:
        own = of_dtype(dtype_name(np.dtype(array.dtype)))
    except (TypeError, ValueError):
        own = None
    if own is None and isinstance(declared, ir.RankedTensorType):
        try:
            named = element_type(str(declared.element_type))
        except ValueError:
            named = None
        if named is not None and np.dtype(array.dtype) == np.dtype(f"V{named.numpy.itemsize}"):
            own = named
    if own is None:
        raise Rejected(f"the array {array.name[:60]!r} of dtype {array.dtype[:40]} is no input of @{function.name}")
    return TensorType(tuple(array.shape), own)


def constant(type: TensorType, data: bytes) -> Constant:
    """A dense constant of the elements *data*, as `opera.extensions.stablehlo.types.value_of` reads them."""
    if not data:
        return Constant(f"dense<> : {type}", str(type))
    if type.element.bits < 8:
        return Constant(printed_dense(value_of(type, data)), str(type))
    return Constant(f'dense<"0x{data.hex().upper()}"> : {type}', str(type))


def constant_of(value: Value) -> Constant:
    """A value as a dense constant."""
    return constant(value.type, value.array.tobytes())


def _fits(given: Any, declared: Any) -> bool:
    """Whether a tensor is one of a type with dynamic dimensions."""
    if not (isinstance(given, ir.RankedTensorType) and isinstance(declared, ir.RankedTensorType)):
        return False
    if given.element_type != declared.element_type or given.rank != declared.rank:
        return False
    return all(declared.is_dynamic_dim(index) or declared.get_dim_size(index) == given.get_dim_size(index) for index in range(given.rank))
