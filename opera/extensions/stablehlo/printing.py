"""Writes tensors as the reference interpreter does: in brackets, one row a line, or as a dense constant of MLIR."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

import numpy as np

from opera.arrays import Array
from opera.extensions.stablehlo.types import ElementType, Value, float_facts

_EXPONENTIAL = 6
"""Digits behind the point of the form that MLIR prefers."""
_PADDING = 3
"""Zeros that MLIR writes at most, rather than an exponent."""
_HEXADECIMAL = 100
"""A dense constant of more elements than this is written in hexadecimal digits."""


def printed(value: Value) -> str:
    """The type, and the elements in nested brackets: the plain form."""
    texts = element_texts(value, "[{}, {}]")
    if not value.type.shape:
        return f"{value.type} {{{texts[0]}}}"
    return f"{value.type} {{\n{_nested(texts, value.type.shape, 1)}\n}}"


def _nested(texts: list[str], shape: tuple[int, ...], depth: int) -> str:
    indent = "  " * depth
    if len(shape) == 1:
        return f"{indent}[{', '.join(texts)}]"
    step = len(texts) // shape[0] if shape[0] else 0
    rows = [_nested(texts[index * step : (index + 1) * step], shape[1:], depth + 1) for index in range(shape[0])]
    return f"{indent}[\n" + ",\n".join(rows) + f"\n{indent}]" if rows else f"{indent}[]"


def printed_dense(value: Value) -> str:
    """A dense constant with its type: the form that `--print-dense` asks for."""
    if value.type.size == 0:
        return f"dense<> : {value.type}"
    codes = value.array.reshape(-1).view(np.uint8).reshape(value.type.size, -1)
    if (codes == codes[0]).all():
        return f"dense<{element_text(value.array.reshape(-1)[0], value.type.element, '({},{})')}> : {value.type}"
    if value.type.size > _HEXADECIMAL:
        return f'dense<"0x{_raw(value).hex().upper()}"> : {value.type}'
    return f"dense<{_flat(element_texts(value, '({},{})'), value.type.shape)}> : {value.type}"


def _flat(texts: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return texts[0]
    step = len(texts) // shape[0]
    return f"[{', '.join(_flat(texts[index * step : (index + 1) * step], shape[1:]) for index in range(shape[0]))}]"


def _raw(value: Value) -> bytes:
    """The bytes of a dense constant: each element in whole bytes, of which narrower ones fill the lowest bits."""
    bits = value.type.element.bits
    if bits >= 8:
        return value.array.tobytes()
    return (np.frombuffer(value.array.tobytes(), np.uint8) & ((1 << bits) - 1)).tobytes()


def element_texts(value: Value, complex_form: str) -> list[str]:
    """The elements in C order, each as text."""
    return [element_text(each, value.type.element, complex_form) for each in value.array.reshape(-1)]


def element_text(element: Any, type: ElementType, complex_form: str = "({},{})") -> str:
    """An element as MLIR writes it; *complex_form* has a place for either part of a complex number."""
    if type.is_boolean:
        return "true" if element else "false"
    if type.is_complex:
        part = type.part
        return complex_form.format(float_text(element.real, part), float_text(element.imag, part))
    return float_text(element, type) if type.is_float else str(int(element))


def float_text(number: Any, type: ElementType) -> str:
    """A floating-point number: with an exponent, if six digits tell it from its neighbours; infinities and NaN by their bits."""
    array: Array = np.asarray(number, type.numpy)
    wide = float(array.astype(np.float64))
    if np.isfinite(wide):
        sign = "-" if np.signbit(wide) else ""
        short = sign + _exponential(wide)
        if np.asarray(float(short)).astype(type.numpy).tobytes() == array.tobytes():
            return short
        full = sign + _shortest_fixed(wide, type)
        if "." in full:
            return full
    return f"0x{int.from_bytes(array.tobytes(), 'little'):X}"


def _exponential(number: float) -> str:
    """The magnitude with six significant digits, and zeros to fill six places behind the point."""
    digits, exponent = _digits(number, _EXPONENTIAL)
    whole = (digits + "0" * (_EXPONENTIAL + 1))[: _EXPONENTIAL + 1]
    return f"{whole[0]}.{whole[1:]}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _shortest_fixed(number: float, type: ElementType) -> str:
    """The magnitude with as many digits as its type may need, without trailing zeros, as LLVM's `APFloat::toString` gives it."""
    digits, exponent = _digits(number, 2 + (int(float_facts(type).nmant) + 1) * 59 // 196)
    digits = digits.rstrip("0") or "0"
    behind = len(digits) - 1 - exponent
    if exponent >= 0 and behind <= 0 and -behind <= _PADDING:
        return digits + "0" * -behind
    if 0 < behind < len(digits):
        return f"{digits[:-behind]}.{digits[-behind:]}"
    if behind >= len(digits) and behind - len(digits) < _PADDING:
        return f"0.{'0' * (behind - len(digits))}{digits}"
    rest = digits[1:] or "0"
    return f"{digits[0]}.{rest}E{'-' if exponent < 0 else '+'}{abs(exponent)}"


def _digits(number: float, count: int) -> tuple[str, int]:
    """The first *count* significant digits of the magnitude, rounded half up, and the decimal exponent of the first."""
    exact = abs(Decimal(number))
    if not exact:
        return "0", 0
    try:
        rounded = Context(prec=count, rounding=ROUND_HALF_UP, Emin=-10_000, Emax=10_000).plus(exact)
    except InvalidOperation:  # pragma: no cover - a finite double never has this many digits
        rounded = exact
    _, digits, _ = rounded.as_tuple()
    return "".join(map(str, digits)), rounded.adjusted()
