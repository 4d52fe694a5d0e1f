"""Programs as modules of PyTorch: each operator has the types and values of the registry, and the text of a module is its script."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from test_program_languages import SAMPLES, arrays, program_of

from opera.compilers.adapter import Subject
from opera.compilers.openvino import OpenVinoAdapter
from opera.compilers.torch_format import operators_of
from opera.extensions.programs.check import evaluate
from opera.extensions.programs.generate import Generated, ProgramGenerator
from opera.extensions.programs.instances import instance_of
from opera.extensions.programs.languages import Unwritable, drawn_from, operators_in, registry
from opera.extensions.programs.operators import Operator
from opera.extensions.programs.policy import SHIPPED, Policy
from opera.extensions.programs.program import Binding, Block, Call, Constant, Function, If, Parameter, Program
from opera.extensions.programs.templates.torch_model import TorchProgramModel
from opera.extensions.programs.templates.torch_source import WRITE, module_lines, python_source
from opera.extensions.programs.types import TensorType, TupleType
from opera.extensions.programs.values import to_tensor
from opera.models.template import Invalid
from opera.report.reproducer import foreign_names
from opera.templates.pytorch.model import PyTorchTemplate

CLOSE = {np.dtype(np.float16): 1e-2, np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-6}  # selu has other constants in ONNX


def computed(program: Program, inputs: list[Any]) -> list[Any]:
    space: dict[str, Any] = {"torch": torch}
    exec("\n".join(module_lines(program)), space)
    found = space["Model"]().eval()(*[torch.from_numpy(np.array(each)) for each in inputs])
    return [each.numpy() for each in torch.utils._pytree.tree_leaves(found)]


def test_places_of_equal_elements_are_no_reference() -> None:
    """PyTorch's topk promises no order of equal elements, and gives the last ones here."""
    matrix, half = TensorType((4, 4), "float64"), TensorType((4, 2), "float64")
    kind = TupleType((half, TensorType((4, 2), "int64")))
    call = Call("topk", ("x",), {"axis": 1, "k": 2, "largest": False})
    program = Program((Function("main", (Parameter("x", matrix),), Block((Binding("v", kind, call),), "v", dataflow=True), kind),))
    for value, reason in ((np.zeros((4, 4)), "numpy-disagrees"), (np.arange(16.0).reshape(4, 4), None)):
        model = TorchProgramModel(instance_of(Generated(program, [value]), "pytorch"), "k", 0)
        assert model.reference().undefined == reason


def test_the_source_of_a_program_may_stand_in_a_script_and_be_exported() -> None:
    """A script names only what a list admits, and `torch.export` takes a tuple of inputs."""
    policy = Policy(language="pytorch", operators=4, literal=0.6, function=0.3, conditional=0.2, dtypes=("float32", "int64"))
    generator = ProgramGenerator(policy, drawn_from(policy))
    exported = chosen = 0
    for seed in range(12):
        made = generator.generate(seed)
        named = dict(zip([each.name for each in made.program.main.parameters], map(np.asarray, made.inputs), strict=True))
        source = python_source(made.program, named, [])
        assert foreign_names(source.text, "pytorch") is None, source.text
        space: dict[str, Any] = {"torch": torch, "np": np}
        exec(source.text, space)
        torch.export.export(space["model"], space["inputs"])
        exported += "self.c0" in source.text and "self.function0" in source.text
        chosen += "torch.cond" in source.text
    assert exported > 0
    assert chosen > 0


