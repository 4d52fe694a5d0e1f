"""What Keras instances become: layers and functions with inputs, references and saved models."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "torch")

import numpy as np
import onnxruntime
import pytest
import torch
from parameters import quick

from opera.arrays import to_bytes
from opera.compilers.exporters import declined_by_exporter
from opera.instance import Argument, Call, DType, Instance, Kind, Named, Opaque, Tensor
from opera.models.template import ExportFailed, Invalid, template_of
from opera.templates.keras.model import KerasTemplate, keras
from opera.workers.failure import describe

X = np.array([[-1.0, 2.0], [0.5, -3.0]], "float32")
S = np.ones((4, 3), "float32")


def tensor(array: Any) -> Tensor:
    return Tensor(array.shape, array.dtype.name, to_bytes(array))


def function(api: str, *call: Argument) -> Instance:
    return Instance("keras", f"keras.{api}", Kind.FUNCTION, call=call)


def layer(name: str, init: dict[str, Any], inputs: Any = X, **call: Any) -> Instance:
    arguments = tuple(Argument(key, value, keyword=True) for key, value in init.items())
    keywords = (Argument(key, value, keyword=True) for key, value in call.items())
    return Instance("keras", f"keras.layers.{name}", Kind.MODULE, arguments, (Argument("inputs", tensor(inputs)), *keywords))


def model(instance: Instance, seed: int = 0) -> Any:
    return KerasTemplate().build(instance, "key", seed)


def test_the_template_is_registered_and_says_what_it_runs_on() -> None:
    assert template_of("keras") == "opera.templates.keras.model:KerasTemplate"
    assert set(KerasTemplate().versions()) == {"keras", keras.config.backend()}


def test_a_function_gives_the_librarys_outputs_and_more_precise_ones() -> None:
    built = model(function("ops.softmax", Argument("x", tensor(X)), Argument("axis", 0, keyword=True)))
    reference = built.reference()
    expected = np.exp(X.astype("float64")) / np.exp(X.astype("float64")).sum(0)
    assert [name for name, _ in built.inputs] == ["x0"]
    assert reference.undefined is None
    assert reference.outputs[0].dtype == np.float32
    np.testing.assert_allclose(reference.outputs[0], expected, rtol=1e-6)
    np.testing.assert_allclose(reference.precise[0], expected, rtol=1e-14)


def test_nested_tensors_are_inputs_and_nested_outputs_come_in_order() -> None:
    built = model(function("ops.meshgrid", Argument("x", tensor(X[0])), Argument("x", tensor(X[1]))))
    assert len(built.inputs) == 2
    assert [output.shape for output in built.reference().outputs] == [(2, 2), (2, 2)]
    joined = model(function("ops.concatenate", Argument("xs", [tensor(X), tensor(X)])))
    assert joined.reference().outputs[0].shape == (4, 2)


def test_weights_follow_from_the_seed_and_are_the_same_in_double_precision() -> None:
    dense = layer("Dense", {"units": 3, "activation": Named("keras.activations.tanh")})
    first, again, other = model(dense).reference(), model(dense).reference(), model(dense, seed=1).reference()
    np.testing.assert_array_equal(first.outputs[0], again.outputs[0])
    assert not np.array_equal(first.outputs[0], other.outputs[0])
    assert first.precise is not None
    assert first.precise[0].dtype == np.float64
    np.testing.assert_allclose(first.outputs[0], first.precise[0], rtol=1e-5, atol=1e-6)


def test_objects_among_the_arguments_are_made_anew() -> None:
    init = {"units": 2, "kernel_initializer": Call("keras.initializers.Constant", (("value", 0.5),)), "dtype": DType("float32")}
    np.testing.assert_allclose(model(layer("Dense", init)).reference().outputs[0], np.repeat(X.sum(1, keepdims=True) / 2, 2, 1))
    wrapped = layer("Bidirectional", {"layer": Call("keras.layers.GRU", ((None, 2),))}, np.ones((1, 3, 2), "float32"))
    assert model(wrapped).reference().outputs[0].shape == (1, 4)


def test_settings_hold_for_the_instance_only() -> None:
    pool = layer("MaxPooling2D", {"pool_size": 2}, np.ones((1, 3, 4, 4), "float32"))
    first = replace(pool, context=(("image_data_format", "channels_first"),))
    assert model(first).reference().outputs[0].shape == (1, 3, 2, 2)
    assert keras.config.image_data_format() == "channels_last"
    half = replace(layer("Dense", {"units": 2}), context=(("dtype_policy", "mixed_bfloat16"),))
    assert model(half).reference().outputs[0].dtype.name == "bfloat16"
    assert keras.config.dtype_policy().name == "float32"


def test_the_mode_that_an_outer_layer_imposed_is_kept_and_random_results_are_undefined() -> None:
    dropout = layer("Dropout", {"rate": 0.5}, np.ones((8, 8), "float32"))
    assert model(dropout).reference().undefined is None
    assert model(replace(dropout, context=(("training", True),))).reference().undefined == "library-disagrees-with-itself"
    assert model(layer("Dropout", {"rate": 0.5}, np.ones((8, 8), "float32"), training=True)).reference().undefined is not None


def test_a_layer_with_state_starts_from_the_same_state_in_every_run() -> None:
    recurrent = layer("LSTM", {"units": 2, "stateful": True}, np.ones((2, 3, 2), "float32"))
    reference = model(recurrent).reference()
    assert reference.undefined is None
    np.testing.assert_allclose(reference.outputs[0], reference.precise[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "instance",
    [layer("Dense", {"units": 3}), function("ops.add", Argument("x1", tensor(X)), Argument("x2", 1.5)), layer("BatchNormalization", {})],
    ids=["layer", "function", "state"],
)
def test_a_saved_model_computes_what_the_reference_says(instance: Instance, tmp_path: Path) -> None:
    built = model(instance)
    path = tmp_path / "model.keras"
    path.write_bytes(built.artefact("keras", "runtime").data)
    loaded = keras.models.load_model(path)
    outputs = keras.tree.flatten(loaded([array for _, array in built.inputs]))
    for output, expected in zip(outputs, built.reference().outputs, strict=True):
        np.testing.assert_allclose(keras.ops.convert_to_numpy(output), expected, rtol=1e-6)


def same(outputs: Any, reference: Any) -> None:
    assert len(outputs) == len(reference.outputs)
    for output, expected in zip(outputs, reference.outputs, strict=True):
        assert np.asarray(output).shape == expected.shape
        assert np.asarray(output).dtype == expected.dtype
        np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-6)


MODELS = {
    "layer": layer("Dense", {"units": 3}),
    "state": layer("GRU", {"units": 2, "return_state": True}, np.linspace(-1, 1, 12, dtype="float32").reshape(2, 3, 2)),
    "several outputs of several dtypes": function("ops.top_k", Argument("x", tensor(X)), Argument("k", 2)),
    "scalars, integers and booleans": function(
        "ops.where",
        Argument("condition", tensor(np.array([True, False]))),
        Argument("x1", tensor(np.array(3, "int32"))),
        Argument("x2", tensor(np.array([5, -7], "int32"))),
    ),
    "integers that PyTorch holds in a wider type": function("ops.flip", Argument("x", tensor(np.array([1, 2**32 - 1], "uint32")))),
}


@pytest.mark.parametrize("kind", quick(["exported-program", "exported-program-decomposed", "torchscript"]))
@pytest.mark.parametrize("name", MODELS)
def test_programs_of_pytorch_compute_what_the_reference_says(name: str, kind: str) -> None:
    built = model(MODELS[name])
    data = built.artefact(kind, "runtime").data
    inputs = [torch.from_numpy(array.copy()) for _, array in built.inputs]
    program = torch.jit.load(io.BytesIO(data)) if kind == "torchscript" else torch.export.load(io.BytesIO(data)).module()
    same([output.numpy() for output in program(*inputs)], built.reference())
    how, outputs = built.captured(kind, data)
    assert how == ("torch.jit.trace" if kind == "torchscript" else "torch.export")
    same(outputs, built.reference())


@pytest.mark.slow
def test_keras_own_onnx_export_computes_what_the_reference_says() -> None:
    for instance in MODELS.values():
        built = model(instance)
        artefact = built.artefact("onnx", "runtime")
        assert artefact.suspect is None
        session = onnxruntime.InferenceSession(artefact.data, providers=["CPUExecutionProvider"])
        assert [entry.name for entry in session.get_inputs()] == [name for name, _ in built.inputs]
        same(session.run(None, dict(built.inputs)), built.reference())


@pytest.mark.slow
def test_what_keras_exports_is_the_exporters_where_it_is_no_onnx_model() -> None:
    """A mean over all axes is written with a node that lacks an input, unless an axis is named."""
    everything = model(function("ops.mean", Argument("x", tensor(X))))
    assert everything.artefact("onnx", "runtime").suspect == "keras.onnx"
    named = model(function("ops.mean", Argument("x", tensor(X)), Argument("axis", 1, keyword=True)))
    artefact = named.artefact("onnx", "runtime")
    assert artefact.suspect is None
    exporter, outputs = named.captured("onnx", artefact.data)
    assert exporter == "keras.onnx"
    np.testing.assert_allclose(outputs[0], named.reference().outputs[0], rtol=1e-6)


def test_a_wrong_type_in_what_keras_exports_is_seen_by_running_it_again() -> None:
    half = model(function("ops.sum", Argument("x", tensor(X.astype("float16")))))
    artefact = half.artefact("onnx", "runtime")
    assert artefact.suspect is None
    exporter, outputs = half.captured("onnx", artefact.data)
    assert exporter == "keras.onnx"
    assert [each.dtype for each in outputs] == ["float32"]
    assert [each.dtype for each in half.reference().outputs] == ["float16"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        (function("ops.cast", Argument("x", tensor(X.astype("complex64"))), Argument("dtype", "float32")), "dtype"),
        (layer("AugMix", {"seed": 1}, np.ones((1, 8, 8, 3), "float32"), training=True), "no-converter"),
    ],
)
def test_what_the_older_exporter_does_not_know_is_declined(instance: Instance, reason: str) -> None:
    with pytest.raises(ExportFailed) as failed:
        model(instance).artefact("onnx", "runtime")
    assert declined_by_exporter("keras.onnx", describe(failed.value.__cause__ or failed.value)) == reason


@pytest.mark.slow
@pytest.mark.parametrize(
    "instance",
    [
        layer("SpectralNormalization", {"layer": keras.layers.Dense(3)}, training=True),
        layer("SimpleRNN", {"units": 3, "stateful": True, "unroll": True}, np.ones((2, 3, 4), "float32")),
    ],
)
def test_a_state_that_the_exporter_changes_is_no_failure_of_anyone(instance: Instance) -> None:
    """The newer exporter fails, and Keras calls the model with ones: the power iteration and the recurrent layer go on from there."""
    with pytest.raises(Invalid, match="capture-failed:onnx"):
        model(instance).artefact("onnx", "runtime")


@pytest.mark.slow
def test_what_the_exporter_cannot_is_told_from_what_pytorch_cannot_trace() -> None:
    complex_numbers = function(
        "ops.istft", *(Argument(f"x{index}", value) for index, value in enumerate([(tensor(S), tensor(S)), 4, 2, 4]))
    )
    with pytest.raises(ExportFailed) as failed:
        model(complex_numbers).artefact("onnx", "runtime")
    assert failed.value.exporter == "keras.onnx"
    assert declined_by_exporter("keras.onnx", describe(failed.value.__cause__ or failed.value)) == "no-converter"
    clipped = function("ops.clip", Argument("x", tensor(X)), Argument("x_min", tensor(X)), Argument("x_max", 1.0))
    with pytest.raises(Invalid, match="capture-failed:"):
        model(clipped).artefact("onnx", "runtime")


@pytest.mark.parametrize("operator", ["inv", "cholesky", "lu_factor"])
def test_what_the_library_rejects_of_the_ones_that_its_exporter_fills_in_is_no_failure_of_the_exporter(operator: str) -> None:
    """PyTorch's exporter has no converter; Keras then traces with ones, of which there is no inverse."""
    regular = np.array([[2.0, 1.0], [1.0, 4.0]], "float32")
    with pytest.raises(Invalid, match="capture-failed:onnx"):
        model(function(f"ops.{operator}", Argument("x", tensor(regular)))).artefact("onnx", "runtime")


