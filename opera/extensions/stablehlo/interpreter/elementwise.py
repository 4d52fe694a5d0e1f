"""Operations whose result has, at each index, a function of the operands' elements there."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from opera.extensions.stablehlo.interpreter.element import (
    Boolean,
    Complex,
    Element,
    Float,
    Integer,
    NotDefined,
    RealFunction,
    complex_of,
    converted,
    element,
)
from opera.extensions.stablehlo.interpreter.machine import Invocation, evaluates
from opera.extensions.stablehlo.interpreter.tensor import Tensor, filled
from opera.extensions.stablehlo.types import ElementType

Meaning = Callable[..., Element]
"""What one element of the result is, given the operands' elements at its index."""
_HALF = Fraction(1, 2)
_NEAR = 1e8
"""The absolute value up to which 1 counts in `1 + x`."""
_BOOLEAN = ElementType("i1", "bool")


def elementwise(name: str) -> Callable[[Meaning], Meaning]:
    """Gives an operation the meaning `result[index] = meaning(operands[index]...)`."""

    def record(meaning: Meaning) -> Meaning:
        def rule(it: Invocation) -> Tensor:
            operands = it.tensors
            type = it.shaped(operands[0].shape)
            return filled(type, lambda index: meaning(*(each.get(index) for each in operands)))

        evaluates(name)(rule)
        return meaning

    return record


@elementwise("add")
def add(left: Element, right: Element) -> Element:
    """`add`: the sum; OR of booleans."""
    return left + right


@elementwise("subtract")
def subtract(left: Element, right: Element) -> Element:
    """`subtract`: the left number minus the right one."""
    return left - right


@elementwise("multiply")
def multiply(left: Element, right: Element) -> Element:
    """`multiply`: the product; AND of booleans."""
    return left * right


@elementwise("divide")
def divide(left: Element, right: Element) -> Element:
    """`divide`: the quotient; of integers without its fraction."""
    return left / right


@elementwise("remainder")
def remainder(left: Element, right: Element) -> Element:
    """`remainder`: what is left of the quotient without its fraction, with the sign of the dividend."""
    return left % right


@elementwise("power")
def power(left: Element, right: Element) -> Element:
    """`power`: the first operand to the power of the second."""
    return left**right


@elementwise("negate")
def negate(value: Element) -> Element:
    """`negate`: the number with the other sign."""
    return -value


@elementwise("abs")
def absolute(value: Element) -> Element:
    """`abs`: the absolute value; of a complex number a real one."""
    return abs(value)


@elementwise("and")
def and_(left: Element, right: Element) -> Element:
    """`and`: of booleans, or of the bits of integers."""
    return left & right


@elementwise("or")
def or_(left: Element, right: Element) -> Element:
    """`or`: of booleans, or of the bits of integers."""
    return left | right


@elementwise("xor")
def xor(left: Element, right: Element) -> Element:
    """`xor`: of booleans, or of the bits of integers."""
    return left ^ right


@elementwise("not")
def not_(value: Element) -> Element:
    """`not`: of a boolean, or of the bits of an integer."""
    return ~value


@elementwise("maximum")
def maximum(left: Element, right: Element) -> Element:
    """`maximum`: the greater element; OR of booleans; NaN if one is NaN."""
    return left.maximum(right)


@elementwise("minimum")
def minimum(left: Element, right: Element) -> Element:
    """`minimum`: the lesser element; AND of booleans; NaN if one is NaN."""
    return left.minimum(right)


def _integer(value: Element) -> Integer:
    if not isinstance(value, Integer):
        raise NotDefined(f"bits of {value.type.name}")
    return value


@elementwise("shift_left")
def shift_left(value: Element, by: Element) -> Element:
    """`shift_left`: the bits moved to the left, with zeros behind."""
    return _integer(value).shifted_left(_integer(by))


@elementwise("shift_right_logical")
def shift_right_logical(value: Element, by: Element) -> Element:
    """`shift_right_logical`: the bits moved to the right, with zeros in front."""
    return _integer(value).shifted_right(_integer(by))


@elementwise("shift_right_arithmetic")
def shift_right_arithmetic(value: Element, by: Element) -> Element:
    """`shift_right_arithmetic`: the bits moved to the right, with copies of the highest one in front."""
    return _integer(value).shifted_right_with_sign(_integer(by))


@elementwise("count_leading_zeros")
def count_leading_zeros(value: Element) -> Element:
    """`count_leading_zeros`: how many zeros stand in front of the highest bit that is set."""
    return _integer(value).leading_zeros()


@elementwise("popcnt")
def popcnt(value: Element) -> Element:
    """`popcnt`: how many bits are set."""
    return _integer(value).ones()


@elementwise("sign")
def sign(value: Element) -> Element:
    """`sign`: -1, 0 or 1; -0 and NaN stay; of a complex number the number over its absolute value."""
    if isinstance(value, Complex):
        size = abs(value.number)
        return value if size == 0 else value.like(np.complex128(np.nan, np.nan) if np.isnan(size) else value.number / size)
    if value.number == 0 or value.number != value.number:
        return value
    return value.like(math.copysign(1, value.number))


@elementwise("atan2")
def atan2(left: Element, right: Element) -> Element:
    """`atan2`: the angle of the point `(right, left)`; of complex numbers `-i log((x + iy) / sqrt(x^2 + y^2))`."""
    y, x = left.number, right.number
    if isinstance(left, Complex):
        return left.like(-1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y)))
    return left.like(np.arctan2(y, x))


@elementwise("real")
def real(value: Element) -> Element:
    """`real`: the real part; of a real number itself."""
    return value.real


@elementwise("imag")
def imag(value: Element) -> Element:
    """`imag`: the imaginary part; of a real number zero."""
    return value.imag


