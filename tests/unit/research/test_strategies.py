"""Promises of the strategies that rankings are compared with: those of the paper, and the classic ones."""

from __future__ import annotations

import pytest
from fake.rankings import SEEDS, SMALL, candidates, instance, order

from opera.errors import UserError
from opera.instance import Instance, Tensor, digest
from opera.prioritize import Candidate, Context, get_strategy


def test_a_new_instance_leaves_the_random_order_of_the_others() -> None:
    added = instance("torch.new")
    assert [item for item in order("random", [*SMALL, added]) if item != added] == order("random", SMALL)


def test_round_robin_runs_every_operator_once_before_any_twice() -> None:
    assert len({item.api for item in order("round-robin", SMALL)[:4]}) == 4


@pytest.mark.parametrize("seed", SEEDS)
def test_the_paper_prefers_operators_with_few_equipped_tests(seed: int) -> None:
    both = [instance(f"torch.{api}", x=number) for api in ("tested", "neglected") for number in (-1, 0, 1)]
    ranking = order("opera-paper", both, seed, {"tested": 30, "neglected": 1})
    assert [item.operator for item in ranking] == ["neglected"] * 3 + ["tested"] * 3


def test_the_paper_scores_share_of_new_subspaces_times_ratio_of_counts() -> None:
    corpus = [instance("torch.f", a=a, b=b) for a, b in ((5, "u"), (7, "u"), (-1, "u"))]
    ranking = list(get_strategy("opera-paper").rank(candidates(corpus), Context({"f": 2})))
    # Three tests against two; of a, b and the pair (a, b) first all three are new, then a and the pair, then nothing.
    assert [place.score for place in ranking] == pytest.approx([1.5 * 3 / 3, 1.5 * 2 / 3, 0.0])


def test_the_paper_divides_by_the_parameters_that_an_instance_has_itself() -> None:
    corpus = [instance("torch.f", a=5, b="u", c=True), instance("torch.f", a=5, b="v"), instance("torch.f", a=5, c=False)]
    ranking = list(get_strategy("opera-paper").rank(candidates(corpus[:2]), Context()))
    # Two tests against none. One with three parameters, then of two and their pair one and the pair; or the other way round.
    assert [place.score for place in ranking] in (pytest.approx([2, 2 * 2 / 3]), pytest.approx([2, 2 * 5 / 6]))
    firsts = {order("opera-paper", corpus, seed)[0] for seed in range(20)}
    assert firsts == set(corpus)  # of different numbers of parameters all are new: chance decides


def test_a_misspelt_strategy_is_answered_with_the_right_name() -> None:
    with pytest.raises(UserError, match=r"did you mean 'round-robin'\?.*choose one of: opera, .*random"):
        get_strategy("roundrobin")


def test_without_coverage_the_classic_baselines_refuse() -> None:
    for strategy in ("total", "additional"):
        with pytest.raises(UserError, match="frontend in C\\+\\+ cannot be measured"):
            list(get_strategy(strategy).rank(candidates(SMALL), Context()))


def test_additional_takes_what_adds_most_then_starts_anew() -> None:
    corpus = [Candidate(name, instance("torch.f")) for name in "abcd"]
    coverage = {"a": frozenset({1, 2, 3}), "b": frozenset({1, 2}), "c": frozenset({4}), "d": frozenset({2, 3})}
    ranking = list(get_strategy("additional").rank(corpus, Context(coverage=coverage)))
    assert [(each.id, each.score) for each in ranking[:2]] == [("a", 3.0), ("c", 1.0)]
    assert ranking[3].score == 0


def test_total_counts_every_statement() -> None:
    corpus = [Candidate(name, instance("torch.f")) for name in "ab"]
    ranking = get_strategy("total").rank(corpus, Context(coverage={"a": frozenset({1}), "b": frozenset({1, 2})}))
    assert [each.id for each in ranking] == ["b", "a"]


@pytest.mark.parametrize("seed", SEEDS)
def test_fast_runs_unlike_texts_before_alike_ones(seed: int) -> None:
    alike = [instance("torch.add", input=Tensor((2, 3), "float32"), alpha=number) for number in range(8)]
    other = instance("keras.layers.Dense", units="many of them", activation="softmax")
    assert order("fast", [*alike, other], seed).index(other) <= 2


def test_the_artifact_counts_equipped_tests_as_covered() -> None:
    def loss(mode: str) -> Instance:
        return instance("torch.loss", mode=mode)

    corpus = candidates([loss("mean"), loss("sum")])
    for seed in SEEDS:
        first = next(get_strategy("opera-artifact").rank(corpus, Context(seed=seed, equipped_tests=[loss("mean")])))
        assert first.id == digest(loss("sum"))


def test_the_operator_alone_keeps_the_tests_of_an_operator_together() -> None:
    both = [instance(f"torch.{api}", x=number) for api in ("one", "two") for number in range(3)]
    assert [each.operator for each in order("operator-only", both, equipped={"one": 3, "two": 1})] == ["two"] * 3 + ["one"] * 3