def test_results_next_to_the_inputs_are_in_double_precision() -> None:
    built = model(layer("Dense", {"units": 3}))
    exact, near = built.nearby(0.0, 0), built.nearby(1e-6, 0)
    assert exact[0].dtype == near[0].dtype == np.float64
    assert 0 < np.abs(near[0] - exact[0]).max() < 1e-4


@pytest.mark.parametrize("seed", [None, 7])
def test_numbers_drawn_at_random_are_no_reference_even_from_a_seed_that_is_given(seed: int | None) -> None:
    cropped = layer("RandomCrop", {"height": 1, "width": 1, "seed": seed}, np.arange(4, dtype="float32").reshape(1, 2, 2, 1), training=True)
    assert model(cropped).reference().undefined == "library-disagrees-with-itself"


def test_a_file_that_keras_cannot_read_back_is_no_model() -> None:
    """Keras 3.15 takes a list for `output_size` when it reads the file, and then wants a tuple."""
    image = Argument("inputs", tensor(np.ones((1, 4, 4, 1), "float32")))
    call = function("ops.adaptive_max_pool", image, Argument("output_size", (2, 2)))
    with pytest.raises(Invalid, match="capture-failed:keras"):
        model(call).artefact("keras", "runtime")


def test_an_artefact_that_does_not_exist_and_one_that_keras_cannot_capture_are_told_apart() -> None:
    with pytest.raises(ValueError, match="on torch have no artefact of kind 'tflite'"):
        model(layer("Dense", {"units": 3})).artefact("tflite", "runtime")
    with pytest.raises(Invalid, match="capture-failed:keras"):
        model(function("ops.zeros", Argument("shape", (2,)))).artefact("keras", "runtime")


