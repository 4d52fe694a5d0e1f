"""Which conditions triggers can name, and when none is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from instances import tensor

from opera.calls import call_text
from opera.difftest.judge import Judgement
from opera.difftest.runner import WARM, TestCase, TestOutcome, TestRunner
from opera.instance import Argument, Instance, Kind, Tensor
from opera.instance.values import Constraint
from opera.oracles.verdict import Verdict
from opera.store.reductions import StoredReduction
from opera.triage.findings import condition_of
from opera.triage.reduction.aspects import aspects
from opera.triage.reduction.differences import differences, facet_of
from opera.triage.reduction.properties import ACCESSORS, Property, View, canonical, implies, property_of
from opera.triage.reduction.reduce import Budget, Reducer, Reduction
from opera.triage.reduction.tensors import array_of
from opera.triage.reduction.trigger import ALWAYS, Neighbours, Trigger

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


def test_a_recorded_test_that_also_differs_in_its_dtype_shows_nothing_of_values() -> None:
    """It passes with integers that are zeros: whether for the dtype or for the values, no test tells, as the others are rejected."""

    def fails(given: dict[str, Any]) -> bool | None:
        is_float, is_zero = given["x"].dtype.kind == "f", not given["x"].any()
        return True if is_float and not is_zero else False if not is_float and is_zero else None

    recorded = Neighbours([View(operator(x=tensor([0], "int64")), "runtime")])
    found = reduced(fails, recorded, x=tensor([1.0]))
    assert (found.trigger.text(), found.proof.against) == (ALWAYS, 1)
    detail: Any = {"fails": [], "against": found.proof.against}
    assert condition_of(StoredReduction("f", "t", "f", None, None, found.trigger.document(), detail)) is None, "no part is stated"


def test_a_part_that_a_recorded_test_tells_is_tried_alone() -> None:
    """The recorded test differs in `x`, too; the reduced call with its argument alone passes, which shows the part."""
    recorded = Neighbours(
        [View(operator(x=tensor([[7, 8]], "int32"), p="b"), "runtime")], {"t": View(operator(x=tensor([2.0]), p="a"), "runtime")}
    )
    found = reduced(lambda given: given.get("p", "a") == "a" if "p" in given else None, recorded, x=tensor([1.0]), p="a")
    assert (found.trigger.text(), found.proof.against) == ("p=a", 0)
    assert found.proof.passes["p=a"] == operator(x=found.instance.call[0].value, p="b")


@pytest.mark.parametrize(
    ("one", "other", "facets"),
    [
        ({"x": tensor([1.0])}, {"x": tensor([1.0])}, set()),
        ({"x": tensor([1.0])}, {"x": tensor([1], "int64")}, {("dtype", "")}),
        ({"x": tensor([0.5])}, {"x": tensor([0], "int64")}, {("dtype", ""), ("contents", "x")}),
        ({"x": tensor([1.0])}, {"x": tensor([[1.0]])}, {("shape", "")}),
        ({"x": tensor([1.0]), "p": 1}, {"x": tensor([2.0])}, {("contents", "x"), ("parameter", "p")}),
        ({"p": [1, 2]}, {"p": [1, 3]}, {("parameter", "p")}),
        ({"x": [tensor([1.0]), tensor([2.0])]}, {"x": [tensor([1.0]), tensor([3.0])]}, {("contents", "x[1]")}),
    ],
)
def test_what_two_calls_differ_in(one: dict[str, Any], other: dict[str, Any], facets: set[tuple[str, str]]) -> None:
    assert differences(View(operator(**one), "runtime"), View(operator(**other), "runtime")) == facets


def test_each_accessor_is_about_something() -> None:
    known = {"form", "opset", "context", "dtype", "shape", "strides", "contents", "parameter"}
    facets = {accessor: facet_of(Property(accessor, "x", "=", 1))[0] for accessor in ACCESSORS}
    assert set(facets.values()) == known
    assert {each for each, facet in facets.items() if facet == "parameter"} == {"value", "type", "length", "entry", "distinct entries"}


@pytest.mark.parametrize(
    ("outputs", "comment"),
    [
        (None, ""),
        ([True], ""),
        ([True, True], ""),
        ([False, True], "  # wanted: output 1 of 2"),
        ([True, False, True], "  # wanted: outputs 0, 2 of 3"),
    ],
)
def test_the_printed_call_shows_which_outputs_are_wanted_where_not_all_are(outputs: list[Any] | None, comment: str) -> None:
    context = () if outputs is None else (("outputs", outputs),)
    text = call_text(Instance("onnx", "ai.onnx.TopK", Kind.NODE, call=(Argument("K", 2),), context=context))
    assert text == f"ai.onnx.TopK(K=2){comment}"


SEVERAL = [
    View(operator(**given), form)
    for form in ("runtime", "baked@18")
    for given in (
        {"x": tensor([[1.0, -2.5], [np.inf, 0.0]]), "y": tensor([1, 1], "int64"), "p": [0, 3, -1], "mode": "cubic"},
        {"x": tensor(np.ones((2, 0))), "y": tensor([True], "bool"), "p": 2, "mode": None},
        {"x": Tensor((3, 1), "float32", constraint=Constraint(-1.0, 2.0, nan=True)), "y": tensor(7, "uint8"), "p": 1.5},
        {"x": tensor([np.nan, 4.0, 4.0]), "y": tensor([1.0, 2.0], "float16")},
    )
]
PROPERTIES = list(dict.fromkeys(each for view in SEVERAL for aspect in aspects(view) for each in aspect.properties))


def test_what_implies_a_property_never_holds_without_it() -> None:
    implied = [(one, other) for one in PROPERTIES for other in PROPERTIES if one != other and implies(one, other)]
    assert len(implied) > len(PROPERTIES)
    for one, other in implied:
        assert all(other.holds(view) for view in SEVERAL if one.holds(view)), f"{one.text()} and not {other.text()}"


def test_of_properties_that_imply_each_other_one_is_left() -> None:
    for one in PROPERTIES:
        for other in PROPERTIES:
            kept = canonical({one, other})
            assert kept
            assert all(any(implies(each, gone) for each in kept) for gone in {one, other} - set(kept))


def test_a_property_comes_back_from_its_document_and_has_a_text_of_its_own() -> None:
    assert [property_of(json.loads(json.dumps(each.document()))) for each in PROPERTIES] == PROPERTIES
    assert len({each.text() for each in PROPERTIES}) == len(PROPERTIES)
