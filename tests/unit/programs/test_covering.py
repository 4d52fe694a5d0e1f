"""Programs that cover all pairs of operators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from opera.extensions.programs.batch import pairs_in
from opera.extensions.programs.check import check, evaluate
from opera.extensions.programs.cover import Choice, CoveringGenerator
from opera.extensions.programs.languages import drawn_from, registry
from opera.extensions.programs.policy import SHIPPED, BadPolicy, Policy, policy_from
from opera.extensions.programs.program import Call, Constant, Projection, bindings, calls
from opera.extensions.programs.types import TensorType
from opera.extensions.programs.values import PLAIN, Bounds, clear_of_zero, plain, within

FEW = Policy(cover=2, operators=4, only=("add", "divide", "relu", "reshape", "split", "sum", "where"))


def generator(policy: Policy) -> CoveringGenerator:
    return CoveringGenerator(policy, drawn_from(policy))


def summary(choice: Choice) -> tuple[object, ...]:
    return tuple(each.name for each in choice.operators), choice.depth, choice.place, choice.number, choice.unchanged


def test_each_pair_is_chosen_once_before_any_is_chosen_again() -> None:
    draw = generator(FEW)
    pairs = [tuple(each.name for each in draw.chosen(seed).operators) for seed in range(49)]
    assert len(set(pairs)) == 49
    assert draw.chosen(draw.choices) == draw.chosen(0)


def test_programs_have_the_pairs_that_were_chosen_and_are_well_typed() -> None:
    draw = generator(FEW)
    for seed in range(49):
        before = draw.counts.covered
        made = draw.generate(seed).program
        check(made, registry())
        outer, inner = (each.name for each in draw.chosen(seed).operators)
        through = {each.name: each.value.source for each in bindings(made) if isinstance(each.value, Projection)}
        producers = {each.name: each.value.operator for each in bindings(made) if isinstance(each.value, Call)}
        found = {(call.operator, producers.get(through.get(name, name))) for call in calls(made) for name in call.arguments}
        assert draw.counts.covered == before or (outer, inner) in found, seed
    assert draw.counts.covered > 40


def test_most_pairs_of_a_language_are_covered_by_programs_of_few_operators() -> None:
    draw = generator(SHIPPED["pairs"])
    sizes = [len(list(calls(draw.generate(seed).program))) for seed in range(300)]
    assert draw.counts.covered > 210, "the types of others do not fit"
    assert sorted(sizes)[len(sizes) * 9 // 10] <= 5


def test_pairs_come_again_with_each_literal_that_optimisers_look_for() -> None:
    draw = generator(FEW)
    again = [draw.chosen(seed) for seed in range(49, draw.choices)]
    assert {each.number for each in again} == set(PLAIN)
    assert len(again) == len(set(map(summary, again)))
    (wanted,) = [seed for seed in range(49, draw.choices) if summary(draw.chosen(seed)) == (("add", "divide"), 1, 0, 1, "")]
    made = draw.generate(wanted).program
    literals = {each.name for each in bindings(made) if isinstance(each.value, Constant)}
    assert any(call.arguments[0] in literals for call in calls(made) if call.operator == "divide")
    assert ("divide", "add") in set(pairs_in(made))


def test_every_operator_is_defined_on_the_inputs() -> None:
    draw = generator(SHIPPED["pairs"])
    for seed in range(0, draw.choices, draw.choices // 600):
        made = draw.generate(seed)
        evaluate(made.program, made.inputs, registry())


def test_a_triple_is_a_chain() -> None:
    draw = generator(replace(FEW, cover=3))
    for seed in range(40):
        before = draw.counts.covered
        made = draw.generate(seed).program
        if draw.counts.covered > before:
            names = [call.operator for call in calls(made)]
            assert {each.name for each in draw.chosen(seed).operators} <= set(names)
    assert draw.counts.covered > 30


def test_corners_give_each_pair_every_shape_and_dtype_in_turn() -> None:
    draw = generator(replace(SHIPPED["corners"], only=(*FEW.only, "permute_dims")))
    turns = [draw.chosen(seed + turn * draw.choices) for turn in range(28) for seed in range(64)]
    assert len({(summary(each), each.shape, each.dtype) for each in turns}) == 64 * 28, "4 shapes and 7 dtypes"
    met = dict.fromkeys(SHIPPED["corners"].shapes, 0)
    for seed in range(64):
        before = draw.counts.covered
        made = draw.generate(seed)
        check(made.program, registry())
        evaluate(made.program, made.inputs, registry())
        kind = made.program.main.result
        if draw.counts.covered == before or not isinstance(kind, TensorType):
            continue
        shape = draw.chosen(seed).shape
        met[shape] += 1
        assert {
            "scalar": kind.shape == (),
            "ones": set(kind.shape) <= {1},
            "empty": 0 in kind.shape,
            "transposed": "permute_dims" in {call.operator for call in calls(made.program)},
        }[shape], (seed, kind)
    assert min(met.values()) > 3, met


def test_literals_have_elements() -> None:
    """A compiler that reads an empty literal wrong would show nothing else."""
    draw = generator(replace(SHIPPED["corners"], literal=1.0))
    literals = [
        each.value.value for seed in range(300) for each in bindings(draw.generate(seed).program) if isinstance(each.value, Constant)
    ]
    assert len(literals) > 50
    assert all(0 not in each.shape for each in literals)


@pytest.mark.parametrize(
    ("document", "reason"), [({"shapes": ["round"], "cover": 2}, "'shapes' names 'round'"), ({"shapes": ["ones"]}, "set it to 2")]
)
def test_shapes_that_cannot_be_drawn_are_refused(document: dict[str, object], reason: str) -> None:
    with pytest.raises(BadPolicy, match=reason):
        policy_from(document, ["add"], ["onnx"])


@pytest.mark.parametrize("cover", [-1, 4, 11])
def test_a_policy_that_cannot_cover_is_refused(cover: int) -> None:
    with pytest.raises(BadPolicy, match="'cover' is from 0 to 3"):
        policy_from({"cover": cover}, ["add"], ["onnx"])


def test_a_plain_number_is_allowed_where_it_stands() -> None:
    numbers = np.random.default_rng(0)
    kind = TensorType((2,), "uint8")
    assert {int(plain(kind, Bounds(), numbers)[0]) for _ in range(50)} == {0, 1, 2}
    assert {float(plain(TensorType((), "float32"), Bounds(0.2, zero=False), numbers)) for _ in range(50)} == {0.5, 1.0, 2.0}
    assert plain(kind, Bounds(3, 9), numbers) is None


def test_a_sum_that_nearly_cancels_is_no_divisor() -> None:
    """Compilers add in another order, and it is exactly 0 there."""
    assert not clear_of_zero(np.array([1e-8, 1.0], "float32"))
    assert clear_of_zero(np.array([0.25, -2.0], "float32"))
    assert within(np.array([1e-8, 1.0], "float32"), Bounds(zero=False)), "programs of others may have it"


def test_a_call_that_changes_nothing_comes_before_a_pattern_with_a_literal() -> None:
    """ONNX Runtime takes an Identity away while it makes x / z of x (1 / z), and loses what the Identity had read."""
    draw = generator(Policy(cover=2, operators=4, only=("divide", "identity", "multiply"), dtypes=("float32",)))
    (wanted,) = [seed for seed in range(9, draw.choices) if summary(draw.chosen(seed)) == (("multiply", "divide"), 1, 0, 1, "identity")]
    names = [call.operator for call in calls(draw.generate(wanted).program)]
    assert (names[0], names[-1]) == ("identity", "multiply")
