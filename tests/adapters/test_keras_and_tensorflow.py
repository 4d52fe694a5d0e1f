"""Every compiler that takes Keras or TensorFlow models, on instances of the sample corpora, through the real command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "corpora" / "samples"
KERAS = "keras.layers.dense or keras.layers.add and not additive or keras.layers.cropping or keras.ops.concatenate or keras.layers.flatten"
TENSORFLOW = "tf.pad or tf.nn.softmax or tf.one_hot or tf.cumsum or tf.concat"
SUBJECTS = [
    ("openvino", "keras", "exported-program"),
    ("openvino", "keras", "torchscript"),
    ("openvino", "keras", "saved-model"),
    ("openvino", "keras", "onnx"),
    ("openvino", "tensorflow", "saved-model"),
    ("openvino", "tflite", "litert"),
    ("litert", "keras", "saved-model"),
    ("litert", "tensorflow", "saved-model"),
    ("xla", "keras", "tf-function"),
    ("xla", "keras", "jit"),
    ("xla", "jax", "jit"),
    ("xla", "tensorflow", "tf-function"),
    ("tvm", "keras", "exported-program"),
    ("tvm", "keras", "onnx"),
    ("tvm", "keras", "litert"),
    ("tvm", "tflite", "litert"),
    ("onnxruntime", "keras", "onnx"),
    ("onnxruntime", "keras", "tf2onnx"),
    ("iree", "keras", "stablehlo"),
    ("iree", "stablehlo", "jax"),
]


NOTHING_YET = 4


def opera(*arguments: str, workspace: Path) -> dict[str, object]:
    command = [sys.executable, "-m", "opera", *arguments, "--workspace", str(workspace), "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if run.returncode == NOTHING_YET:
        return {}
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    for library in ("keras", "tensorflow"):
        opera("import", str(SAMPLES / f"{library}.jsonl"), workspace=folder)
    return folder


def verdicts(workspace: Path, compiler: str, frontend: str, route: str, keyword: str, *more: str) -> dict[str, int]:
    arguments = ["run", "--compiler", compiler, "--frontend", frontend, "--route", route, "-k", keyword, "--exit-zero", "--quiet", *more]
    summary = opera(*arguments, workspace=workspace)
    assert summary["complete"] is True
    found = summary["verdicts"]
    assert isinstance(found, dict)
    return found


def filtered(workspace: Path) -> dict[str, int]:
    counts = opera("report", workspace=workspace).get("filtered", {})
    assert isinstance(counts, dict)
    return counts


@pytest.mark.parametrize(("compiler", "frontend", "route"), SUBJECTS)
def test_operators_that_everyone_supports_pass(workspace: Path, compiler: str, frontend: str, route: str) -> None:
    keyword = KERAS if frontend in ("keras", "jax", "stablehlo") else TENSORFLOW
    if compiler == "tvm":
        keyword = keyword.removeprefix("tf.pad or ")  # TVM fails on paddings that are no constants
    found = verdicts(workspace, compiler, frontend, route, keyword)
    assert set(found) <= {"pass", "unsupported", "invalid"}
    assert found["pass"] >= 4


@pytest.mark.parametrize(
    ("compiler", "frontend", "route", "operator", "reason"),
    [
        ("openvino", "keras", "saved-model", "keras.ops.searchsorted", "no-converter"),
        ("openvino", "tensorflow", "saved-model", "tf.strings.length", "no-converter"),
        ("openvino", "tflite", "litert", "tf.bitcast", "no-converter"),
        ("litert", "keras", "saved-model", "keras.layers.hashedcrossing", "no-converter"),
        ("litert", "tensorflow", "saved-model", "tf.linalg.lu", "no-converter"),
        ("xla", "keras", "tf-function", "keras.ops.unique", "no-kernel"),
        ("xla", "tensorflow", "tf-function", "tf.math.segment_sum", "no-kernel"),
    ],
)
def test_what_a_compiler_declines_is_unsupported_with_its_reason(
    workspace: Path, compiler: str, frontend: str, route: str, operator: str, reason: str
) -> None:
    before = filtered(workspace).get(f"unsupported: {reason}", 0)
    found = verdicts(workspace, compiler, frontend, route, operator)
    assert set(found) == {"unsupported"}
    assert filtered(workspace)[f"unsupported: {reason}"] == before + found["unsupported"]


@pytest.mark.parametrize(
    ("compiler", "frontend", "route", "operator"),
    [
        ("openvino", "keras", "exported-program", "keras.ops.trapezoid"),
        ("openvino", "tflite", "litert", "tf.nn.log_softmax"),
        ("litert", "keras", "saved-model", "keras.ops.nan_to_num"),
        ("xla", "keras", "tf-function", "keras.layers.upsampling2d"),
    ],
)
def test_a_wrong_result_is_seen(workspace: Path, compiler: str, frontend: str, route: str, operator: str) -> None:
    """Each is one that the pinned version of the compiler is known to get wrong."""
    assert set(verdicts(workspace, compiler, frontend, route, operator)) == {"inconsistent"}


def test_a_wrong_result_from_a_saved_model_is_reproduced_without_opera(workspace: Path, tmp_path: Path) -> None:
    """OpenVINO 2026.4 takes the logarithm of a softmax over the last axis, whichever is asked for."""
    assert verdicts(workspace, "openvino", "tensorflow", "saved-model", "tf.nn.log_softmax") == {"inconsistent": 1}
    findings = opera("report", workspace=workspace)["findings"]
    assert isinstance(findings, list)
    (found,) = (finding for finding in findings if (finding["compiler"], finding["frontend"]) == ("openvino", "tensorflow"))
    outcome = opera("reproduce", found["id"], "--output", str(tmp_path / "script.py"), workspace=workspace)
    assert outcome["reproduced"] is True
