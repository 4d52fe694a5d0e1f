"""The meaning of a program by numpy: its results, those in double precision, and those near its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from opera.arrays import Array, dtype_name
from opera.extensions.programs.check import Observe, Rounding, evaluate
from opera.extensions.programs.languages import nan_unspecified, registry
from opera.extensions.programs.operators import Operator
from opera.extensions.programs.program import Program
from opera.extensions.programs.values import tensors_of
from opera.models.sampling import DOUBLE, is_inexact, nudged
from opera.models.template import LIBRARY_RAISED, Invalid

_WIDE = {"float16": "float64", "float32": "float64"}
_SIGNED = ("int8", "int16", "int32")
_UNSIGNED = ("uint8", "uint16", "uint32")
ORDER_OF_NAN = "order-of-nan"
"""Why a program has no reference in which an operator gets a NaN of which its language does not say what becomes."""
_VISIBLE = 2.0**-24
"""Relative size of the smallest change that a number in less than double precision shows."""
_FLUSHED = {7: (1.0, 1.0), 9: (4.0, 0.5)}
"""Draws in which small numbers are 0, as processors take them, with a factor and the power of the smallest normal one that bound them."""
_COARSE = 2.0**-11
"""The same in half precision."""


class Meaning:
    """What a program computes by the registry of operators.

    Args:
        program: A program that is well-typed.
        values: A value for each parameter of `main`.
        language: Its language, which may not say what an operator makes of a NaN.

    Attributes:
        compares_nan: Whether such an operator got a NaN when `results` was computed.
    """

    def __init__(self, program: Program, values: Sequence[Array], language: str) -> None:
        self._program = program
        self._values = values
        self._unspecified = nan_unspecified(language)
        self.compares_nan = False

    def _observe(self, operator: Operator, arguments: Sequence[Array]) -> None:
        if operator.name in self._unspecified:
            self.compares_nan |= any(each.dtype.kind == "f" and bool(np.isnan(each).any()) for each in arguments)

    def results(self) -> list[Array]:
        """The results, each operator rounded to its dtype.

        Raises:
            Invalid: an operator is not defined on its arguments.
        """
        return self._evaluate(self._values, observe=self._observe)

    def precise(self) -> list[Array] | None:
        """The results in double precision along the whole program; None where an operator is not defined on its arguments."""
        try:
            return self._evaluate(self._values, _WIDE)
        except Invalid:
            return None

    def nearby(self, scale: float, draw: int, computes_as: Mapping[str, str] | None = None) -> list[Array] | None:
        """The results near the inputs; every second draw keeps the program's own precision, because its steps may be rounded or not.

        In the other draws, literals are off by *scale*, too. So are results of operators where the dtype cannot hold them exactly, or
        compilers approximate the operator. What follows a rounded number may follow another one, for example `floor` of a number that is
        nearly whole, or of `x / x`. The error of an operator whose formula cancels, such as `gelu(-9)`, is relative to its largest
        argument.

        In two draws, numbers are 0 that are too small for a normal number of their dtype, or whose squares are.
        """
        if draw in _FLUSHED and (scale >= _VISIBLE or 0 < scale <= DOUBLE):
            return self._flushed(*_FLUSHED[draw])
        visible = scale >= _VISIBLE
        own = visible and draw % 2 == 1
        amount = 0.0 if own and draw == 1 else scale
        feeds = [self._nudged(value, amount, draw, index, computes_as, own=own) for index, value in enumerate(self._values)]

        def rounded(value: Array, operator: Operator | None, largest: Array, number: int) -> Array:
            if value.dtype != np.float64:
                return value
            with np.errstate(all="ignore"):
                exact = (value == value.astype(holder)) & (operator is not None and not operator.approximate)
                size = np.maximum(np.abs(value), largest) if operator is not None and operator.cancels else np.abs(value)
                error = nudged(size, scale, draw, len(feeds) + number) - size
                return np.where(exact | ~np.isfinite(error), value, value + error)  # what is infinite has no rounding error

        holder = np.float16 if scale >= _COARSE else np.float32
        try:
            return self._evaluate(feeds, {} if own else _WIDE, rounded if visible and not own else None)
        except Invalid:
            return None

    def _flushed(self, factor: float, power: float) -> list[Array] | None:
        """The results where numbers of less than *factor* times the smallest normal one of their dtype to *power* are 0 of their sign."""

        def flushed(value: Array, _operator: Operator | None = None, _largest: Array | None = None, _number: int = 0) -> Array:
            if value.dtype not in (np.float32, np.float64):
                return value
            smallest = factor * float(np.finfo(value.dtype).tiny) ** power
            return np.where(np.abs(value) < smallest, np.copysign(value.dtype.type(0), value), value)

        try:
            return self._evaluate([flushed(each) for each in self._values], {}, flushed)
        except Invalid:
            return None

    def exact(self, dtype: str) -> list[Array] | None:
        """The results where all narrower integers are *dtype*; None where an operator does not take these."""
        try:
            narrow = _SIGNED if dtype == "int64" else (*_SIGNED, *_UNSIGNED, "int64")
            return self._evaluate(self._values, dict.fromkeys(narrow, dtype), needs=False)
        except Invalid:
            return None

    def _nudged(self, value: Array, scale: float, draw: int, place: int, computes_as: Mapping[str, str] | None, *, own: bool) -> Array:
        """An input that is off by *scale*, in double precision unless the program keeps its *own*."""
        name = dtype_name(value.dtype)
        if not is_inexact(name):
            return value
        with np.errstate(all="ignore"):
            moved = nudged(value.astype("float64"), scale, draw, place, computes_as)
            return moved if name in _WIDE and not own else moved.astype(value.dtype)

    def _evaluate(
        self,
        values: Sequence[Array],
        dtypes: Mapping[str, str] | None = None,
        rounding: Rounding | None = None,
        *,
        needs: bool = True,
        observe: Observe | None = None,
    ) -> list[Array]:
        try:
            return list(tensors_of(evaluate(self._program, values, registry(), dtypes or {}, rounding, needs=needs, observe=observe)))
        except ValueError as error:
            raise Invalid(LIBRARY_RAISED) from error
