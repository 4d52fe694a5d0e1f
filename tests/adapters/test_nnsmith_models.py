"""How the comparison with NNSmith takes a failing model apart, and which of its nodes it holds to account."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from opera.instance import Argument, Graph, Instance, Kind, Tensor
from opera.models.sampling import sample
from opera.oracles.verdict import Stage, Verdict
from opera.store import StoredResult


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the script."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import nnsmith_models

    yield nnsmith_models
    sys.modules.pop("nnsmith_models")


def result(
    verdict: Verdict, stage: Stage = Stage.LOAD, error: str = "ValueError", exporter: str | None = None, **detail: Any
) -> StoredResult:
    """A failing test where the verdict is one."""
    fingerprint = "f" * 16 if verdict.is_failure else None
    detail = {"failure": {"type": error}, **detail} if verdict is Verdict.CRASH else detail
    return StoredResult("t", "i", "tvm", "onnx", "onnx", "runtime", 0, verdict, stage, None, "C", fingerprint, detail, {}, None, exporter)


def test_each_node_becomes_an_instance_with_the_values_that_it_had_in_the_model(models: Any) -> None:
    values = np.array([1.0, -4.0], "float32")
    graph = helper.make_graph(
        [
            helper.make_node("Constant", [], ["c"], value_floats=[2.0]),
            helper.make_node("Mul", ["x", "c"], ["m"]),
            helper.make_node("Relu", ["m"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)]).SerializeToString()
    call = (Argument("x", Tensor((2,), "float32", values.tobytes())),)
    whole = Instance("onnx", "nnsmith.Graph", Kind.GRAPH, call=call, context=(("graph", Graph("onnx.ModelProto", data)), ("opset", 14)))
    found = [instance for instance, _ in models.nodes_of(whole, "k")]
    assert [each.api for each in found] == ["ai.onnx.Mul", "ai.onnx.Relu"]
    assert [sample(each.value, "", 0).tolist() for each in found[0].call] == [[1.0, -4.0], [2.0]]
    assert sample(found[1].call[0].value, "", 0).tolist() == [2.0, -8.0]
    assert found[1].expected is not None
    assert sample(found[1].expected[0], "", 0).tolist() == [2.0, 0.0]


def test_a_node_explains_a_model_that_fails_as_it_does_and_no_other(models: Any) -> None:
    crash, wrong = result(Verdict.CRASH), result(Verdict.INCONSISTENT, Stage.COMPARE)
    assert models.explains(crash, result(Verdict.CRASH))
    assert models.explains(wrong, result(Verdict.INCONSISTENT, Stage.COMPARE))
    assert not models.explains(crash, result(Verdict.CRASH, error="TypeError"))
    assert not models.explains(crash, result(Verdict.CRASH, Stage.CODEGEN))
    assert not models.explains(crash, wrong)
    assert not models.explains(result(Verdict.PASS), crash)


def test_what_an_exporter_did_wrong_is_explained_by_no_compiler(models: Any) -> None:
    wrong = result(Verdict.INCONSISTENT, Stage.COMPARE)
    assert not models.explains(wrong, result(Verdict.INCONSISTENT, Stage.COMPARE, exporter="onnx"))


def test_a_wrong_result_is_excused_by_an_excused_node_and_an_exception_is_not(models: Any) -> None:
    undefined = result(Verdict.UNDEFINED, Stage.COMPARE)
    assert models.is_excused(result(Verdict.INCONSISTENT, Stage.COMPARE), [result(Verdict.PASS), undefined])
    assert not models.is_excused(result(Verdict.INCONSISTENT, Stage.COMPARE), [result(Verdict.PASS)])
    assert not models.is_excused(result(Verdict.CRASH), [undefined])


def test_of_one_exception_a_few_models_are_taken_apart_and_of_wrong_results_all(models: Any) -> None:
    crashes = [replace(result(Verdict.CRASH), test=f"t{n}", instance=f"crash{n}") for n in range(20)]
    wrong = [replace(result(Verdict.INCONSISTENT), test=f"u{n}", instance=f"wrong{n}") for n in range(20)]
    assert len(models.chosen(crashes)) == models.REPRESENTATIVES
    assert len(models.chosen(wrong)) == 20
