"""Triggers are held against instances unlike the reduced one: where such an instance passes, the trigger lacks a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from instances import tensor

from opera.difftest.judge import Judgement
from opera.difftest.runner import WARM, TestCase, TestOutcome, TestRunner
from opera.instance import Argument, Instance, Kind, Tensor
from opera.oracles.verdict import Verdict
from opera.store.reductions import StoredReduction
from opera.triage.findings import condition_of
from opera.triage.reduction.ordinary import unlike
from opera.triage.reduction.places import array_of
from opera.triage.reduction.properties import View
from opera.triage.reduction.reduce import Budget, Reducer, Reduction
from opera.triage.reduction.trigger import Neighbours, Trigger

Fails = Callable[[dict[str, Any]], bool | None]


class Compiler:
    """Stands for a compiler that fails where a predicate over the arguments holds; None stands for a call that the library rejects."""

    def __init__(self, fails: Fails) -> None:
        self._fails = fails
        self.count = 0

    def run(self, trial: TestCase, wanted: frozenset[str] = frozenset(), roles: Any = WARM) -> TestOutcome:
        self.count += 1
        named = {each.name: arrays(each.value) for each in trial.instance.arguments()}
        failing = self._fails(named) if isinstance(named.get("x"), np.ndarray) else None
        if failing is None:
            return TestOutcome(Judgement(Verdict.INVALID), None)
        return TestOutcome(Judgement(Verdict.CRASH if failing else Verdict.PASS), "f" if failing else None)

    def equivalent_fingerprints(self, probe: TestOutcome) -> frozenset[str]:
        return frozenset() if probe.fingerprint is None else frozenset((probe.fingerprint,))

    def roles_for(self, verdict: Verdict) -> Any:
        return WARM


def arrays(value: Any) -> Any:
    return array_of(value) if isinstance(value, Tensor) else value


def operator(**given: Any) -> Instance:
    return Instance("pytorch", "torch.operator", Kind.FUNCTION, call=tuple(Argument(name, value) for name, value in given.items()))


def reduced(fails: Fails, neighbours: Neighbours | None = None, **given: Any) -> Reduction:
    reducer = Reducer(cast(TestRunner, Compiler(fails)), "f", Verdict.CRASH, Budget(), neighbours=neighbours)
    return reducer.reduce(operator(**given), "runtime", "key", 0)


def values(instance: Instance) -> Any:
    return {each.name: arrays(each.value) for each in instance.call}


def test_an_instance_unlike_the_reduced_one_shows_its_trigger() -> None:
    found = reduced(lambda given: bool((given["x"] < 0).any()), x=tensor([[3.0, -2.0], [4.0, 5.0]]))
    assert found.trigger.text() == "x has a value <0"
    assert found.proof.against == 0
    shapes = {values(each)["x"].shape for each in found.proof.varied}
    assert len(shapes) > 1
    assert all((values(each)["x"] < 0).any() for each in found.proof.varied)


def test_an_instance_unlike_the_reduced_one_that_passes_adds_a_condition() -> None:
    def fails(given: dict[str, Any]) -> bool | None:
        x = given["x"]
        return None if 1 in x.shape or not x.ndim else x.ndim == 1 and bool((x < 0).any())

    found = reduced(fails, x=tensor([3.0, -2.0]))
    assert found.trigger.text() == "x has a value <0, rank(x)≤1"
    assert values(found.proof.passes["rank(x)≤1"])["x"].ndim == 2


def test_what_passes_with_the_trigger_and_cannot_be_told_speaks_against_it() -> None:
    found = reduced(lambda given: given["x"].size < 8 and bool((given["x"] < 0).all()), x=tensor([-2.0, -3.0]))
    assert found.proof.against > 0


def test_other_instances_keep_the_elements_and_differ_in_size_rank_dtype_and_values() -> None:
    start = operator(x=tensor([-1.0, np.inf]), size=2)
    others = [values(each) for each in unlike(start)]
    assert {each["x"].ndim for each in others} == {1, 2}
    assert {each["x"].dtype.name for each in others} >= {"float32", "float64", "int64"}
    assert {each["size"] for each in others} == {2, 4}
    assert any(each["x"].tolist() == [-1.0, np.inf, 2.0, 3.0] for each in others)
    assert len({str(each) for each in others}) == len(others)


@pytest.mark.parametrize("x", [tensor(np.ones(())), tensor(np.ones((0,))), tensor(np.ones((2, 0, 1)), "int32")])
def test_tensors_of_no_dimension_or_element_have_others_beside_them(x: Tensor) -> None:
    assert len(list(unlike(operator(x=x)))) > 1


def test_any_call_fails_only_if_calls_of_several_kinds_failed() -> None:
    assert reduced(lambda _: True, x=tensor([1.0, 2.0]), size=2).proof.unvaried == ()
    float_only = reduced(lambda given: True if given["x"].dtype == np.float32 else None, x=tensor([1.0, 2.0]))
    assert (float_only.trigger.text(), float_only.proof.unvaried) == ("any call", ("dtype",))
    training = reduced(lambda given: True if given.get("training") is True else None, x=tensor([1.0]), training=True)
    assert (training.trigger.text(), training.proof.unvaried) == ("any call", ("training",))


@pytest.mark.parametrize(
    ("detail", "known"),
    [
        ({"varied": ["f(x)"], "unvaried": [], "against": 0}, True),
        ({"varied": ["f(x)"], "unvaried": ["rank"], "against": 0}, False),
        ({"varied": ["f(x)"], "unvaried": [], "against": 1}, False),
        ({"varied": [], "fails": [], "unvaried": [], "against": 0}, False),
    ],
)
def test_a_condition_is_unknown_where_nothing_shows_that_any_call_fails(detail: Any, known: bool) -> None:
    stored = StoredReduction("f", "t", "f", None, None, Trigger((), "torch.operator", ("x",)).document(), detail)
    assert (condition_of(stored) is not None) == known


def rejected_without(name: str, fails: Callable[[Any], bool]) -> Fails:
    """Fails where *fails* holds for the argument *name*; a call without the argument is rejected."""
    return lambda given: fails(given[name]) if name in given else None


CONDITIONS: tuple[tuple[Fails, dict[str, Any], str], ...] = (
    (lambda given: given["x"].shape[1:2] == (0,), {"x": tensor(np.ones((2, 0)))}, "shape(x)[1]=0"),
    (lambda given: given["x"].size == 0, {"x": tensor(np.ones((2, 0)))}, "x is empty"),
    (lambda given: np.inf in given["x"], {"x": tensor([1.0, np.inf])}, "x has a value of +infinity"),
    (lambda given: -np.inf in given["x"], {"x": tensor([1.0, -np.inf])}, "x has a value of -infinity"),
    (lambda given: np.inf in given["x"] or -np.inf in given["x"], {"x": tensor([1.0, np.inf])}, "x has an infinity"),
    (rejected_without("p", lambda p: p == 1.0), {"x": tensor([1.0, 2.0]), "p": 1.0}, "p=1.0"),
    (rejected_without("p", lambda p: 0 in p), {"x": tensor([1.0, 2.0]), "p": [0, 3]}, "p has an entry 0"),
    (lambda given: given["x"].size == 1, {"x": tensor([[3.0]])}, "x has one element"),
    (lambda given: given["x"].size > 1 and len(set(given["x"].flat)) == 1, {"x": tensor([3.0, 3.0])}, "values of x are alike"),
)


@pytest.mark.parametrize(("fails", "given", "trigger"), CONDITIONS)
def test_a_trigger_names_what_fails_and_no_more(fails: Fails, given: dict[str, Any], trigger: str) -> None:
    assert reduced(fails, **given).trigger.text() == trigger


def test_a_recorded_test_that_passes_with_another_argument_tells_that_the_failure_needs_it_left_out() -> None:
    recorded = Neighbours([View(operator(x=tensor([1.0]), dim=0), "runtime")], {"t": View(operator(x=tensor([5.0])), "runtime")})
    found = reduced(lambda given: "dim" not in given, recorded, x=tensor([1.0, 2.0]))
    assert (found.trigger.text(), found.proof.fails, found.proof.against) == ("dim is not given", ("t",), 0)
