"""LiteRT (TensorFlow Lite): SavedModels through its converter, and its interpreter on the CPU."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from opera.arrays import Array, Outputs, Signature, dtype_name
from opera.compilers import litert_format, saved_model
from opera.compilers.adapter import Adapter, Fork, Route, Stage, Subject, UnsupportedRule, on_backend
from opera.oracles.verdict import Failure

_CONVERTER = ("tensorflow.lite.python.convert_phase.ConverterError",)
_INTERPRETER = ("RuntimeError", "ValueError")
_NO_TYPE = r"\bFailed to convert element type '[^']+': Unsupported type\b"
_NO_KERNEL = r"\bEncountered unresolved custom op: "
_DECLINES = r"(?i)\bnot (currently |yet )?supported\b|\bonly supports?\b|\bunsupported (data |input |output |element )?type\b"


class LiteRtAdapter(Adapter):
    """TensorFlow's converter and interpreter, one thread."""

    name = "litert"
    routes = (
        Route("keras", "saved-model", "saved-model", environment=on_backend("tensorflow")),
        Route("tensorflow", "saved-model", "saved-model", environment=on_backend("tensorflow")),
    )
    packages = ("tensorflow>=2.20", "tflite>=2.18")
    levels = ("xnnpack", "builtin", "reference")
    fork = Fork.STARTED
    project = ("tensorflow.lite.", "tensorflow/lite/", "tensorflow/compiler/mlir/lite/")
    environment = {"TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1"}
    unsupported = (
        UnsupportedRule(_CONVERTER, "no-converter", r"\bop is neither a custom op nor a flex op\b"),
        UnsupportedRule(_CONVERTER, "dtype", _NO_TYPE),
        UnsupportedRule(_INTERPRETER, "no-kernel", _NO_KERNEL, "tensorflow.lite.", stages=("codegen", "run")),
        UnsupportedRule(_INTERPRETER, "declined", _DECLINES, "tensorflow.lite.", stages=("codegen", "run")),
    )

    def start(self) -> Mapping[str, str]:
        tf: Any = importlib.import_module("tensorflow")
        self._lite = tf.lite
        level = str(self.options.get("level", self.levels[0]))
        kinds = tf.lite.experimental.OpResolverType
        resolvers = {"xnnpack": kinds.BUILTIN, "builtin": kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES, "reference": kinds.BUILTIN_REF}
        self._resolver = resolvers[level]
        self._model = b""
        return {"tensorflow": str(tf.__version__), "kernels": level}

    def load(self, subject: Subject, stage: Stage) -> Any:
        self._model = b""
        with saved_model.unpacked(subject.data) as folder:
            self._model = bytes(self._lite.TFLiteConverter.from_saved_model(folder).convert())
        return self._model

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        stage("codegen")
        interpreter = self._lite.Interpreter(model_content=loaded, num_threads=1, experimental_op_resolver_type=self._resolver)
        interpreter.allocate_tensors()
        return interpreter.get_signature_runner()

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        wanted = compiled.get_input_details()
        return saved_model.in_order(compiled(**{name: _fed(value) for name, value in subject.inputs.items() if name in wanted}))

    def signature(self, compiled: Any, subject: Subject) -> Signature:
        """What the interpreter states; it gives no sizes for a scalar and for a tensor whose shape it computes."""
        outputs = saved_model.in_order(compiled.get_output_details())
        return [(dtype_name(np.dtype(each["dtype"])), _sizes(each["shape_signature"])) for each in outputs]

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The operation that the message names; else the interpreter, where it failed, or the operators of the converted model."""
        message = str((failure or {}).get("message", ""))
        named = (
            re.search(r"'(tfl?\.\w+)' op\b", message)
            or re.search(r"\boperation '(tfl?\.\w+)'", message)
            or re.search(r"\bNode number \d+ \((\w+)\)", message)
            or re.search(r"\bEncountered unresolved custom op: (\w+)", message)
        )
        if named is not None:
            return named[1]
        if not self._model:
            return subject.instance.operator
        if failure is not None:
            return "interpreter"
        return litert_format.operators_of(replace(subject, data=self._model))


def _sizes(shape: Any) -> list[int | None] | None:
    return [None if size < 0 else int(size) for size in shape] or None


def _fed(value: Array) -> Any:
    """Strings as the bytes that the interpreter takes."""
    if value.dtype.kind != "O":
        return value
    items = [str(item).encode("utf-8", "surrogateescape") for item in value.reshape(-1).tolist()]
    return np.array(items, dtype=object).reshape(value.shape)
