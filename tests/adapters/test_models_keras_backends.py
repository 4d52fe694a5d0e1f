"""Keras on TensorFlow and on JAX: the backend holds for a whole process, so each has a worker of its own here."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from opera import bundle
from opera.arrays import to_bytes
from opera.difftest.messages import Made, Materialise, Review, Reviewed, from_json, to_json
from opera.instance import Argument, Instance, Kind, Tensor, encode_instance
from opera.models.archive import unpack_folder
from opera.models.template import template_of
from opera.templates.tensorflow.artefacts import tf
from opera.workers.process import Done, Limits, Ready, WorkerSpec
from opera.workers.session import WorkerSession, session

pytestmark = pytest.mark.slow

X = np.linspace(-2, 2, 12, dtype="float32").reshape(2, 3, 2)


def tensor(array: Any) -> Tensor:
    return Tensor(array.shape, array.dtype.name, to_bytes(array))


def function(api: str, *values: Any) -> Instance:
    call = tuple(Argument(f"a{index}", value) for index, value in enumerate(values))
    return Instance("keras", f"keras.ops.{api}", Kind.FUNCTION, call=call)


def layer(name: str, init: dict[str, Any], training: bool | None = None) -> Instance:
    arguments = tuple(Argument(key, value, keyword=True) for key, value in init.items())
    context = () if training is None else (("training", training),)
    return Instance("keras", f"keras.layers.{name}", Kind.MODULE, arguments, (Argument("inputs", tensor(X)),), context=context)


MODELS = {
    "layer": layer("Dense", {"units": 3}),
    "variables that a call changes": layer("BatchNormalization", {}, training=True),
    "several outputs of several dtypes": function("top_k", tensor(X), 2),
    "scalars and integers": function("where", tensor(X > 0), tensor(np.array(3, "int32")), tensor(X.astype("int32"))),
}


class Backend:
    """A materialiser of Keras on one backend."""

    def __init__(self, name: str, opened: WorkerSession, cache: Path) -> None:
        self.name = name
        self._session = opened
        self._cache = cache

    def make(self, instance: Instance, kind: str) -> tuple[Made, Any, bytes]:
        """The answer, the parts of the bundle, and the artefact."""
        event = self._session.ask(
            to_json(Materialise(json.dumps(encode_instance(instance)), "key", 0, kind, "runtime", with_reference=True))
        )
        assert isinstance(event, Done), event
        made = from_json(event.result)
        assert isinstance(made, Made), made
        assert made.reference is not None
        assert made.artefact.model is not None
        return made, bundle.parse(bundle.fetch(self._cache, made.reference.bundle)), bundle.fetch(self._cache, made.artefact.model)

    def reviewed(self, instance: Instance, kind: str, outputs: list[Any]) -> Reviewed:
        """What a review of a failure with these outputs says."""
        made, _, _ = self.make(instance, kind)
        assert made.reference is not None
        kept = bundle.store(self._cache, bundle.dump(outputs))
        request = Review(json.dumps(encode_instance(instance)), "key", 0, kind, kept, made.reference.bundle, made.artefact.model, {})
        event = self._session.ask(to_json(request))
        assert isinstance(event, Done), event
        found = from_json(event.result)
        assert isinstance(found, Reviewed)
        return found


def backend_named(name: str, folder: Path) -> Iterator[Backend]:
    (folder / "cache").mkdir()
    options = {"template": template_of("keras"), "cache": str(folder / "cache")}
    spec = WorkerSpec("keras", "opera.difftest.model_worker:Materialiser", options, sys.executable, (), {"KERAS_BACKEND": name})
    with session(spec, Limits(), folder) as opened:
        ready = opened.start()
        assert isinstance(ready, Ready), ready
        assert name in ready.info["versions"]
        yield Backend(name, opened, folder / "cache")


@pytest.fixture(scope="module")
def on_tensorflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    yield from backend_named("tensorflow", tmp_path_factory.mktemp("tensorflow"))


@pytest.fixture(scope="module")
def on_jax(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    yield from backend_named("jax", tmp_path_factory.mktemp("jax"))


def run(kind: str, data: bytes, inputs: dict[str, Any], folder: Path) -> list[Any]:
    if kind == "onnx":
        opened = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        return opened.run(None, {entry.name: inputs[entry.name] for entry in opened.get_inputs()})
    if kind == "tflite":
        interpreter = tf.lite.Interpreter(model_content=data, num_threads=1)
        interpreter.allocate_tensors()
        outputs = interpreter.get_signature_runner()(**inputs)
        return [outputs[name] for name in sorted(outputs)]
    unpack_folder(data, folder)
    outputs = tf.saved_model.load(str(folder)).signatures["serving_default"](**{name: tf.constant(value) for name, value in inputs.items()})
    return [outputs[name].numpy() for name in sorted(outputs)]


@pytest.mark.parametrize("kind", ["saved-model", "tflite", "onnx"])
@pytest.mark.parametrize("name", MODELS)
def test_models_of_tensorflow_compute_what_the_reference_says(on_tensorflow: Backend, name: str, kind: str, tmp_path: Path) -> None:
    answer, tree, data = on_tensorflow.make(MODELS[name], kind)
    assert answer.reference is not None
    assert (answer.artefact.suspect, answer.reference.undefined) == (None, None)
    outputs = run(kind, data, tree["inputs"], tmp_path)
    assert [(output.shape, output.dtype) for output in outputs] == [(output.shape, output.dtype) for output in tree["outputs"]]
    for output, expected in zip(outputs, tree["outputs"], strict=True):
        np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_a_graph_that_is_not_what_keras_computes_is_the_librarys_own_fault(on_tensorflow: Backend) -> None:
    """In a graph of TensorFlow, the layers for data preparation convert integers that they leave alone outside of one."""
    boxes = {"boxes": tensor(np.ones((2, 4), "int64")), "labels": tensor(np.ones((2,), "int64"))}
    call = (Argument("data", {"images": tensor(np.ones((4, 4, 3), "float64")), "bounding_boxes": boxes}),)
    init = (Argument("max_number", 3, keyword=True), Argument("bounding_box_format", "xyxy", keyword=True))
    instance = Instance("keras", "keras.layers.MaxNumBoundingBoxes", Kind.MODULE, init, call)
    _, tree, _ = on_tensorflow.make(instance, "saved-model")
    assert "int64" in {output.dtype.name for output in tree["outputs"]}
    outputs = [output.astype("float32") for output in tree["outputs"]]
    assert on_tensorflow.reviewed(instance, "saved-model", outputs).culprit == "tf.function"


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_jax_lowers_to_stablehlo_with_every_input_in_its_place(on_jax: Backend, name: str) -> None:
    answer, tree, data = on_jax.make(MODELS[name], "stablehlo")
    assert answer.reference is not None
    assert answer.reference.undefined is None
    signature = next(line for line in data.decode().splitlines() if "func.func public @main" in line)
    assert signature.count("%arg") == len(tree["inputs"])
    assert signature.partition("->")[2].count("tensor<") == len(tree["outputs"])


@pytest.mark.slow
def test_the_precise_reference_is_in_double_precision_on_jax_too(on_jax: Backend) -> None:
    _, tree, _ = on_jax.make(MODELS["layer"], "stablehlo")
    assert (tree["outputs"][0].dtype, tree["precise"][0].dtype) == (np.float32, np.float64)
    assert 0 < np.abs(tree["precise"][0] - tree["outputs"][0]).max() < 1e-5
