"""A failing program names the first pass without which it does not fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from opera.compilers.onnxruntime import OnnxRuntimeAdapter
from opera.compilers.tvm import TvmAdapter
from opera.config import Config
from opera.difftest.runner import TestCase, TestRunner
from opera.difftest.settings import Settings
from opera.extensions.programs.generate import Generated
from opera.extensions.programs.instances import instance_of
from opera.extensions.programs.program import Binding, Block, Call, Function, Parameter, Program
from opera.extensions.programs.types import TensorType
from opera.oracles.verdict import Verdict

B = TensorType((2,), "bool")
F = TensorType((2,), "float32")


def program(kind: TensorType, *calls: tuple[str, tuple[str, ...]]) -> Generated:
    bindings = tuple(Binding(f"v{index}", kind, Call(operator, names, {})) for index, (operator, names) in enumerate(calls))
    main = Function("main", (Parameter("x", kind), Parameter("y", kind)), Block(bindings, bindings[-1].name), kind)
    return Generated(Program((main,)), tuple(np.ones(kind.shape, kind.dtype) for _ in "xy"))


NEGATED = program(B, ("logical_not", ("x",)), ("where", ("v0", "v0", "y")))
"""ONNX Runtime 1.31 removes the `Not`, which two inputs of `Where` read."""
SUM = program(F, ("add", ("x", "y")))


@pytest.mark.parametrize(("made", "verdict", "name"), [(NEGATED, Verdict.CRASH, "Level1_RuleBasedTransformer"), (SUM, Verdict.PASS, None)])
def test_the_pass_that_breaks_a_program_is_named(tmp_path: Path, made: Generated, verdict: Verdict, name: str | None) -> None:
    trial = TestCase(instance_of(made, "onnx"), "runtime", "key", 0)
    with TestRunner(Settings("onnxruntime", "onnx", "onnx"), Config({}), tmp_path) as runner:
        assert runner.run(trial).judgement.verdict is verdict
        assert (runner.first_pass(trial) if verdict is not Verdict.PASS else None) == name


@pytest.mark.slow
def test_a_pass_that_is_left_out_does_not_change_a_model() -> None:
    adapter = TvmAdapter({})
    adapter.start()
    tvm = adapter._tvm
    seen = tvm.ir.transform.PassContext.current
    with adapter.without("FoldConstant"):
        assert list(seen().disabled_pass) == ["FoldConstant"]
    assert list(seen().disabled_pass) == []
    other = OnnxRuntimeAdapter({})
    other.start()
    with other.without("NotWhereFusion"):
        assert other._left_out == ["NotWhereFusion"]
    assert other._left_out == []
