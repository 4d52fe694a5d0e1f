"""What TensorFlow instances become: eager calls with inputs and references."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "torch")

import numpy as np
import onnxruntime
import pytest

from opera.arrays import to_bytes
from opera.compilers.exporters import declined_by_exporter
from opera.instance import Argument, DType, Instance, Kind, Named, Opaque, Tensor
from opera.models.archive import unpack_folder
from opera.models.template import ExportFailed, Invalid, template_of
from opera.templates.tensorflow.artefacts import tf
from opera.templates.tensorflow.model import TensorFlowTemplate
from opera.workers.failure import describe

X = np.array([[-1.0, 2.0], [0.5, -3.0]], "float32")


def tensor(array: Any) -> Tensor:
    return Tensor(array.shape, "string" if array.dtype.kind == "O" else array.dtype.name, to_bytes(array))


def function(api: str, *call: Any, **keywords: Any) -> Instance:
    positional = tuple(Argument(f"a{index}", value) for index, value in enumerate(call))
    return Instance(
        "tensorflow", api, Kind.FUNCTION, call=(*positional, *(Argument(key, item, keyword=True) for key, item in keywords.items()))
    )


def model(instance: Instance, seed: int = 0) -> Any:
    return TensorFlowTemplate().build(instance, "key", seed)


def test_the_template_is_registered_and_says_its_version() -> None:
    assert template_of("tensorflow") == "opera.templates.tensorflow.model:TensorFlowTemplate"
    assert TensorFlowTemplate().versions() == {"tensorflow": importlib.import_module("tensorflow").__version__}


def test_a_function_gives_the_librarys_outputs_and_more_precise_ones() -> None:
    built = model(function("tf.nn.softmax", tensor(X), axis=0))
    reference = built.reference()
    expected = np.exp(X.astype("float64")) / np.exp(X.astype("float64")).sum(0)
    assert [name for name, _ in built.inputs] == ["x0"]
    assert (reference.undefined, reference.outputs[0].dtype) == (None, np.float32)
    np.testing.assert_allclose(reference.outputs[0], expected, rtol=1e-6)
    np.testing.assert_allclose(reference.precise[0], expected, rtol=1e-14)


def test_operators_slices_and_several_outputs() -> None:
    np.testing.assert_array_equal(model(function("tf.Tensor.__rsub__", tensor(X), 1.0)).reference().outputs[0], 1 - X)
    part = function("tf.__operators__.getitem", tensor(X), (0, slice(1, None)))
    np.testing.assert_array_equal(model(part).reference().outputs[0], X[0, 1:])
    mean, variance = model(function("tf.nn.moments", tensor(X), axes=[0])).reference().outputs
    np.testing.assert_allclose(variance, ((X - mean) ** 2).mean(0), rtol=1e-6)


def test_data_types_functions_and_raw_operators_are_rebuilt() -> None:
    cast = model(function("tf.cast", tensor(X), DType("bfloat16"))).reference()
    assert cast.outputs[0].dtype.name == "bfloat16"
    folded = model(function("tf.foldl", Named("tf.math.add"), tensor(X))).reference()
    np.testing.assert_array_equal(folded.outputs[0], X.sum(0))
    np.testing.assert_allclose(
        model(function("tf.raw_ops.Softsign", features=tensor(X))).reference().outputs[0], X / (1 + abs(X)), rtol=1e-6
    )


def test_strings_that_are_no_text_survive() -> None:
    reference = model(function("tf.strings.length", tensor(np.array(["a", "\udcff\udcfe"], object)))).reference()
    np.testing.assert_array_equal(reference.outputs[0], [1, 2])


def test_random_results_are_undefined() -> None:
    ones = tensor(np.ones((8, 8), "float32"))
    assert model(function("tf.nn.dropout", ones, rate=0.5)).reference().undefined == "library-disagrees-with-itself"
    assert model(function("tf.nn.dropout", ones, rate=0.0)).reference().undefined is None


@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        (function("tf.math.no_such_operator", tensor(X)), "api-not-in-this-version"),
        (function("tf.sysconfig._os.getcwd"), "not-an-operator"),
        (function("tf.linalg.matmul", tensor(X), tensor(np.ones((3, 3), "float32"))), "library-raised"),
        (function("tf.broadcast_static_shape", 1, 2), "library-raised"),
        (function("tf.sparse.from_dense", tensor(X)), "sparse-output"),
        (function("tf.no_op"), "no-tensor-output"),
        (function("tf.foldl", Opaque("Thing", "unrecordable"), tensor(X)), "argument-not-rebuilt"),
        (Instance("tensorflow", "tf.add", Kind.MODULE), "not-a-tensorflow-call"),
    ],
)
def test_what_cannot_become_a_model_is_invalid_with_a_reason(instance: Instance, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        model(instance).reference()


def test_a_call_without_tensors_in_its_result_still_is_a_call() -> None:
    assert model(function("tf.no_op")).run_once() == []


def run_tflite(data: bytes, inputs: Any) -> list[Any]:
    """Feeds by place and reads by place, as compilers do that know no signatures."""
    interpreter = tf.lite.Interpreter(model_content=data, num_threads=1)
    interpreter.allocate_tensors()
    for entry, (_, array) in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(entry["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(entry["index"]) for entry in interpreter.get_output_details()]


def run_saved_model(data: bytes, inputs: Any, folder: Path) -> list[Any]:
    unpack_folder(data, folder)
    signature = tf.saved_model.load(str(folder)).signatures["serving_default"]
    outputs = signature(**{name: tf.constant(array) for name, array in inputs})
    return [outputs[name].numpy() for name in sorted(outputs)]


MODELS = {
    "one output": function("tf.nn.softmax", tensor(X), axis=0),
    "more than ten outputs": function("tf.unstack", tensor(np.arange(12, dtype="int32")), 12),
    "inputs that are not alike": function("tf.where", tensor(X > 0), tensor(X), tensor(np.array(7.0, "float32"))),
    "constant": function("tf.shape", tensor(X)),
}


@pytest.mark.parametrize("kind", ["saved-model", "tflite", "onnx"])
@pytest.mark.parametrize("name", MODELS)
def test_artefacts_compute_what_the_reference_says(name: str, kind: str, tmp_path: Path) -> None:
    built = model(MODELS[name])
    artefact = built.artefact(kind, "runtime")
    assert artefact.suspect is None
    if kind == "onnx":
        session = onnxruntime.InferenceSession(artefact.data, providers=["CPUExecutionProvider"])
        outputs = session.run(None, {entry.name: dict(built.inputs)[entry.name] for entry in session.get_inputs()})
    else:
        outputs = run_tflite(artefact.data, built.inputs) if kind == "tflite" else run_saved_model(artefact.data, built.inputs, tmp_path)
    expected = built.reference().outputs
    assert [output.dtype for output in outputs] == [output.dtype for output in expected]
    for output, value in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(output, value, rtol=1e-6)


def test_tensorflow_runs_its_own_artefacts_again() -> None:
    built = model(MODELS["one output"])
    how, outputs = built.captured("saved-model", built.artefact("saved-model", "runtime").data)
    assert how == "tf.function"
    np.testing.assert_allclose(outputs[0], built.reference().outputs[0], rtol=1e-6)
    assert built.captured("tflite", b"") is None


def test_an_onnx_model_that_takes_another_type_than_tensorflow_does_is_the_exporters() -> None:
    """tf2onnx writes float16 where TensorFlow has bfloat16."""
    import ml_dtypes

    half = Tensor((2,), "float16", np.array([1, -2], "float16").tobytes())
    brain = Tensor((2,), "bfloat16", np.array([1, -2], ml_dtypes.bfloat16).tobytes())
    assert model(function("tf.math.abs", half)).artefact("onnx", "runtime").suspect is None
    assert model(function("tf.math.abs", brain)).artefact("onnx", "runtime").suspect == "tf2onnx"


def test_exported_models_are_run_again_by_the_reference_of_their_format() -> None:
    doubled = model(function("tf.scatter_nd", tensor(np.array([[1], [1]], "int32")), tensor(np.array([5, 7], "float32")), [3]))
    np.testing.assert_array_equal(doubled.reference().outputs[0], [0, 12, 0])
    exporter, outputs = doubled.captured("onnx", doubled.artefact("onnx", "runtime").data)
    assert exporter == "tf2onnx"
    np.testing.assert_array_equal(outputs[0], [0, 7, 0], "tf2onnx has the second update overwrite the first")
    built = model(MODELS["one output"])
    for kind, name in (("onnx", "tf2onnx"), ("tflite", "litert")):
        exporter, outputs = built.captured(kind, built.artefact(kind, "runtime").data)
        assert exporter == name
        np.testing.assert_allclose(outputs[0], built.reference().outputs[0], rtol=1e-6)


def test_results_next_to_the_inputs_are_in_double_precision() -> None:
    built = model(function("tf.exp", tensor(X)))
    exact, near = built.nearby(0.0, 0), built.nearby(1e-6, 0)
    assert exact[0].dtype == near[0].dtype == np.float64
    assert 0 < np.abs(near[0] - exact[0]).max() < 1e-4


def test_a_failing_converter_is_named_and_says_when_it_only_declines() -> None:
    with pytest.raises(ExportFailed) as failed:
        model(function("tf.linalg.svd", tensor(X))).artefact("tflite", "runtime")
    assert failed.value.exporter == "litert"
    assert declined_by_exporter("litert", describe(failed.value.__cause__ or failed.value)) == "no-converter"
    with pytest.raises(ExportFailed) as failed:
        model(function("tf.linalg.svd", tensor(X))).artefact("onnx", "runtime")
    assert failed.value.exporter == "tf2onnx"
    assert declined_by_exporter("tf2onnx", describe(failed.value.__cause__ or failed.value)) == "no-converter"


def test_what_tensorflow_cannot_trace_and_kinds_that_do_not_exist_are_told_apart() -> None:
    with pytest.raises(ValueError, match="stablehlo"):
        model(function("tf.nn.relu", tensor(X))).artefact("stablehlo", "runtime")
    eager_only = function("tf.reshape", tensor(X), tensor(np.array([4], "int32")))
    assert model(eager_only).artefact("saved-model", "runtime").data
    with pytest.raises(Invalid, match=r"capture-failed:tf\.function"):
        model(function("tf.constant", tensor(X), shape=[4])).artefact("saved-model", "runtime")


def test_the_source_computes_what_the_reference_says() -> None:
    built = model(function("tf.cast", tensor(X), dtype=DType("float16")))
    source = built.source("runtime")
    names: dict[str, Any] = {"np": np}
    exec("\n".join((*source.imports, source.text, source.expected)), names)
    np.testing.assert_array_equal(names["expected"][0], built.reference().outputs[0])
