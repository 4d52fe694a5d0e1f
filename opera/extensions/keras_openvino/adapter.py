"""Keras on its own OpenVINO backend, which builds a graph of OpenVINO operators from Keras' own calls.

A model comes as a file of Keras, or is a call that the backend makes itself: a file holds no function that draws random numbers.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from opera.arrays import Outputs, dtype_name
from opera.compilers.adapter import Adapter, CannotCapture, CannotFeed, Fork, Route, Stage, Subject, UnsupportedRule, on_backend
from opera.instance import Kind
from opera.models.template import Invalid

_DECLINES = r"(?i)\b(is|are) not (yet )?(supported|implemented)\b|\bnot supported\b.*\bbackend\b|\bnot implemented\b"


class KerasOpenVinoAdapter(Adapter):
    """The backend in Keras' own package; the reference is Keras on PyTorch."""

    name = "keras-openvino"
    routes = (
        Route("keras", "keras-file", "keras", environment=on_backend("torch")),
        Route("keras", "call", None, environment=on_backend("torch")),
    )
    packages = ("keras>=3.13", "openvino>=2025.3")
    fork = Fork.STARTED
    project = ("keras.", "keras/", "openvino.", "openvino/")
    unsupported = (
        UnsupportedRule(("NotImplementedError",), "not-implemented", stages=("load", "codegen", "run")),
        UnsupportedRule(("ValueError", "TypeError"), "declined", _DECLINES, stages=("load", "codegen", "run")),
        UnsupportedRule(("KeyError",), "dtype", r"\bcomplex(64|128)\b", stages=("load", "codegen")),  # OpenVINO has none
    )
    computes_as: ClassVar[Mapping[str, str]] = {"float64": "float32", "int64": "int32", "uint64": "int32", "uint32": "int32"}
    housekeeping: ClassVar[Mapping[str, str]] = {"TF_CPP_MIN_LOG_LEVEL": "3"}
    reproducer: ClassVar[Mapping[str, str]] = {
        "keras": """
import subprocess
import sys
import tempfile

folder = tempfile.mkdtemp()
model.save(folder + "/model.keras")
np.savez(folder + "/inputs.npz", *inputs)
code = f'''import keras, numpy, sys
keras.config.set_image_data_format("{keras.config.image_data_format()}")
keras.config.set_floatx("{keras.config.floatx()}")
model = keras.saving.load_model(sys.argv[1] + "/model.keras")
inputs = [keras.ops.convert_to_tensor(value) for value in numpy.load(sys.argv[1] + "/inputs.npz").values()]
result = [keras.ops.convert_to_numpy(leaf) for leaf in keras.tree.flatten(model(inputs))]
numpy.savez(sys.argv[1] + "/outputs.npz", *result)
'''
{{ to_compile }}subprocess.run([sys.executable, "-c", code, folder], env={**os.environ, "KERAS_BACKEND": "openvino"}, check=True)
{{ to_run }}actual = list(np.load(folder + "/outputs.npz").values())
"""
    }

    def start(self) -> Mapping[str, str]:
        os.environ["KERAS_BACKEND"] = "openvino"  # what the route says is for the library's worker
        self._keras: Any = importlib.import_module("keras")
        openvino: Any = importlib.import_module("openvino")
        self._settings: Any = importlib.import_module("opera.templates.keras.model").settings  # a file of Keras does not hold them
        return {"keras": str(self._keras.__version__), "openvino": str(openvino.__version__), "backend": str(self._keras.config.backend())}

    def load(self, subject: Subject, stage: Stage) -> Any:
        if subject.route.artefact is None:
            if subject.instance.kind is Kind.MODULE:  # its weights would be others
                raise CannotCapture("keras")
            return subject.module
        with self._settings(subject.instance), tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.keras")
            path.write_bytes(subject.data)
            return self._keras.saving.load_model(path, compile=False)

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        """Builds the graph; the backend compiles it when a result is asked for."""
        stage("codegen")
        if subject.route.artefact is None:
            try:
                return [leaf for leaf in self._keras.tree.flatten(loaded.run_once()) if self._keras.ops.is_tensor(leaf)]
            except Invalid as error:
                raise error.__cause__ or error from None
        try:
            tensors = [
                self._keras.ops.convert_to_tensor(np.asarray(each), dtype=dtype_name(each.dtype)) for each in subject.inputs.values()
            ]
        except (KeyError, ValueError, TypeError, AttributeError) as error:  # dtypes that OpenVINO or Keras lacks
            raise CannotFeed(str(error)) from error
        with self._settings(subject.instance):
            return loaded(tensors)

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        return [np.asarray(self._keras.ops.convert_to_numpy(leaf)) for leaf in self._keras.tree.flatten(compiled)]