@pytest.mark.parametrize("number", SAMPLES)
@pytest.mark.parametrize("name", [each.name for each in operators_in("pytorch")])
def test_an_operator_has_the_types_and_values_that_the_registry_gives(name: str, number: int) -> None:
    (operator,) = [each for each in operators_in("pytorch") if each.name == name]
    for dtype in operator.dtypes:
        one: Operator = replace(operator, dtypes=(dtype,))
        program, inputs = program_of(one, max(3, number // 6), 1)
        for right, found in zip(arrays(evaluate(program, inputs, registry())), computed(program, inputs), strict=True):
            assert (found.dtype, found.shape) == (right.dtype, right.shape), dtype
            close = CLOSE.get(right.dtype, 0.0)
            np.testing.assert_allclose(found.astype("float64"), right.astype("float64"), rtol=close, atol=close, err_msg=dtype)


def test_pytorch_has_nearly_all_operators() -> None:
    assert set(WRITE) == {each.name for each in operators_in("pytorch")}
    assert set(registry().names()) - set(WRITE) == {"hardmax"}


def drawn(seed: int) -> Generated:
    policy = replace(SHIPPED["general"], language="pytorch", function=0.2, tuples=0.2, conditional=0.2, operators=6)
    return ProgramGenerator(policy, drawn_from(policy)).generate(seed)


@pytest.mark.parametrize("seed", range(12))
def test_the_script_of_a_program_computes_what_the_worker_does(seed: int) -> None:
    model = PyTorchTemplate().build(instance_of(drawn(seed), "pytorch"), "key", 0)
    assert isinstance(model, TorchProgramModel)
    source = model.source("runtime")
    space: dict[str, Any] = {"np": np}
    exec("\n".join([*source.imports, source.text, source.expected]), space)
    found = torch.utils._pytree.tree_leaves(space["model"](*space["inputs"]))
    for one, right in zip(found, space["expected"], strict=True):
        np.testing.assert_array_equal(one.detach().numpy(), np.asarray(right))


@pytest.mark.parametrize("chosen", [True, False])
def test_a_block_that_is_chosen_sees_what_is_around_it_and_copies_what_it_gives(chosen: bool) -> None:
    """PyTorch refuses a branch that gives one of its arguments, or a constant."""
    kind = TensorType((2,), "float32")
    then = Block((Binding("t", kind, Call("add", ("x", "c"), {})),), "t", dataflow=False)
    inner = If("p", Block((), "c", dataflow=False), Block((), "y", dataflow=False))
    otherwise = Block((Binding("i", kind, inner),), "i", dataflow=False)
    bindings = (
        Binding("c", kind, Constant(to_tensor(np.array([10, 20], "float32")))),
        Binding("y", kind, Call("negative", ("x",), {})),
        Binding("v", kind, If("p", then, otherwise)),
    )
    parameters = (Parameter("x", kind), Parameter("p", TensorType((), "bool")))
    program = Program((Function("main", parameters, Block(bindings, "v", dataflow=False), kind),))
    inputs = (np.array([1, 2], "float32"), np.array(chosen))
    model = PyTorchTemplate().build(instance_of(Generated(program, inputs), "pytorch"), "key", 0)
    assert model.reference().outputs[0].tolist() == ([11, 22] if chosen else [-1, -2])


def test_a_program_in_double_precision_says_what_is_exact() -> None:
    kind = TensorType((3,), "float32")
    body = Block((Binding("v", kind, Call("exp", ("x",), {})),), "v", dataflow=True)
    program = Program((Function("main", (Parameter("x", kind),), body, kind),))
    model = PyTorchTemplate().build(instance_of(Generated(program, (np.array([0.5, 1, 2], "float32"),)), "pytorch"), "key", 0)
    precise = model.reference().precise
    assert precise is not None
    np.testing.assert_allclose(precise[0], np.exp([0.5, 1, 2]), rtol=1e-12)


def test_a_step_in_half_precision_may_be_rounded_or_not() -> None:
    """A compiler that keeps more digits of `exp(1)` is right, though it is given no input that could be off."""
    half, single = TensorType((), "float16"), TensorType((), "float32")
    bindings = (
        Binding("c", half, Constant(to_tensor(np.array(1, "float16")))),
        Binding("e", half, Call("exp", ("c",), {})),
        Binding("s", half, Call("sin", ("e",), {})),
        Binding("r", single, Call("astype", ("s",), {"dtype": "float32"})),
    )
    program = Program((Function("main", (), Block(bindings, "r", dataflow=True), single),))
    model = PyTorchTemplate().build(instance_of(Generated(program, ()), "pytorch"), "key", 0)
    reference = model.reference()
    assert reference.precise is not None
    assert abs(float(reference.precise[0]) - np.sin(np.e)) < 1e-6
    assert float(reference.outputs[0]) < float(reference.precise[0])
    nearby = [float(found[0]) for draw in range(8) if (found := model.nearby(2.0**-11, draw)) is not None]
    assert min(nearby) < np.sin(np.e) < max(nearby)


@pytest.mark.parametrize("value", ["__import__('os').abort()", "float32'", [1, "2"], None])
def test_text_of_a_foreign_program_is_never_run(value: Any) -> None:
    """The text of a module is run, so a parameter is a number, some integers, or the name of a dtype."""
    kind = TensorType((2,), "float32")
    body = Block((Binding("v", kind, Call("clip", ("x",), {"low": value, "high": 1})),), "v", dataflow=True)
    program = Program((Function("main", (Parameter("x", kind),), body, kind),))
    with pytest.raises(Unwritable):
        module_lines(program)
    strange = TensorType((2,), f"float32){value}(")
    body = Block((Binding("v", strange, Call("sum", ("x",), {"axes": (0,), "keepdims": False})),), "v", dataflow=True)
    with pytest.raises(Unwritable):
        module_lines(Program((Function("main", (Parameter("x", strange),), body, strange),)))
    with pytest.raises(Invalid):
        PyTorchTemplate().build(instance_of(Generated(program, (np.zeros(2, "float32"),)), "pytorch"), "key", 0)


def test_one_failure_of_programs_has_one_name_whatever_else_is_in_them() -> None:
    """The operators that it needs are its trigger, and a reduction that takes others away shows the same failure."""
    kind = TensorType((3,), "float32")
    bindings = (Binding("v", kind, Call("exp", ("x",), {})), Binding("w", kind, Call("negative", ("v",), {})))
    program = Program((Function("main", (Parameter("x", kind),), Block(bindings, "w", dataflow=True), kind),))
    instance = instance_of(Generated(program, (np.array([0.5, 1, 2], "float32"),)), "pytorch")
    route = next(each for each in OpenVinoAdapter.routes if (each.frontend, each.name) == ("pytorch", "exported-program"))
    data = PyTorchTemplate().build(instance, "key", 0).artefact(str(route.artefact), "runtime").data
    assert operators_of(Subject(route, data, {}, 1, lambda: instance)) == "program"
