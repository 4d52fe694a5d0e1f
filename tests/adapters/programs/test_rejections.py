"""Compilers have to reject ill-typed programs with a typed error; one that takes such a program, or breaks, has a finding."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import commands
import numpy as np
import pytest

from opera.config import Config
from opera.difftest.messages import REJECTED
from opera.difftest.runner import TestCase, TestRunner
from opera.difftest.settings import Settings
from opera.extensions.programs.generate import Generated
from opera.extensions.programs.instances import instance_of
from opera.extensions.programs.program import Binding, Block, Call, Function, Parameter, Program
from opera.extensions.programs.types import Attributes, TensorType, Type
from opera.instance import Instance
from opera.models.template import Invalid
from opera.oracles.verdict import Verdict
from opera.templates.onnx.model import OnnxTemplate


def ill_typed(language: str, operator: str, shapes: list[tuple[int, ...]], attributes: Attributes, result: Type) -> Instance:
    parameters = tuple(Parameter(f"x{index}", TensorType(shape, "float32")) for index, shape in enumerate(shapes))
    call = Call(operator, tuple(each.name for each in parameters), attributes)
    main = Function("main", parameters, Block((Binding("v", result, call),), "v"), result)
    inputs = tuple(np.ones(shape, np.float32) for shape in shapes)
    return instance_of(Generated(Program((main,)), inputs, ill_typed=True), language)


F = TensorType((2, 3), "float32")


SUBJECTS = ["onnxruntime/onnx", "openvino/onnx", pytest.param("tvm/onnx", marks=pytest.mark.slow), "tvm/relax"]


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, TestRunner]]:
    compiler, frontend = request.param.split("/")
    with TestRunner(Settings(compiler, frontend, "rejects"), Config({}), tmp_path_factory.mktemp("rejects")) as runner:
        yield request.param, runner


def verdict(runner: TestRunner, instance: Instance) -> tuple[Verdict, str | None]:
    found = runner.run(TestCase(instance, "runtime", "key", 0)).judgement
    return found.verdict, found.reason


def test_a_sum_that_does_not_broadcast_is_rejected(subject: tuple[str, TestRunner]) -> None:
    name, runner = subject
    assert verdict(runner, ill_typed(name.partition("/")[2], "add", [(2, 3), (4, 3)], {}, F)) == (Verdict.PASS, REJECTED)


def test_a_squeezed_axis_of_two_is_rejected_or_a_finding(subject: tuple[str, TestRunner]) -> None:
    name, runner = subject
    language = name.partition("/")[2]
    found = verdict(runner, ill_typed(language, "squeeze", [(2, 3)], {"axis": 0}, TensorType((3,), "float32")))
    assert found[0] is (Verdict.INCONSISTENT if name in ("openvino/onnx", "tvm/relax") else Verdict.PASS)


def test_more_repeats_than_dimensions_are_rejected_or_documented(subject: tuple[str, TestRunner]) -> None:
    name, runner = subject
    found = verdict(runner, ill_typed(name.partition("/")[2], "tile", [(3,)], {"repeats": (2, 1)}, TensorType((2, 3), "float32")))
    assert found == ((Verdict.PASS, REJECTED) if name == "onnxruntime/onnx" else (Verdict.UNDEFINED, "numpy-rule"))


def test_what_is_well_typed_is_no_test(subject: tuple[str, TestRunner]) -> None:
    name, runner = subject
    assert verdict(runner, ill_typed(name.partition("/")[2], "add", [(2, 3), (1, 3)], {}, F))[0] is Verdict.INVALID


def test_what_the_inference_of_onnx_does_not_see_is_no_error_of_types() -> None:
    instance = ill_typed("onnx", "reshape", [(2, 3)], {"shape": (4, 2)}, TensorType((4, 2), "float32"))
    with pytest.raises(Invalid, match="well-typed-program"):
        OnnxTemplate().build(instance, "key", 0)


@pytest.mark.slow
def test_a_policy_of_ill_typed_programs_is_run_by_their_routes_only(tmp_path: Path) -> None:
    (tmp_path / "ill.toml").write_text("operators = 4\nill_typed = 1.0\n")
    command = ("fuzz", "run", "--policy", "ill.toml", "-n", "20", "-j", "1", "--json")
    run = commands.run(*command, "--subject", "onnxruntime", folder=tmp_path)
    answer = json.loads(run.stdout)["subjects"]
    assert list(answer) == ["onnxruntime/onnx:rejects"], run.stderr
    verdicts = answer["onnxruntime/onnx:rejects"]["verdicts"]
    assert verdicts["pass"] > 5
    assert set(verdicts) <= {"pass", "invalid"}
    refused = commands.run(*command, "--subject", "onnxruntime:onnx", folder=tmp_path)
    assert (refused.returncode, "these subjects test other programs" in refused.stderr) == (2, True)
