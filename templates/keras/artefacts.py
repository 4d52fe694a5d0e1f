"""What Keras models are handed to compilers as: programs of the library on which Keras runs, and exports by Keras itself."""

from __future__ import annotations

import importlib
import io
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from opera.arrays import dtype_name
from opera.models import torch_tables
from opera.models.template import Artefact, ExportFailed, Invalid
from opera.oracles.blame import Undefined
from opera.templates.keras.backend import keras
from opera.templates.keras.program import KerasProgram
from opera.templates.onnx.agreement import computed, is_sound

Maker = Callable[[Any], Artefact]
"""Makes an artefact of a `KerasModel`."""
_RAISED_IN_CALL = "Exception encountered when calling "
"""How Keras begins the message of an error of an operator. If PyTorch's newer exporter fails, e.g. without a converter, Keras drops its
error and calls the model with ones, whatever the inputs are: a matrix of ones has no inverse."""


def makers() -> Mapping[str, Maker]:
    """The kinds of artefacts that Keras models have on this backend, with what makes them."""
    return {"keras": _keras, **_BY_BACKEND.get(str(keras.config.backend()), {})}


def run_saved(kind: str, data: bytes, tensors: Sequence[Any]) -> tuple[str, Sequence[Any]] | None:
    """What the backend makes of an artefact of its own, and the name of what captured it; None for kinds that it cannot run.

    Args:
        kind: Kind of the artefact.
        data: The artefact.
        tensors: The inputs, as tensors of the backend.
    """
    backend = str(keras.config.backend())
    if backend == "torch":
        return importlib.import_module("opera.templates.pytorch.programs").run_saved(kind, data, tensors)
    if backend == "tensorflow":
        return importlib.import_module("opera.templates.tensorflow.artefacts").run_saved(kind, data, tensors)
    return None


def run_exported(kind: str, data: bytes, inputs: Sequence[tuple[str, Any]]) -> tuple[str, Sequence[Any] | Undefined | None] | None:
    """As `opera.templates.tensorflow.artefacts.run_exported`, of what the backend in use exports."""
    backend = str(keras.config.backend())
    if backend == "torch":
        return ("keras.onnx", computed(data, inputs)) if kind == "onnx" else None
    if backend == "tensorflow":
        return importlib.import_module("opera.templates.tensorflow.artefacts").run_exported(kind, data, inputs)
    return None


def captured(how: str, make: Callable[[], bytes]) -> bytes:
    """What *make* gives; a failure is the library's own.

    Raises:
        Invalid: with the reason `capture-failed` and *how*, also where the library rejects the call itself.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make()
    except Invalid:
        raise
    except Exception as error:
        raise Invalid(f"capture-failed:{how}") from error


def _keras(model: Any) -> Artefact:
    def save() -> bytes:
        with model.settings(), tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.keras")
            model.functional().save(path)
            loaded = keras.saving.load_model(path, compile=False)  # what Keras itself cannot read or call says nothing of another backend
            loaded([keras.ops.convert_to_tensor(array, dtype=dtype_name(array.dtype)) for _, array in model.inputs])
            return path.read_bytes()

    return Artefact(captured("keras", save))


# PyTorch.


def _torch_module(program: KerasProgram) -> Any:
    torch: Any = importlib.import_module("torch")

    class SingleOperator(torch.nn.Module):
        def forward(self, *tensors: Any) -> tuple[Any, ...]:
            return program.call(*tensors)

    module: Any = SingleOperator()
    module.layer = program.layer
    return module.requires_grad_(False)


def _exported(model: Any, *, decomposed: bool) -> bytes:
    torch: Any = importlib.import_module("torch")
    program = model.program()
    with torch.no_grad():
        exported = torch.export.export(_torch_module(program), tuple(program.tensors), strict=False)
    if decomposed:
        exported = exported.run_decompositions()
    buffer = io.BytesIO()
    torch.export.save(exported, buffer)
    return buffer.getvalue()


def _traced(model: Any) -> bytes:
    torch: Any = importlib.import_module("torch")
    program = model.program()
    with torch.no_grad():
        traced = torch.jit.trace(_torch_module(program), tuple(program.tensors), check_trace=False, strict=False)
    program.restore()  # tracing is a call, and may change variables
    buffer = io.BytesIO()
    torch.jit.save(traced, buffer)
    return buffer.getvalue()


def _onnx(model: Any) -> Artefact:
    """The functional model as Keras itself exports it."""
    functional = model.captured_functional()
    state = _state(functional)
    onnx: Any = importlib.import_module("onnx")
    torch_tables.keep_onnx_functions()
    try:
        with model.settings(), warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")
            path = str(Path(folder, "model.onnx"))
            signature = [keras.InputSpec(shape=array.shape, dtype=array.dtype.name, name=name) for name, array in model.inputs]
            functional.export(path, format="onnx", input_signature=[signature], verbose=False)
            proto = onnx.load(path)
    except Exception as error:
        _check_traceable(model, functional)
        if str(error).startswith(_RAISED_IN_CALL):
            raise Invalid("capture-failed:onnx") from error
        raise ExportFailed("keras.onnx") from error
    if _state(functional) != state:
        raise Invalid("capture-failed:onnx")
    suspect = None if is_sound(proto, model.inputs) else "keras.onnx"
    return Artefact(proto.SerializeToString(deterministic=True), suspect)


def _state(functional: Any) -> list[bytes]:
    """What a call may change: the weights, e.g. those of a power iteration, and the states of recurrent layers.

    If PyTorch's newer exporter fails, Keras calls the model with ones, and exports the state that this call leaves.
    """
    states = [state for layer in functional.layers for state in keras.tree.flatten(getattr(layer, "states", None) or ())]
    return [keras.ops.convert_to_numpy(variable).tobytes() for variable in (*functional.weights, *states)]


def _check_traceable(model: Any, functional: Any) -> None:
    """Raises `Invalid` where PyTorch cannot trace the functional model: the exporter, which begins with that, is then not to blame."""
    torch: Any = importlib.import_module("torch")

    def trace() -> bytes:
        with model.settings(), torch.no_grad():
            torch.jit.trace(functional, ([torch.from_numpy(array.copy()) for _, array in model.inputs],), check_trace=False, strict=False)
        return b""

    captured("trace", trace)


# TensorFlow.


def _tensorflow(kind: str) -> Maker:
    def make(model: Any) -> Artefact:
        artefacts: Any = importlib.import_module("opera.templates.tensorflow.artefacts")
        program = model.program()
        graph = artefacts.TracedGraph(program.call, program.tensors, program.layer)
        return artefacts.make(kind, graph, model.inputs)

    return make


# JAX.


def _stablehlo(model: Any) -> bytes:
    jax: Any = importlib.import_module("jax")
    program = model.program()
    return str(jax.jit(program.call, keep_unused=True).lower(*program.tensors).as_text("stablehlo")).encode()


_BY_BACKEND: Mapping[str, Mapping[str, Maker]] = {
    "torch": {
        "exported-program": lambda model: Artefact(captured("torch.export", lambda: _exported(model, decomposed=False))),
        "exported-program-decomposed": lambda model: Artefact(captured("torch.export", lambda: _exported(model, decomposed=True))),
        "torchscript": lambda model: Artefact(captured("trace", lambda: _traced(model))),
        "onnx": _onnx,
    },
    "tensorflow": {kind: _tensorflow(kind) for kind in ("saved-model", "tflite", "onnx")},
    "jax": {"stablehlo": lambda model: Artefact(captured("jax.jit", lambda: _stablehlo(model)))},
}
