"""Smaller versions of programs: each is typed, and a failing program becomes the few operators that fail."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from opera.extensions.programs.check import check
from opera.extensions.programs.generate import Generated, ProgramGenerator
from opera.extensions.programs.instances import FACT, FORMAT, features_of, instance_of, operators_in_instance, program_of
from opera.extensions.programs.languages import operators_in, registry
from opera.extensions.programs.policy import Policy
from opera.extensions.programs.program import (
    Binding,
    Block,
    Call,
    Constant,
    Function,
    If,
    Parameter,
    Program,
    Projection,
    Symbol,
    bindings,
    calls,
)
from opera.extensions.programs.reduction import STEPS as PROGRAM_STEPS
from opera.extensions.programs.reduction import bypassed, with_other_operators, without_symbols
from opera.extensions.programs.types import TensorType
from opera.extensions.programs.values import to_tensor
from opera.instance import Graph, Instance
from opera.triage.reduction.candidates import steps_for
from opera.triage.reduction.complexity import complexity
from opera.triage.reduction.properties import View, calls_of

MIXED = {"conditional": 0.1, "function": 0.1, "tuples": 0.1, "symbolic": 0.3}
Fails = Callable[[Program], bool]


def made(language: str, number: int) -> list[Instance]:
    generator = ProgramGenerator(Policy(language=language, operators=18, **MIXED), operators_in(language))
    return [instance_of(generator.generate(seed), language) for seed in range(number)]


def reduced(instance: Instance, fails: Fails) -> Instance:
    """What the reducer's search does, with *fails* in place of a compiler."""
    current, progress = instance, True
    while progress:
        progress = False
        for step in steps_for(instance):
            while True:
                size = complexity(current)
                smaller = (each for each in step(current) if complexity(each) < size and fails(program_of(each)))
                found = next(smaller, None)
                if found is None:
                    break
                current, progress = found, True
    return current


