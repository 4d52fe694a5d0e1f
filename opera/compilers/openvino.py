"""OpenVINO on the CPU: ONNX, TFLite and SavedModel files, exported PyTorch programs and traced PyTorch modules."""

from __future__ import annotations

import importlib
import io
import re
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from opera.arrays import Array, Outputs, Signature, dtype_name, pack, unpack
from opera.compilers import litert_format, onnx_format, saved_model, watching
from opera.compilers.adapter import REJECTS, Adapter, CannotFeed, Fork, Route, Stage, Subject, UnsupportedRule, on_backend, rejecting
from opera.compilers.torch_format import decomposed_by_compiler, operators_of, saved_program
from opera.oracles.verdict import Failure

_TYPES = {
    "bool": "boolean", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64",
    "uint64": "u64", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2", "float8_e8m0fnu": "f8e8m0", "int4": "i4", "uint4": "u4", "uint2": "u2",
    "float4_e2m1fn": "f4e2m1", "string": "string",
}  # fmt: skip
_DECLINES = (
    r"(?i)\b(is|are) not (yet )?(supported|implemented)\b|\bdo(es)?(n't| not) support(ed)?\b|\bunsupported\b"
    r"|\bsupported only\b|\bonly [\w ,]*(is |are )?supported\b|\bUnexpected value of \w+\b"
    r"|\brequires static dimension\b|\bcannot operate with dynamic shapes\b"
)
_FAILURES = ("openvino.frontend.OpConversionFailure", "openvino._pyopenvino.OpConversionFailure", "RuntimeError")

_VALIDATION = (
    r"\bWhile validating (ONNX )?node\b|\bConversion is failed for\b|\bCheck '.*' failed at src/(core|frontends)/|\bnode with name '.*' "
)
"""What it says where a node does not fit its arguments: its core, a frontend, or the node of its CPU plugin."""
_ONNX = ("onnx", REJECTS)
"""Routes on which it reads an ONNX model itself."""
_COMPLEX_RESULT = r"(?m)^-- ComplexTypeMark with a message:\nThis is OpenVINO internal type\. Consumer: opset\d+::Result\b"
"""It computes with pairs of numbers inside a model, and has no complex numbers to give out."""


