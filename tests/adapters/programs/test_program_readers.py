"""Models as programs: what is printed is read again, the node tests of ONNX mean what they say, and the rest is named."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np
import onnx
import pytest
import tvm
from onnx import TensorProto, helper
from tvm import relax

from opera.extensions.programs.check import NotDefined, check, evaluate
from opera.extensions.programs.generate import ProgramGenerator
from opera.extensions.programs.languages import operators_in, registry
from opera.extensions.programs.policy import Policy
from opera.extensions.programs.program import Binding, Block, Call, Function, Parameter, Program, canonical, operators_of
from opera.extensions.programs.reading import Opaque
from opera.extensions.programs.templates import from_onnx as program_from_onnx
from opera.extensions.programs.templates import from_relax as program_from_relax
from opera.extensions.programs.templates.onnx import model_of
from opera.extensions.programs.templates.relax import module_of
from opera.extensions.programs.types import IllTyped
from opera.extensions.programs.values import drawn

LANGUAGES: dict[str, tuple[Any, Any]] = {
    "onnx": (model_of, program_from_onnx.program_from),
    "relax": (module_of, program_from_relax.program_from),
}


def same(one: Any, other: Any) -> None:
    if isinstance(one, tuple):
        for each, another in zip(one, other, strict=True):
            same(each, another)
    else:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_that_was_printed_is_read_again(language: str) -> None:
    printed, read = LANGUAGES[language]
    generator = ProgramGenerator(Policy(language=language, conditional=0.05, function=0.05), operators_in(language))
    equal = 0
    for seed in range(80):
        generated = generator.generate(seed)
        program = canonical(generated.program)
        reading = read(printed(program))
        assert reading.opaque == ()
        check(reading.program, registry())
        assert set(operators_of(reading.program)) <= set(operators_of(program))  # tuples vanish, and with them what is not used
        equal += reading.program == program
        assert read(printed(reading.program)).program == reading.program
        first, again = (evaluate(each, generated.inputs, registry()) for each in (program, reading.program))
        same(first, again)
    assert equal > 40


def _changed(value: Any, random: Random) -> Any:
    """An attribute that no solver has to draw."""
    if isinstance(value, tuple):
        changed = list(value)
        if changed and all(type(each) is int for each in changed):
            changed[random.randrange(len(changed))] = random.randint(-1, 3)
        return tuple(changed)
    if isinstance(value, bool):
        return not value
    return random.choice((-1, 0, 1, 2)) if isinstance(value, int) else value


@pytest.mark.parametrize("language", LANGUAGES)
def test_parameters_that_no_solver_draws_keep_their_meaning_when_they_are_printed(language: str) -> None:
    """Programs that were read from models have them: a mean that counts its padding, distances in a window."""
    printed, read = LANGUAGES[language]
    random, numbers = Random(0), np.random.default_rng(0)
    tried: dict[str, int] = {}
    generator = ProgramGenerator(Policy(language=language), operators_in(language))
    generator.generate(0)
    targets = [generator.result_type() for _ in range(200)]
    for operator in operators_in(language):
        for target in filter(operator.recognises, targets):
            solution = operator.solve(target, random)
            attributes = {name: _changed(value, random) if random.random() < 0.6 else value for name, value in solution.attributes.items()}
            try:
                kind = operator.infer(solution.arguments, attributes)
            except IllTyped:
                continue
            parameters = tuple(Parameter(f"x{number}", each) for number, each in enumerate(solution.arguments, 1))
            body = Block((Binding("v1", kind, Call(operator.name, tuple(each.name for each in parameters), attributes)),), "v1")
            program = Program((Function("main", parameters, body, kind),))
            check(program, registry())
            again = read(printed(program))
            assert again.opaque == (), (operator.name, attributes)
            try:
                inputs = [
                    drawn(each, operator.need(n, solution.arguments, attributes), numbers) for n, each in enumerate(solution.arguments)
                ]
                same(evaluate(program, inputs, registry()), evaluate(again.program, inputs, registry()))
            except NotDefined:
                continue
            tried[operator.name] = tried.get(operator.name, 0) + (attributes != dict(solution.attributes))
    assert sum(map(bool, tried.values())) > 20, tried


def test_a_program_without_tuples_comes_back_from_onnx_up_to_names() -> None:
    generator = ProgramGenerator(Policy(tuples=0.0, conditional=0.05, function=0.05), operators_in("onnx"))
    for seed in range(80):
        program = canonical(generator.generate(seed).program)
        assert program_from_onnx.program_from(model_of(program)).program == program


@pytest.mark.slow
def test_the_node_tests_of_onnx_are_read_with_the_meaning_that_they_declare() -> None:
    from onnx.backend.test.case.node import collect_testcases

    read = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [each for each in collect_testcases(None) if each.model is not None and "cast" not in each.name]
    for case in cases:
        try:
            reading = program_from_onnx.program_from(case.model)
        except Opaque:
            continue
        check(reading.program, registry())
        if reading.opaque or not operators_of(reading.program):
            continue
        names = [each.name for each in case.model.graph.input]
        for inputs, outputs in case.data_sets:
            values = dict(zip(names, inputs, strict=True))
            try:
                found = evaluate(reading.program, [np.asarray(values[name]) for name in reading.values], registry())
            except NotDefined:  # negative indices, which no program has
                continue
            results = found if isinstance(found, tuple) else (found,)
            for one, other in zip(results, outputs, strict=True):
                np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float), 1e-3, 1e-5, err_msg=case.name)
            read += 1
    assert read > 250


def model(nodes: list[Any], shape: list[Any], outputs: list[str], domain: str = "") -> Any:
    entries = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    results = [helper.make_tensor_value_info(each, TensorProto.FLOAT, shape) for each in outputs]
    opsets = [helper.make_opsetid("", 21), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(helper.make_graph(nodes, "g", entries, results), opset_imports=opsets)


def test_what_no_program_can_hold_is_named_and_the_rest_is_read() -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("ThresholdedRelu", ["a"], ["b"]),
        helper.make_node("Own", ["a"], ["c"], domain="own"),
        helper.make_node("Tanh", ["b"], ["d"]),
        helper.make_node("Sin", ["c"], ["e"]),
    ]
    reading = program_from_onnx.program_from(model(nodes, [2, 3], ["d"], "own"))
    assert operators_of(reading.program) == ("tanh",)
    assert reading.values == ("x", "b")
    assert reading.opaque == (
        "ThresholdedRelu: no operator of programs is written so",
        "Own: its domain is 'own'",
        "Sin: it depends on an opaque value",
    )


def test_what_opaque_nodes_take_is_the_result_where_no_output_can_be_read() -> None:
    own = helper.make_node("Own", ["a"], ["b"], domain="own")
    nodes = [helper.make_node("Relu", ["x"], ["a"]), own, helper.make_node("Sin", ["b"], ["c"])]
    reading = program_from_onnx.program_from(model(nodes, [2, 3], ["q"], "own"))
    assert operators_of(reading.program) == ("relu",)
    assert reading.opaque == ("Own: its domain is 'own'", "Sin: it depends on an opaque value")


def test_an_input_of_an_open_shape_is_named_and_the_rest_is_read() -> None:
    whole = model([helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Tanh", ["n"], ["z"])], [2, 3], ["y", "z"])
    whole.graph.input.append(helper.make_tensor_value_info("n", TensorProto.FLOAT, ["n", 3]))
    reading = program_from_onnx.program_from(whole)
    assert operators_of(reading.program)[0] == "relu"
    assert reading.opaque == ("input: the shape of 'n' is open", "Tanh: it depends on an opaque value")


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (helper.make_node("Selu", ["x"], ["y"], alpha=2.0), "attribute 'alpha' has no place in a program"),
        (helper.make_node("Softmax", ["x"], ["y"], axis=7), "axis 7 of 2 dimensions"),
        (helper.make_node("Mod", ["x", "x"], ["y"], fmod=1), "fmod is 1"),
        (helper.make_node("Reshape", ["x", "x"], ["y"]), "a parameter is computed"),
        (helper.make_node("Add", ["x", ""], ["y"]), "its input is left out"),
    ],
)
def test_a_node_that_is_written_otherwise_is_opaque_with_the_reason(node: Any, reason: str) -> None:
    reading = program_from_onnx.program_from(model([helper.make_node("Abs", ["x"], ["z"]), node], [2, 3], ["z", "y"]))
    assert [each.partition(": ")[2] for each in reading.opaque] == [reason]


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda: model([helper.make_node("Relu", ["x"], ["y"])], ["n", 3], ["y"]), "input: the shape of 'x' is open; Relu: it depends on"),
        (lambda: model([helper.make_node("Own", ["x"], ["y"], domain="o")], [2], ["q"], "o"), "nothing of it can be read .Own: its domain"),
        (lambda: onnx.ModelProto(), "opset 0 is older than 13"),
    ],
)
def test_a_model_of_which_nothing_can_be_read_is_refused(made: Any, reason: str) -> None:
    with pytest.raises(Opaque, match=reason):
        program_from_onnx.program_from(made())


def test_a_binding_of_relax_that_no_program_can_hold_becomes_a_parameter() -> None:
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((2, 3), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            odd = builder.emit(relax.op.nn.softmax(relax.op.nn.prelu(x, relax.const(np.ones(3, np.float32)))))
            result = builder.emit_output(relax.op.tanh(odd))
        builder.emit_func_output(result)
    reading = program_from_relax.program_from(builder.finalize())
    assert operators_of(reading.program) == ("softmax", "tanh")
    assert reading.opaque == ("relax.nn.prelu: no operator of programs is written so",)
    assert len(reading.program.main.parameters) == 2


def test_a_module_with_an_open_shape_or_without_a_main_function_is_refused() -> None:
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((tvm.tirx.Var("n", "int64"), 3), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(relax.op.tanh(x))
    with pytest.raises(Opaque, match="its shape is open"):
        program_from_relax.program_from(builder.finalize())
    with pytest.raises(Opaque, match="has no function 'main'"):
        program_from_relax.program_from(tvm.IRModule())
