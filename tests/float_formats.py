"""The floating-point formats of StableHLO as their definitions give them: exact values of codes, and the code nearest to a number.

Nothing here uses numpy, ml_dtypes or OPERA: the interpreter is held against it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

Special = Literal["nan", "inf", "-inf"]
Exact = Fraction | Special
"""A number, without the sign of zero."""


@dataclass(frozen=True)
class Format:
    """A format with a sign, an exponent and a mantissa.

    Attributes:
        exponent, mantissa: Bits.
        bias: Of the exponent.
        ends: What the highest codes are: `ieee` infinities and NaN, `fn` one NaN, `fnuz` NaN in place of -0, `finite` numbers.
    """

    exponent: int
    mantissa: int
    bias: int
    ends: Literal["ieee", "fn", "fnuz", "finite"]

    @property
    def bits(self) -> int:
        """The width."""
        return 1 + self.exponent + self.mantissa

    @cached_property
    def magnitudes(self) -> list[Fraction]:
        """The numbers without a sign, by code."""
        codes = 1 << (self.exponent + self.mantissa)
        if self.ends == "ieee":
            codes -= 1 << self.mantissa
        elif self.ends == "fn":
            codes -= 1
        return [self.magnitude(code) for code in range(codes)]

    def magnitude(self, code: int) -> Fraction:
        """The number of a code without a sign, as if all codes were numbers."""
        exponent, fraction = code >> self.mantissa, code & ((1 << self.mantissa) - 1)
        lead = 0 if exponent == 0 else 1
        return (lead + Fraction(fraction, 1 << self.mantissa)) * Fraction(2) ** (max(exponent, 1) - self.bias)

    def value(self, code: int) -> Exact:
        """The value of a code with a sign."""
        sign, rest = code >> (self.bits - 1), code & ((1 << (self.bits - 1)) - 1)
        if self.ends == "fnuz" and sign and rest == 0:
            return "nan"
        if rest < len(self.magnitudes):
            return -self.magnitudes[rest] if sign else self.magnitudes[rest]
        is_infinite = self.ends == "ieee" and rest == len(self.magnitudes)
        return ("-inf" if sign else "inf") if is_infinite else "nan"

    def is_negative(self, code: int) -> bool:
        """Whether a code has the sign."""
        return bool(code >> (self.bits - 1))

    def nearest(self, number: Exact, negative: bool) -> tuple[Exact, bool | None]:
        """The value nearest to *number*, the even one of two, and the sign; *negative* is that of a zero."""
        if isinstance(number, str):
            if number == "nan" or self.ends in ("fn", "fnuz"):
                return "nan", None
            if self.ends == "finite":
                return (-1 if number == "-inf" else 1) * self.magnitudes[-1], number == "-inf"
            return number, number == "-inf"
        negative = number < 0 or (number == 0 and negative)
        size = abs(number)
        code = bisect_right(self.magnitudes, size) - 1
        low, high = self.magnitude(code), self.magnitude(code + 1)
        if size - low > high - size or (size - low == high - size and code % 2):
            code += 1
        if code >= len(self.magnitudes):
            if self.ends == "finite":
                code = len(self.magnitudes) - 1
            else:
                return self.nearest("-inf" if negative else "inf", negative)
        found = self.magnitudes[code]
        if found == 0 and self.ends == "fnuz":
            negative = False
        return (-found if negative else found), negative


FORMATS = {
    "f4E2M1FN": Format(2, 1, 1, "finite"),
    "f6E2M3FN": Format(2, 3, 1, "finite"),
    "f6E3M2FN": Format(3, 2, 3, "finite"),
    "f8E3M4": Format(3, 4, 3, "ieee"),
    "f8E4M3": Format(4, 3, 7, "ieee"),
    "f8E4M3B11FNUZ": Format(4, 3, 11, "fnuz"),
    "f8E4M3FN": Format(4, 3, 7, "fn"),
    "f8E4M3FNUZ": Format(4, 3, 8, "fnuz"),
    "f8E5M2": Format(5, 2, 15, "ieee"),
    "f8E5M2FNUZ": Format(5, 2, 16, "fnuz"),
    "bf16": Format(8, 7, 127, "ieee"),
    "f16": Format(5, 10, 15, "ieee"),
}
"""By name; `f8E8M0FNU` has no sign, no zero and no mantissa, and `f32` and `f64` have too many codes to list."""
