"""NVIDIA TensorRT, and TensorRT for RTX: ONNX models, and PyTorch modules by way of torch.onnx.

TensorRT for RTX builds engines on any machine. Without a GPU that it can use, a test ends with the engine, and the signature of the network
is compared; with one, the engine also runs.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from opera.arrays import Array, Outputs, dtype_name, numpy_dtype, pack
from opera.compilers import onnx_format
from opera.compilers.adapter import Adapter, CannotFeed, Fork, Route, Signature, Stage, Subject, UnsupportedRule
from opera.extensions.tensorrt import card, script
from opera.extensions.tensorrt.memory import Memory
from opera.models import onnx_inputs
from opera.oracles.verdict import Failure

_MODULES = ("tensorrt", "tensorrt_rtx", "tensorrt_rtx_bindings")
_TYPES = {
    "FLOAT": "float32",
    "HALF": "float16",
    "BF16": "bfloat16",
    "INT8": "int8",
    "UINT8": "uint8",
    "INT32": "int32",
    "INT64": "int64",
    "BOOL": "bool",
    "FP8": "float8_e4m3fn",
    "INT4": "int4",
    "FP4": "float4_e2m1fn",
    "E8M0": "float8_e8m0fnu",
}
_NARROWED = {"float64": "float32"}
"""TensorRT's ONNX parser casts double down to float, as its documentation says."""
_WORKSPACE = 2**30
_NONE = "-1"
"""The value of CUDA_VISIBLE_DEVICES that hides every GPU from the library, which otherwise refuses to build for one that it cannot use."""
_MOST_NAMED = 3
_MOST_LINES = 5
_NO_DRIVER = r".*cudaError 35.*"
"""What TensorRT for RTX logs in addition to any error where there is no driver."""
_EMPTY = rf"Invalid Node - .*|{_NO_DRIVER}"
"""Lines that give no reason."""


_BUILDING = ("load", "codegen")
_REJECTED = (f"{__name__}.Rejected",)
_UNSUPPORTED = (f"{__name__}.Unsupported",)
_WRONG_TYPE = (
    r"\b(requires inputs with type|must have type) |\bUnsupported data type\b|\binvalid weights type of \w+"
    r"|\bbut is not (produced|consumed) by I\w+Layer\b"
    r"|\bmust have same input types\. But they are of types (\w+ and )?UInt8\b"  # DataType: uint8 is for inputs and outputs of a network
)
_DECLINES = (
    r"\b(is|are) (currently )?not supported\b|\bTensorRT only supports\b|\b4-bit quantization requie?s an even number of elements\b"
    # the documentation of IAttention, IIfConditional and of quantised types
    r"|\bOption mask cannot be used together with CausalMaskKind other than kNONE\b"
    r"|\bMust have inputs with equal ranks when condition is not a build-time constant\b"
    r"|\bQuantized constant .* is only allowed before DQ\b"
    r"|\bK exceeds the maximum value allowed\b"  # ITopKLayer: only values up to 3840 are supported
)
_NO_KERNEL = r"\bCould not find any implementation for node\b|\bnot supported by a dedicated kernel\b|\bhas no runners that implement it\b"


class Rejected(Exception):
    """The parser or the builder gave no network or no engine; the message has what they logged."""


class Unsupported(Rejected):
    """The parser's error code begins with UNSUPPORTED."""


