"""What else a call does than give results: the form `written` shows what it shares with its inputs, the form `refused` that it raises."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest
from instances import counting, node, tensor, torch_call
from real_campaigns import filled, run

from opera.instance import Instance, Outcome
from opera.models.forms import OUTCOME, InputForm, forms_of
from opera.models.template import Invalid
from opera.oracles.verdict import Verdict
from opera.report.reproducer import foreign_names
from opera.templates.pytorch.graph import graph_module
from opera.templates.pytorch.model import PyTorchModel, PyTorchTemplate

ROW = tensor([1, 2, 3])
FROM_A_SCALAR = torch_call("torch.Tensor.copy_", tensor([1, 2]), tensor(1.0, "float64"))
"""TorchInductor 2.13 loses writes to a float64 of rank 0."""


def model_of(instance: Instance, form: str = "written") -> PyTorchModel:
    return PyTorchTemplate().build(replace(instance, context=(*instance.context, (OUTCOME, form))), "key", 0)


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        # results, then inputs: a result of its own is 1 more afterwards, which no input shows
        (torch_call("torch.neg", ROW), [[-1, -2, -3], [2, 3, 4]]),
        # a view shows the write to its input, and the input shows that to the view
        (torch_call("torch.narrow", ROW, dim=0, start=1, length=2), [[3, 4], [2, 4, 5]]),
        (torch_call("torch.unbind", ROW), [[2], [3], [4], [3, 4, 5]]),
        (torch_call("torch.Tensor.contiguous", ROW), [[2, 3, 4], [3, 4, 5]]),
        # a call that writes: its result is its input
        (torch_call("torch.Tensor.neg_", ROW), [[0, -1, -2], [1, 0, -1]]),
        # what was copied from is read before it is written to
        (torch_call("torch.Tensor.copy_", ROW, tensor([7, 8, 9])), [[8, 9, 10], [9, 10, 11], [8, 9, 10]]),
        (torch_call("torch.logical_not", tensor([True, False], "bool")), [[False, True], [False, True]]),
        # elements that share memory cannot be written to
        (torch_call("torch.Tensor.expand", tensor([1]), size=[2]), [[2, 2], [2]]),
    ],
)
def test_writes_show_what_shares_memory(instance: Instance, expected: list[list[Any]]) -> None:
    outputs = model_of(instance).reference().outputs
    assert [np.asarray(each).reshape(-1).tolist() for each in outputs] == expected


def test_a_graph_holds_the_same_writes() -> None:
    for instance in (torch_call("torch.narrow", ROW, dim=0, start=1, length=2), torch_call("torch.Tensor.neg_", ROW)):
        model = model_of(instance)
        for kind in ("exported-program", "exported-program-decomposed", "torchscript", "onnx"):
            captured = model.captured(kind, model.artefact(kind, "written").data)
            assert captured is not None
            for one, other in zip(captured[1] or (), model.reference().outputs, strict=True):
                np.testing.assert_array_equal(one, other)


def test_copies_in_a_graph_need_inputs_that_lie_as_copies_do() -> None:
    gaps = replace(tensor([1, 2, 3]), strides=(2,))
    with pytest.raises(Invalid, match="strides-not-possible"):
        model_of(torch_call("torch.Tensor.reshape", gaps, shape=[3, 1])).artefact("exported-program", "written")


def test_a_graph_of_one_node_has_no_place_for_writes() -> None:
    with pytest.raises(Invalid, match="capture-failed:fx"):
        graph_module(model_of(torch_call("torch.neg", ROW)))


def test_only_pytorch_has_these_forms() -> None:
    for form in (InputForm.WRITTEN, InputForm.REFUSED):
        assert forms_of(torch_call("torch.neg", ROW), (form,)) == (form,)
        assert forms_of(node("Neg", 13, X=ROW), (form,)) == ()


@pytest.mark.parametrize("form", ["written", "refused"])
@pytest.mark.parametrize("api", ["torch.unsafe_chunk", "torch._unsafe_index"])
def test_functions_that_are_unsafe_by_name_promise_nothing(api: str, form: str) -> None:
    given = {"chunks": 2} if api == "torch.unsafe_chunk" else {"indices": [tensor([9], "int64")]}
    with pytest.raises(Invalid, match=r"unsafe-by-name|not-refused"):
        model_of(torch_call(api, ROW, **given), form).reference()


@pytest.mark.parametrize("instance", [torch_call("torch.narrow", ROW, dim=0, start=1, length=2), torch_call("torch.sort", ROW)])
def test_the_source_says_what_the_model_does(instance: Instance, tmp_path: Path) -> None:
    model = model_of(instance)
    source = model.source("written")
    assert foreign_names(source.text, "pytorch", source.imports) is None
    script = tmp_path / "script.py"
    script.write_text("\n".join([*source.imports, "import numpy as np", source.text, source.expected]))
    given = runpy.run_path(str(script))
    for one, other in zip(given["expected"], model.reference().outputs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("compiler", ["openvino", "tvm"])
def test_compilers_keep_views_inside_a_graph(compiler: str, tmp_path: Path) -> None:
    instances = [torch_call("torch.transpose", counting(2, 3), dim0=0, dim1=1), torch_call("torch.Tensor.neg_", counting(2, 3))]
    options = ("--route", "exported-program", "--input-form", "written")
    found = run(filled(tmp_path / "ws", instances), compiler, "pytorch", ["torch"], *options)
    assert [(each.form, each.verdict) for _, each in found.results] == [("written", Verdict.PASS)] * 2


BAD_INDEX = torch_call("torch.index_select", ROW, dim=0, index=tensor([7], "int64"))
BAD_SHAPE = torch_call("torch.index_add", counting(3, 2), dim=0, index=tensor([0, 2], "int64"), source=counting(2))
"""TorchInductor 2.13 broadcasts the source."""


@pytest.mark.slow  # a campaign of Inductor takes half a minute of processor time
def test_inductor_loses_a_write_to_a_scalar(tmp_path: Path) -> None:
    workspace = filled(tmp_path / "ws", [FROM_A_SCALAR, torch_call("torch.transpose", counting(2, 3), dim0=0, dim1=1)])
    found = run(workspace, "inductor", "pytorch", ["torch"], "--input-form", "written")
    assert found.verdicts("transpose") == {"pass": 1}
    (failing,) = found.of("copy_")
    assert failing.verdict is Verdict.INCONSISTENT
    said = commands.run("reproduce", failing.test[:12], "--workspace", str(workspace), folder=tmp_path)
    assert "reproduced: Mismatched elements" in said.stdout
    plain = run(workspace, "inductor", "pytorch", ["copy_"], "--input-form", "runtime")
    assert {each.verdict for _, each in plain.results} == {Verdict.PASS}


def test_the_outcome_of_a_refused_call_is_that_it_is_refused() -> None:
    (found,) = model_of(BAD_INDEX, "refused").reference().outputs
    assert np.asarray(found).tolist() is True


@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        (torch_call("torch.neg", ROW), "not-refused"),
        # a kernel that the library lacks is no rule of the operator
        (torch_call("torch.geqrf", tensor([[1.0]], "float16")), "no-kernel-of-the-library"),
        (torch_call("torch.argmax", tensor([True], "bool")), "no-kernel-of-the-library"),
    ],
)
def test_calls_that_a_compiler_may_take_are_no_refusals(instance: Instance, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        model_of(instance, "refused").reference()


def test_inductor_takes_a_call_that_pytorch_refuses(tmp_path: Path) -> None:
    workspace = filled(tmp_path / "ws", [replace(each, outcome=Outcome.RAISED) for each in (BAD_INDEX, BAD_SHAPE)])
    found = run(workspace, "inductor", "pytorch", ["torch"], "--input-form", "refused")
    assert found.verdicts("index_select") == {"pass": 1}
    (failing,) = found.of("index_add")
    assert failing.verdict is Verdict.INCONSISTENT
    assert failing.detail["difference"]["kind"] == "accepted"
    assert failing.detail["difference"]["expected"].startswith("an error (RuntimeError: source tensor shape must match")


def test_a_workspace_without_refused_calls_says_how_to_get_some(tmp_path: Path) -> None:
    folder = filled(tmp_path / "ws", [torch_call("torch.neg", ROW)])
    command = ("run", "--compiler", "inductor", "--frontend", "pytorch", "--input-form", "refused")
    done = commands.run(*command, "--workspace", str(folder), folder=tmp_path)
    assert done.code == 4
    assert "the workspace has no call that pytorch refuses" in done.stderr


@pytest.mark.parametrize(
    ("subject", "form", "said"),
    [
        (("tvm", "onnx"), "written", "--input-form written is for instances of PyTorch"),
        (("tvm", "pytorch"), "refused", "--input-form refused is for routes that take a live module"),
    ],
)
def test_a_form_that_a_route_cannot_say_is_refused(subject: tuple[str, str], form: str, said: str, tmp_path: Path) -> None:
    folder = filled(tmp_path / "ws", [node("Neg", 13, X=ROW), replace(BAD_INDEX, outcome=Outcome.RAISED)])
    command = ("run", "--compiler", subject[0], "--frontend", subject[1], "--input-form", form)
    done = commands.run(*command, "--workspace", str(folder), folder=tmp_path)
    assert done.code == 2
    assert said in done.stderr
