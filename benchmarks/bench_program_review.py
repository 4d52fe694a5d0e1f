"""How many faults of compilers the review of programs excuses: generates programs, injects one fault in each, and asks the review.

python benchmarks/bench_program_review.py [-n 4000] [--seed 70000] [--policy general]

A fault is another operator of the same types in one place: `sin` for `cos`, `less` for `less_equal`. The changed program stands for
what a compiler made of the program. A fault that changes no result by more than the tolerance is invisible.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np

from opera.arrays import Array
from opera.console import print_table
from opera.extensions.programs.check import check, evaluate
from opera.extensions.programs.generate import Generated, ProgramGenerator
from opera.extensions.programs.instances import instance_of
from opera.extensions.programs.languages import operators_in, registry
from opera.extensions.programs.policy import SHIPPED
from opera.extensions.programs.program import Call, Program
from opera.extensions.programs.templates.onnx_model import OnnxProgramModel
from opera.extensions.programs.values import ProgramValue
from opera.oracles.review import Case, review
from opera.oracles.tolerance import differ

ALIKE = (
    "sin cos tanh erf sigmoid abs negative relu identity exp gelu softsign sign floor ceil round",
    "add subtract multiply maximum minimum",
    "sum mean max min prod", "less less_equal greater greater_equal equal", "logical_and logical_or logical_xor", "argmax argmin",
    "triu tril",
)  # fmt: skip
"""Operators that take the same types."""
OTHERS = {name: [each for each in group.split() if each != name] for group in ALIKE for name in group.split()}


def main() -> None:
    """Counts, and prints what became of the faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--count", type=int, default=4_000, help="programs")
    parser.add_argument("--seed", type=int, default=70_000, help="of the first program")
    parser.add_argument("--policy", choices=sorted(SHIPPED), default="general")
    arguments = parser.parse_args()
    generator = ProgramGenerator(SHIPPED[arguments.policy], operators_in("onnx"))
    found = Counter(outcome(generator.generate(seed=arguments.seed + index), Random(index)) for index in range(arguments.count))
    print_table(["outcome", "programs"], [[name, f"{count:,}"] for name, count in found.most_common()])


def outcome(made: Generated, random: Random) -> str:
    """What the review says of a fault in a program: `reported`, or the reason of an excuse."""
    places = [
        index
        for index, each in enumerate(made.program.main.body.bindings)
        if isinstance(each.value, Call) and each.value.operator in OTHERS
    ]
    if not places:
        return "no place for a fault"
    changed = with_fault(made.program, random.choice(places), random)
    try:
        check(changed, registry())
        actual = arrays(evaluate(changed, made.inputs, registry()))
    except ValueError:
        return "ill-typed or undefined"
    instance = instance_of(made, "onnx")
    model = OnnxProgramModel(instance, "fault", 0)
    expected = model.run_once()
    if not any(np.any(differ(one, other)) for one, other in zip(expected, actual, strict=True)):
        return "invisible"
    inputs = [value for _, value in model.inputs]
    excuse = review(Case(instance, inputs, expected, actual, model.nearby, model.exact, inner=model.dtypes))
    return "reported" if excuse is None else excuse.reason


def with_fault(program: Program, place: int, random: Random) -> Program:
    """*program* with another operator in the binding *place* of `main`."""
    body = program.main.body
    binding = body.bindings[place]
    assert isinstance(binding.value, Call)
    wrong = replace(binding, value=replace(binding.value, operator=random.choice(OTHERS[binding.value.operator])))
    bindings = (*body.bindings[:place], wrong, *body.bindings[place + 1 :])
    return replace(program, functions=(*program.functions[:-1], replace(program.main, body=replace(body, bindings=bindings))))


def arrays(value: ProgramValue) -> list[Array]:
    """The arrays of a result, in order."""
    return [each for part in value for each in arrays(part)] if isinstance(value, tuple) else [value]


if __name__ == "__main__":
    main()
