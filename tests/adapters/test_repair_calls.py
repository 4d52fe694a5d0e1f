"""The benchmark for repair: calls as rows of findings write them, on real compilers, and repairs that only look right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path += [str(Path(__file__).parents[2] / "benchmarks")]

import repair_calls
from repair_calls import LeftOutError, onnx_case, outcome, pytorch_case

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("call", "shapes", "result"),
    [
        ("torch.add(float32[2,3], float64([1.0, 2.0, 3.0]), alpha=2)", [(2, 3), (3,)], "float64"),
        ("torch.amax(float32([[-inf, nan]]), 1)", [(1, 2)], "float32"),
        ("torch.tensor([1, 2]) * 2", [(2,)], "int64"),
        ("torch.cat([zeros(2, 3), float16[1,3]])", [(2, 3), (1, 3)], "float32"),
        ("torch.nn.functional.relu(bfloat16([1.0, -2.0]))", [(2,)], "bfloat16"),
        ("torch.real(complex64([1+2j]))", [(1,)], "float32"),
    ],
)
def test_a_call_of_pytorch_is_made_as_it_is_written(call: str, shapes: list[tuple[int, ...]], result: str) -> None:
    _, inputs, expected = pytorch_case(call)
    assert [tuple(each.shape) for each in inputs] == shapes
    assert str(expected[0].dtype) == result


@pytest.mark.parametrize(
    ("call", "inputs", "shape"),
    [
        ("ai.onnx.MaxPool(X=float32[1,1,4], ceil_mode=1, kernel_shape=[3], strides=[2])", 1, (1, 1, 2)),
        ("ai.onnx.Resize(float32[1,1,2,2], None, float32([1.0, 1.0, 2.0, 2.0]), mode='nearest')", 2, (1, 1, 4, 4)),
        ("ai.onnx.Max(data_0=float32([1.0]), data_0=float32([2.0]))", 2, (1,)),
        ("ai.onnx.Pad(data=float32[2], pads=int64([1, 0]))", 2, (3,)),
    ],
)
def test_a_call_of_onnx_has_its_inputs_in_the_slots_of_the_schema(call: str, inputs: int, shape: tuple[int, ...]) -> None:
    model, given, expected = onnx_case(call)
    assert len(given) == inputs
    assert expected[0].shape == shape
    assert len(model.graph.node) == 1


@pytest.mark.parametrize(
    "call",
    [
        "the same with float32",
        "torch.add(float32[2], ...)",
        "torch.add(float32[2], other)",
        "torch.rand_like(float32[9])",
        "torch.linalg.inv(float32[2,3])",
        "__import__('os').system('true')",
        "float32(__import__('os'))",
        "[open('x')]",
    ],
)
def test_what_is_no_call_that_can_be_made_is_left_out(call: str) -> None:
    with pytest.raises(LeftOutError):
        pytorch_case(call)
    with pytest.raises(LeftOutError):
        onnx_case(call)


def test_a_known_bug_fails_and_its_neighbour_is_right() -> None:
    """ONNX Runtime 1.32 rejects its own padding where a stride is larger than the kernel."""
    call = "ai.onnx.MaxPool(float32[1,1,6], auto_pad='SAME_UPPER', kernel_shape=[2], strides=[{}])"
    assert outcome("onnxruntime-onnx", "onnx", call.format(3), None)[0] == "raises"
    assert outcome("onnxruntime-onnx", "onnx", call.format(2), None)[0] == "right"


@pytest.mark.parametrize(("cheat", "right"), [(None, "right"), ("zeros", "wrong"), ("wide", "wrong")])
def test_a_result_of_the_right_shape_or_of_the_right_values_alone_is_not_right(cheat: str | None, right: str) -> None:
    assert outcome("onnxruntime-onnx", "onnx", "ai.onnx.Neg(float32([1.0, 2.0]))", cheat)[0] == right


def test_values_differ_by_dtype_shape_number_and_nan() -> None:
    import numpy as np

    one = np.ones(2, np.float32)
    assert repair_calls.same([one], [one + 1e-7])
    for other in (one.astype("float64"), one[:1], one + 0.01, one * np.nan):
        assert not repair_calls.same([one], [other])
    assert not repair_calls.same([one], [one, one])


def test_a_task_is_exported_with_calls_that_behave_as_said_and_scored(tmp_path: Path) -> None:
    script = [sys.executable, str(ROOT / "scripts" / "repair_benchmark.py")]
    made = subprocess.run(
        [*script, "export", "tasks", "--subject", "onnxruntime-onnx", "-k", "reducemax"], cwd=tmp_path, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    (path,) = (tmp_path / "tasks").iterdir()
    task = json.loads(path.read_text())
    assert {call["fails"] for call in task["calls"]} == {True, False}
    assert list(task["scripts"]) == [
        f"onnxruntime-onnx/{path.name}" for path in (ROOT / "data/findings/onnxruntime-onnx").glob("reducemax*.py")
    ]
    scored = subprocess.run([*script, "score", "tasks"], cwd=tmp_path, capture_output=True, text=True)
    assert "0 of 1 tasks mended" in scored.stdout
    assert "1 scripts fail" in scored.stdout
