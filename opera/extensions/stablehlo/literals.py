"""Reads dense constants of MLIR, e.g. `dense<[1, 2]> : tensor<2xi32>`, without MLIR."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from opera.arrays import Array
from opera.extensions.stablehlo.scanner import Cursor
from opera.extensions.stablehlo.types import ElementType, TensorType, Value, tensor_type, value_of

_NUMBER = re.compile(r"(?:0[xX][0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)")


@dataclass(frozen=True)
class Constant:
    """A dense constant as text, with its type.

    Attributes:
        text: With its type, e.g. `dense<1> : tensor<2xi32>`.
        type: E.g. `tensor<2xi32>`.
    """

    text: str
    type: str


def take_constant(cursor: Cursor) -> Constant:
    """The dense constant that begins with the next token; raises TextError where another thing does."""
    if cursor.peek() != "dense":
        raise cursor.error(f"expected a constant such as dense<[1, 2]> : tensor<2xi32>, found {cursor.peek()[:40]!r}")
    value = cursor.take() + cursor.group()
    cursor.expect(":")
    kind = cursor.type()
    return Constant(f"{value} : {kind}", kind)


def constants_of(text: str) -> list[Constant]:
    """The constants in an array such as `[dense<1> : tensor<2xi32>, dense<2> : tensor<2xi32>]`.

    Raises:
        TextError: it is no such array.
    """
    cursor = Cursor(text, 0)
    cursor.expect("[")
    found: list[Constant] = []
    while cursor.peek() != "]" and (not found or cursor.accept(",")):
        found.append(take_constant(cursor))
    cursor.expect("]")
    if cursor.peek():
        raise cursor.error(f"expected the end, found {cursor.peek()[:40]!r}")
    return found


def read_constant(text: str) -> Value:
    """The value that the dense constant *text* is.

    Raises:
        TextError: it is no dense constant, or its elements are not those of its type.
    """
    cursor = Cursor(text, 0)
    cursor.expect("dense", "<")
    kind = "".join(text.rpartition(":")[2].split())
    try:
        type = tensor_type(kind)
    except ValueError as error:
        raise cursor.error(str(error)) from None
    value = _of_bytes(cursor, type) if cursor.kind() == "string" else Value(type, _of_elements(cursor, type))
    cursor.expect(">", ":")
    return value


def _of_bytes(cursor: Cursor, type: TensorType) -> Value:
    """Elements in hexadecimal digits, each in whole bytes; the bytes of a single element stand for all."""
    digits = cursor.take().strip('"')
    try:
        data = bytes.fromhex(digits.removeprefix("0x"))
    except ValueError:
        raise cursor.error("a string that is no hexadecimal number") from None
    if len(data) == type.element.numpy.itemsize:
        data *= type.size
    try:
        return value_of(type, data)
    except ValueError as error:
        raise cursor.error(str(error)) from None


def _of_elements(cursor: Cursor, type: TensorType) -> Array:
    if cursor.peek() == ">":
        if type.size:
            raise cursor.error(f"no elements for {type}")
        return np.empty(type.shape, type.element.numpy)
    if cursor.peek() != "[":
        return np.full(type.shape, _element(cursor, type.element), type.element.numpy)
    flat = np.empty(type.size, type.element.numpy)
    count = 0
    for count, element in enumerate(_nested(cursor, type, 0), 1):
        if count > type.size:
            break
        flat[count - 1] = element
    if count != type.size:
        raise cursor.error(f"not {type.size} elements, as {type} has")
    return flat.reshape(type.shape)


def _nested(cursor: Cursor, type: TensorType, depth: int) -> Iterator[Array]:
    if depth == len(type.shape):
        yield _element(cursor, type.element)
        return
    cursor.expect("[")
    count = 0
    while cursor.peek() != "]" and (not count or cursor.accept(",")):
        yield from _nested(cursor, type, depth + 1)
        count += 1
    cursor.expect("]")
    if count != type.shape[depth]:
        raise cursor.error(f"{count} elements in a row of {type.shape[depth]}, for {type}")


def _element(cursor: Cursor, type: ElementType) -> Array:
    if type.is_complex and cursor.accept("("):
        real = _element(cursor, type.part)
        cursor.expect(",")
        imaginary = _element(cursor, type.part)
        cursor.expect(")")
        return np.asarray(complex(float(real), float(imaginary)), type.numpy)
    if type.is_boolean and cursor.peek() in ("true", "false"):
        return np.asarray(cursor.take() == "true")
    sign = "-" if cursor.accept("-") else ""
    match = _NUMBER.match(cursor.text, cursor.start())
    if match is None:
        raise cursor.error(f"expected a number, found {cursor.peek()[:40]!r}")
    cursor.skip_to(match.end())
    return _number(cursor, sign + match[0], type)


def _number(cursor: Cursor, text: str, type: ElementType) -> Array:
    is_hexadecimal = text.lstrip("-")[:2].lower() == "0x"
    if (type.is_float or type.is_complex) and is_hexadecimal:
        width = type.part.numpy.itemsize
        bits = int(text, 16)
        if not 0 <= bits < 1 << 8 * width:
            raise cursor.error(f"{text} is no {type.name}")
        return np.frombuffer(bits.to_bytes(width, "little"), type.part.numpy)[0]
    if type.is_float or type.is_complex:
        return _float(float(text), type.part)
    try:
        number = int(text, 0 if is_hexadecimal else 10)
    except ValueError:
        raise cursor.error(f"{text} is no {type.name}") from None
    bits = type.bits
    least, most = (0 if type.name.startswith("u") else -(1 << (bits - 1))), (1 << bits) - 1
    if not least <= number <= most:
        raise cursor.error(f"{text} is no {type.name}")
    if not type.name.startswith("u") and not type.is_boolean and number >= 1 << (bits - 1):
        number -= 1 << bits  # without a sign, both readings are allowed
    return np.asarray(number).astype(type.numpy) if number < 1 << 63 else np.asarray(number, np.uint64).astype(type.numpy)


def _float(number: float, type: ElementType) -> Array:
    """A number rounded to *type*. Where this has no zero, MLIR takes the smallest number for zero, and numpy NaN."""
    if number == 0 and type.name == "f8E8M0FNU":
        return np.zeros((), np.uint8).view(type.numpy)
    with np.errstate(over="ignore"):
        return np.asarray(number).astype(type.numpy)
