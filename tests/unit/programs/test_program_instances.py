"""Programs as instances: identity up to names, what is refused, and programs from files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opera.corpus.files import Entry, Problem
from opera.extensions.programs.check import NotDefined, evaluate
from opera.extensions.programs.document import BadProgram, encode
from opera.extensions.programs.generate import Generated, ProgramGenerator
from opera.extensions.programs.instances import FACT, FORMAT, PROGRAM, SOURCE, features_of, instance_of, operators_in_instance, program_of
from opera.extensions.programs.languages import operators_in, registry
from opera.extensions.programs.policy import SHIPPED, Policy
from opera.extensions.programs.program import Binding as B
from opera.extensions.programs.program import Block, Call, Function, Parameter, Program, canonical, operators_of
from opera.extensions.programs.recording import holds_programs, read_programs
from opera.extensions.programs.text import lines_of
from opera.extensions.programs.types import TensorType, TupleType
from opera.instance import Graph, Instance, Kind, decode_instance, digest, encode_instance

MIXED = Policy(conditional=0.1, function=0.1, tuples=0.1)
F = TensorType((2,), "float32")
WHOLE = TensorType((2,), "int64")


def made(seed: int = 0) -> Generated:
    return ProgramGenerator(MIXED, operators_in("onnx")).generate(seed)


def chain(x: str, y: str, operator: str = "relu") -> Generated:
    body = Block((B(y, F, Call(operator, (x,), {})),), y, dataflow=True)
    return Generated(Program((Function("main", (Parameter(x, F),), body, F),)), (np.array([1, -1], np.float32),))


def test_an_instance_keeps_its_program_and_its_inputs() -> None:
    for seed in range(20):
        generated = made(seed)
        instance = decode_instance(json.loads(json.dumps(encode_instance(instance_of(generated, "onnx")))))
        assert (instance.kind, instance.library) == (PROGRAM, "onnx")
        assert program_of(instance) == canonical(generated.program)
        assert operators_in_instance(instance) == operators_of(generated.program)


def test_the_identity_is_of_what_a_program_does_not_of_its_names() -> None:
    same, other = instance_of(chain("x", "y"), "onnx"), instance_of(chain("a", "b"), "onnx")
    assert digest(same) == digest(other)
    assert digest(same) != digest(instance_of(chain("x", "y", "tanh"), "onnx"))
    assert digest(same) != digest(instance_of(chain("x", "y"), "relax"))


def test_names_by_place_change_nothing_else() -> None:
    for seed in range(20):
        generated = made(seed)
        renamed = canonical(generated.program)
        assert canonical(renamed) == renamed
        one, two = (evaluate(each, generated.inputs, registry()) for each in (generated.program, renamed))
        assert encode(Generated(renamed, (one,))) == encode(Generated(renamed, (two,)))


def test_a_program_is_labelled_by_its_operators_while_they_are_few() -> None:
    assert features_of(instance_of(chain("x", "y"), "onnx")) == ("relu(float32)",)
    assert len(features_of(instance_of(made(), "onnx"))) > 3


def test_a_parameter_that_is_a_tuple_is_no_input_of_an_instance() -> None:
    kind = TupleType((F,))
    program = Program((Function("main", (Parameter("x", kind),), Block((), "x"), kind),))
    with pytest.raises(BadProgram, match="is a tuple"):
        instance_of(Generated(program, ((np.zeros(2, np.float32),),)), "onnx")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda each: replace(each, context=()), "holds no program"),
        (lambda each: replace(each, kind=Kind.GRAPH), "holds no program"),
        (lambda each: replace(each, call=()), "are not the parameters"),
        (lambda each: replace(each, context=((FACT, Graph(FORMAT, b"{")),)), "the program of the instance"),
        (lambda each: replace(each, context=((FACT, Graph("onnx.ModelProto", b"")),)), "holds no program"),
        (lambda each: replace(each, context=((FACT, Graph(FORMAT, b'{"schema": "program/2"}')),)), "expected schema 'program/1'"),
    ],
)
def test_an_instance_that_holds_something_else_is_refused(change: Callable[[Instance], Instance], message: str) -> None:
    instance: Instance = change(instance_of(chain("x", "y"), "onnx"))
    with pytest.raises(BadProgram, match=message):
        program_of(instance)


@pytest.mark.parametrize(
    ("operator", "values"),
    [("floor_divide", ([1, 2], [1, 0])), ("left_shift", ([1, 2], [1, 99])), ("floor_mod", ([1, 2], [0, 1]))],
)
def test_integers_on_which_an_operator_is_not_defined_have_no_result(operator: str, values: tuple[list[int], list[int]]) -> None:
    body = Block((B("v", WHOLE, Call(operator, ("x", "y"), {})),), "v")
    program = Program((Function("main", (Parameter("x", WHOLE), Parameter("y", WHOLE)), body, WHOLE),))
    with pytest.raises(NotDefined, match=f"operator '{operator}' is not defined here: argument 1 is not from"):
        evaluate(program, [np.array(each, np.int64) for each in values], registry())


def test_special_values_reach_no_operator_that_has_no_result_for_them() -> None:
    generator = ProgramGenerator(SHIPPED["special-values"], operators_in("onnx"))
    for seed in range(150):
        generated = generator.generate(seed)
        evaluate(generated.program, generated.inputs, registry())


def test_a_result_in_double_precision_is_near_the_one_of_the_program() -> None:
    generated = chain("x", "y", "tanh")
    wide = evaluate(generated.program, generated.inputs, registry(), {"float32": "float64"})
    assert isinstance(wide, np.ndarray)
    assert wide.dtype == np.float64
    np.testing.assert_array_equal(wide, np.tanh(np.array([1.0, -1.0])))


def test_the_programs_of_a_file_are_entries_and_the_rest_are_problems_with_their_lines(tmp_path: Path) -> None:
    lines = [json.dumps(encode(chain("x", "y")))]
    lines += [lines[0].replace("relu", "relou"), lines[0].replace('"program/1"', '"program/2"'), "{", lines[0].replace("relu", "log")]
    lines += [lines[0].replace("relu", "rsqrt"), lines[0].replace("relu", "softsign")]
    path = tmp_path / "programs.jsonl"
    path.write_text("\n".join(lines) + "\n")
    assert holds_programs(path)
    found = list(read_programs(path, None))
    assert [each.instance.library if isinstance(each, Entry) else each.line for each in found] == ["onnx", 2, 3, 4, "onnx", "relax", "onnx"]
    first = found[0]
    assert isinstance(first, Entry)
    assert (first.provenance[0].source, first.provenance[0].test) == (SOURCE, "programs.jsonl:1")
    assert next(each.what for each in found if isinstance(each, Problem)) == "'y' in function 'main': there is no operator 'relou'"
    refused = list(read_programs(path, "onnx"))[5]
    assert isinstance(refused, Problem)
    assert refused.what == "onnx has no operator 'rsqrt'"


def test_a_program_is_shown_line_by_line() -> None:
    assert list(lines_of(chain("x", "y").program)) == ["main(x: float32[2]):", "y: float32[2] = relu(x)", "return y"]
    texts = [line for seed in range(40) for line in lines_of(made(seed).program)]
    assert any(line.startswith("| ") for line in texts)
    assert any(line.endswith("[0]") for line in texts)
    assert all(line.isprintable() for line in texts)
