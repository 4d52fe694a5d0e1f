"""Which conditions triggers can name, and when none is known."""

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


@pytest.mark.parametrize(
    ("detail", "known"),
    [
        ({"fails": ["u"], "against": 0}, True),
        ({"fails": ["u"], "against": 1}, False),
        ({"fails": [], "against": 0}, False),
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
