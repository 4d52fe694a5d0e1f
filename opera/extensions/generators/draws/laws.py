"""What is known of the numbers that a random call draws: where they may lie, and how probable it is that one is at most some number.

A statement of a share is tested by Bernstein's inequality, which bounds for any number of draws how often a right implementation fails.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any, cast

from opera.instance import Instance
from opera.models.template import Invalid

LAW = "law"
"""The context fact of an instance: its law, as a list of pairs of a name and a value."""
FIXED = "fixed"
GIVEN = "given"
_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The probabilities below a threshold that are looked at, for laws that have a density."""
_SLACK = {"float16": 2e-3, "bfloat16": 1e-2}
"""Share of the largest number by which rounding may move a draw; 1e-5 for other dtypes, as statements are made in float32."""
_DOUBT = math.log(2 / 1e-9)
"""A right implementation fails one statement in at most 1e9 tests."""


class Where(enum.Enum):
    """The numbers that lie below a threshold in an event."""

    ONE = "a number"
    BOTH = "a number and the one at its place in another draw"
    PAIRS = "a number at an even place and the next one"


@dataclass(frozen=True)
class Law:
    """What is known of each number of a draw.

    Attributes:
        low: The lowest possible number.
        high: The highest one.
        shares: Pairs of a number and the probability that a draw is at most that number.
        values: All possible numbers, where they are few; else none.
        whole: Whether the numbers are integers.
        apart: Elements from one draw to the next; those between depend on it.
        alike: Whether the elements of one draw are equal.
        distinct: Length of the runs in which no number stands twice; 0 if there are none.
        seed: `FIXED` if each draw has one seed, so that it gives the same numbers; `GIVEN` if all inputs are the seed; else nothing.
    """

    low: float
    high: float
    shares: tuple[tuple[float, float], ...] = ()
    values: tuple[float, ...] = ()
    whole: bool = False
    apart: int = 1
    alike: bool = False
    distinct: int = 0
    seed: str = ""

    def fact(self) -> list[Any]:
        """The law as a value of an instance's context."""
        tree = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return [[name, list(map(_plain, value)) if isinstance(value, tuple) else value] for name, value in tree.items()]

    def slack(self, dtype: str) -> float:
        """How far rounding may move a draw of *dtype*; integers stay apart."""
        found = _SLACK.get(dtype, 1e-5) * max([1.0, *(abs(each) for each in (self.low, self.high) if math.isfinite(each))])
        return min(found, 0.25) if self.whole else found

    def expectations(self, draws: int) -> Iterator[tuple[Where, float, float, float]]:
        """What holds for two sets of *draws* independent numbers: which ones, a threshold, the share below it, how far that may be off."""
        for number, share in self.shares:
            yield Where.ONE, number, share, allowed(share, draws)
        if self.shares:
            number, share = min(self.shares, key=lambda each: abs(each[1] - 0.5))
            if self.seed != FIXED:
                yield Where.BOTH, number, share * share, allowed(share * share, draws)
            yield Where.PAIRS, number, share * share, allowed(share * share, draws // 2)

    @staticmethod
    def of(instance: Instance) -> Law:
        """The law in the context of *instance*; raises `Invalid` if there is none."""
        try:
            tree = {str(name): value for name, value in cast("Iterable[tuple[str, Any]]", instance.context_value(LAW))}
            for name, value in tree.items():
                kind = _KINDS[name]
                tree[name] = kind(value)
            law = Law(**tree)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise Invalid("no-law") from error
        if law.apart < 1 or law.distinct < 0 or law.seed not in ("", FIXED, GIVEN):
            raise Invalid("no-law")
        return law


def _shares(value: Any) -> tuple[tuple[float, float], ...]:
    return tuple((float(number), float(share)) for number, share in value)


def _numbers(value: Any) -> tuple[float, ...]:
    return tuple(float(each) for each in value)


_KINDS: Mapping[str, Callable[[Any], Any]] = {
    "low": float, "high": float, "shares": _shares, "values": _numbers, "whole": bool, "apart": int, "alike": bool, "distinct": int,
    "seed": str,
}  # fmt: skip


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def allowed(share: float, draws: int) -> float:
    """How far the share of *draws* independent events of probability *share* may be from it."""
    least = _DOUBT / (3 * draws)
    return least + math.sqrt(least * least + 2 * share * (1 - share) * _DOUBT / draws)


def uniform(low: float, high: float) -> Law:
    """Numbers between *low* and *high*, equally probable."""
    return Law(low, high, tuple((low + level * (high - low), level) for level in _LEVELS))


def normal(mean: float, deviation: float) -> Law:
    """Normal numbers; none of them is ten deviations off."""
    if deviation == 0:
        return certain(mean)
    law = NormalDist(mean, deviation)
    return Law(mean - 10 * deviation, mean + 10 * deviation, tuple((law.inv_cdf(level), level) for level in _LEVELS))


def log_normal(mean: float, deviation: float) -> Law:
    """Numbers whose logarithms are normal."""
    return Law(0.0, math.exp(mean + 10 * deviation), tuple((math.exp(at), level) for at, level in normal(mean, deviation).shares))


def truncated_normal(mean: float, deviation: float) -> Law:
    """Normal numbers, drawn again while they are more than two deviations off."""
    law, end = NormalDist(mean, deviation), 2 * deviation
    below, inside = law.cdf(mean - end), law.cdf(mean + end) - law.cdf(mean - end)
    return Law(mean - end, mean + end, tuple((law.inv_cdf(below + level * inside), level) for level in _LEVELS))


def exponential(rate: float) -> Law:
    """Exponential numbers of this rate."""
    return Law(0.0, 60 / rate, tuple((-math.log1p(-level) / rate, level) for level in _LEVELS))


def powers(exponent: float) -> Law:
    """Numbers from 0 to 1 of which the share *at* to the power *exponent* is at most *at*."""
    return Law(0.0, 1.0, tuple((level ** (1 / exponent), level) for level in _LEVELS))


def cauchy(median: float, width: float) -> Law:
    """Cauchy numbers, which may be as large as the dtype allows."""
    return Law(-math.inf, math.inf, tuple((median + width * math.tan(math.pi * (level - 0.5)), level) for level in _LEVELS))


def certain(value: float) -> Law:
    """One number, which always comes."""
    return Law(value, value, values=(value,))


def discrete(chances: Mapping[float, float], *, whole: bool = True) -> Law:
    """Few numbers, each with its probability; one of probability 0 never comes."""
    possible = sorted(value for value, chance in chances.items() if chance > 0)
    reached, shares = 0.0, list[tuple[float, float]]()
    for value, after in pairwise(possible):
        reached += chances[value]
        shares.append(((value + after) / 2, reached))
    return Law(possible[0], possible[-1], tuple(shares), tuple(possible), whole)


def integers(low: int, high: int) -> Law:
    """Integers from *low* to below *high*, equally probable; of many only some shares are looked at."""
    count = high - low
    if count <= 8:
        return discrete({float(low + place): 1 / count for place in range(count)})
    at = [max(1, round(level * count)) for level in _LEVELS]
    return Law(low, high - 1, tuple((low + each - 0.5, each / count) for each in at), whole=count < 2**24)


def counts(chance_of: Iterable[float], first: int) -> Law:
    """Integers from *first* on without an end, with the probabilities of the first ones."""
    reached, shares = 0.0, list[tuple[float, float]]()
    for place, chance in enumerate(chance_of):
        reached += chance
        shares.append((first + place + 0.5, reached))
    return Law(first, math.inf, tuple(each for each in shares if 0.02 < each[1] < 0.98), whole=True)


def poisson(rate: float) -> Law:
    """Numbers of events of which *rate* are expected."""
    return counts((math.exp(-rate) * rate**count / math.factorial(count) for count in range(40)), 0)


def geometric(chance: float) -> Law:
    """Numbers of tries until one of this *chance* succeeds."""
    return counts((chance * (1 - chance) ** count for count in range(40)), 1)
