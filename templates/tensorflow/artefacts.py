"""A function of TensorFlow tensors as a SavedModel, as a TFLite model and as an ONNX model."""

from __future__ import annotations

import contextlib
import importlib
import struct
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from opera.arrays import Array
from opera.models.archive import pack_folder, unpack_folder
from opera.models.template import Artefact, ExportFailed, Invalid
from opera.oracles.blame import Undefined
from opera.templates.onnx.agreement import computed, is_sound

with contextlib.suppress(ImportError):
    importlib.import_module("torch")  # before TensorFlow, which crashes it in the other order
tf: Any = importlib.import_module("tensorflow")

KINDS = ("saved-model", "tflite", "onnx")
_RANDOM_FILES = frozenset({"fingerprint.pb"})
_OPSET = 18
_GRAPH_INPUTS, _GRAPH_OUTPUTS = 6, 8
"""Places of the lists of inputs and outputs in the flatbuffer table of a TFLite graph."""

Inputs = Sequence[tuple[str, Array]]


class TracedGraph:
    """A traced function: inputs `x0`, `x1` ..., outputs `output_0`, `output_1` ..., with as many digits as their number needs.

    Attributes:
        module: A tf.Module that holds the function and its variables.
        function: The tf.function, with an input signature.
        concrete: The one graph of it.
    """

    def __init__(
        self, call: Callable[..., Sequence[Any]], tensors: Sequence[Any], owner: Any = None, shapes: Sequence[Sequence[int | None]] = ()
    ) -> None:
        """Traces *call*.

        Args:
            call: Takes as many tensors as there are *tensors*, and returns a sequence of tensors.
            tensors: Examples of the inputs; shapes and dtypes are taken from them.
            owner: The layer whose variables and tables *call* reads, if any.
            shapes: Other shapes of the inputs, with None for a size that is left open.

        Raises:
            Invalid: TensorFlow cannot trace it.
        """
        shapes = shapes or [tensor.shape for tensor in tensors]
        signature = [tf.TensorSpec(shapes[place], tensor.dtype, f"x{place}") for place, tensor in enumerate(tensors)]

        def serve(*values: Any) -> dict[str, Any]:
            outputs = list(call(*values))
            digits = len(str(len(outputs) - 1))  # so the names sort in the order of the outputs
            return {f"output_{place:0{digits}}": tf.identity(value) for place, value in enumerate(outputs)}

        self.function = tf.function(serve, input_signature=signature, autograph=False)
        self.module: Any = tf.Module()
        self.module.serve = self.function
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.concrete: Any = self.function.get_concrete_function()
        except Exception as error:
            raise Invalid("capture-failed:tf.function") from error
        self.module.owner = owner
        self.module.captured = list(self.concrete.graph.variables)

    def save(self, folder: Path) -> None:
        """Writes a SavedModel; raises `Invalid` where TensorFlow cannot."""
        try:
            tf.saved_model.save(self.module, str(folder), signatures={"serving_default": self.concrete})
        except Exception as error:
            raise Invalid("capture-failed:saved-model") from error


def make(kind: str, graph: TracedGraph, inputs: Inputs) -> Artefact:
    """The artefact of a kind of `KINDS`.

    Args:
        kind: Which.
        graph: The model.
        inputs: Names and values of its inputs.

    Raises:
        Invalid: TensorFlow cannot save the model.
        ExportFailed: a converter fails.
    """
    if kind == "onnx":
        return _onnx(graph, inputs)
    with tempfile.TemporaryDirectory() as folder:
        graph.save(Path(folder))
        if kind == "saved-model":
            return Artefact(pack_folder(Path(folder), _RANDOM_FILES))
        return Artefact(_tflite(folder))


def run_saved(kind: str, data: bytes, tensors: Sequence[Any]) -> tuple[str, list[Any]] | None:
    """What TensorFlow makes of a SavedModel, and the name of what captured it; None for other kinds of artefacts."""
    if kind != "saved-model":
        return None
    with tempfile.TemporaryDirectory() as folder:
        unpack_folder(data, Path(folder))
        loaded = tf.saved_model.load(folder)
        function = loaded.signatures["serving_default"]
        names = function.structured_input_signature[1]
        outputs = function(**{f"x{place}": tensor for place, tensor in enumerate(tensors) if f"x{place}" in names})
        return "tf.function", [outputs[name] for name in sorted(outputs)]


def run_exported(kind: str, data: bytes, inputs: Inputs) -> tuple[str, Sequence[Any] | Undefined | None] | None:
    """What an exported model computes by the format's own reference implementation, and the exporter; None for other kinds of artefacts.

    The outputs are None where that implementation says that the model has none.

    Args:
        kind: Kind of the artefact.
        data: The artefact.
        inputs: Names and values of the inputs.

    Raises:
        Exception: the reference implementation cannot run it, which says nothing of the model.
    """
    if kind == "onnx":
        return "tf2onnx", computed(data, inputs)
    if kind != "tflite":
        return None
    reference = tf.lite.experimental.OpResolverType.BUILTIN_REF
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        interpreter = tf.lite.Interpreter(model_content=data, num_threads=1, experimental_op_resolver_type=reference)
        runner = interpreter.get_signature_runner()
        outputs = runner(**{name: value for name, value in inputs if name in runner.get_input_details()})
    return "litert", [outputs[name] for name in sorted(outputs)]


def _tflite(folder: str) -> bytes:
    try:
        data = bytes(tf.lite.TFLiteConverter.from_saved_model(folder).convert())
    except Exception as error:
        raise ExportFailed("litert") from error
    return _in_order(data)


def _in_order(data: bytes) -> bytes:
    """The model with its inputs and outputs in the order of their names, for the converter leaves them in any, and not all readers look.

    TFLite itself goes by the signature, which knows each by its name.
    """
    schema: Any = importlib.import_module("tensorflow.lite.python.schema_py_generated")
    model = schema.Model.GetRootAsModel(data, 0)
    signature, graph = model.SignatureDefs(0), model.Subgraphs(0)
    ordered = bytearray(data)
    for field, length, entry in (
        (_GRAPH_INPUTS, signature.InputsLength(), signature.Inputs),
        (_GRAPH_OUTPUTS, signature.OutputsLength(), signature.Outputs),
    ):
        names = {entry(place).Name().decode(): int(entry(place).TensorIndex()) for place in range(length)}
        tensors = [names[name] for name in sorted(names, key=lambda name: (len(name), name))]
        place = graph._tab.Offset(field)
        if not place or graph._tab.VectorLen(place) != len(tensors):
            continue
        start = graph._tab.Vector(place)
        ordered[start : start + 4 * len(tensors)] = struct.pack(f"<{len(tensors)}i", *tensors)
    return bytes(ordered)


def _onnx(graph: TracedGraph, inputs: Inputs) -> Artefact:
    """By tf2onnx; what it has no converter for it leaves in the model as it is, and ONNX's own checker finds it there."""
    checker: Any = importlib.import_module("onnx.checker")
    tf2onnx: Any = importlib.import_module("tf2onnx")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            proto, _ = tf2onnx.convert.from_function(graph.function, input_signature=graph.function.input_signature, opset=_OPSET)
            checker.check_model(proto)
    except Exception as error:
        raise ExportFailed("tf2onnx") from error
    suspect = None if is_sound(proto, inputs) else "tf2onnx"
    return Artefact(proto.SerializeToString(deterministic=True), suspect)
