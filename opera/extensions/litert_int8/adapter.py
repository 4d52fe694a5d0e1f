"""LiteRT's quantisation after training: integers of 8 bits, with scales from the test's own inputs.

A result is held against the float model on the numbers that the integers stand for: weights and inputs as the quantised model has them. So
only the rounding of the result is left, and a right kernel is at most two steps off.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from opera.arrays import Array, Outputs, as_array
from opera.compilers import saved_model
from opera.compilers.adapter import Route, Stage, Subject, UnsupportedRule, on_backend
from opera.compilers.canary import canaries
from opera.compilers.litert import LiteRtAdapter

_STEPS = 2.01
"""How far a result may be: one step for the rounding of it, one for that of the factor by which sums are multiplied."""
_MOVES = frozenset({"QUANTIZE", "DEQUANTIZE", "RESHAPE"})
"""Operators that compute nothing."""
_STORED: Mapping[int, Any] = {9: np.int8, 2: np.int32, 3: np.uint8}
"""The dtypes of stored weights, by TFLite's number of the type."""


class NotQuantisedError(Exception):
    """Nothing can be said of a model: it has nothing to quantise, or several operators, each of which rounds."""


class LiteRtInt8Adapter(LiteRtAdapter):
    """TensorFlow's converter with full integer quantisation, and its interpreter."""

    name = "litert-int8"
    routes = (
        Route("keras", "full-integer", "saved-model", environment=on_backend("tensorflow")),
        Route("tensorflow", "full-integer", "saved-model", environment=on_backend("tensorflow")),
    )
    unsupported = (
        *LiteRtAdapter.unsupported,
        UnsupportedRule((f"{__name__}.NotQuantisedError",), "not-quantised", stages=("load", "run")),
        UnsupportedRule(("RuntimeError",), "declined", r"\bQuantization not yet supported for op\b"),
    )

    def load(self, subject: Subject, stage: Stage) -> Any:
        """The quantised model; raises `NotQuantisedError` where LiteRT does not convert the float model."""
        self._model = b""
        floats = [value for value in subject.inputs.values() if value.dtype == np.float32]
        if not floats or not all(np.isfinite(value).all() for value in floats):
            raise NotQuantisedError("no input is float32, or one is not finite")
        self._is_canary = subject.instance in canaries(subject.route.library)
        with saved_model.unpacked(subject.data) as folder:
            try:
                self._plain = bytes(self._lite.TFLiteConverter.from_saved_model(folder).convert())
            except Exception as error:
                raise NotQuantisedError("the float model is not converted") from error
            if self._is_canary:  # which asks for products of float32
                return self._plain
            converter = self._lite.TFLiteConverter.from_saved_model(folder)
            converter.optimizations = [self._lite.Optimize.DEFAULT]
            converter.representative_dataset = lambda: iter([subject.inputs])
            converter.target_spec.supported_ops = [self._lite.OpsSet.TFLITE_BUILTINS_INT8]
            self._model = bytes(converter.convert())
        return self._model

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        """The float model's results where the quantised model is as near to it as it can be; else its own."""
        found = super().run(compiled, subject, stage)
        if self._is_canary:
            return found
        simulated = _Simulation(self._model, self._plain)
        try:
            plain = self._results(self._plain, subject.inputs, subject)
            same = self._results(simulated.model, simulated.inputs(subject.inputs), subject)
        except (RuntimeError, ValueError) as error:
            raise NotQuantisedError(str(error)) from error
        pairs = zip(found, same, plain, simulated.scales, strict=True)
        return [judged(as_array(one), as_array(two), as_array(three), scale) for one, two, three, scale in pairs]

    def _results(self, model: bytes, inputs: Mapping[str, Any], subject: Subject) -> Outputs:
        reference = self._lite.experimental.OpResolverType.BUILTIN_REF
        interpreter = self._lite.Interpreter(model_content=model, num_threads=1, experimental_op_resolver_type=reference)
        interpreter.allocate_tensors()
        runner = interpreter.get_signature_runner()
        wanted = runner.get_input_details()
        return saved_model.in_order(runner(**{name: value for name, value in inputs.items() if name in wanted}))


