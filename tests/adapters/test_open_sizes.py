"""Models whose inputs leave sizes open: which sizes, by ONNX' evaluator and by PyTorch, and what compilers make of them."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import commands
import numpy as np
import onnx
import pytest
import torch
from instances import counting, node, tensor, torch_call
from real_campaigns import filled, run

from opera.compilers.adapter import CannotCapture, Subject
from opera.compilers.inductor import InductorAdapter
from opera.instance import Argument, Instance, Kind
from opera.models.forms import OUTCOME
from opera.models.template import Invalid
from opera.oracles.verdict import Verdict
from opera.report.reproducer import driving_code, foreign_names
from opera.templates.onnx.model import OnnxTemplate
from opera.templates.pytorch.model import PyTorchTemplate
from opera.templates.pytorch.programs import open_shapes

SQUARE = counting(2, 2)
CONV = node("Conv", 11, {"kernel_shape": [3, 3]}, X=counting(1, 2, 5, 4), W=counting(6, 2, 3, 3))

LINEAR = Instance(
    "pytorch", "torch.nn.functional.linear", Kind.FUNCTION, call=(Argument("input", counting(2, 3)), Argument("weight", counting(4, 3)))
)


def sizes_of(instance: Instance) -> dict[str, list[int | str]]:
    artefact = OnnxTemplate().build(instance, "key", 0).artefact("onnx", "symbolic")
    model = onnx.load_model_from_string(artefact.data)
    onnx.checker.check_model(model, full_check=True)
    return {each.name: [size.dim_param or size.dim_value for size in each.type.tensor_type.shape.dim] for each in model.graph.input}


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (node("Relu", 14, X=counting(1, 3)), {"X": [1, "size3"]}),
        (node("MatMul", 13, A=counting(2, 3), B=counting(3, 4)), {"A": ["size2", "size3"], "B": ["size3", "size4"]}),
        (node("Add", 14, A=counting(2, 3), B=counting(1, 3)), {"A": ["size2", "size3"], "B": [1, "size3"]}),
        (node("Transpose", 13, {"perm": [1, 0]}, data=counting(2, 5)), {"data": ["size2", "size5"]}),
        # no model leaves the sizes of weights open, and these fix the channels of X
        (CONV, {"X": [1, 2, "size5", "size4"], "W": [6, 2, 3, 3]}),
        # a constant of the shape has to divide the number of elements
        (node("Reshape", 14, data=counting(2, 3), shape=tensor([2, -1], "int64")), {"data": [2, "size3"]}),
    ],
)
def test_sizes_of_onnx_are_open_as_far_as_the_evaluator_takes_other_ones(instance: Instance, expected: dict[str, list[int | str]]) -> None:
    assert sizes_of(instance) == expected


def test_an_instance_without_a_free_size_is_named() -> None:
    with pytest.raises(Invalid, match="no-free-size"):
        sizes_of(node("Reshape", 14, data=counting(2, 3), shape=tensor([6], "int64")))


def test_a_size_that_onnx_infers_wrongly_is_no_models_fault() -> None:
    """ONNX takes an open number of keys for 0 where `Attention` gives its products, and compilers that use its schemas state that."""
    call = node("Attention", 24, Q=counting(2, 1, 4, 8), K=counting(2, 1, 6, 8), V=counting(2, 1, 6, 8))
    assert sizes_of(call)["K"] == ["size2", 1, "size6", "size8"]
    with pytest.raises(Invalid, match="shape-inference"):
        sizes_of(replace(call, context=(("opset", 24), ("outputs", [True, False, False, True]))))


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (torch_call("torch.add", counting(2, 3), counting(2, 3)), [[-1, -1], [-1, -1]]),
        (torch_call("torch.matmul", counting(2, 3), counting(3, 4)), [[-1, -1], [-1, -1]]),
        (torch_call("torch.relu", counting(1, 3)), [[1, -1]]),
        (LINEAR, [[-1, 3], [4, 3]]),
        # another size gives another number of results
        (torch_call("torch.unbind", counting(4, 3), dim=0), [[4, -1]]),
    ],
)
def test_sizes_of_pytorch_are_open_as_far_as_export_keeps_them(instance: Instance, expected: list[list[int]]) -> None:
    model = PyTorchTemplate().build(instance, "key", 0)
    program = torch.export.load(io.BytesIO(model.artefact("exported-program", "symbolic").data))
    assert open_shapes(program) == expected
    captured = model.captured("exported-program", model.artefact("exported-program", "symbolic").data)
    assert captured is not None
    for one, other in zip(captured[1] or (), model.reference().outputs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_script_of_a_module_captures_it_with_other_sizes() -> None:
    source = PyTorchTemplate().build(torch_call("torch.add", counting(2, 3), counting(2, 3)), "key", 0).source("symbolic")
    assert foreign_names(source.text, "pytorch", source.imports) is None
    space: dict[str, Any] = {"torch": torch, "np": np}
    exec(source.text, space)
    assert [each.shape for each in space["examples"]] == [(3, 4), (3, 4)]
    assert space["axes"] == [[0, 1], [0, 1]]


def test_a_program_that_refuses_the_sizes_of_its_own_call_is_no_capture() -> None:
    """Captured with four rows, `_chunk_cat` into two chunks asks for an even number of them; without that, compilers pad nothing."""
    whole, halves = (torch_call("torch._chunk_cat", [counting(3, 2)], dim=0, num_chunks=count) for count in (1, 2))
    assert PyTorchTemplate().build(whole, "key", 0).artefact("exported-program", "symbolic").data
    with pytest.raises(Invalid, match=r"capture-failed:torch\.export"):
        PyTorchTemplate().build(halves, "key", 0).artefact("exported-program", "symbolic")


def test_a_trace_has_no_open_sizes() -> None:
    with pytest.raises(Invalid, match="no-free-size"):
        PyTorchTemplate().build(torch_call("torch.relu", counting(2, 3)), "key", 0).artefact("torchscript", "symbolic")


@pytest.mark.parametrize("compiler", ["openvino", "tvm", "onnxruntime"])
def test_compilers_run_models_with_open_sizes(compiler: str, tmp_path: Path) -> None:
    instances = [node("MatMul", 13, A=counting(2, 3), B=counting(3, 4)), node("Relu", 14, X=SQUARE)]
    found = run(filled(tmp_path / "ws", instances), compiler, "onnx", ["onnx"], "--input-form", "symbolic")
    assert {each.form for _, each in found.results} == {"symbolic"}
    assert [each.verdict for _, each in found.results] == [Verdict.PASS, Verdict.PASS]


def test_a_route_with_fixed_sizes_is_refused(tmp_path: Path) -> None:
    folder = filled(tmp_path / "ws", [torch_call("torch.relu", SQUARE)])
    command = ("run", "--compiler", "tvm", "--frontend", "pytorch", "--route", "fx", "--input-form", "symbolic")
    done = commands.run(*command, "--workspace", str(folder), folder=tmp_path)
    assert done.code == 2
    assert "the route fx of tvm/pytorch has fixed sizes" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--route", "dynamic"), ("--input-form", "symbolic")])
def test_inductor_takes_open_sizes(options: tuple[str, str], tmp_path: Path) -> None:
    found = run(filled(tmp_path / "ws", [torch_call("torch.relu", SQUARE)]), "inductor", "pytorch", ["torch"], *options)
    assert [each.verdict for _, each in found.results] == [Verdict.PASS]


def inductor_with_open_sizes(instance: Instance) -> tuple[InductorAdapter, Any, Subject]:
    """An adapter, what it made of a call in its first call, and the call."""
    adapter = InductorAdapter({})
    adapter.start()
    model = PyTorchTemplate().build(replace(instance, context=((OUTCOME, "symbolic"),)), "key", 0)
    subject = Subject(adapter.routes[0], b"", {}, 1, lambda: model.instance, module=model)
    return adapter, adapter.compile(adapter.load(subject, lambda stage: None), subject, lambda stage: None), subject


def test_inductor_compiles_once_for_open_sizes() -> None:
    adapter, compiled, subject = inductor_with_open_sizes(torch_call("torch.add", counting(2, 3), counting(2, 3)))
    with torch.no_grad(), torch.compiler.set_stance("fail_on_recompile"):
        assert [np.shape(each) for each in adapter.run(compiled, subject, lambda stage: None)] == [(2, 3)]
        assert compiled(torch.ones(7, 5), torch.ones(7, 5))[0].shape == (7, 5)


def test_the_script_of_inductor_marks_the_sizes_and_compiles_with_other_ones() -> None:
    source = PyTorchTemplate().build(torch_call("torch.add", counting(2, 3), counting(2, 3)), "key", 0).source("symbolic")
    space: dict[str, Any] = {"torch": torch, "np": np}
    exec(source.text, space)
    code = driving_code(InductorAdapter, "pytorch", {"is_open": True}).text
    exec(code.replace('backend="inductor"', 'backend="eager"'), space)
    assert [each._dynamo_dynamic_indices for each in space["examples"]] == [{0, 1}, {0, 1}]
    assert [each.shape for each in space["actual"]] == [(2, 3)]


def test_inductor_is_not_tested_where_no_size_is_open() -> None:
    with pytest.raises(CannotCapture, match="open sizes"):
        inductor_with_open_sizes(torch_call("torch.relu", counting(1, 1)))


def test_inductors_route_dynamic_has_symbols_in_place_of_sizes() -> None:
    adapter: Any = InductorAdapter({})
    adapter.start()
    model = PyTorchTemplate().build(torch_call("torch.relu", counting(2, 3)), "key", 0)
    for name, graphs in (("dynamic", 1), ("dynamo", 2)):
        subject = Subject(next(each for each in adapter.routes if each.name == name), b"", {}, 1, lambda: model.instance, module=model)
        compiled = adapter.load(subject, lambda stage: None)
        counter = torch._dynamo.utils.counters["stats"]
        before = counter["unique_graphs"]
        for size in (3, 5):
            compiled(torch.ones(2, size))
        assert counter["unique_graphs"] - before == graphs
    text = driving_code(InductorAdapter, "pytorch", {"route": "dynamic"}).text
    assert 'torch.compile(model, backend="inductor", fullgraph=True, dynamic=True)' in text
