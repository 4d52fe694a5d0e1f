"""Every compiler that takes Keras or TensorFlow models, on instances of the sample corpora, through the real command.

There is one campaign per subject: it runs the tests of all operators that a test here asks for, and each test reads its part.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet
from innocent import INNOCENT
from instances import keras_call, tensor
from real_campaigns import Campaign, filled, opera, run, selected

from opera.difftest.messages import ModelSource
from opera.oracles.verdict import Verdict
from opera.report import reproducer
from opera.store import StoredResult

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
    ("keras-openvino", "keras", "keras-file"),
    ("iree", "stablehlo", "jax"),
]

QUICK = [("litert", "keras", "saved-model"), ("keras-openvino", "keras", "keras-file")]
"""The subjects for a quick run; XLA compiles programs of StableHLO in others."""
MOST_OF_EACH = 2
"""Instances of each operator."""

DECLINED = [
    (("openvino", "keras", "saved-model"), "keras.ops.searchsorted", "no-converter"),
    (("openvino", "tensorflow", "saved-model"), "tf.strings.length", "no-converter"),
    (("openvino", "tflite", "litert"), "tf.bitcast", "no-converter"),
    (("litert", "keras", "saved-model"), "keras.layers.hashedcrossing", "no-converter"),
    (("litert", "tensorflow", "saved-model"), "tf.linalg.lu", "no-converter"),
    (("xla", "keras", "tf-function"), "keras.ops.unique", "no-kernel"),
    (("xla", "tensorflow", "tf-function"), "tf.math.segment_sum", "no-kernel"),
]
WRONG = [
    (("openvino", "keras", "exported-program"), "keras.ops.trapezoid"),
    (("openvino", "tflite", "litert"), "tf.nn.log_softmax"),
    (("litert", "keras", "saved-model"), "keras.ops.nan_to_num"),
    (("xla", "keras", "tf-function"), "keras.layers.upsampling2d"),
    (("keras-openvino", "keras", "keras-file"), "keras.ops.depth_to_space"),
]
"""Each is an operator that the pinned version of the compiler is known to get wrong."""
SAVED_WRONG = ("openvino", "tensorflow", "saved-model")

Subject = tuple[str, str, str]


def of(subject: Subject, *values: object) -> ParameterSet:
    """The values of a parametrised test about *subject*, slow unless its campaign is one of the quick ones."""
    return pytest.param(*values, id="-".join(subject), marks=[pytest.mark.slow] * (subject not in QUICK))


def supported(subject: Subject) -> str:
    """The operators that a compiler is expected to get right."""
    compiler, frontend, _ = subject
    keyword = KERAS if frontend in ("keras", "jax", "stablehlo") else TENSORFLOW
    return keyword.removeprefix("tf.pad or ") if compiler == "tvm" else keyword  # TVM fails on paddings that are no constants


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("samples")
    for library in ("keras", "tensorflow"):
        opera("import", str(SAMPLES / f"{library}.jsonl"), workspace=workspace)
    return workspace


@pytest.fixture(scope="module")
def campaign(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Subject], Campaign]:
    """Gives the campaign of a subject, which runs when it is asked for first: what tests here name, and the innocent instances."""
    done: dict[Subject, Campaign] = {}

    def get(subject: Subject) -> Campaign:
        if subject not in done:
            compiler, frontend, route = subject
            operators = [operator for other, operator, *_ in (*DECLINED, (SAVED_WRONG, "tf.nn.log_softmax")) if other == subject]
            library = "tensorflow" if supported(subject) != KERAS else "keras"
            wanted = selected(samples, library, " or ".join(f"({each})" for each in (supported(subject), *operators)), MOST_OF_EACH)
            workspace = filled(tmp_path_factory.mktemp("subject"), [*wanted, *INNOCENT.get((compiler, frontend), ())])
            done[subject] = run(workspace, compiler, frontend, [], "--route", route)
        return done[subject]

    return get


@pytest.mark.parametrize("subject", [of(each, each) for each in SUBJECTS])
def test_operators_that_everyone_supports_pass(campaign: Callable[[Subject], Campaign], subject: Subject) -> None:
    found = campaign(subject).verdicts(supported(subject))
    assert set(found) <= {"pass", "unsupported", "invalid"}
    assert found["pass"] >= 4


@pytest.mark.parametrize(("subject", "operator", "reason"), [of(each[0], *each) for each in DECLINED])
def test_what_a_compiler_declines_is_unsupported_with_its_reason(
    campaign: Callable[[Subject], Campaign], subject: Subject, operator: str, reason: str
) -> None:
    found = campaign(subject)
    assert set(found.verdicts(operator)) == {"unsupported"}
    assert {result.reason for result in found.of(operator)} == {reason}
    declined = [result for _, result in found.results if (result.verdict.value, result.reason) == ("unsupported", reason)]
    assert found.report()["filtered"][f"unsupported: {reason}"] == len(declined)


@pytest.mark.slow
@pytest.mark.parametrize(("subject", "operator"), WRONG, ids=["-".join(subject) for subject, _ in WRONG])
def test_a_wrong_result_is_seen(samples: Path, tmp_path: Path, subject: Subject, operator: str) -> None:
    """It is run again in a fresh process, which imports the library again."""
    compiler, frontend, route = subject
    wrong = selected(samples, "tensorflow" if supported(subject) != KERAS else "keras", operator, MOST_OF_EACH)
    found = run(filled(tmp_path, wrong), compiler, frontend, [], "--route", route)
    assert found.verdicts(operator) == {"inconsistent": len(wrong)}


@pytest.mark.parametrize("subject", [of(each, each) for each in SUBJECTS if each[:2] in INNOCENT])
def test_nobody_is_at_fault(campaign: Callable[[Subject], Campaign], subject: Subject) -> None:
    assert campaign(subject).failures_of(INNOCENT[subject[:2]]) == []


@pytest.mark.slow
def test_a_wrong_result_from_a_saved_model_is_reproduced_without_opera(campaign: Callable[[Subject], Campaign], tmp_path: Path) -> None:
    """OpenVINO 2026.4 takes the logarithm of a softmax over the last axis, whichever is asked for."""
    found = campaign(SAVED_WRONG)
    assert found.verdicts("tf.nn.log_softmax") == {"inconsistent": 1}
    (finding,) = [each for each in found.report()["findings"] if each["operators"] == ["tf.nn.log_softmax"]]
    outcome = opera("reproduce", finding["id"], "--output", str(tmp_path / "script.py"), workspace=found.workspace)
    assert outcome["reproduced"] is True


@pytest.mark.slow
def test_a_script_for_litert_has_the_weights_of_a_layer(tmp_path: Path) -> None:
    """TensorFlow Lite leaves variables uninitialised that the saved module does not hold itself, and says nothing."""
    model = 'x0 = keras.Input(batch_shape=(1, 3), name="x0")\nmodel = keras.Model([x0], keras.layers.Dense(2)(x0))\n'
    inputs = "inputs = [np.array([[1.0, 2.0, 3.0]], np.float32)]"
    expected = "expected = [keras.ops.convert_to_numpy(model(inputs))]"
    answer = ModelSource(['import os\n\nos.environ["KERAS_BACKEND"] = "tensorflow"\nimport keras'], model + inputs, expected)
    detail = {"difference": {"kind": "values", "dtype": "float32", "expected": "1", "actual": "0"}}
    result = StoredResult("test", "instance", "litert", "keras", "saved-model", "runtime", 0, Verdict.INCONSISTENT, detail=detail)
    script = reproducer.render(lambda *_: answer, reproducer.ScriptCase(result, {"context": []}, "key"), {})
    (tmp_path / "script.py").write_text(script)
    ran = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, script + ran.stderr


EXPORTED_WRONG = {
    "onnx": keras_call("keras.ops.argmin", tensor([[1, 2], [3, 4]]), keepdims=True),  # the exported model keeps one of two dimensions
    "tf2onnx": keras_call("keras.ops.sinc", tensor([0.0, 0.5])),  # the exported model divides 0 by 0
}


@pytest.mark.slow
@pytest.mark.parametrize("route", EXPORTED_WRONG)
def test_a_wrong_model_of_an_exporter_is_reproduced_without_opera(route: str, tmp_path: Path) -> None:
    found = run(filled(tmp_path / "exported", [EXPORTED_WRONG[route]]), "onnxruntime", "keras", [], "--route", route)
    (finding,) = found.report()["findings"]
    assert finding["verdict"] == "inconsistent"
    outcome = opera("reproduce", finding["id"], "--output", str(tmp_path / "script.py"), workspace=found.workspace)
    assert outcome["reproduced"] is True