class _Simulation:
    """The float model with the numbers of a quantised model.

    Attributes:
        model: It.
        scales: The step of each output, in the library's order; 0 for one that has none.
    """

    def __init__(self, quantised: bytes, plain: bytes) -> None:
        """Raises `NotQuantisedError` where they are not the same but for one operator with its scales."""
        tools: Any = importlib.import_module("tensorflow.lite.tools.flatbuffer_utils")
        self._quantised, other = (tools.convert_bytearray_to_object(bytearray(each)) for each in (quantised, plain))
        (one,), (two,) = (_computing(each) for each in (self._quantised, other))
        tensors, others = self._quantised.subgraphs[0].tensors, other.subgraphs[0].tensors
        for mine, its in zip(one.inputs, two.inputs, strict=False):
            if mine < 0 or its < 0:
                continue
            stored, buffer = self._quantised.buffers[tensors[mine].buffer].data, other.buffers[others[its].buffer]
            if stored is not None and len(stored) and _scale(tensors[mine]) is not None and others[its].type == 0:
                dtype = _STORED.get(tensors[mine].type)
                if dtype is None:
                    raise NotQuantisedError("a weight is stored in another type")
                value = _real(np.frombuffer(bytes(stored), dtype).reshape(tensors[mine].shape), tensors[mine])
                if buffer.data is None or len(buffer.data) != value.nbytes:
                    raise NotQuantisedError("the float model has other weights")
                buffer.data = np.frombuffer(value.tobytes(), np.uint8)
        self.model = bytes(tools.convert_object_to_bytearray(other))
        made = {output: each for each in self._quantised.subgraphs[0].operators for output in each.outputs}
        signature = {each.name.decode(): each.tensorIndex for each in self._quantised.signatureDefs[0].outputs}
        self.scales: list[float] = []
        for index in saved_model.in_order(signature):
            source = made[index].inputs[0] if index in made and _name(self._quantised, made[index]) == "DEQUANTIZE" else index
            steps = _scale(tensors[source])
            self.scales.append(0.0 if steps is None else float(steps[0]))

    def inputs(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """*given* rounded as the quantised model does."""
        graph = self._quantised.subgraphs[0]
        names = {each.tensorIndex: each.name.decode() for each in self._quantised.signatureDefs[0].inputs}
        found = dict(given)
        for each in graph.operators:
            if _name(self._quantised, each) == "QUANTIZE" and each.inputs[0] in names:
                name, tensor = names[each.inputs[0]], graph.tensors[each.outputs[0]]
                steps, zero = _scale(tensor)[0], tensor.quantization.zeroPoint[0]
                value = given[name] / steps
                whole = np.trunc(value + np.copysign(np.float32(0.5), value)) + zero
                found[name] = ((np.clip(whole, -128, 127) - zero) * steps).astype(np.float32)
        return found


def _computing(model: Any) -> list[Any]:
    """The only operator of *model* that computes."""
    found = [each for each in model.subgraphs[0].operators if _name(model, each) not in _MOVES]
    if len(found) != 1 or len(model.subgraphs) != 1:
        raise NotQuantisedError("no single operator")
    return found


def _name(model: Any, operator: Any) -> str:
    tflite: Any = importlib.import_module("tflite")
    code = model.operatorCodes[operator.opcodeIndex]
    number = max(code.builtinCode, code.deprecatedBuiltinCode)
    return next(name for name, value in vars(tflite.BuiltinOperator).items() if value == number)


def _scale(tensor: Any) -> Any:
    """The steps of *tensor*; None where it has none."""
    return None if tensor.quantization is None or tensor.quantization.scale is None else np.asarray(tensor.quantization.scale, np.float32)


def _real(whole: Array, tensor: Any) -> Array:
    sizes = [-1 if place == tensor.quantization.quantizedDimension else 1 for place in range(whole.ndim)]
    steps, zero = (np.asarray(each).reshape(sizes if len(each) > 1 else ()) for each in (_scale(tensor), tensor.quantization.zeroPoint))
    return ((whole.astype(np.float64) - zero) * steps).astype(np.float32)


def judged(found: Array, simulated: Array, plain: Array, scale: float) -> Array:
    """*plain* where *found* is at most two steps of *scale* from *simulated*, which integers have to equal; else *found*."""
    if found.shape != simulated.shape or found.dtype != simulated.dtype or plain.shape != found.shape:
        return found
    wide = found.astype(np.float64) - simulated.astype(np.float64) if found.dtype.kind == "f" else np.where(found == simulated, 0, 1)
    return np.where(np.abs(wide) <= _STEPS * scale, plain, found)