@pytest.mark.parametrize(("programs", "candidates"), [(8, 2), pytest.param(30, 40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("language", ["onnx", "relax"])
def test_every_candidate_is_typed_and_takes_its_inputs(language: str, programs: int, candidates: int) -> None:
    offered = dict.fromkeys((step.__name__ for step in PROGRAM_STEPS), 0)
    for instance in made(language, programs):
        for step in PROGRAM_STEPS:
            for number, candidate in enumerate(step(instance)):
                check(program_of(candidate), registry())
                parameters = [each.type for each in program_of(candidate).main.parameters]
                assert [TensorType(each.value.shape, each.value.dtype) for each in candidate.call] == parameters
                offered[step.__name__] += 1
                if number == candidates:
                    break
    assert min(offered.values()) > 0


def test_a_program_that_one_operator_breaks_becomes_this_operator() -> None:
    for instance in made("relax", 6):
        wanted = operators_in_instance(instance)[-1]
        smallest = reduced(instance, lambda program, wanted=wanted: any(each.operator == wanted for each in calls(program)))
        assert [each.operator for each in calls(program_of(smallest))] == [wanted]


def pairs(program: Program) -> list[tuple[str, str]]:
    """The operators whose result another operator takes, each with that operator."""
    called = [(each.name, each.value) for each in bindings(program) if isinstance(each.value, Call)]
    makers = {name: call.operator for name, call in called}
    return [(makers[name], call.operator) for _, call in called for name in call.arguments if name in makers]


def test_a_program_that_needs_two_operators_in_a_row_keeps_both_and_their_link() -> None:
    tried = 0
    for instance in made("onnx", 8):
        for pair in pairs(program_of(instance))[:1]:
            tried += 1
            smallest = reduced(instance, lambda program, pair=pair: pair in pairs(program))
            assert [each.operator for each in calls(program_of(smallest))] == list(pair)
    assert tried > 5


def test_what_stands_between_two_operators_goes_also_where_it_changes_the_type() -> None:
    """A fusion needs both operators, and that one depends on the other."""

    def fails(program: Program) -> bool:
        after: set[str] = set()
        for each in bindings(program):
            if isinstance(each.value, Call) and (each.value.operator == "erf" or after & set(each.value.arguments)):
                after.add(each.name)
        return any(isinstance(each.value, Call) and each.value.operator == "exp" and each.name in after for each in bindings(program))

    image, padded = TensorType((2, 3), "float32"), TensorType((4, 4), "float32")
    body = Block(
        (
            Binding("a", image, Call("erf", ("x",), {})),
            Binding("b", padded, Call("pad", ("a",), {"before": (1, 0), "after": (1, 1), "value": 0.0})),
            Binding("c", TensorType((16,), "float32"), Call("reshape", ("b",), {"shape": (16,)})),
            Binding("d", TensorType((16,), "float64"), Call("astype", ("c",), {"dtype": "float64"})),
            Binding("e", TensorType((16,), "float64"), Call("exp", ("d",), {})),
        ),
        "e",
    )
    program = Program((Function("main", (Parameter("x", image),), body, TensorType((16,), "float64")),))
    smallest = reduced(instance_of(Generated(program, (np.ones(image.shape, np.float32),)), "onnx"), fails)
    assert [each.operator for each in calls(program_of(smallest))] == ["erf", "exp"]


def chain(length: int) -> Instance:
    kind = TensorType((2,), "float32")
    names = ["x", *(f"v{number}" for number in range(length))]
    body = Block(tuple(Binding(name, kind, Call("relu", (before,), {})) for before, name in itertools.pairwise(names)), names[-1])
    return instance_of(Generated(Program((Function("main", (Parameter("x", kind),), body, kind),)), (np.ones(2, np.float32),)), "onnx")


def test_a_trigger_counts_how_many_calls_of_an_operator_it_needs() -> None:
    thrice = chain(3)
    assert features_of(thrice) == ("relu(float32)", "relu(float32) 3 times", "relu(float32) twice")
    left: dict[str, list[str]] = {}
    for feature, other in with_other_operators(thrice):
        left.setdefault(feature, [call.operator for call in calls(program_of(other))])
    assert left == {
        "relu(float32)": ["negative"] * 3,
        "relu(float32) twice": ["relu", "negative", "negative"],
        "relu(float32) 3 times": ["relu", "relu", "negative"],
    }
    needed = calls_of(thrice, general={"relu(float32) 3 times"})
    assert [needed.holds(View(chain(length), "runtime")) for length in (1, 2, 3)] == [False, True, True]


def test_what_needs_a_condition_keeps_nothing_else() -> None:
    def fails(program: Program) -> bool:
        return any(isinstance(each.value, If) for each in bindings(program))

    tried = 0
    for instance in made("relax", 12):
        if fails(program_of(instance)):
            tried += 1
            smallest = program_of(reduced(instance, fails))
            assert list(calls(smallest)) == []
            assert {type(each.value) for each in smallest.main.body.bindings} <= {If, Constant, Projection}, "of a tuple, a part"
    assert tried > 1


def test_sizes_shrink_in_parameters_literals_and_attributes() -> None:
    image, weight = TensorType((8, 4, 9, 9), "float32"), TensorType((6, 4, 3, 3), "float32")
    settings = {"kernel": (3, 3), "strides": (1, 1), "padding": (1, 1), "dilations": (1, 1), "groups": 1}
    literal = Constant(to_tensor(np.arange(216, dtype=np.float32).reshape(weight.shape)))
    wide = TensorType((8, 6, 9, 9), "float32")
    flat = TensorType((8, 486), "float32")
    body = Block(
        (
            Binding("w", weight, literal),
            Binding("v", wide, Call("conv2d", ("x", "w"), settings)),
            Binding("r", flat, Call("reshape", ("v",), {"shape": flat.shape})),
        ),
        "r",
    )
    program = Program((Function("main", (Parameter("x", image),), body, flat),))
    instance = instance_of(Generated(program, (np.ones(image.shape, np.float32),)), "relax")
    smallest = reduced(instance, lambda each: any(call.operator == "conv2d" for call in calls(each)))
    assert features_of(smallest) == ("conv2d(float32, float32)",)
    assert max(max(each.value.shape) for each in smallest.call) <= 3


def test_a_trigger_names_operators_and_generalises_those_that_do_not_matter() -> None:
    for instance in made("relax", 8):
        found = dict(with_other_operators(instance))
        for feature, other in found.items():
            check(program_of(other), registry())
            assert feature in features_of(instance)
            assert feature not in features_of(other) or feature.startswith(("abs", "negative", "logical_not"))
        exact, general = calls_of(instance, ()), calls_of(instance, features_of(instance))
        assert exact.holds(View(instance, "runtime"))
        assert general.text() == "calls any operator"
    one, other = made("relax", 2)
    assert not calls_of(one, ()).holds(View(other, "runtime"))
    assert calls_of(one, features_of(one)).holds(View(other, "runtime"))


def test_a_malformed_program_has_no_smaller_version() -> None:
    instance = made("onnx", 1)[0]
    for data in (b"", b"[]", b'{"schema": "program/1", "functions": []}', b"\xff"):
        broken = replace(instance, context=((FACT, Graph(FORMAT, data)),))
        assert [list(step(broken)) for step in PROGRAM_STEPS[:-1]] == [[]] * (len(PROGRAM_STEPS) - 1)
        assert complexity(broken) < complexity(made("onnx", 1)[0])
        assert features_of(broken) == ()


def test_symbols_go_first_and_stay_with_the_dimensions_that_are_left() -> None:
    """A failure that needs an open size keeps it; another one becomes a program of known sizes."""
    kind = TensorType((2, 3), "float32")
    body = Block((Binding("v1", kind, Call("exp", ("a",), {})), Binding("v2", kind, Call("add", ("v1", "b"), {}))), "v2", dataflow=True)
    parameters = (Parameter("a", kind), Parameter("b", kind))
    symbols = (Symbol("n", (("a", 0), ("b", 0))), Symbol("m", (("a", 1), ("b", 1))))
    values = [np.ones((2, 3), np.float32)] * 2
    found = instance_of(Generated(Program((Function("main", parameters, body, kind, symbols),)), tuple(values)), "onnx")
    static = next(iter(without_symbols(found)))
    assert program_of(static).main.symbols == ()
    assert complexity(static) < complexity(found)
    assert list(without_symbols(static)) == []
    smaller = [program_of(each).main for each in bypassed(found)]
    assert smaller
    assert all(len(each.symbols) == 2 for each in smaller)
    assert all(
        {name for symbol in each.symbols for name, _ in symbol.places} <= {each.name for each in each.parameters} for each in smaller
    )