@elementwise("is_finite")
def is_finite(value: Element) -> Element:
    """`is_finite`: whether the number is neither infinite nor NaN."""
    return Boolean(_BOOLEAN, np.isfinite(value.number))


def round_half_away(number: Any) -> Any:
    """The nearest integer, and the one further from zero where two are equally near."""
    whole = np.trunc(number)
    return np.copysign(whole + np.copysign(1.0, number) if abs(number - whole) >= 0.5 else whole, number)


def logistic(number: Any) -> Any:
    """`1 / (1 + exp(-x))`; the same as `exp(x) / (1 + exp(x))`, where the exponential of a large number is not in the way."""
    if number.real >= 0:
        return 1 / (1 + np.exp(-number))
    power = np.exp(number)
    return power / (1 + power)


def log_plus_one(number: Any) -> Any:
    """`log(1 + x)`. The absolute value of a complex `1 + x` is computed exactly before it is rounded, as its parts may cancel."""
    if not isinstance(number, complex):
        return np.log1p(number)
    x, y = float(number.real), float(number.imag)
    if not (math.isfinite(x) and math.isfinite(y)) or max(abs(x), abs(y)) > _NEAR:
        return np.log(1 + number)
    surplus = Fraction(x) * (2 + Fraction(x)) + Fraction(y) ** 2
    size = np.log(np.hypot(1 + x, y)) if surplus < -_HALF else 0.5 * np.log1p(float(surplus))  # 1 + x is exact near -1
    return complex(size, math.atan2(y, 1 + x))


def cube_root(number: Any) -> Any:
    """The real cube root, or the principal one of a complex number."""
    if not isinstance(number, complex):
        return np.cbrt(number)
    root: Any = np.power(number, 1 / 3)
    nearer = root - (root * root * root - number) / (3 * root * root)  # a third is not exact
    return nearer if np.isfinite(nearer) else root


_ELEMENTARY: dict[str, RealFunction] = {
    "cbrt": cube_root,
    "ceil": np.ceil,
    "cosine": np.cos,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log_plus_one": log_plus_one,
    "logistic": logistic,
    "round_nearest_afz": round_half_away,
    "round_nearest_even": np.rint,
    "rsqrt": lambda number: 1 / np.sqrt(number),
    "sine": np.sin,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
"""Functions of one number, which are computed in double precision and rounded."""


def _applying(function: RealFunction) -> Callable[[Element], Element]:
    return lambda value: value.applied(function)


for _name, _function in _ELEMENTARY.items():
    elementwise(_name)(_applying(_function))


@evaluates("complex")
def complex_(it: Invocation) -> Tensor:
    """`complex`: a number of a real and an imaginary part."""
    real, imag = it.tensors

    type = it.shaped(real.shape)
    return filled(type, lambda index: complex_of(type.element, real.get(index), imag.get(index)))


@evaluates("convert")
def convert(it: Invocation) -> Tensor:
    """`convert`: each element as one of another type."""
    (operand,) = it.tensors
    type = it.shaped(operand.shape)
    return filled(type, lambda index: converted(operand.get(index), type.element))


@evaluates("reduce_precision")
def reduce_precision(it: Invocation) -> Tensor:
    """`reduce_precision`: rounding to a type of so many bits and back."""
    (operand,) = it.tensors
    exponent, mantissa = it.operation.integer("exponent_bits"), it.operation.integer("mantissa_bits")

    def narrowed(value: Element) -> Element:
        assert isinstance(value, Float)
        return value.narrowed(exponent, mantissa)

    return filled(it.shaped(operand.shape), lambda index: narrowed(operand.get(index)))


_DIRECTIONS: dict[str, Callable[[bool, bool], bool]] = {
    "EQ": lambda _less, equal: equal,
    "NE": lambda _less, equal: not equal,
    "LT": lambda less, _equal: less,
    "LE": lambda less, equal: less or equal,
}


def compared(direction: str, left: Element, right: Element, *, total: bool) -> bool:
    """`compare` of two elements; NaN is neither less than, equal to nor greater than anything, but for the total order."""
    if direction in ("GT", "GE"):
        return compared({"GT": "LT", "GE": "LE"}[direction], right, left, total=total)
    if total and isinstance(left, Float | Complex):
        return _DIRECTIONS[direction](left.order() < right.order(), left.order() == right.order())
    return _DIRECTIONS[direction](left.less(right), left.equals(right))


@evaluates("compare")
def compare(it: Invocation) -> Tensor:
    """`compare`: in one of six directions; floating-point numbers as IEEE 754 compares them, or in total order."""
    left, right = it.tensors
    direction, total = it.operation.word("comparison_direction"), it.operation.word("compare_type") == "TOTALORDER"
    return filled(
        it.shaped(left.shape), lambda index: element(_BOOLEAN, compared(direction, left.get(index), right.get(index), total=total))
    )


@evaluates("select")
def select(it: Invocation) -> Tensor:
    """`select`: the element of `on_true` where the predicate holds, else that of `on_false`."""
    predicate, on_true, on_false = it.tensors

    def chosen(index: tuple[int, ...]) -> Element:
        holds = predicate.get(index if predicate.rank else ()).number
        return (on_true if holds else on_false).get(index)

    return filled(it.shaped(on_true.shape), chosen)


@evaluates("clamp")
def clamp(it: Invocation) -> Tensor:
    """`clamp`: `minimum(maximum(operand, min), max)`; the limits are tensors or single elements."""
    low, operand, high = it.tensors

    def clamped(index: tuple[int, ...]) -> Element:
        least, most = (each.get(index if each.rank else ()) for each in (low, high))
        return operand.get(index).maximum(least).minimum(most)

    return filled(it.shaped(operand.shape), clamped)
