"""The elements of the readable interpreter against exact arithmetic: fractions, integers of Python, and mpmath."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from parameters import quick

from opera.extensions.stablehlo.interpreter import elementwise
from opera.extensions.stablehlo.interpreter.element import Element, Float, converted, element, stored_element
from opera.extensions.stablehlo.types import element_type
from tests.float_formats import FORMATS, Exact, Format

FEW = ("f4E2M1FN", "f8E4M3FN", "bf16")
"""Formats of the quick tests: without and with infinities, and one with more codes than are tried."""
PAIRS = 60
"""Pairs of codes that are drawn, beside those of special codes."""


def of_code(name: str, code: int) -> Element:
    type = element_type(name)
    whole = np.dtype(f"<u{type.numpy.itemsize}")
    return stored_element(type, np.array(code, whole).view(type.numpy)[()])


def exact(value: Element) -> tuple[Exact, bool | None]:
    """The value of an element by its bits alone, and its sign; NaN has none that counts."""
    format = FORMATS[value.type.name]
    found = format.value(value.bits())
    return found, None if found == "nan" else format.is_negative(value.bits())


def special_codes(format: Format) -> list[int]:
    """Zeros, the smallest and the largest numbers, infinities, NaN."""
    top = 1 << (format.bits - 1)
    smallest = 1 << format.mantissa
    last = top - (1 << format.mantissa)
    ends = (
        0,
        1,
        2,
        smallest - 1,
        smallest,
        smallest + 1,
        format.bias << format.mantissa,
        last - 2,
        last - 1,
        last,
        last + 1,
        top - 2,
        top - 1,
    )
    return sorted({code & (top - 1) | sign for code in ends for sign in (0, top)})


def codes_of(name: str) -> list[int]:
    """All codes; of a format with more than 256, the special ones and some more."""
    format = FORMATS[name]
    if format.bits <= 8:
        return list(range(1 << format.bits))
    return special_codes(format) + random.Random(name).sample(range(1 << format.bits), 200)


def pairs_of(name: str) -> Iterator[tuple[int, int]]:
    format = FORMATS[name]
    if format.bits <= 4:
        return itertools.product(range(1 << format.bits), repeat=2)
    special, drawn = special_codes(format), random.Random(name)
    every = 1 << format.bits
    return itertools.chain(itertools.product(special, repeat=2), ((drawn.randrange(every), drawn.randrange(every)) for _ in range(PAIRS)))


Rule = Callable[[Exact, bool, Exact, bool], tuple[Exact, bool]]


def is_infinite(number: Exact) -> bool:
    return number in ("inf", "-inf")


def infinity(negative: bool) -> Exact:
    return "-inf" if negative else "inf"


def added(a: Exact, a_sign: bool, b: Exact, b_sign: bool) -> tuple[Exact, bool]:
    if "nan" in (a, b) or (is_infinite(a) and is_infinite(b) and a != b):
        return "nan", False
    if is_infinite(a) or is_infinite(b):
        return (a, a_sign) if is_infinite(a) else (b, b_sign)
    assert isinstance(a, Fraction)
    assert isinstance(b, Fraction)
    return a + b, a_sign and b_sign


def negated(a: Exact, sign: bool) -> tuple[Exact, bool]:
    if isinstance(a, Fraction):
        return -a, not sign
    return ("nan" if a == "nan" else infinity(not sign)), not sign


def subtracted(a: Exact, a_sign: bool, b: Exact, b_sign: bool) -> tuple[Exact, bool]:
    return added(a, a_sign, *negated(b, b_sign))


def multiplied(a: Exact, a_sign: bool, b: Exact, b_sign: bool) -> tuple[Exact, bool]:
    sign = a_sign != b_sign
    if "nan" in (a, b) or (is_infinite(a) and b == 0) or (is_infinite(b) and a == 0):
        return "nan", False
    if is_infinite(a) or is_infinite(b):
        return infinity(sign), sign
    assert isinstance(a, Fraction)
    assert isinstance(b, Fraction)
    return a * b, sign


def divided(a: Exact, a_sign: bool, b: Exact, b_sign: bool) -> tuple[Exact, bool]:
    sign = a_sign != b_sign
    if "nan" in (a, b) or (is_infinite(a) and is_infinite(b)) or (a == 0 and b == 0):
        return "nan", False
    if is_infinite(a) or b == 0:
        return infinity(sign), sign
    if is_infinite(b):
        return Fraction(0), sign
    assert isinstance(a, Fraction)
    assert isinstance(b, Fraction)
    return a / b, sign


def remaindered(a: Exact, a_sign: bool, b: Exact, _b_sign: bool) -> tuple[Exact, bool]:
    if "nan" in (a, b) or is_infinite(a) or b == 0:
        return "nan", False
    if is_infinite(b):
        return a, a_sign
    assert isinstance(a, Fraction)
    assert isinstance(b, Fraction)
    return a - b * math.trunc(a / b), a_sign


def largest(a: Exact, a_sign: bool, b: Exact, b_sign: bool) -> tuple[Exact, bool]:
    if "nan" in (a, b):
        return "nan", False
    return max(((a, a_sign), (b, b_sign)), key=lambda each: (as_float(each[0]), not each[1]))


def smallest(a: Exact, a_sign: bool, b: Exact, b_sign: bool) -> tuple[Exact, bool]:
    found = largest(*negated(a, a_sign), *negated(b, b_sign))
    return negated(*found) if found[0] != "nan" else found


def as_float(number: Exact) -> float:
    return float(number)


BINARY: dict[str, tuple[Callable[[Element, Element], Element], Rule]] = {
    "add": (elementwise.add, added),
    "subtract": (elementwise.subtract, subtracted),
    "multiply": (elementwise.multiply, multiplied),
    "divide": (elementwise.divide, divided),
    "remainder": (elementwise.remainder, remaindered),
    "maximum": (elementwise.maximum, largest),
    "minimum": (elementwise.minimum, smallest),
}


@pytest.mark.parametrize("name", quick(FORMATS, *FEW))
@pytest.mark.parametrize("operation", BINARY)
def test_arithmetic_is_exact_and_rounded_once(operation: str, name: str) -> None:
    function, rule = BINARY[operation]
    format = FORMATS[name]
    wrong: list[str] = []
    with np.errstate(all="ignore"):
        for one, other in pairs_of(name):
            left, right = of_code(name, one), of_code(name, other)
            wanted = format.nearest(*rule(format.value(one), format.is_negative(one), format.value(other), format.is_negative(other)))
            if exact(function(left, right)) != wanted and not (wanted[0] == "nan" and format.ends == "finite"):
                wrong.append(f"{operation}({one:#x}, {other:#x}): {exact(function(left, right))}, not {wanted}")
    assert not wrong, (len(wrong), wrong[:5])


def square_root(a: Exact, sign: bool) -> tuple[Exact, bool]:
    if a == 0:
        return a, sign
    if a == "nan" or sign:
        return "nan", False
    if a == "inf":
        return a, False
    assert isinstance(a, Fraction)
    scale = 1 << 200
    return Fraction(math.isqrt(math.floor(a * scale * scale)), scale), False  # far below half a unit, and never halfway: squares are short


def whole(round_one: Callable[[Fraction], int]) -> Callable[[Exact, bool], tuple[Exact, bool]]:
    return lambda a, sign: (Fraction(round_one(a)) if isinstance(a, Fraction) else a, sign)


def away(a: Fraction) -> int:
    return int(math.copysign(math.floor(abs(a) + Fraction(1, 2)), a))


def signed(a: Exact, sign: bool) -> tuple[Exact, bool]:
    return (a, sign) if a in ("nan", 0) else (Fraction(-1 if sign else 1), sign)


UNARY: dict[str, tuple[Callable[[Element], Element], Callable[[Exact, bool], tuple[Exact, bool]]]] = {
    "negate": (elementwise.negate, negated),
    "abs": (elementwise.absolute, lambda a, sign: negated(a, sign) if sign else (a, sign)),
    "sign": (elementwise.sign, signed),
    "sqrt": (lambda value: applied("sqrt", value), square_root),
    "floor": (lambda value: applied("floor", value), whole(math.floor)),
    "ceil": (lambda value: applied("ceil", value), whole(math.ceil)),
    "round_nearest_even": (lambda value: applied("round_nearest_even", value), whole(round)),
    "round_nearest_afz": (lambda value: applied("round_nearest_afz", value), whole(away)),
    "multiply by one": (lambda value: value * value.like(1), lambda a, sign: (a, sign)),
}


def applied(name: str, value: Element) -> Element:
    return value.applied(elementwise._ELEMENTARY[name])


@pytest.mark.parametrize("name", quick(FORMATS, *FEW))
@pytest.mark.parametrize("operation", UNARY)
def test_functions_of_one_number_are_exact_and_rounded_once(operation: str, name: str) -> None:
    function, rule = UNARY[operation]
    format = FORMATS[name]
    with np.errstate(all="ignore"):
        for code in codes_of(name):
            wanted = format.nearest(*rule(format.value(code), format.is_negative(code)))
            if wanted[0] != "nan" or format.ends != "finite":
                assert exact(function(of_code(name, code))) == wanted, (code, wanted)


@pytest.mark.parametrize("name", quick(FORMATS, *FEW))
@pytest.mark.parametrize("target", quick(FORMATS, *FEW))
def test_conversions_round_once(name: str, target: str) -> None:
    source, format = FORMATS[name], FORMATS[target]
    with np.errstate(all="ignore"):
        for code in codes_of(name):
            wanted = format.nearest(source.value(code), source.is_negative(code))
            if wanted[0] != "nan" or format.ends != "finite":
                assert exact(converted(of_code(name, code), element_type(target))) == wanted, (code, wanted)


@pytest.mark.parametrize("target", quick(FORMATS, *FEW))
def test_integers_become_the_nearest_number(target: str) -> None:
    drawn = random.Random(target)
    numbers = [*range(-300, 300), *(sign * ((1 << index) + step) for sign in (1, -1) for index in range(8, 63) for step in (-1, 0, 1))]
    numbers += [drawn.randrange(-(1 << 63), 1 << 63) >> drawn.randrange(60) for _ in range(300)]
    for number in numbers:
        value = element(element_type("i64"), number)
        assert exact(converted(value, element_type(target))) == FORMATS[target].nearest(Fraction(number), False), number


@pytest.mark.parametrize("name", quick(FORMATS, *FEW))
def test_the_nearest_number_with_fewer_bits(name: str) -> None:
    """`reduce_precision`: the mantissa is rounded where it stands; then what needs more bits of the exponent is infinite, or zero."""
    format = FORMATS[name]
    for exponent, mantissa in itertools.product({1, 2, 3, format.exponent - 1, format.exponent, 8, 11} - {0}, {0, 1, format.mantissa, 23}):
        most, least = (1 << (exponent - 1)) - 1, 2 - (1 << (exponent - 1))
        kept = min(mantissa, format.mantissa)
        for code in codes_of(name):
            number, sign = format.value(code), format.is_negative(code)
            if not isinstance(number, Fraction):
                continue
            size = abs(number)
            unit = Fraction(2) ** (max(exponent_of(size) if size else 0, 1 - format.bias) - kept)
            rounded: Exact = round(size / unit) * unit
            if rounded != 0 and exponent < format.exponent:
                assert isinstance(rounded, Fraction)
                rounded = "inf" if exponent_of(rounded) > most else Fraction(0) if exponent_of(rounded) < least else rounded
            wanted = format.nearest(*(negated(rounded, False) if sign else (rounded, False)))
            value = of_code(name, code)
            assert isinstance(value, Float)
            assert exact(value.narrowed(exponent, mantissa)) == wanted, (exponent, mantissa, code, wanted)


def exponent_of(size: Fraction) -> int:
    """The exponent of the highest bit."""
    found = size.numerator.bit_length() - size.denominator.bit_length()
    return found if Fraction(2) ** found <= size else found - 1


@pytest.mark.parametrize("name", quick([*FORMATS, "f8E8M0FNU"], *FEW))
def test_the_total_order_is_that_of_the_numbers(name: str) -> None:
    codes = range(256) if name == "f8E8M0FNU" else codes_of(name)
    finite = [of_code(name, code) for code in codes]
    ordered = sorted((each for each in finite if np.isfinite(each.number)), key=lambda each: each.order())
    numbers = [(float(each.number), not np.signbit(each.number)) for each in ordered]
    assert numbers == sorted(numbers)
    nan = next((each for each in finite if np.isnan(each.number) and not np.signbit(each.number)), None)
    if nan is not None:
        assert nan.order() > ordered[-1].order()
    if name == "f8E8M0FNU":
        one, four = (element(element_type(name), number) for number in (1.0, 4.0))
        assert (one.maximum(four).number, four.minimum(one).number) == (4.0, 1.0)


INTEGERS: dict[str, tuple[Callable[..., Element], Callable[[int, int, int], int]]] = {
    "add": (elementwise.add, lambda a, b, _: a + b),
    "subtract": (elementwise.subtract, lambda a, b, _: a - b),
    "multiply": (elementwise.multiply, lambda a, b, _: a * b),
    "divide": (elementwise.divide, lambda a, b, _: abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)),
    "remainder": (elementwise.remainder, lambda a, b, _: abs(a) % abs(b) * (-1 if a < 0 else 1)),
    "and": (elementwise.and_, lambda a, b, _: a & b),
    "or": (elementwise.or_, lambda a, b, _: a | b),
    "xor": (elementwise.xor, lambda a, b, _: a ^ b),
    "maximum": (elementwise.maximum, lambda a, b, _: max(a, b)),
    "minimum": (elementwise.minimum, lambda a, b, _: min(a, b)),
    "power": (elementwise.power, lambda a, b, _: a**b if b >= 0 else (a if b % 2 else 1) if abs(a) == 1 else 0),
    "shift_left": (elementwise.shift_left, lambda a, b, bits: a << (b % (1 << bits)) if b % (1 << bits) < bits else 0),
    "shift_right_logical": (elementwise.shift_right_logical, lambda a, b, bits: (a % (1 << bits)) >> (b % (1 << bits))),
    "shift_right_arithmetic": (
        elementwise.shift_right_arithmetic,
        lambda a, b, bits: (a - (1 << bits) if a >> (bits - 1) > 0 else a) >> (b % (1 << bits)),
    ),
    "negate": (lambda a, _b: elementwise.negate(a), lambda a, _b, _: -a),
    "abs": (lambda a, _b: elementwise.absolute(a), lambda a, _b, _: abs(a)),
    "not": (lambda a, _b: elementwise.not_(a), lambda a, _b, _: ~a),
    "popcnt": (lambda a, _b: elementwise.popcnt(a), lambda a, _b, bits: bin(a % (1 << bits)).count("1")),
    "count_leading_zeros": (
        lambda a, _b: elementwise.count_leading_zeros(a),
        lambda a, _b, bits: bits - len(bin(a % (1 << bits))[2:].lstrip("0")),
    ),
    "sign": (lambda a, _b: elementwise.sign(a), lambda a, _b, _: (a > 0) - (a < 0)),
}


@pytest.mark.parametrize("name", quick(["i2", "ui2", "i4", "ui4", "i8", "ui8", "i16", "ui32", "i64", "ui64"], "i4", "ui64"))
@pytest.mark.parametrize("operation", INTEGERS)
def test_integers_wrap_around(operation: str, name: str) -> None:
    function, rule = INTEGERS[operation]
    type = element_type(name)
    low, high = (0, 1 << type.bits) if name.startswith("u") else (-(1 << (type.bits - 1)), 1 << (type.bits - 1))
    drawn = random.Random(name)
    given = (low, low + 1, -1, 0, 1, 2, 3, type.bits - 1, type.bits, high - 2, high - 1)
    edges = sorted({each for each in given if low <= each < high})
    pairs = list(itertools.product(range(low, high), repeat=2) if type.bits <= 4 else itertools.product(edges, repeat=2))
    pairs += [(drawn.randrange(low, high), drawn.randrange(low, high)) for _ in range(0 if type.bits <= 4 else 200)]
    for one, other in pairs:
        if operation in ("divide", "remainder") and other == 0:
            continue  # open
        if operation == "power" and (other > 1000 or (one == 0 and other < 0)):
            continue
        value = rule(one, other, type.bits) % (1 << type.bits)
        wanted = value - (1 << type.bits) if value >= high else value
        found = function(element(type, one), element(type, other))
        assert found.number == wanted, (one, other, found.number, wanted)


REAL: dict[str, Callable[[Any], Any]] = {
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "cosine": mpmath.cos,
    "exponential": mpmath.exp,
    "exponential_minus_one": mpmath.expm1,
    "log": mpmath.log,
    "log_plus_one": mpmath.log1p,
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sine": mpmath.sin,
    "sqrt": mpmath.sqrt,
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
}
NEAR = [1e-300, 1e-20, 1e-9, 0.1, 0.5, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 2.0, 10.0, 30.0, 700.0, 720.0, 745.0, 1e5, 1e300]


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
@pytest.mark.parametrize("operation", REAL)
def test_elementary_functions_are_near_the_true_value(operation: str, name: str) -> None:
    type = element_type(name)
    bound = np.finfo(type.numpy)
    with np.errstate(all="ignore"), mpmath.workprec(200):
        for number in (sign * each for each in NEAR for sign in (1, -1)):
            value = element(type, number)
            given = float(value.number)
            if not math.isfinite(given) or (given == 0 and operation in ("log", "rsqrt")):
                continue
            if (given < 0 and operation in ("log", "rsqrt", "sqrt")) or (given <= -1 and operation == "log_plus_one"):
                continue
            wanted, found = REAL[operation](mpmath.mpf(given)), float(applied(operation, value).number)
            if abs(wanted) >= float(bound.max) * (1 + float(bound.eps) / 2):
                assert math.isinf(found), (given, found)
                continue
            unit = max(float(bound.eps) * abs(wanted), float(bound.smallest_subnormal))
            assert abs(found - wanted) <= 2 * unit, (given, found, mpmath.nstr(wanted, 20))


SPECIAL = {
    "cbrt": {"-inf": "-inf", "-0.0": "-0.0", "inf": "inf"},
    "cosine": {"inf": "nan", "-0.0": "1.0"},
    "exponential": {"-inf": "0.0", "inf": "inf", "-0.0": "1.0"},
    "exponential_minus_one": {"-inf": "-1.0", "inf": "inf", "-0.0": "-0.0"},
    "log": {"0.0": "-inf", "-0.0": "-inf", "inf": "inf", "-1.0": "nan", "1.0": "0.0"},
    "log_plus_one": {"-1.0": "-inf", "-0.0": "-0.0", "inf": "inf", "-2.0": "nan"},
    "logistic": {"-inf": "0.0", "inf": "1.0", "0.0": "0.5"},
    "rsqrt": {"0.0": "inf", "-0.0": "-inf", "inf": "0.0", "-1.0": "nan"},
    "sine": {"inf": "nan", "-0.0": "-0.0"},
    "sqrt": {"-0.0": "-0.0", "inf": "inf", "-1.0": "nan"},
    "tan": {"inf": "nan", "-0.0": "-0.0"},
    "tanh": {"-inf": "-1.0", "inf": "1.0", "-0.0": "-0.0"},
    "floor": {"-0.0": "-0.0", "inf": "inf", "-0.5": "-1.0"},
    "ceil": {"-0.0": "-0.0", "-inf": "-inf", "-0.5": "-0.0"},
    "round_nearest_afz": {"-0.0": "-0.0", "-0.4": "-0.0", "0.5": "1.0", "inf": "inf"},
    "round_nearest_even": {"-0.0": "-0.0", "0.5": "0.0", "inf": "inf"},
}


@pytest.mark.parametrize("name", ["f8E5M2", "f8E4M3", "bf16", "f16", "f32", "f64"])
@pytest.mark.parametrize("operation", SPECIAL)
def test_special_values_are_those_of_the_standard(operation: str, name: str) -> None:
    with np.errstate(all="ignore"):
        for given, wanted in {"nan": "nan", **SPECIAL[operation]}.items():
            found = applied(operation, element(element_type(name), float(given)))
            assert str(float(found.number)) == wanted, (given, float(found.number))


COMPLEX: dict[str, Callable[[Any], Any]] = {
    "exponential": mpmath.exp,
    "exponential_minus_one": lambda z: mpmath.exp(z) - 1,
    "log": mpmath.log,
    "log_plus_one": lambda z: mpmath.log(1 + z),
    "logistic": lambda z: 1 / (1 + mpmath.exp(-z)),
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "sine": mpmath.sin,
    "cosine": mpmath.cos,
    "tan": mpmath.tan,
    "tanh": mpmath.tanh,
    "cbrt": lambda z: mpmath.exp(mpmath.log(z) / 3),
}
BY_PART = ("log", "log_plus_one")
"""Functions whose parts are functions of their own, so that each has to be near."""


@pytest.mark.parametrize("name", ["complex<f32>", "complex<f64>"])
@pytest.mark.parametrize("operation", COMPLEX)
def test_complex_functions_are_near_the_true_value(operation: str, name: str) -> None:
    type = element_type(name)
    eps = float(np.finfo(type.part.numpy).eps)
    sizes = [1e-30, 1e-9, 0.1, 0.75, 1.0 - 2**-20, 1.0, 20.0, 800.0]
    points = [complex(s * x, t * y) for x, y in itertools.product(sizes, repeat=2) for s, t in itertools.product((1, -1), repeat=2)]
    points += [complex(-(y**2) / 2, y) for y in (1e-3, 1e-5, 1e-7)]  # where 1 + z has an absolute value near 1
    with np.errstate(all="ignore"), mpmath.workprec(400):
        for point in points:
            value = element(type, point)
            given = complex(value.number)
            wanted, found = COMPLEX[operation](mpmath.mpc(given)), complex(applied(operation, value).number)
            if abs(wanted) > float(np.finfo(type.part.numpy).max):
                continue
            allowed = 8 * eps * abs(wanted) + float(np.finfo(type.part.numpy).tiny)
            assert abs(found - wanted) <= allowed, (given, found, mpmath.nstr(wanted, 20))
            if operation in BY_PART:
                for one, other in ((found.real, wanted.real), (found.imag, wanted.imag)):
                    assert abs(one - other) <= 8 * eps * abs(other) + float(np.finfo(type.part.numpy).tiny), (
                        given,
                        one,
                        mpmath.nstr(other, 20),
                    )


def test_what_the_specification_leaves_open_is_decided_as_documented() -> None:
    """These are no programs of the suite, which tests the specification alone."""
    with np.errstate(all="ignore"):
        for number in (7, -7, 0):
            one, zero = element(element_type("i8"), number), element(element_type("i8"), 0)
            assert ((one / zero).number, (one % zero).number) == (-1, number)
        for target, given, wanted in (
            ("i8", [127.9, 128.0, -128.9, -1000.0, math.inf, -math.inf, math.nan], [127, 127, -128, -128, 127, -128, 0]),
            ("ui4", [-1.0, 15.9, 16.0, 1000.0], [0, 15, 15, 15]),
            ("f8E8M0FNU", [0.0, 1.0], [2.0**-127, 1.0]),
        ):
            found = [float(converted(element(element_type("f32"), each), element_type(target)).number) for each in given]
            assert found == wanted