@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        (function("ops.no_such_operator", Argument("x", tensor(X))), "api-not-in-this-version"),
        (function("ops.matmul", Argument("x1", tensor(X)), Argument("x2", tensor(np.ones((3, 3), "float32")))), "library-raised"),
        (function("ops.ndim", Argument("x", tensor(X))), "no-tensor-output"),
        (layer("Dense", {"units": -1}), "library-raised"),
        (layer("Dense", {"units": 1, "activation": Opaque("Thing", "unrecordable")}), "argument-not-rebuilt"),
        (layer("Dense", {"units": 1, "activation": Named("os.system")}), "not-an-operator"),
        (layer("Dense", {"units": 1, "activation": Named("keras.src.utils.file_utils.shutil.rmtree")}), "not-an-operator"),
        (Instance("keras", "keras.ops.add", Kind.NODE), "not-a-keras-call"),
    ],
)
def test_what_cannot_become_a_model_is_invalid_with_a_reason(instance: Instance, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        model(instance).reference()


@pytest.mark.parametrize("seed", [0, 3])
def test_the_source_computes_what_the_reference_says(seed: int) -> None:
    instance = replace(
        layer("Conv2D", {"filters": 2, "kernel_size": (2, 2), "kernel_initializer": "ones"}, np.ones((1, 3, 3, 1), "float32")),
        context=(("training", False),),
    )
    built = model(instance, seed)
    source = built.source("runtime")
    names: dict[str, Any] = {"np": np}
    exec("\n".join((*source.imports, source.text, source.expected)), names)
    np.testing.assert_allclose(names["expected"][0], built.reference().outputs[0], rtol=1e-6)
    assert [array.shape for array in names["inputs"]] == [(1, 3, 3, 1)]


@pytest.mark.parametrize(
    "instance",
    [
        function(
            "ops.image.map_coordinates",
            Argument("inputs", tensor(X)),
            Argument("coordinates", [tensor(X[0] * 0), tensor(X[0] * 0)]),
            Argument("order", 0),
        ),
        Instance("keras", "keras.layers.Masking", Kind.MODULE, call=(Argument("inputs", tensor(np.array(2.0, "float32"))),)),
    ],
    ids=["function", "layer"],
)
def test_the_source_of_what_keras_cannot_call_on_symbols_is_a_subclass(instance: Instance) -> None:
    built = model(instance)
    names: dict[str, Any] = {"np": np}
    source = built.source("runtime")
    assert "class Model(keras.Model):" in source.text
    exec("\n".join((*source.imports, source.text, source.expected)), names)
    np.testing.assert_allclose(names["expected"][0], built.reference().outputs[0], rtol=1e-6)
    exported = torch.export.export(names["model"], ([torch.from_numpy(value) for value in names["inputs"]],), strict=False)
    np.testing.assert_allclose(exported.module()([torch.from_numpy(value) for value in names["inputs"]]).numpy(), names["expected"][0])
