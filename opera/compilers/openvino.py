"""OpenVINO on the CPU: ONNX models, exported PyTorch programs and traced PyTorch modules."""

from __future__ import annotations

import importlib
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from opera.compilers import onnx_format
from opera.compilers.adapter import Adapter, CannotFeed, Fork, Route, Stage, Subject, UnsupportedRule
from opera.compilers.torch_format import operators_of
from opera.models.arrays import Array, dtype_name, pack, unpack

_TYPES = {
    "bool": "boolean", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64",
    "uint64": "u64", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2", "float8_e8m0fnu": "f8e8m0", "int4": "i4", "uint4": "u4", "uint2": "u2",
    "float4_e2m1fn": "f4e2m1", "string": "string",
}  # fmt: skip
_DECLINES = r"(?i)\b(is|are) not (yet )?(supported|implemented)\b|\bdo(es)?(n't| not) support\b|\bunsupported\b|\bis only supported\b"
_FAILURES = ("openvino.frontend.OpConversionFailure", "openvino._pyopenvino.OpConversionFailure", "RuntimeError")


class OpenVinoAdapter(Adapter):
    """OpenVINO's frontends, run in float32 on one thread."""

    name = "openvino"
    routes = (
        Route("pytorch", "exported-program", "exported-program"),
        Route("pytorch", "torchscript", "torchscript"),
        Route("onnx", "onnx", "onnx"),
    )
    packages = ("openvino",)
    fork = Fork.STARTED
    project = ("openvino.", "openvino/", "src/")
    computes_as = {"float64": "float32", "int64": "int32", "uint64": "int32", "uint32": "int32"}
    unsupported = (
        UnsupportedRule(_FAILURES, "no-converter", pattern=r"No conversion rule found for operations?: "),
        UnsupportedRule(_FAILURES, "no-converter", pattern=r"OpenVINO does not support the following ONNX operations: "),
        UnsupportedRule(_FAILURES, "not-implemented", r"(?m)^(Exception caught:.*|.*: )?Not Implemented", stages=("load", "codegen")),
        UnsupportedRule(_FAILURES, "declined", _DECLINES, stages=("load", "codegen")),
        UnsupportedRule(("torch._subclasses.fake_tensor.UnsupportedOperatorException",), "not-decomposable"),
        UnsupportedRule(_FAILURES, "not-constant", r"\bmust be a (scalar or Shape\{1\} )?constant\b"),
    )

    def start(self) -> Mapping[str, str]:
        self._ov: Any = importlib.import_module("openvino")
        self._core = self._ov.Core()
        if "CPU" not in self._core.available_devices:
            raise RuntimeError("OpenVINO has no CPU device here; reinstall it with `pip install openvino`")
        self._properties = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": "1"}
        return {"openvino": str(self._ov.__version__), "device": "CPU", "precision": "f32"}

    def load(self, subject: Subject, stage: Stage) -> Any:
        if subject.route.name == "onnx":
            return self._core.read_model(subject.data, self._ov.Tensor(self._ov.Type.u8, self._ov.Shape([0])))
        torch: Any = importlib.import_module("torch")
        buffer = io.BytesIO(subject.data)
        captured = torch.jit.load(buffer) if subject.route.name == "torchscript" else torch.export.load(buffer)
        shapes = [self._ov.PartialShape(list(value.shape)) for value in subject.inputs.values()]
        if subject.route.name == "torchscript":  # a trace does not tell the types of its inputs
            types = [getattr(self._ov.Type, _TYPES[dtype_name(value.dtype)], None) for value in subject.inputs.values()]
            return self._ov.convert_model(captured, input=list(zip(shapes, types, strict=True)))
        try:
            return self._ov.convert_model(captured, input=shapes)
        except Exception as error:
            if "was set to non-existent input" not in str(error):
                raise
            return self._ov.convert_model(captured)  # an input of which only type or shape is used was pruned

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        stage("codegen")
        return self._core.compile_model(loaded, "CPU", self._properties)

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Sequence[Any]:
        request = compiled.create_infer_request()
        values = list(subject.inputs.values())
        for place, port in enumerate(compiled.inputs):
            names = port.get_names() & set(subject.inputs)
            value = subject.inputs[min(names)] if names else values[place]
            request.set_input_tensor(place, self._tensor(value))
        request.infer()
        return [self._array(request.get_output_tensor(place)) for place in range(len(compiled.outputs))]

    def _tensor(self, value: Array) -> Any:
        name = dtype_name(value.dtype)
        if name == "string":
            return self._ov.Tensor(value.astype(str))
        if name not in _TYPES:
            raise CannotFeed(f"OpenVINO's Python API takes no {name} array")
        tensor = self._ov.Tensor(getattr(self._ov.Type, _TYPES[name]), self._ov.Shape(list(value.shape)))
        if value.size:
            np: Any = importlib.import_module("numpy")
            tensor.data.reshape(-1).view(np.uint8)[:] = np.frombuffer(pack(value), np.uint8)
        return tensor

    def _array(self, tensor: Any) -> Array:
        kind = tensor.get_element_type().get_type_name()
        if kind == "string":
            return tensor.str_data.astype(object)
        name = next((name for name, short in _TYPES.items() if short == kind), None)
        if name is None:
            raise CannotFeed(f"OpenVINO's Python API gives no array of {kind}")
        return unpack(tensor.data.tobytes(), name, tuple(tensor.get_shape()))

    def converter(self, subject: Subject, failure: Mapping[str, Any] | None) -> str:
        """The operator that OpenVINO's message names, else the operator of the model."""
        message = str((failure or {}).get("message", ""))
        named = (
            re.search(r"<Node\((\w+)\)", message) or re.search(r"\b(aten(?:::|\.)\w+)", message) or re.search(r"ONNX node '?(\w+)", message)
        )
        if named is not None:
            return named[1]
        if subject.route.name == "onnx":
            return onnx_format.operator_of(subject)
        if subject.route.name == "exported-program":
            return operators_of(subject)
        return subject.instance.operator
