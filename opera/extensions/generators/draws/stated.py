"""The source of a module that calls a random operator twice, and says whether the numbers are as they should be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opera.arrays import Outputs, as_array
from opera.extensions.generators.draws.laws import FIXED, GIVEN, Law, Where
from opera.models.template import Invalid, Reference
from opera.oracles.blame import Undefined

WRONG = "library-draws-otherwise"
"""Why a call has no reference whose statements are not true of the library's own numbers."""

_EVENTS = {
    Where.ONE: "one <= {0!r}",
    Where.BOTH: "(one <= {0!r}) & (two <= {0!r})",
    Where.PAIRS: "larger <= {0!r}",
}


@dataclass(frozen=True)
class Dialect:
    """How a library writes the operators of statements.

    Attributes:
        module: Class of its modules.
        call: Method of a module that makes the call.
        library: Name under which its functions stand.
        all: Function that says whether all elements are true.
        mean: Function that gives the mean.
        cast: Call that makes its argument a float32.
        sort: Call that sorts its argument along the last axis.
        largest: Call that gives the largest element of each row.
    """

    module: str
    call: str
    library: str
    all: str
    mean: str
    cast: str
    sort: str
    largest: str


def lines(law: Law, size: int, dtype: str, dialect: Dialect) -> list[str]:
    """The class `Stated`, whose first result has the dtype and shape of a draw of *size* elements; all others are true.

    Raises:
        Invalid: so many elements are no draws of that law.
    """
    if (
        size % law.apart
        or size // law.apart < (2 if law.shares else 1)
        or (law.shares and size // law.apart % 2)
        or (law.distinct and size % law.distinct)
    ):
        raise Invalid("no-law")
    head = (
        f"class Stated({dialect.module}):",
        "    def __init__(self, operator):",
        "        super().__init__()",
        "        self.operator = operator",
        "",
        f"    def {dialect.call}(self, *inputs):",
    )
    return [*head, *(f"        {line}" for line in _body(law, size, dtype, dialect))]


def made(text: Sequence[str], library: str, module: Any, operator: Any) -> Any:
    """The module that *text*, the lines of one class, makes around *operator*."""
    space: dict[str, Any] = {library: module}
    exec("\n".join(text), space)  # numbers in lines of our own
    return space[_class_of(text)](operator)


def around(source: str, text: Sequence[str]) -> str:
    """*source*, which defines `model`, with *text* and the module that it makes."""
    before, _, after = source.partition("\nmodel = Model()")
    return "\n".join([before.rstrip(), "", "", *text, "", "", f"model = {_class_of(text)}(Model()){after}"])


def _class_of(text: Sequence[str]) -> str:
    return text[0].partition("(")[0].removeprefix("class ")


def checked(found: Reference) -> Reference:
    """*found*, which is no reference where the library's own draws are not as they should be."""
    return found if holds(found.outputs) else replace(found, undefined=found.undefined or WRONG)


def holds(outputs: Outputs | Undefined | None) -> bool:
    """Whether no statement among *outputs* is false."""
    return isinstance(outputs, Undefined) or outputs is None or all(bool(np.all(as_array(each))) for each in outputs[1:])


def _body(law: Law, size: int, dtype: str, dialect: Dialect) -> Iterator[str]:
    near = law.slack(dtype)
    yield f"first, second = self.operator(*inputs), self.operator({'*(each + 1 for each in inputs)' if law.seed == GIVEN else '*inputs'})"
    yield "first, second = (each[0] if isinstance(each, tuple) else each for each in (first, second))"
    shape = f"(-1, {law.apart})" if law.apart > 1 else "(-1,)"
    for name, draw in (("whole", "first"), ("other", "second")):
        yield f"{name} = {dialect.library}.reshape({dialect.cast.format(draw)}, {shape})"
    yield "one, two = whole[:, 0], other[:, 0]" if law.apart > 1 else "one, two = whole, other"
    if law.shares:
        yield f"larger = {dialect.largest.format(f'{dialect.library}.reshape(one, (-1, 2))')}"
    if law.distinct:
        yield f"ordered = {dialect.sort.format(f'{dialect.library}.reshape(whole, (-1, {law.distinct}))')}"
    yield "return ("
    yield "    first * 0,"
    yield from (f"    {dialect.all}({each})," for each in _of_all(law, near, dialect.library))
    yield from (f"    {each}," for each in _of_shares(law, size // law.apart, dialect))
    yield ")"


def _of_all(law: Law, near: float, library: str) -> Iterator[str]:
    """What holds for every number."""
    if law.values:
        yield " | ".join(f"({library}.abs(whole - {each!r}) <= {near!r})" for each in law.values)
    elif math.isfinite(law.low):
        high = f" & (whole <= {law.high + near!r})" if math.isfinite(law.high) else ""
        yield f"(whole >= {law.low - near!r}){high}"
    if law.whole and not law.values:
        yield f"whole == {library}.floor(whole)"
    if law.alike:
        yield "whole == whole[:, :1]"
    if law.distinct:
        yield "ordered[:, 1:] > ordered[:, :-1]"
    if law.seed:
        yield "first == " + ("second" if law.seed == FIXED else "self.operator(*inputs)")


def _of_shares(law: Law, draws: int, dialect: Dialect) -> Iterator[str]:
    """How large a share of the numbers lies where, and that neither the other draw nor the number before says anything of a number."""
    for where, number, share, off in law.expectations(draws):
        mean = f"{dialect.mean}({dialect.cast.format(f'({_EVENTS[where].format(number)})')})"
        yield f"{dialect.library}.abs({mean} - {share:.9g}) <= {off:.6g}"
