"""Mutants of programs: one expression is another one of its type, the rest and the limits stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from opera.extensions.programs.check import check, evaluate
from opera.extensions.programs.generate import Generated, ProgramGenerator
from opera.extensions.programs.languages import operators_in, registry
from opera.extensions.programs.policy import Policy
from opera.extensions.programs.program import Block, Function, Parameter, Program, bindings, calls, canonical
from opera.extensions.programs.types import TensorType
from opera.extensions.programs.values import ANY, within

MIXED = {"conditional": 0.05, "function": 0.05, "tuples": 0.05}


def given(generator: ProgramGenerator, seed: int) -> Generated:
    made = generator.generate(seed)
    return replace(made, program=canonical(made.program))


@pytest.mark.parametrize("language", ["onnx", "relax"])
def test_a_mutant_is_typed_defined_and_gives_a_result_of_the_same_type(language: str) -> None:
    policy = Policy(language=language, operators=8, **MIXED)
    generator = ProgramGenerator(policy, operators_in(language))
    mutants = 0
    for seed in range(40):
        old = given(generator, seed)
        new = generator.mutate(old, seed)
        if new is None:
            continue
        mutants += 1
        check(new.program, registry())
        assert new.program.main.result == old.program.main.result
        assert new.program != old.program
        assert within(evaluate(new.program, new.inputs, registry()), ANY)
        assert {each.operator for each in calls(new.program)} <= {each.name for each in operators_in(language)}
        names = [each.name for each in bindings(new.program)]
        assert len(names) == len(set(names))
    assert mutants > 25


def test_the_same_seed_gives_the_same_mutant() -> None:
    generator = ProgramGenerator(Policy(operators=8), operators_in("onnx"))
    old = given(generator, 3)
    one, other = (generator.mutate(old, 7) for _ in range(2))
    assert one is not None
    assert other is not None
    assert one.program == other.program
    assert all(np.array_equal(a, b) for a, b in zip(one.inputs, other.inputs, strict=True))


def test_a_program_without_an_expression_has_no_mutant() -> None:
    kind = TensorType((2,), "float32")
    program = Program((Function("main", (Parameter("x", kind),), Block((), "x"), kind),))
    generator = ProgramGenerator(Policy(), operators_in("onnx"))
    assert generator.mutate(Generated(program, (np.ones(2, np.float32),)), 0) is None