class OpenVinoAdapter(Adapter):
    """OpenVINO's frontends, run in float32 on one thread."""

    name = "openvino"
    revision = 2
    routes = (
        Route("pytorch", "exported-program", "exported-program"),
        Route("pytorch", "torchscript", "torchscript"),
        Route("onnx", "onnx", "onnx"),
        Route("keras", "exported-program", "exported-program", environment=on_backend("torch")),
        Route("keras", "torchscript", "torchscript", environment=on_backend("torch")),
        Route("keras", "saved-model", "saved-model", environment=on_backend("tensorflow")),
        Route("keras", "onnx", "onnx", environment=on_backend("torch")),
        Route("tensorflow", "saved-model", "saved-model", environment=on_backend("tensorflow")),
        Route("tflite", "litert", "tflite", library="tensorflow", environment=on_backend("tensorflow")),
        rejecting("onnx"),
    )
    packages = ("openvino>=2024.0",)
    fork = Fork.STARTED
    project = ("openvino.frontend.", "openvino._ov_api")  # the importers; `openvino.tools` calls them
    issue_form = "openvino"
    target = "CPU"
    test_tolerances = dict.fromkeys(("onnx", "pytorch", "tensorflow"), (1e-4, 1e-4))  # tests/layer_tests
    housekeeping = {"TF_BUILD": "opera"}  # sends no telemetry: OpenVINO takes this for a build of a CI service, where it sends none
    message_noise = (
        r"Check 'false' failed at .*:",
        r"Exception from .*:\d+:",
        r"FrontEnd API failed with .*:?",
        r"Model wasn't fully converted.*",
        r"-- .* with a message:",
        r"Summary:",
        r"-- Conversion is failed for: .*",
        r"While validating .*",
        r"Exception happened during conversion of operation .*",
        r"This is OpenVINO internal type\..*",
    )
    message_prefixes = (r"Check '.*' failed at \S+:\d+:\s*",)
    computes_as = {"float64": "float32", "int64": "int32", "uint64": "int32", "uint32": "int32"}
    unsupported = (
        UnsupportedRule(_FAILURES, "no-converter", pattern=r"No conversion rule found for operations?: "),
        UnsupportedRule(_FAILURES, "no-converter", pattern=r"(?m)^No translator found for \w+ node\.$"),
        UnsupportedRule(_FAILURES, "no-converter", pattern=r"OpenVINO does not support the following ONNX operations: "),
        UnsupportedRule(_FAILURES, "not-implemented", r"(?m)^(Exception caught:.*|.*: )?Not Implemented", stages=("load", "codegen")),
        UnsupportedRule(_FAILURES, "declined", _DECLINES, stages=("load", "codegen")),
        UnsupportedRule(_FAILURES, "not-constant", r"\bmust be a (scalar or Shape\{1\} )?constant\b"),
        UnsupportedRule(_FAILURES, "not-constant", r"\bcannot be folded to Constant for node "),
        UnsupportedRule(_FAILURES, "dtype", r"(?m)^Encountered unknown element type \w+$"),
        UnsupportedRule(_FAILURES, "dtype", r"(?m)^Unexpected type: COMPLEX\d+$"),
        UnsupportedRule(_FAILURES, "dtype", r"\bBad format for f8 conversion type\b"),
        UnsupportedRule(_FAILURES, "dtype", _COMPLEX_RESULT),
    )

    rejections = (UnsupportedRule(_FAILURES, "rejected", _VALIDATION, stages=("load", "codegen")),)

    def start(self) -> Mapping[str, str]:
        self._ov: Any = importlib.import_module("openvino")
        self._core = self._ov.Core()
        if "CPU" not in self._core.available_devices:
            raise RuntimeError("OpenVINO has no CPU device here; reinstall it with `pip install openvino`")
        self._properties = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": "1"}
        return {"openvino": str(self._ov.__version__), "device": "CPU", "precision": "f32"}

    def load(self, subject: Subject, stage: Stage) -> Any:
        with _excused(subject):
            return self._read(subject)

    def _read(self, subject: Subject) -> Any:
        self._fed: Mapping[str, Array] = subject.inputs
        if subject.route.name in _ONNX:
            return self._core.read_model(subject.data, self._ov.Tensor(self._ov.Type.u8, self._ov.Shape([0])))
        if subject.route.name == "litert":
            with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
                file.write(subject.data)
                file.flush()
                return self._core.read_model(file.name)
        if subject.route.name == "saved-model":
            self._folder = saved_model.unpacked(subject.data)  # kept: weights are read from it when the model is compiled
            return self._ov.convert_model(self._folder.name)
        torch: Any = importlib.import_module("torch")
        captured = torch.jit.load(io.BytesIO(subject.data)) if subject.route.name == "torchscript" else saved_program(subject)
        shapes = [self._ov.PartialShape(list(value.shape)) for value in subject.inputs.values()]
        if subject.route.name == "torchscript":  # a trace does not tell the types of its inputs
            types = [getattr(self._ov.Type, _TYPES[dtype_name(value.dtype)], None) for value in subject.inputs.values()]
            return self._ov.convert_model(captured, input=list(zip(shapes, types, strict=True)))
        names = list(captured.graph_signature.user_inputs)
        if len(names) == len(shapes):
            self._fed = dict(zip(names, subject.inputs.values(), strict=True))
            programs: Any = importlib.import_module("opera.templates.pytorch.programs")
            shapes = [self._ov.PartialShape(each) for each in programs.open_shapes(captured)]
        with decomposed_by_compiler(subject):
            try:
                return self._ov.convert_model(captured, input=dict(zip(self._fed, shapes, strict=True)))
            except Exception as error:
                if "was set to non-existent input" not in str(error):
                    raise
                return self._ov.convert_model(captured)  # an input of which only type or shape is used was pruned

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        stage("codegen")
        with _excused(subject):
            return self._core.compile_model(loaded, "CPU", self._properties)

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        self._outputs = len(compiled.outputs)
        request = self._request(compiled, subject)
        request.infer()
        return [self._array(request.get_output_tensor(place)) for place in _places(compiled, subject)]

    def signature(self, compiled: Any, subject: Subject) -> Signature:
        self._outputs = len(compiled.outputs)
        ports = [compiled.outputs[place] for place in _places(compiled, subject)]
        return [(_dtype_of(port.get_element_type().get_type_name()), _sizes(port.get_partial_shape())) for port in ports]

    def prepared(self, compiled: Any, subject: Subject) -> Callable[[], object]:
        return self._request(compiled, subject).infer

    def _request(self, compiled: Any, subject: Subject) -> Any:
        """A request whose inputs are set."""
        request = compiled.create_infer_request()
        values = list(subject.inputs.values())
        for index, port in enumerate(compiled.inputs):
            own = port.get_names()
            names = ({litert_format.input_name(name) for name in own} if subject.route.name == "litert" else own) & set(self._fed)
            value = self._fed[min(names)] if names else values[index]
            request.set_input_tensor(index, self._tensor(value))
        return request

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
        name = _dtype_of(kind)
        if name is None:
            raise CannotFeed(f"OpenVINO's Python API gives no array of {kind}")
        return unpack(tensor.data.tobytes(), name, tuple(tensor.get_shape()))

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The operator that OpenVINO's message names, else the operator of the model; where outputs are lost, what OpenVINO calls them."""
        if failure is None and self._outputs < subject.outputs:
            return "Result"
        message = str((failure or {}).get("message", ""))
        named = (
            re.search(r"<Node\((\w+)\)", message)
            or re.search(r"(?m)^-- (\w+) with a message:$(?!\nThis is OpenVINO internal type)", message)
            or re.search(r"(?m)^No translator found for (\w+) node\.$", message)
            or re.search(r"\b(aten::\w+)", message)
            or re.search(r"\baten\.(\w+(?:\.\w+)?)", message)
            or re.search(r"ONNX node '?(\w+)", message)
        )
        if named is not None:
            return named[1]
        if subject.route.name in _ONNX:
            return onnx_format.operator_of(subject)
        if subject.route.name == "exported-program":
            return operators_of(subject)
        if subject.route.name == "litert":
            return litert_format.operators_of(subject)
        return subject.instance.operator

    def converters(self, subject: Subject) -> Sequence[str]:
        """The operators of an ONNX model: OpenVINO has a converter for each of them."""
        return onnx_format.operators_in(subject.data) if subject.route.name in _ONNX else super().converters(subject)

    def watched(self, scratch: Path) -> AbstractContextManager[dict[str, None]]:
        return watching.of_openvino(scratch)


def _places(compiled: Any, subject: Subject) -> list[int]:
    """Where each of the library's outputs is among those of the compiled model."""
    if subject.route.name == "saved-model":
        return saved_model.output_places([sorted(port.get_names()) for port in compiled.outputs])
    return list(range(len(compiled.outputs)))


def _dtype_of(kind: str) -> str | None:
    """The dtype that OpenVINO calls *kind*."""
    return next((name for name, short in _TYPES.items() if short == kind), None)


def _sizes(shape: Any) -> list[int | None] | None:
    if shape.rank.is_dynamic:
        return None
    return [None if size.is_dynamic else int(size.get_length()) for size in shape]


@contextmanager
def _excused(subject: Subject) -> Generator[None]:
    """Raises `CannotFeed` in place of an exception where an input has a dtype that OpenVINO does not know: no model of it can run."""
    try:
        yield
    except Exception as error:
        arrays = [value for value in subject.inputs.values() if value is not None and not isinstance(value, list)]
        foreign = {name for array in arrays if (name := dtype_name(array.dtype)) not in _TYPES}
        if foreign:
            raise CannotFeed(f"OpenVINO's Python API takes no {', '.join(sorted(foreign))} array") from error
        raise
