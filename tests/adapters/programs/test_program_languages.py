"""Programs in the languages of compilers: each operator has the type that the language infers, and means what a compiler computes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import onnx
import onnxruntime
import pytest
from tvm import ir, relax

from opera.extensions.programs.check import evaluate
from opera.extensions.programs.generate import ProgramGenerator
from opera.extensions.programs.languages import declined, operators_in, registry
from opera.extensions.programs.operators import DTYPES, Operator
from opera.extensions.programs.policy import SHIPPED, Policy
from opera.extensions.programs.program import Binding, Block, Call, Function, Parameter, Program, Tuple
from opera.extensions.programs.templates.onnx import model_of
from opera.extensions.programs.templates.relax import module_of
from opera.extensions.programs.types import TensorType, TupleType, Type
from opera.extensions.programs.values import ProgramValue, drawn

MIXED = {"conditional": 0.1, "function": 0.1, "tuples": 0.1}
SAMPLES = [30, pytest.param(1_000, marks=pytest.mark.slow)]


def any_type(random: Random) -> Type:
    shape = tuple(random.choice((1, 2, 3, 4, 5)) for _ in range(random.randint(0, 4)))
    kind = TensorType(shape, random.choice(DTYPES))
    return TupleType((kind, TensorType(shape, random.choice(("int64", kind.dtype))))) if random.random() < 0.15 else kind


def program_of(operator: Operator, number: int, seed: int) -> tuple[Program, list[ProgramValue]]:
    """A program that calls *operator* *number* times, each time with other types, and values for its parameters."""
    random, generator = Random(f"{operator.name} {seed}"), np.random.default_rng(seed)
    parameters: list[Parameter] = []
    inputs: list[ProgramValue] = []
    bindings: list[Binding] = []
    for position in range(number):
        (arguments, attributes), target = operator.sample(random, any_type) or pytest.fail(f"{operator.name} is never recognised")
        names = tuple(f"x{position}_{index}" for index in range(len(arguments)))
        parameters += [Parameter(name, kind) for name, kind in zip(names, arguments, strict=True)]
        inputs += [drawn(kind, operator.need(index, arguments, attributes), generator) for index, kind in enumerate(arguments)]
        bindings.append(Binding(f"v{position}", target, Call(operator.name, names, attributes)))
    result = TupleType(tuple(each.type for each in bindings))
    bindings.append(Binding("result", result, Tuple(tuple(each.name for each in bindings))))
    return Program((Function("main", tuple(parameters), Block(tuple(bindings), "result", dataflow=True), result),)), inputs


def arrays(value: ProgramValue) -> Iterator[np.ndarray]:
    if isinstance(value, tuple):
        for each in value:
            yield from arrays(each)
    else:
        yield value


def strictly_inferred(model: onnx.ModelProto) -> None:
    onnx.checker.check_model(model)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)


@pytest.mark.parametrize("number", SAMPLES)
def test_onnx_infers_the_types_that_the_registry_gives(number: int) -> None:
    for operator in operators_in("onnx"):
        strictly_inferred(model_of(program_of(operator, number, 0)[0]))


@pytest.mark.parametrize("number", SAMPLES)
def test_relax_infers_the_types_that_the_registry_gives(number: int) -> None:
    for operator in operators_in("relax"):
        program = program_of(operator, number, 0)[0]
        module = module_of(program)
        assert relax.analysis.well_formed(module) is not False
        fields = [
            part
            for each in program.main.body.bindings[:-1]
            for part in (each.type.fields if isinstance(each.type, TupleType) else [each.type])
        ]
        found = [part for each in module["main"].ret_ty.fields for part in (each.fields if isinstance(each, ir.TupleType) else [each])]
        assert [(tuple(int(size) for size in each.shape), str(each.dtype)) for each in found] == [tuple(each) for each in fields], (
            operator.name
        )


def test_operators_mean_what_onnx_runtime_computes() -> None:
    onnxruntime.set_default_logger_severity(4)
    compared: set[str] = set()
    for operator in operators_in("onnx"):
        for seed in range(6):
            program, inputs = program_of(operator, 1, seed)
            try:
                session = onnxruntime.InferenceSession(model_of(program).SerializeToString(), providers=["CPUExecutionProvider"])
            except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
                continue
            found = session.run(None, {each.name: value for each, value in zip(program.main.parameters, inputs, strict=True)})
            for expected, actual in zip(arrays(evaluate(program, inputs, registry())), found, strict=True):
                assert (expected.shape, expected.dtype) == (actual.shape, actual.dtype), operator.name
                limit = 2e-2 if expected.dtype == np.float16 else 1e-4
                np.testing.assert_allclose(actual.astype(float), expected.astype(float), limit, limit / 10, err_msg=operator.name)
            compared.add(operator.name)
    assert len(compared) >= len(operators_in("onnx")) - 3


@pytest.mark.parametrize("language", ["onnx", "relax"])
def test_generated_programs_are_valid_in_their_language(language: str) -> None:
    generator = ProgramGenerator(Policy(language=language, **MIXED), operators_in(language))
    for seed in range(60):
        program = generator.generate(seed).program
        if language == "onnx":
            strictly_inferred(model_of(program))
        else:
            assert relax.analysis.well_formed(module_of(program)) is not False


def test_what_is_declined_exists() -> None:
    assert set(declined("relax")) <= {name.removeprefix("relax.") for name in ir.Op.list_op_names()}
    assert set(declined("onnx")) <= {schema.name for schema in onnx.defs.get_all_schemas()}


@pytest.mark.parametrize("language", ["onnx", "relax"])
def test_symbolic_dimensions_have_types_in_the_language(language: str) -> None:
    """Inference of the language takes the names of dimensions, and agrees with the sizes that stay known."""
    policy = replace(SHIPPED["general"], language=language, symbolic=1.0)
    generator = ProgramGenerator(policy, operators_in(language))
    drawn = [generator.generate(seed).program for seed in range(60)]
    symbolic = [each for each in drawn if each.main.symbols]
    assert len(symbolic) > 30
    for each in symbolic:
        if language == "onnx":
            model = model_of(each)
            assert {size.dim_param for entry in model.graph.input for size in entry.type.tensor_type.shape.dim} - {""}
            strictly_inferred(model)
        else:
            module = module_of(each)
            relax.analysis.well_formed(module)
            assert 'TypeVar("n1")' in module.script()


def test_a_size_of_zero_is_no_size_to_copy() -> None:
    """Without `allowzero`, ONNX takes a size of 0 of Reshape for that of the argument, which here is 1."""
    kind, wanted = TensorType((0, 1, 1), "float32"), TensorType((4, 0, 1), "float32")
    body = Block((Binding("y", wanted, Call("reshape", ("x",), {"shape": (4, 0, 1)})),), "y", dataflow=True)
    model = model_of(Program((Function("main", (Parameter("x", kind),), body, wanted),)))
    strictly_inferred(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (result,) = session.run(None, {"x": np.zeros((0, 1, 1), np.float32)})
    assert np.shape(result) == (4, 0, 1)