class TensorRtAdapter(Adapter):
    """TensorRT's ONNX parser, builder and runtime; TF32 off, so that float32 means float32."""

    name = "tensorrt"
    revision = 3
    routes = (Route("onnx", "onnx", "onnx"), Route("pytorch", "onnx", "onnx"))
    devices = ("cpu", "cuda")
    packages = ("tensorrt-rtx-cu13-bindings>=1.4,<2 | tensorrt>=10.0,<12", "onnx>=1.19")
    levels = ("3", "0", "5")
    lowest_level = "0"
    fork = Fork.STARTED
    project = ("tensorrt.", "tensorrt/")
    computes_as = _NARROWED
    reproducer = {"onnx": script.ONNX, "pytorch": script.PYTORCH}
    message_noise = (_NO_DRIVER, r"Invalid Node - .*")
    unsupported = (
        UnsupportedRule(_UNSUPPORTED, "no-converter"),
        UnsupportedRule(_REJECTED, "no-converter", r"(?i)\bplugin not found\b|\bfailed to load \w+ plugin\b"),
        UnsupportedRule(_REJECTED, "no-converter", r": UNSUPPORTED_\w+: "),
        UnsupportedRule(_REJECTED, "dtype", _WRONG_TYPE, stages=_BUILDING),
        UnsupportedRule(_REJECTED, "not-constant", r"\baxis is not a constant\b|\bwhich is not an initializer\b", stages=_BUILDING),
        UnsupportedRule(_REJECTED, "declined", _DECLINES, stages=_BUILDING),
        UnsupportedRule(_REJECTED, "no-kernel", _NO_KERNEL, stages=("codegen",)),
    )

    def start(self) -> Mapping[str, str]:
        names = [each for each in _MODULES if importlib.util.find_spec(each) is not None]
        if not names:
            raise RuntimeError("neither TensorRT nor TensorRT for RTX is installed; `opera env create tensorrt` installs the latter")
        gpu, capability, why = card.found()
        name = names[-1] if why else names[0]
        if name == "tensorrt" and why:
            raise RuntimeError(f"{why}; without a GPU only TensorRT for RTX builds engines, which `opera env create tensorrt` installs")
        if why:
            os.environ["CUDA_VISIBLE_DEVICES"] = _NONE
        self._trt: Any = importlib.import_module(name)
        _check_libraries(str(self._trt.__version__))
        if not why and (why := _refusal(self._trt, gpu, capability)):
            os.environ["CUDA_VISIBLE_DEVICES"] = _NONE
        self._card: card.Driver | None = None  # set up in the first run: before, this process may be copied
        self.builds_only = why
        self._logger = _make_logger(self._trt)
        self._level = int(self.options.get("level", self.levels[0]))
        level = str(self._level)
        return {name: str(self._trt.__version__), "gpu": gpu or "none", "precision": "as the model says, no TF32", "level": level}

    def load(self, subject: Subject, stage: Stage) -> Any:
        self._logger.lines.clear()
        builder = self._trt.Builder(self._logger)
        network = builder.create_network(1 << int(self._trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
        parser = self._trt.OnnxParser(network, self._logger)
        if not parser.parse(subject.data):
            errors = [parser.get_error(index) for index in range(parser.num_errors)]
            codes = [str(error.code()).rpartition(".")[2] for error in errors]
            texts = dict.fromkeys(_told(error, code) for code, error in zip(codes, errors, strict=True))
            raise (Unsupported if any(code.startswith("UNSUPPORTED") for code in codes) else Rejected)(
                "\n".join(texts) or self._log("no network")
            )
        return builder, network, onnx_format.parse(subject.data)

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        builder, network, model = loaded
        feeds = onnx_inputs.feeds(model, subject.inputs)
        stage("codegen")
        config = builder.create_builder_config()
        config.set_memory_pool_limit(self._trt.MemoryPoolType.WORKSPACE, _WORKSPACE)
        config.clear_flag(self._trt.BuilderFlag.TF32)
        config.builder_optimization_level = self._level
        self._profile(builder, network, config, feeds)
        plan = builder.build_serialized_network(network, config)
        if plan is None:
            raise Rejected(self._log("the builder gave no engine"))
        return plan, network, feeds, [entry.type.tensor_type.elem_type for entry in model.graph.output]

    def _profile(self, builder: Any, network: Any, config: Any, feeds: Mapping[str, Any]) -> None:
        """Tells the builder the shapes of inputs that leave them open, and the values of inputs that are shapes."""
        profile = builder.create_optimization_profile()
        needed = False
        for entry in (network.get_input(index) for index in range(network.num_inputs)):
            value: Array = _fed(feeds, entry.name)
            if entry.is_shape_tensor:
                profile.set_shape_input(entry.name, *[value.reshape(-1).tolist()] * 3)
                needed = True
            elif any(size < 0 for size in entry.shape):
                profile.set_shape(entry.name, *[value.shape] * 3)
                needed = True
        if needed:
            config.add_optimization_profile(profile)

    def signature(self, compiled: Any, subject: Subject) -> Signature:
        """The outputs of the network, each in the dtype that the model declares where TensorRT has narrowed it."""
        _, network, _, elements = compiled
        outputs = [network.get_output(index) for index in range(network.num_outputs)]
        names = [_TYPES.get(str(each.dtype).rpartition(".")[2]) for each in outputs]
        declared = [_declared(element) for element in elements] if len(elements) == len(outputs) else [None] * len(outputs)
        types = [wanted if wanted and _NARROWED.get(wanted) == name else name for name, wanted in zip(names, declared, strict=True)]
        return list(zip(types, map(_shape, outputs), strict=True))

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        plan, _, feeds, elements = compiled
        self._card = self._card or card.Driver()
        self._card.use()
        runtime = self._trt.Runtime(self._logger)
        engine = runtime.deserialize_cuda_engine(plan)
        if engine is None:
            raise Rejected(self._log("the engine cannot be read back"))
        context = engine.create_execution_context()
        if context is None:
            raise Rejected(self._log("there is no execution context"))
        memory = Memory(self._card)
        try:
            names = [engine.get_tensor_name(index) for index in range(engine.num_io_tensors)]
            outputs = [name for name in names if engine.get_tensor_mode(name) == self._trt.TensorIOMode.OUTPUT]
            kept = [self._feed(engine, context, name, _fed(feeds, name), memory) for name in names if name not in outputs]
            allocators = {name: _make_allocator(self._trt, memory) for name in outputs}
            for name, allocator in allocators.items():
                context.set_output_allocator(name, allocator)
            if not context.execute_async_v3(memory.stream):
                raise Rejected(self._log("the engine does not run"))
            memory.wait()
            kept.clear()
            arrays = [self._fetch(engine, name, allocators[name], memory) for name in outputs]
        finally:
            memory.free()
        return [_in_declared_dtype(array, element) for array, element in zip(arrays, elements, strict=True)]

    def _fetch(self, engine: Any, name: str, allocator: Any, memory: Memory) -> Array:
        dtype = _TYPES.get(str(engine.get_tensor_dtype(name)).rpartition(".")[2])
        if dtype is None:
            raise CannotFeed("TensorRT gives an output of a type that numpy and ml_dtypes lack")
        return memory.fetch(allocator.address, dtype, allocator.shape)

    def _feed(self, engine: Any, context: Any, name: str, value: Any, memory: Memory) -> Array:
        """Hands one input over; what is returned must live until the engine has run, for shapes are read from the host."""
        kind = _TYPES.get(str(engine.get_tensor_dtype(name)).rpartition(".")[2])
        if kind is None or value is None or isinstance(value, list):
            raise CannotFeed(f"TensorRT takes no such input: {name}")
        array: Array = value
        if _NARROWED.get(dtype_name(array.dtype)) == kind:
            array = array.astype(numpy_dtype(kind))
        if dtype_name(array.dtype) != kind:
            raise CannotFeed(f"TensorRT wants {kind} for {name}, a {dtype_name(array.dtype)} tensor")
        context.set_input_shape(name, array.shape)
        if engine.is_shape_inference_io(name):
            array = array.copy()
            context.set_tensor_address(name, array.ctypes.data)
        else:
            context.set_tensor_address(name, memory.upload(pack(array)))
        return array

    def _log(self, otherwise: str) -> str:
        """The last errors that TensorRT logged, its own reason first; *otherwise* if it logged none."""
        lines = [line for line in self._logger.lines if not re.fullmatch(_NO_DRIVER, line, re.DOTALL)]
        return "\n".join(lines[-_MOST_LINES:]) or otherwise

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The operator that the parser names, else those of the model."""
        named = re.match(r"(\w+): .* \[\w+\]$", str((failure or {}).get("message", "")), re.MULTILINE)
        if named is not None and named[1] != "model":
            return named[1]
        if subject.route.library == "onnx":
            return onnx_format.operator_of(subject)
        names = list(dict.fromkeys(str(node.op_type) for node in onnx_format.parse(subject.data).graph.node))
        return "+".join(names) if len(names) <= _MOST_NAMED else f"{subject.instance.operator} (exported)"


def _check_libraries(version: str) -> None:
    """Raises RuntimeError where the libraries are of another version than the bindings, which their package does not check."""
    installed = {each.name.lower().replace("-", "_"): each.version for each in metadata.distributions()}
    others = {name: found for name, found in installed.items() if re.fullmatch(r"tensorrt(_rtx)?(_cu\d+)?_libs", name) and found != version}
    for name, found in others.items():
        raise RuntimeError(f"{name} {found} does not fit the bindings {version}; `opera env create tensorrt --again` installs both alike")


def _refusal(trt: Any, gpu: str, capability: int) -> str:
    """Why the library does not take the GPU; empty if it does. TensorRT for RTX has names for the compute capabilities that it takes."""
    names = getattr(getattr(trt, "ComputeCapability", None), "__members__", {})
    taken = sorted(int(name[2:]) for name in names if re.fullmatch(r"SM\d+", name))
    if not taken or capability in taken:
        return ""
    listed = ", ".join(str(each / 10) for each in taken)
    return f"{gpu} has compute capability {capability / 10}, and TensorRT for RTX takes {listed}; the package `tensorrt` takes others"


def _shape(tensor: Any) -> tuple[int | None, ...] | None:
    """The shape of a tensor of the network, None for a size that is not known; None if its rank is not known."""
    try:
        return tuple(None if size < 0 else int(size) for size in tensor.shape)
    except RuntimeError:  # "Could not get tensor shape."
        return None


def _fed(feeds: Mapping[str, Any], name: str) -> Any:
    """The value of an input that TensorRT asks for."""
    if name not in feeds:
        raise Rejected(f"the network asks for an input that the model does not have: {name!r}")
    return feeds[name]


def _make_logger(trt: Any) -> Any:
    """A logger that keeps errors. Its base class exists only where TensorRT does."""

    class Logger(trt.ILogger):
        def __init__(self) -> None:
            trt.ILogger.__init__(self)
            self.lines: list[str] = []

        def log(self, severity: Any, msg: str) -> None:
            if severity in (trt.ILogger.Severity.INTERNAL_ERROR, trt.ILogger.Severity.ERROR):
                self.lines.append(msg)

    return Logger()


def _make_allocator(trt: Any, memory: Memory) -> Any:
    """Memory for one output, whose shape may be known only while the engine runs."""

    class Allocator(trt.IOutputAllocator):
        def __init__(self) -> None:
            trt.IOutputAllocator.__init__(self)
            self.address = 0
            self.shape: tuple[int, ...] = ()

        def reallocate_output_async(self, tensor_name: str, memory_address: Any, size: int, alignment: int, stream: Any) -> int:
            self.address = memory.allocate(size)
            return self.address

        def notify_shape(self, tensor_name: str, shape: Any) -> None:
            self.shape = tuple(int(size) for size in shape)

    return Allocator()


def _told(error: Any, code: str) -> str:
    """What the parser says of an error: TensorRT's own reason first, with the operator at which the parser stopped.

    The name of its node is left out: it says nothing of the error, and each exported model has its own.
    """
    names = "|".join(filter(None, (re.escape(error.node_name()), "node_of_")))
    text = re.sub(rf"(\(|\bnode )(?:{names})\w*", r"\1node", error.desc())
    lines = [line for line in text.splitlines() if line.strip()]
    reason, *rest = [line for line in lines if not re.fullmatch(_EMPTY, line)] or lines or ["no reason"]
    return "\n".join([f"{error.node_operator() or 'model'}: {reason} [{code}]", *rest])


def _declared(element: int) -> str | None:
    """The dtype of a type of ONNX; None of one that is no tensor's."""
    onnx: Any = importlib.import_module("onnx")
    return dtype_name(onnx.helper.tensor_dtype_to_np_dtype(element)) if element else None


def _in_declared_dtype(array: Array, element: int) -> Array:
    """An output in the dtype that the model declares, where TensorRT has narrowed it."""
    declared = _declared(element)
    return array.astype(numpy_dtype(declared)) if declared and _NARROWED.get(declared) == dtype_name(array.dtype) else array
