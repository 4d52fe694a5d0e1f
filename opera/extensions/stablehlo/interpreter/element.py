"""The elements of tensors: numbers of a type, with the arithmetic that StableHLO specifies for it.

All that depends on the type of elements stands here: integers wrap around, `i1` is boolean, floating-point numbers are rounded once for
each operation, complex numbers have two parts. Numbers of 32 bits and less are computed in double precision and rounded, which gives the
nearest number for addition, subtraction, multiplication, division and square root.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np

from opera.extensions.stablehlo.types import ElementType, float_facts

RealFunction = Callable[[Any], Any]
"""A function of numpy, of double precision or complex."""


class NotDefined(Exception):
    """StableHLO does not define an operation for elements of this type."""


class Element:
    """A number of a type.

    Attributes:
        type: The type.
        stored: The number as numpy stores it, bit by bit.
    """

    __slots__ = ("stored", "type")

    def __init__(self, type: ElementType, stored: Any) -> None:
        self.type: Final = type
        self.stored: Final = stored

    @property
    def number(self) -> Any:
        """The number as Python computes with it."""
        raise NotImplementedError

    def like(self, number: Any) -> Element:
        """The element of the same type that is nearest to *number*."""
        return element(self.type, number)

    @property
    def real(self) -> Element:
        """The real part; the number itself, unless it is complex."""
        return self

    @property
    def imag(self) -> Element:
        """The imaginary part; 0, unless the number is complex."""
        return self.like(0)

    def bits(self) -> int:
        """The bits, as an unsigned integer."""
        return int.from_bytes(self.stored.tobytes(), "little")

    def equals(self, other: Element) -> bool:
        """Whether both are the same number; NaN equals nothing."""
        return bool(self.number == other.number)

    def less(self, other: Element) -> bool:
        """Whether this number is less than *other*."""
        return bool(self.number < other.number)

    def order(self) -> Any:
        """A key by which the elements of the type are in total order."""
        return self.number

    def applied(self, function: RealFunction) -> Element:
        """The value of an elementary function, computed in double precision and rounded."""
        raise NotDefined(f"elementary functions of {self.type.name}")

    def maximum(self, other: Element) -> Element:
        """The greater one of both."""
        return other if self.less(other) else self

    def minimum(self, other: Element) -> Element:
        """The lesser one of both."""
        return other if other.less(self) else self

    def __add__(self, other: Element) -> Element:
        return self.like(self.number + other.number)

    def __sub__(self, other: Element) -> Element:
        return self.like(self.number - other.number)

    def __mul__(self, other: Element) -> Element:
        return self.like(self.number * other.number)

    def __truediv__(self, other: Element) -> Element:
        return self.like(self.number / other.number)

    def __mod__(self, other: Element) -> Element:
        raise NotDefined(f"a remainder of {self.type.name}")

    def __pow__(self, other: Element) -> Element:
        raise NotDefined(f"a power of {self.type.name}")

    def __neg__(self) -> Element:
        return self.like(-self.number)

    def __abs__(self) -> Element:
        return self.like(abs(self.number))

    def __and__(self, other: Element) -> Element:
        return self.like(self.number & other.number)

    def __or__(self, other: Element) -> Element:
        return self.like(self.number | other.number)

    def __xor__(self, other: Element) -> Element:
        return self.like(self.number ^ other.number)

    def __invert__(self) -> Element:
        raise NotDefined(f"not of {self.type.name}")


class Boolean(Element):
    """`i1`: addition is OR, multiplication is AND, and false comes before true."""

    __slots__ = ()

    @property
    def number(self) -> bool:
        return bool(self.stored)

    def __add__(self, other: Element) -> Element:
        return self | other

    def __mul__(self, other: Element) -> Element:
        return self & other

    def __sub__(self, other: Element) -> Element:
        raise NotDefined("a difference of i1")

    def __truediv__(self, other: Element) -> Element:
        raise NotDefined("a quotient of i1")

    def __invert__(self) -> Element:
        return self.like(not self.number)


class Integer(Element):
    """An integer of 2 to 64 bits, with or without a sign: results wrap around."""

    __slots__ = ()

    @property
    def number(self) -> int:
        return int(self.stored)

    def __truediv__(self, other: Element) -> Element:
        """The quotient without its fraction. By zero, which StableHLO leaves open, it has all bits set, as in XLA."""
        if other.number == 0:
            return self.like(-1)
        quotient = self.number // other.number
        is_rounded_down = quotient < 0 and quotient * other.number != self.number
        return self.like(quotient + is_rounded_down)

    def __mod__(self, other: Element) -> Element:
        """What the quotient without its fraction leaves, with the sign of the dividend; by zero, the dividend, as in XLA."""
        return self - self / other * other

    def __pow__(self, other: Element) -> Element:
        """The power; of a negative exponent the integer part of the reciprocal, which is 0 but for 1 and -1."""
        base, exponent = self.number, other.number
        if exponent < 0:
            return self.like({1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0))
        return self.like(pow(base, exponent, 1 << self.type.bits))

    def __invert__(self) -> Element:
        return self.like(~self.number)

    def shifted_left(self, by: Element) -> Element:
        """The bits moved to the left; nothing is left after all of them."""
        return self.like(self.number << min(_places(by), self.type.bits))

    def shifted_right(self, by: Element) -> Element:
        """The bits moved to the right, with zeros in front."""
        return self.like(self.bits() >> min(_places(by), self.type.bits))

    def shifted_right_with_sign(self, by: Element) -> Element:
        """The bits moved to the right, with copies of the highest bit in front."""
        bits, width = self.bits(), self.type.bits
        signed = bits - (1 << width) if bits >> (width - 1) else bits
        return self.like(signed >> min(_places(by), width))

    def leading_zeros(self) -> Element:
        """The number of zeros in front of the highest bit that is set."""
        return self.like(self.type.bits - self.bits().bit_length())

    def ones(self) -> Element:
        """The number of bits that are set."""
        return self.like(self.bits().bit_count())


def _places(by: Element) -> int:
    """By how many places to shift: a number without a sign."""
    return by.bits()


class Float(Element):
    """A floating-point number, of 4 to 64 bits."""

    __slots__ = ()

    @property
    def number(self) -> Any:
        return np.float64(self.stored)

    def applied(self, function: RealFunction) -> Element:
        return self.like(function(self.number))

    def order(self) -> Any:
        """The place in the total order of IEEE 754: -NaN, -inf ... -0, +0 ... inf, NaN. A type without a sign is in order by its bits."""
        bits, sign = self.bits(), 1 << (self.type.bits - 1)
        if self.type.name == "f8E8M0FNU" or (bits == sign and self.type.name.endswith("FNUZ")):
            return bits  # the only NaN of these types comes last
        return ~(bits ^ sign) if bits & sign else bits

    def maximum(self, other: Element) -> Element:
        """As IEEE 754 has `maximum`: NaN if one is NaN, and -0 is less than 0."""
        return _first_nan(self, other) or max(self, other, key=lambda each: each.order())

    def minimum(self, other: Element) -> Element:
        """As IEEE 754 has `minimum`: NaN if one is NaN, and -0 is less than 0."""
        return _first_nan(self, other) or min(self, other, key=lambda each: each.order())

    def __mod__(self, other: Element) -> Element:
        return self.like(np.fmod(self.number, other.number))

    def __pow__(self, other: Element) -> Element:
        return self.like(np.power(self.number, other.number))

    def narrowed(self, exponent_bits: int, mantissa_bits: int) -> Element:
        """The nearest number with so many bits of the mantissa; infinite where its exponent needs more bits, zero where it underflows.

        A type with as many bits of the exponent as the number's own has all of its exponents, those of subnormal numbers included.
        """
        number = self.number
        if np.isnan(number) and mantissa_bits == 0:
            return self.like(math.copysign(math.inf, number))  # a NaN is told from an infinity by its mantissa
        if not np.isfinite(number) or number == 0:
            return self
        facts = float_facts(self.type)
        rounded = _rounded(float(number), min(mantissa_bits, int(facts.nmant)) + 1, int(facts.minexp))
        if rounded == 0 or exponent_bits >= self.type.bits - 1 - int(facts.nmant):
            return self.like(rounded)
        bias = (1 << (exponent_bits - 1)) - 1
        exponent = math.frexp(rounded)[1] - 1
        if exponent > bias:
            return self.like(math.copysign(math.inf, number))
        return self.like(math.copysign(0.0, number) if exponent < 1 - bias else rounded)


def _first_nan(*values: Element) -> Element | None:
    return next((each for each in values if np.isnan(each.number)), None)


class Complex(Element):
    """A complex number, whose arithmetic is that of its two parts."""

    __slots__ = ()

    @property
    def number(self) -> Any:
        return np.complex128(self.stored)

    @property
    def real(self) -> Element:
        return _float(self.type.part, self.stored.real)

    @property
    def imag(self) -> Element:
        return _float(self.type.part, self.stored.imag)

    def applied(self, function: RealFunction) -> Element:
        return self.like(function(self.number))

    def less(self, other: Element) -> bool:
        """Whether this number comes first, by the real part and then by the imaginary part."""
        return self.real.less(other.real) or (self.real.equals(other.real) and self.imag.less(other.imag))

    def order(self) -> Any:
        return self.real.order(), self.imag.order()

    def __add__(self, other: Element) -> Element:
        return complex_of(self.type, self.real + other.real, self.imag + other.imag)

    def __sub__(self, other: Element) -> Element:
        return complex_of(self.type, self.real - other.real, self.imag - other.imag)

    def __mul__(self, other: Element) -> Element:
        real = self.real * other.real - self.imag * other.imag
        return complex_of(self.type, real, self.real * other.imag + self.imag * other.real)

    def __pow__(self, other: Element) -> Element:
        return self.like(np.power(self.number, other.number))

    def __neg__(self) -> Element:
        return complex_of(self.type, -self.real, -self.imag)

    def __abs__(self) -> Element:
        return _float(self.type.part, np.hypot(self.number.real, self.number.imag))


def complex_of(type: ElementType, real: Element, imag: Element) -> Complex:
    """The complex number of *type* with these parts."""
    stored: Any = np.zeros((), type.numpy)
    stored.real, stored.imag = real.stored, imag.stored
    return Complex(type, stored[()])


def element(type: ElementType, number: Any) -> Element:
    """The element of *type* that is nearest to *number*; integers wrap around."""
    if type.is_boolean:
        return Boolean(type, np.bool_(bool(number)))
    if type.is_float:
        return _float(type, number)
    if type.is_complex:
        with np.errstate(all="ignore"):
            return Complex(type, type.numpy.type(_float(type.part, number).stored if isinstance(number, int) else number))
    low = int(number) & ((1 << type.bits) - 1)
    is_negative = not type.name.startswith("u") and low >> (type.bits - 1)
    return Integer(type, type.numpy.type(low - (1 << type.bits) if is_negative else low))


def stored_element(type: ElementType, stored: Any) -> Element:
    """The element that numpy stores as *stored*, without any rounding."""
    return _class_of(type)(type, stored)


@cache
def _class_of(type: ElementType) -> Callable[[ElementType, Any], Element]:
    if type.is_boolean:
        return Boolean
    return Float if type.is_float else Complex if type.is_complex else Integer


def _float(type: ElementType, number: Any) -> Float:
    if isinstance(number, int):
        number = _shortened(number, _precision(type))
    scalar: Any = type.numpy.type
    if type.name in ("f64", "f32", "f16") or not np.isfinite(number):
        return Float(type, scalar(number))  # numpy rounds once
    if number == 0:
        return Float(type, _zero(type, number))
    return Float(type, scalar(_rounded(float(number), _precision(type), int(float_facts(type).minexp))))


def _zero(type: ElementType, number: Any) -> Any:
    """Zero with the sign of *number*; the smallest number of a type without a zero."""
    scalar: Any = type.numpy.type
    return np.zeros((), np.uint8).view(type.numpy)[()] if type.name == "f8E8M0FNU" else scalar(number)


@cache
def _precision(type: ElementType) -> int:
    """The number of significant bits."""
    return int(float_facts(type).nmant) + 1


def _rounded(number: float, precision: int, least: int | None) -> float:
    """The nearest number with *precision* significant bits, in doubt the even one, whose exponent is not below *least*.

    A number that becomes zero keeps its sign.
    """
    exponent = math.frexp(number)[1] - 1
    unit = (exponent if least is None else max(exponent, least)) - (precision - 1)
    return math.copysign(math.ldexp(round(math.ldexp(number, -unit)), unit), number)


def _shortened(number: int, precision: int) -> float:
    """The nearest number with *precision* significant bits to an integer, which may have more than double precision has."""
    surplus = max(abs(number).bit_length() - precision, 0)
    return math.ldexp(round(Fraction(number, 1 << surplus)), surplus)


def converted(value: Element, type: ElementType) -> Element:
    """*value* as an element of another type.

    Of a complex number the real part counts; a number is true where it is not zero; a fraction is cut off. Where StableHLO leaves the
    result open, a number outside of the range becomes the nearest integer, and NaN zero.
    """
    if isinstance(value, Complex) and not type.is_complex:
        return converted(value.real, type)
    if isinstance(value, Float) and not (type.is_float or type.is_complex or type.is_boolean):
        return element(type, _truncated(value, type))
    return element(type, value.number)


def _truncated(value: Float, type: ElementType) -> int:
    if np.isnan(value.number):
        return 0
    signed = not type.name.startswith("u")
    least, most = (-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1) if signed else (0, (1 << type.bits) - 1)
    return int(max(min(float(value.number), most), least))
