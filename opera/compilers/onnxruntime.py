"""ONNX Runtime on the CPU: ONNX models, and PyTorch modules by way of torch.onnx."""

from __future__ import annotations

import ctypes
import importlib
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, cast

from opera.arrays import Array, Outputs, Signature, dtype_name, pack, packed_size, unpack
from opera.compilers import onnx_format, watching
from opera.compilers.adapter import Adapter, CannotFeed, Route, Stage, Subject, UnsupportedRule, on_backend, rejecting
from opera.models import onnx_inputs
from opera.models.opsets import NEWEST, OLDEST
from opera.oracles.fingerprint import NEWER_OPSET
from opera.oracles.verdict import Failure

_STATE = "onnxruntime.capi.onnxruntime_pybind11_state"
_DECLINES = r"\b(is|are) not supported\b|\bonly supports?\b|\bdoes not support \w+ yet\b|\bCan't slice a tensor with a subbyte\b"
_UNKNOWN_ATTRIBUTE = r"Error Unrecognized attribute: \w+ for operator"
"""ONNX adds attributes to opsets that were not final when ONNX Runtime was built."""
_NO_LOCALE = r"Failed to construct locale with name"
_WRONG_TYPE = r"Type '\w[\w()]*' of input parameter \(.*\) of operator \(.*\) in node \(.*\) is invalid"
_TYPED = ("Fail", "InvalidArgument", "InvalidGraph", "NotImplemented")
"""Its statuses for a model that is wrong. Others, as RuntimeException, are for failures of its own."""
_NEWER = r"\bUnsupported model IR version\b|\bONNX Runtime only \*guarantees\* support for models stamped with"
_OLD_IR = 8
_MOST_NAMED = 3
_OPEN_END = 10_000
"""Last opset of a kernel that has no later version is some huge number."""
_PLAIN = "?bhilqBHILQefdO"
"""numpy's type codes that ONNX Runtime takes as they are; others need an OrtValue with an ONNX element type."""


