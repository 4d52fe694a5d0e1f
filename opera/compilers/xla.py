"""XLA on the CPU, through `jax.jit`, through `tf.function(jit_compile=True)`, and by its own client, which takes StableHLO as text."""

from __future__ import annotations

import importlib
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opera.arrays import Array, Outputs, Signature, dtype_name
from opera.compilers import stablehlo_format
from opera.compilers.adapter import Adapter, CannotCapture, CannotFeed, Fork, Route, Stage, Subject, UnsupportedRule, on_backend
from opera.oracles.compare import Policy, compare
from opera.oracles.verdict import Failure

_TENSORFLOW = "tensorflow.python.framework.errors_impl."
_REJECTS = (f"{_TENSORFLOW}InvalidArgumentError", f"{_TENSORFLOW}UnimplementedError")
_RUNTIME = ("jax.errors.JaxRuntimeError", "jaxlib._jax.XlaRuntimeError")
_OFF = ("cpu_enable_fast_math", "cpu_enable_fast_min_max", "cpu_multi_thread_eigen")
"""Arithmetic that may take NaN for a number, and more threads than one."""
_WIDE = (("JAX_ENABLE_X64", "1"),)
"""Without it, JAX narrows inputs of 64 bits to 32."""
_STABLEHLO = "stablehlo"
_LEVELS = {"default": "3", "O0": "0"}


