"""What is said of random numbers holds for numpy's own, and not for numbers that are drawn otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from opera.extensions.generators.draws import laws, stated
from opera.extensions.generators.draws.calls import calls
from opera.extensions.generators.draws.laws import Law, Where, allowed
from opera.instance import Instance, decode_instance
from opera.models.template import Invalid

N = 4000
DIALECT = stated.Dialect(
    "object", "__call__", "np", "np.all", "np.mean", cast="np.float32({})", sort="np.sort({})", largest="np.max({}, 1)"
)


def fails(law: Law, draw: Callable[[Any], Any], seed: int = 0) -> list[Where]:
    """Which expectations numbers of *draw* do not meet."""
    random = np.random.default_rng(seed)
    one, two = draw(random), draw(random)
    found = []
    for where, number, share, off in law.expectations(N):
        events = {
            Where.ONE: one <= number,
            Where.BOTH: (one <= number) & (two <= number),
            Where.PAIRS: (one[0::2] <= number) & (one[1::2] <= number),
        }
        if abs(float(events[where].mean()) - share) > off:
            found.append(where)
    return found


RIGHT: list[tuple[Law, Callable[[Any], Any]]] = [
    (laws.uniform(-1, 3), lambda random: random.uniform(-1, 3, N)),
    (laws.normal(5, 2), lambda random: random.normal(5, 2, N)),
    (laws.log_normal(0, 0.5), lambda random: random.lognormal(0, 0.5, N)),
    (laws.exponential(2.5), lambda random: random.exponential(1 / 2.5, N)),
    (laws.cauchy(2, 5), lambda random: 2 + 5 * random.standard_cauchy(N)),
    (laws.integers(3, 9), lambda random: random.integers(3, 9, N)),
    (laws.integers(-100, 100), lambda random: random.integers(-100, 100, N)),
    (laws.poisson(3), lambda random: random.poisson(3, N)),
    (laws.geometric(0.3), lambda random: random.geometric(0.3, N)),
    (laws.discrete({0.0: 0.1, 1.0: 0.0, 2.0: 0.9}), lambda random: random.choice([0, 2], N, p=[0.1, 0.9])),
]


@pytest.mark.parametrize(("law", "draw"), RIGHT)
def test_numbers_of_a_law_meet_its_expectations(law: Law, draw: Callable[[Any], Any]) -> None:
    assert [seed for seed in range(50) if fails(law, draw, seed)] == []
    numbers = draw(np.random.default_rng(1))
    assert numbers.min() >= law.low
    assert numbers.max() <= law.high
    assert not law.whole or bool((numbers == np.floor(numbers)).all())
    assert set(numbers.tolist()) <= set(law.values or numbers.tolist())


def test_normal_numbers_within_two_deviations_are_truncated_ones() -> None:
    law = laws.truncated_normal(1, 3)

    def inside(random: Any) -> Any:
        numbers = random.normal(1, 3, 2 * N)
        return numbers[(numbers >= law.low) & (numbers <= law.high)][:N]

    assert (law.low, law.high) == (-5, 7)
    assert fails(law, inside) == []


@pytest.mark.parametrize(
    ("law", "draw"),
    [
        (laws.uniform(0, 1), lambda random: random.uniform(0, 1, N) ** 1.3),
        (laws.normal(0, 1), lambda random: random.normal(0.2, 1, N)),
        (laws.normal(0, 1), lambda random: random.normal(0, 1.25, N)),
        (laws.normal(0, 1), lambda random: random.exponential(1, N) - 1),  # the right mean and variance
        (laws.discrete({0.0: 0.1, 1.0: 0.9}), lambda random: random.random(N) > 0.9),  # the other side
        (laws.integers(0, 5), lambda random: random.integers(0, 4, N)),
        (laws.exponential(2.5), lambda random: random.exponential(2.5, N)),  # scale for rate
    ],
)
def test_another_distribution_is_seen(law: Law, draw: Callable[[Any], Any]) -> None:
    assert Where.ONE in fails(law, draw)


def test_a_draw_that_repeats_and_numbers_that_come_in_pairs_are_seen() -> None:
    same = np.random.default_rng(0).uniform(0, 1, N)
    assert fails(laws.uniform(0, 1), lambda _: same) == [Where.BOTH]
    assert fails(laws.uniform(0, 1), lambda random: np.repeat(random.uniform(0, 1, N // 2), 2)) == [Where.PAIRS]


def test_a_seed_repeats_its_draw_and_another_seed_does_not() -> None:
    stream = np.random.default_rng(5)

    def seeded(seed: int) -> Any:
        return np.random.default_rng(seed).uniform(0, 1, N)

    def unseeded(seed: int) -> Any:
        return stream.uniform(0, 1, N)

    def deaf(seed: int) -> Any:
        return seeded(9)

    given, fixed = (replace(laws.uniform(0, 1), seed=seed) for seed in (laws.GIVEN, laws.FIXED))
    for law, right, wrong in ((given, [seeded], [unseeded, deaf]), (fixed, [seeded, deaf], [unseeded])):
        text = stated.lines(law, N, "float64", DIALECT)
        for draw in (*right, *wrong):
            assert stated.holds(list(stated.made(text, "np", np, draw)(7))) == (draw in right), (law.seed, draw)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("draws", [100, N])
def test_a_right_implementation_almost_never_exceeds_what_is_allowed(share: float, draws: int) -> None:
    """Even a hundredth of what is allowed for one in 1e9 is met: 20,000 draws stay within 80 % of it."""
    found = np.random.default_rng(2).binomial(draws, share, 20_000) / draws
    assert float(np.abs(found - share).max()) < 0.8 * allowed(share, draws)


@pytest.mark.parametrize("library", ["pytorch", "tensorflow"])
def test_every_call_is_an_instance_with_its_law(library: str) -> None:
    made = list(calls(library))
    assert len(made) > 50
    for each in made:
        instance = decode_instance(each.document())
        assert instance.library == library
        assert Law.of(instance) == each.law
    assert len({repr(each.document()) for each in made}) == len(made)


@pytest.mark.parametrize(
    "fact",
    [None, 3, "law", [], [["low", 0.0]], [["low", "x"], ["high", 1.0]], [["low", 0.0], ["high", 1.0], ["apart", 0]],
     [["low", 0.0], ["high", 1.0], ["code", "import os"]], [["low", 0.0], ["high", 1.0], ["shares", [1.0]]],
     [["low", 0.0], ["high", 1.0], ["distinct", -1]], [["low", 0.0], ["high", 1.0], ["seed", "7"]]],
)  # fmt: skip
def test_another_fact_is_no_law(fact: Any) -> None:
    document = next(iter(calls("pytorch"))).document()
    instance: Instance = decode_instance({**document, "context": [["law", fact]]})
    with pytest.raises(Invalid, match="no-law"):
        Law.of(instance)
