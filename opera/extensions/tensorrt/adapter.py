"""NVIDIA TensorRT on the first GPU: ONNX models, and PyTorch modules by way of torch.onnx."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Mapping
from typing import Any

from opera.arrays import Array, Outputs, dtype_name, numpy_dtype, pack, packed_size, unpack
from opera.compilers import onnx_format
from opera.compilers.adapter import Adapter, CannotFeed, Fork, Route, Stage, Subject, UnsupportedRule
from opera.models import onnx_inputs
from opera.oracles.verdict import Failure

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
}
_NARROWED = {"float64": "float32"}
"""TensorRT's ONNX parser casts double down to float, as its documentation says."""
_WORKSPACE = 2**30
_MOST_NAMED = 3
_MOST_LINES = 5


class Rejected(Exception):
    """The parser or the builder gave no network or no engine; the message has what they logged."""


class Unsupported(Rejected):
    """The parser's error code begins with UNSUPPORTED."""


class TensorRtAdapter(Adapter):
    """TensorRT's ONNX parser, builder and runtime; TF32 off, so that float32 means float32."""

    name = "tensorrt"
    routes = (Route("onnx", "onnx", "onnx"), Route("pytorch", "onnx", "onnx"))
    devices = ("cpu", "cuda")
    packages = ("tensorrt>=10.0", "cuda-python>=12.6", "onnx>=1.19")
    levels = ("3", "0", "5")
    lowest_level = "0"
    fork = Fork.NEVER
    project = ("tensorrt.", "tensorrt/")
    computes_as = _NARROWED
    unsupported = (
        UnsupportedRule((f"{__name__}.Unsupported",), "no-converter"),
        UnsupportedRule((f"{__name__}.Rejected",), "no-kernel", r"Could not find any implementation for node", stages=("codegen",)),
    )

    def start(self) -> Mapping[str, str]:
        self._trt: Any = importlib.import_module("tensorrt")
        self._cuda: Any = importlib.import_module("cuda.bindings.runtime")
        status, count = self._cuda.cudaGetDeviceCount()
        if int(status) or not count:
            raise RuntimeError(
                "TensorRT needs an NVIDIA GPU and its driver, and CUDA finds no usable GPU; run it on a machine that has one"
            )
        status, device = self._cuda.cudaGetDeviceProperties(0)
        name = device.name.decode() if int(status) == 0 else "unknown"
        self._logger = _make_logger(self._trt)
        self._level = int(self.options.get("level", self.levels[0]))
        return {"tensorrt": str(self._trt.__version__), "gpu": name, "precision": "as the model says, no TF32", "level": str(self._level)}

    def load(self, subject: Subject, stage: Stage) -> Any:
        self._logger.lines.clear()
        builder = self._trt.Builder(self._logger)
        network = builder.create_network(1 << int(self._trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
        parser = self._trt.OnnxParser(network, self._logger)
        if not parser.parse(subject.data):
            errors = [parser.get_error(place) for place in range(parser.num_errors)]
            codes = [str(error.code()).rpartition(".")[2] for error in errors]
            text = "\n".join(f"{code} in {_operator(error)}: {error.desc()}" for code, error in zip(codes, errors, strict=True))
            raise (Unsupported if any(code.startswith("UNSUPPORTED") for code in codes) else Rejected)(text or self._log())
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
            raise Rejected(f"the builder gave no engine\n{self._log()}")
        runtime = self._trt.Runtime(self._logger)
        engine = runtime.deserialize_cuda_engine(plan)
        if engine is None:
            raise Rejected(f"the engine cannot be read back\n{self._log()}")
        return runtime, engine, feeds, [entry.type.tensor_type.elem_type for entry in model.graph.output]

    def _profile(self, builder: Any, network: Any, config: Any, feeds: Mapping[str, Any]) -> None:
        """Tells the builder the shapes of inputs that leave them open, and the values of inputs that are shapes."""
        profile = builder.create_optimization_profile()
        needed = False
        for entry in (network.get_input(place) for place in range(network.num_inputs)):
            value: Array = _fed(feeds, entry.name)
            if entry.is_shape_tensor:
                profile.set_shape_input(entry.name, *[value.reshape(-1).tolist()] * 3)
                needed = True
            elif any(size < 0 for size in entry.shape):
                profile.set_shape(entry.name, *[value.shape] * 3)
                needed = True
        if needed:
            config.add_optimization_profile(profile)

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        _, engine, feeds, elements = compiled
        context = engine.create_execution_context()
        if context is None:
            raise Rejected(f"there is no execution context\n{self._log()}")
        memory = _Memory(self._cuda)
        try:
            names = [engine.get_tensor_name(place) for place in range(engine.num_io_tensors)]
            outputs = [name for name in names if engine.get_tensor_mode(name) == self._trt.TensorIOMode.OUTPUT]
            kept = [self._feed(engine, context, name, _fed(feeds, name), memory) for name in names if name not in outputs]
            allocators = {name: _make_allocator(self._trt, memory) for name in outputs}
            for name, allocator in allocators.items():
                context.set_output_allocator(name, allocator)
            if not context.execute_async_v3(memory.stream):
                raise Rejected(f"the engine does not run\n{self._log()}")
            memory.wait()
            kept.clear()
            types = [_TYPES.get(str(engine.get_tensor_dtype(name)).rpartition(".")[2], "") for name in outputs]
            arrays = [memory.fetch(allocators[name], kind) for name, kind in zip(outputs, types, strict=True)]
        finally:
            memory.free()
        return [_declared(array, element) for array, element in zip(arrays, elements, strict=True)]

    def _feed(self, engine: Any, context: Any, name: str, value: Any, memory: _Memory) -> Array:
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

    def _log(self) -> str:
        return "\n".join(self._logger.lines[-_MOST_LINES:])

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The operator that the parser names, else those of the model."""
        named = re.match(r"\w+ in (\w+): ", str((failure or {}).get("message", "")))
        if named is not None and named[1] != "model":
            return named[1]
        if subject.route.library == "onnx":
            return onnx_format.operator_of(subject)
        names = list(dict.fromkeys(str(node.op_type) for node in onnx_format.parse(subject.data).graph.node))
        return "+".join(names) if len(names) <= _MOST_NAMED else f"{subject.instance.operator} (exported)"


def _fed(feeds: Mapping[str, Any], name: str) -> Any:
    """The value of an input that TensorRT asks for."""
    if name not in feeds:
        raise Rejected(f"the engine asks for an input {name!r}, which the model does not have")
    return feeds[name]


class _Memory:
    """Buffers on the GPU, and the stream that everything happens on. A CUDA error is an exception with its name."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._buffers: list[int] = []
        self.stream: int = int(self._checked(cuda.cudaStreamCreate()))

    def allocate(self, size: int) -> int:
        """The address of *size* bytes; TensorRT takes no null pointer, not even for an empty tensor."""
        address = int(self._checked(self._cuda.cudaMalloc(max(size, 1))))
        self._buffers.append(address)
        return address

    def upload(self, data: bytes) -> int:
        """The address of a copy of *data*."""
        address = self.allocate(len(data))
        if data:
            self._checked(self._cuda.cudaMemcpy(address, data, len(data), self._cuda.cudaMemcpyKind.cudaMemcpyHostToDevice))
        return address

    def fetch(self, allocator: Any, kind: str) -> Array:
        """What the engine has written through *allocator*, as an array of dtype *kind*."""
        if not kind:
            raise CannotFeed("TensorRT gives an output of a type that numpy and ml_dtypes lack")
        shape = tuple(int(size) for size in allocator.shape)
        data = bytearray(packed_size(kind, math.prod(shape)))
        if data:
            self._checked(self._cuda.cudaMemcpy(data, allocator.address, len(data), self._cuda.cudaMemcpyKind.cudaMemcpyDeviceToHost))
        return unpack(bytes(data), kind, shape)

    def wait(self) -> None:
        """Until everything on the stream is done."""
        self._checked(self._cuda.cudaStreamSynchronize(self.stream))

    def free(self) -> None:
        """Gives everything back; after an error of the device, as far as it lets us."""
        for address in self._buffers:
            self._cuda.cudaFree(address)
        self._cuda.cudaStreamDestroy(self.stream)

    def _checked(self, answer: tuple[Any, ...]) -> Any:
        status, *values = answer
        if int(status):
            raise RuntimeError(f"CUDA: {status.name}")
        return values[0] if values else None


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


def _make_allocator(trt: Any, memory: _Memory) -> Any:
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
            self.shape = tuple(shape)

    return Allocator()


def _operator(error: Any) -> str:
    """The operator at which the parser stopped; `model` where it names none."""
    return str(error.node_operator()) or "model"


def _declared(array: Array, element: int) -> Array:
    """An output in the dtype that the model declares, where TensorRT has narrowed it."""
    onnx: Any = importlib.import_module("onnx")
    declared = str(onnx.helper.tensor_dtype_to_np_dtype(element).name)
    return array.astype(numpy_dtype(declared)) if _NARROWED.get(declared) == dtype_name(array.dtype) else array