class XlaAdapter(Adapter):
    """XLA's CPU compiler, one thread, without fast arithmetic. What the library itself computes eagerly is the reference."""

    name = "xla"
    routes = (
        Route("keras", "tf-function", None, environment=on_backend("tensorflow")),
        Route("keras", "jit", None, environment=on_backend("jax")),
        Route("tensorflow", "tf-function", None, environment=on_backend("tensorflow")),
        Route("jax", "jit", None, library="keras", environment=on_backend("jax")),
        Route("stablehlo", "text", "stablehlo", environment=(*on_backend("jax"), *_WIDE)),
        Route("stablehlo", "jax", "stablehlo", library="keras", environment=on_backend("jax")),
    )
    packages = ("tensorflow>=2.20", "jax>=0.7")
    levels = ("default", "O0")
    fork = Fork.STARTED
    project = ("tensorflow.", "jax.", "jaxlib.", "xla/", "tensorflow/compiler/", "mlir/")
    environment = {
        "TF_NUM_INTRAOP_THREADS": "1",
        "TF_NUM_INTEROP_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "-1",
        "JAX_PLATFORMS": "cpu",
        "JAX_DEFAULT_MATMUL_PRECISION": "highest",
    }
    unsupported = (
        UnsupportedRule(_REJECTS, "no-kernel", r"\bDetected unsupported operations when trying to compile graph\b", stages=("codegen",)),
        UnsupportedRule(_REJECTS, "not-constant", r"\bmust be a compile-time constant\b", stages=("codegen",)),
        UnsupportedRule((f"{_TENSORFLOW}UnimplementedError",), "not-implemented", stages=("codegen",)),
        UnsupportedRule(_RUNTIME, "not-implemented", r"^UNIMPLEMENTED: ", stages=("codegen", "run")),
        UnsupportedRule(_RUNTIME, "no-converter", stablehlo_format.UNKNOWN, stages=("codegen",)),
        UnsupportedRule(_RUNTIME, "no-converter", r"'stablehlo\.\w+' op can't be translated to XLA HLO", stages=("codegen",)),
        UnsupportedRule(("NotImplementedError",), "no-kernel", r"\brule for primitive '\w+' not found for platform\b"),
    )

    def start(self) -> Mapping[str, str]:
        """Sets XLA's flags, which it reads before the first compilation of a process."""
        level = str(self.options.get("level", self.levels[0]))
        flags = dict.fromkeys(_OFF, "false") | {"backend_optimization_level": _LEVELS[level]}
        os.environ["XLA_FLAGS"] = " ".join(f"--xla_{name}={value}" for name, value in flags.items())
        self._jax: Any = importlib.import_module("jax") if os.environ.get("KERAS_BACKEND") == "jax" else None
        if self._jax is not None:
            return {"jax": str(self._jax.__version__), "optimization": level}
        importlib.import_module("opera.templates.tensorflow.artefacts")
        self._tf: Any = importlib.import_module("tensorflow")
        return {"tensorflow": str(self._tf.__version__), "optimization": level}

    def load(self, subject: Subject, stage: Stage) -> Any:
        if subject.route.frontend == _STABLEHLO:
            return self._load_text(subject)
        how = "tf.function" if self._jax is None else "jax.jit"
        try:
            program = subject.module.program()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                traced = self._traced_by_tensorflow(program) if self._jax is None else self._traced_by_jax(program)
        except Exception as error:
            raise CannotCapture(how) from error
        return program, traced if self._jax is None else traced.lower()

    def _load_text(self, subject: Subject) -> Any:
        """The module as text with its inputs on the device; what XLA is told is the text itself, without tracing."""
        text = subject.data.decode()
        types = stablehlo_format.input_types(text)
        values = stablehlo_format.declared_inputs(subject, len(types))
        arrays = [stablehlo_format.as_declared(value, type) for value, type in zip(values, types, strict=True)]
        try:
            return text, [self._jax.device_put(array) for array in arrays]
        except (TypeError, RuntimeError) as error:  # dtypes that JAX has no arrays of
            raise CannotFeed(str(error)) from error

    def _traced_by_tensorflow(self, program: Any) -> Any:
        """The function; TensorFlow's own run of its graph must give what it gives without one, for the graph is what XLA gets."""
        signature = [self._tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in program.tensors]
        graph = self._tf.function(program.call, input_signature=signature, autograph=False).get_concrete_function()
        expected = [_array(item) for item in program.call(*program.tensors)]
        program.restore()
        outputs = [_array(item) for item in graph(*program.tensors)]
        program.restore()
        difference = compare(expected, None, outputs, Policy({}))
        if difference is not None:
            raise ValueError(f"the graph gives another result: {difference.kind}, {difference.expected} and {difference.actual}")
        return self._tf.function(program.call, input_signature=signature, jit_compile=True, autograph=False)

    def _traced_by_jax(self, program: Any) -> Any:
        return self._jax.jit(program.call, keep_unused=True).trace(*program.tensors)

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        if subject.route.frontend == _STABLEHLO:
            text, inputs = loaded
            return self._compile_text(text, inputs, stage)
        program, compiled = loaded
        stage("codegen")
        if self._jax is None:
            compiled(*program.tensors)  # TensorFlow compiles when a function is called
        else:
            compiled = compiled.compile()
        return program, compiled

    def _compile_text(self, text: str, inputs: Sequence[Any], stage: Stage) -> Any:
        stage("codegen")
        jaxlib: Any = importlib.import_module("jaxlib._jax")
        device = self._jax.devices("cpu")[0]
        return device.client.compile_and_load(text, jaxlib.DeviceList((device,)), jaxlib.CompileOptions()), inputs

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        if subject.route.frontend == _STABLEHLO:
            executable, inputs = compiled
            return [_array(output) for output in executable.execute(inputs)]
        program, function = compiled
        program.restore()
        outputs = function(*program.tensors)
        return [_array(output) for output in outputs]

    def signature(self, compiled: Any, subject: Subject) -> Signature | None:
        if self._jax is None or subject.route.frontend == _STABLEHLO:
            return None
        outputs = self._jax.tree.leaves(compiled[1].out_info)
        return [(dtype_name(each.dtype), each.shape) for each in outputs]

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The operation that the message names, else the operator of the instance."""
        message = str((failure or {}).get("message", ""))
        named = (
            re.search(r"'((?:stablehlo|chlo|mhlo)\.\w+)' op\b|custom op '((?:stablehlo|chlo)\.\w+)'", message)
            or re.search(r"\b(\w+) \(No registered '\w+' OpKernel", message)
            or re.search(r"\{\{node (?:[\w./-]+/)?([A-Za-z]\w*?)(?:_\d+)?\}\}", message)
            or re.search(r"primitive '(\w+)'", message)
        )
        return next(filter(None, named.groups())) if named is not None else subject.instance.operator


def _array(tensor: Any) -> Array:
    """A tensor of JAX or TensorFlow; strings come as bytes."""
    return np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)