class OnnxRuntimeAdapter(Adapter):
    """ONNX Runtime's CPU provider, one thread."""

    name = "onnxruntime"
    revision = 2
    routes = (
        Route("onnx", "onnx", "onnx"),
        Route("pytorch", "onnx", "onnx"),
        Route("keras", "onnx", "onnx", environment=on_backend("torch")),
        Route("keras", "tf2onnx", "onnx", environment=on_backend("tensorflow")),
        rejecting("onnx"),
    )
    packages = ("onnxruntime>=1.20", "onnx>=1.19")
    levels = ("all", "none")
    project = ("onnxruntime.", "onnxruntime/")
    issue_form = "onnxruntime"
    target = "CPUExecutionProvider"
    test_tolerances = {"onnx": (1e-5, 1e-3)}  # onnxruntime/test/testdata/onnx_backend_test_series_overrides.jsonc
    message_prefixes = (
        r"\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : ",
        r"Exception during initialization: ",
        r"Non-zero status code returned while running \w+ node\. Name:'.*?' Status Message: ",
    )
    unsupported = (
        UnsupportedRule((f"{_STATE}.NotImplemented",), "no-kernel", stages=("load", "run")),
        UnsupportedRule((f"{_STATE}.Fail", f"{_STATE}.InvalidGraph"), "no-operator", pattern=r"is not a registered function/op"),
        UnsupportedRule((f"{_STATE}.Fail", f"{_STATE}.InvalidGraph"), NEWER_OPSET, _UNKNOWN_ATTRIBUTE),
        UnsupportedRule((f"{_STATE}.Fail", f"{_STATE}.InvalidArgument"), NEWER_OPSET, _NEWER),
        UnsupportedRule((f"{_STATE}.Fail", f"{_STATE}.RuntimeException"), "declined", _DECLINES, stages=("load", "run")),
        UnsupportedRule((f"{_STATE}.Fail",), "locale-not-installed", _NO_LOCALE),
        UnsupportedRule((f"{_STATE}.InvalidGraph",), "dtype", pattern=_WRONG_TYPE),
        UnsupportedRule((f"{_STATE}.Fail",), "dtype", r"\bMLDataType for: tensor\(\w+\) is not currently registered or supported\b"),
    )

    rejections = (UnsupportedRule(tuple(f"{_STATE}.{name}" for name in _TYPED), "rejected", stages=("load", "run")),)

    def start(self) -> Mapping[str, str]:
        self._ort: Any = importlib.import_module("onnxruntime")
        self._onnx: Any = importlib.import_module("onnx")
        options = self._ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        level = str(self.options.get("level", "all"))
        options.graph_optimization_level = getattr(
            self._ort.GraphOptimizationLevel, f"ORT_{'ENABLE_ALL' if level == 'all' else 'DISABLE_ALL'}"
        )
        self._session_options = options
        self.newest_opset = next((opset for opset in range(NEWEST, OLDEST, -1) if self._loads(opset)), OLDEST)
        self._left_out: list[str] = []
        return {"onnxruntime": str(self._ort.__version__), "provider": "CPUExecutionProvider", "optimization": level}

    def _loads(self, opset: int) -> bool:
        """Whether this version of ONNX Runtime takes a model of *opset*; it refuses those that were not released when it was built."""
        text = f'<ir_version: {_OLD_IR}, opset_import: ["": {opset}]> g (float[1] x) => (float[1] y) {{ y = Identity (x) }}'
        try:
            self._ort.InferenceSession(
                self._onnx.parser.parse_model(text).SerializeToString(), self._session_options, providers=["CPUExecutionProvider"]
            )
        except Exception:
            return False
        return True

    def load(self, subject: Subject, stage: Stage) -> Any:
        options = {"providers": ["CPUExecutionProvider"], "disabled_optimizers": self._left_out}
        session = self._ort.InferenceSession(subject.data, self._session_options, **options)
        return session, onnx_inputs.feeds(onnx_format.parse(subject.data), subject.inputs)

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        return loaded

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        session, feeds = compiled
        if all(_is_plain(value) for value in feeds.values()) and all(_plain_type(entry.type) for entry in session.get_outputs()):
            return cast("list[Any]", session.run(None, feeds))
        values = {name: self._ort_value(value) for name, value in feeds.items()}
        return [self._array(item) for item in session.run_with_ort_values(None, values)]

    def signature(self, compiled: Any, subject: Subject) -> Signature | None:
        """What the session states; it gives no sizes for a scalar and for a tensor of unknown rank."""
        outputs = [
            (str(entry.type), [size if isinstance(size, int) else None for size in entry.shape]) for entry in compiled[0].get_outputs()
        ]
        return [(self._dtype_of(kind[7:-1]) if kind.startswith("tensor(") else None, sizes or None) for kind, sizes in outputs]

    def _dtype_of(self, name: str) -> str:
        element = self._onnx.TensorProto.DataType.Value(name.upper())
        return dtype_name(self._onnx.helper.tensor_dtype_to_np_dtype(element))

    def prepared(self, compiled: Any, subject: Subject) -> Callable[[], object]:
        session, feeds = compiled
        if all(_is_plain(value) for value in feeds.values()) and all(_plain_type(entry.type) for entry in session.get_outputs()):
            return lambda: session.run(None, feeds)
        values = {name: self._ort_value(value) for name, value in feeds.items()}
        return lambda: session.run_with_ort_values(None, values)

    def _ort_value(self, value: Any) -> Any:
        if value is None or isinstance(value, list):
            raise CannotFeed("ONNX Runtime's Python API takes neither optionals, nor sequences, nor elements of types that numpy lacks")
        array = cast(Array, value)
        if array.dtype.kind == "c":
            raise CannotFeed("ONNX Runtime's Python API takes no complex numbers")
        if array.dtype.char in _PLAIN:
            return self._ort.OrtValue.ortvalue_from_numpy(array)
        element = self._onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        made = self._ort.OrtValue.ortvalue_from_shape_and_type(list(array.shape), element)
        ctypes.memmove(made.data_ptr(), (data := pack(array)), len(data))
        return made

    def _array(self, value: Any) -> Any:
        if not value.is_tensor():
            return value.numpy()
        dtype = self._onnx.helper.tensor_dtype_to_np_dtype(value.element_type())
        if dtype.char in _PLAIN:
            return value.numpy()
        shape = tuple(value.shape())
        name = dtype_name(dtype)
        return unpack(ctypes.string_at(value.data_ptr(), packed_size(name, math.prod(shape))), name, shape)

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The kernel that runs the model's operator, as ONNX Runtime's own table has it: `Conv 11+`, `Resize 13-17`."""
        names = self.converters(subject)
        if subject.route.frontend == "onnx":
            single = len(names) == 1 and subject.instance.kind.behaviour.has_one_operator
            return names[0] if single else onnx_format.operator_of(subject)
        if not subject.instance.kind.behaviour.has_one_operator:
            return subject.instance.operator
        distinct = list(dict.fromkeys(names))
        return "+".join(distinct) if len(distinct) <= _MOST_NAMED else f"{subject.instance.operator} (exported)"

    def converters(self, subject: Subject) -> Sequence[str]:
        """The kernel of each node of the model."""
        model = onnx_format.parse(subject.data)
        opsets = {str(entry.domain): int(entry.version) for entry in model.opset_import}
        return [_kernel(str(node.domain), str(node.op_type), opsets.get(str(node.domain), 1)) for node in model.graph.node]

    def watched(self, scratch: Path) -> AbstractContextManager[dict[str, None]]:
        return watching.of_onnxruntime(self._session_options, scratch)

    @contextmanager
    def without(self, name: str) -> Generator[None]:
        self._left_out = [name]
        try:
            yield
        finally:
            self._left_out = []


@cache
def _kernels() -> Mapping[tuple[str, str], list[tuple[int, int]]]:
    """Opsets that each operator's CPU kernels are made for, first and last, by domain and name."""
    state: Any = importlib.import_module(_STATE)
    ranges: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for kernel in state.get_all_opkernel_def():
        if kernel.provider == "CPUExecutionProvider":
            ranges.setdefault((str(kernel.domain), str(kernel.op_name)), []).append(tuple(kernel.version_range))
    return ranges


def _kernel(domain: str, operator: str, opset: int) -> str:
    """The kernel for an operator of an opset; without a kernel, the operator alone: ONNX Runtime then inlines its function."""
    found = next((each for each in _kernels().get((domain, operator), []) if each[0] <= opset <= each[1]), None)
    if found is None:
        return operator
    return f"{operator} {found[0]}+" if found[1] >= _OPEN_END else f"{operator} {found[0]}-{found[1]}"


def _is_plain(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, list):
        return all(_is_plain(item) for item in cast("list[Any]", value))
    return cast(Array, value).dtype.char in _PLAIN


def _plain_type(description: str) -> bool:
    return not any(name in description for name in ("bfloat16", "float8", "int4", "int2", "float4"))
