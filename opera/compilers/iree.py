"""IREE: ONNX models and StableHLO modules, compiled to native code by LLVM and run by the runtime's synchronous CPU driver."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from opera.arrays import Array, Outputs, Signature, dtype_name
from opera.compilers import onnx_format, stablehlo_format
from opera.compilers.adapter import Adapter, CannotFeed, Fork, Route, Stage, Subject, UnsupportedRule, on_backend
from opera.models import onnx_inputs
from opera.oracles.verdict import Failure

_TOOL = ("iree.compiler.tools.binaries.CompilerToolError",)
_NO_TYPE = r"error: unhandled torch type: |\bdoes not have integral number of total bytes\b|'hal\.element_type' op unsupported element type"
"""The second: elements of less than a byte of which there is no whole number of bytes."""
_NO_PATTERN = r"error: failed to legalize operation 'stablehlo\.(triangular_solve|select_and_scatter|dynamic_(conv|gather|pad))'"
"""Operations of which no form is converted. Others of StableHLO fail in spite of a conversion."""
_DOUBLE = re.compile(r"(?<![a-wyzA-Z_])f64\b")
"""The type, also as that of a tensor's elements: `2xf64`."""
_LINKER = "iree-lld"
_OLDEST_OPSET = 17
"""Opset to which older models are converted, as IREE's documentation asks for."""
_FED = frozenset(
    {
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    }
)


_OPERAND = r"(?!torch\.(?:constant\.|vtensor\.literal|prim\.ListConstruct)|builtin\.)"
"""Operations that stay behind because their user does: which one that is, the diagnostic does not say."""


@dataclass(frozen=True)
class _Program:
    """MLIR text with the dialect that it is in, the name of its entry function, and the values that it takes."""

    text: str
    dialect: str
    entry: str
    values: Sequence[Any]


def _signed_as(array: Array, unsigned: bool) -> Array:
    return array.view(array.dtype.name.replace("int", "uint")) if unsigned and array.dtype.kind == "i" else array


class IreeAdapter(Adapter):
    """The `iree-compile` binary of the wheel, for this machine's CPU."""

    name = "iree"
    routes = (
        Route("onnx", "onnx", "onnx"),
        Route("keras", "stablehlo", "stablehlo", environment=on_backend("jax")),
        Route("stablehlo", "text", "stablehlo"),
        Route("stablehlo", "jax", "stablehlo", library="keras", environment=on_backend("jax")),
    )
    packages = ("iree-base-compiler>=3.9", "iree-base-runtime>=3.9", "onnx>=1.19")
    levels = ("default", "O0")
    fork = Fork.STARTED
    project = ("iree.compiler.extras.",)  # the importer; the rest of the package runs its tools
    issue_form = "iree"
    target = "llvm-cpu"
    message_noise = (
        r"Error invoking IREE compiler tool .*",
        r"Error code: \d+",
        r"Diagnostics:",
        r"Invoked with:",
        r"iree-compile .*",
        r"Need more information\? .*",
        r"Linking failed; escaped command line .*",
        r"LLD_VERSION=.*",
    )
    message_prefixes = (r"Error invoking function: \S+:\d+: ",)
    unsupported = (
        UnsupportedRule(_TOOL, "no-converter", r"error: failed to legalize operation 'torch\.operator'", stages=("codegen",)),
        # by the specification of StableHLO, what a custom call is depends on the implementation: JAX's are jaxlib's own LAPACK
        UnsupportedRule(_TOOL, "no-converter", r"error: failed to legalize operation 'stablehlo\.custom_call'", stages=("codegen",)),
        UnsupportedRule(_TOOL, "no-converter", _NO_PATTERN, stages=("codegen",)),
        UnsupportedRule(_TOOL, "no-converter", stablehlo_format.UNKNOWN, stages=("codegen",)),
        UnsupportedRule(_TOOL, "type", _NO_TYPE, stages=("codegen",)),
        UnsupportedRule(_TOOL, "declined", r"error: (unimplemented|unsupported|not supported)\b", stages=("codegen",)),
        UnsupportedRule(("ValueError",), "no-array-interface", r"Unsupported VM Buffer -> numpy dtype mapping", stages=("run",)),
        UnsupportedRule(("RuntimeError",), "declined", r"; unimplemented: ", stages=("run",)),  # what the program asserts of its inputs
        UnsupportedRule(("iree.compiler.extras.onnx_importer.OnnxImportError",), "not-imported"),
    )

    def start(self) -> Mapping[str, str]:
        self._compiler: Any = importlib.import_module("iree.compiler")
        self._runtime: Any = importlib.import_module("iree.runtime")
        self._level = str(self.options.get("level", "default"))
        self._config = self._runtime.Config("local-sync")
        versions: Any = importlib.import_module("iree.compiler.version")
        return {"iree": str(versions.VERSION), "target": "llvm-cpu", "cpu": "host", "optimization": self._level}

    def load(self, subject: Subject, stage: Stage) -> Any:
        if subject.route.name != "onnx":
            text = subject.data.decode()
            types = stablehlo_format.input_types(text)
            values = stablehlo_format.declared_inputs(subject, len(types))
            fed = [stablehlo_format.as_declared(value, type) for value, type in zip(values, types, strict=True)]
            return _Program(text, "stablehlo", "main", fed)
        model = self._modern(onnx_format.parse(subject.data))
        values = list(onnx_inputs.feeds(model, subject.inputs).values())
        importer: Any = importlib.import_module("iree.compiler.extras.onnx_importer")
        information = importer.ModelInfo(model)
        with importlib.import_module("iree.compiler.ir").Context() as context:
            module = information.create_module(context=context).operation
            importer.NodeImporter.define_function(information.main_graph, module).import_all()
            return _Program(module.get_asm(), "onnx", str(model.graph.name), values)

    def _modern(self, model: Any) -> Any:
        """The model with every shape inferred, in an opset that the importer is made for."""
        onnx: Any = importlib.import_module("onnx")
        if not any(entry.domain in ("", "ai.onnx") for entry in model.opset_import):  # the importer looks for no other domain's version
            model.opset_import.append(onnx.helper.make_opsetid("", _OLDEST_OPSET))
        if any(entry.domain in ("", "ai.onnx") and entry.version < _OLDEST_OPSET for entry in model.opset_import):
            try:
                model = importlib.import_module("onnx.version_converter").convert_version(model, _OLDEST_OPSET)
            except Exception:  # the converter knows few operators: the model goes in as it is
                return model
        try:
            return onnx.shape_inference.infer_shapes(model, data_prop=True)
        except Exception:
            return model

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        program: _Program = loaded
        stage("codegen")
        arguments = ["--iree-llvmcpu-target-cpu=host"]
        if _DOUBLE.search(program.text):  # without float64, compile as a user does: the option has bugs of its own
            arguments.append("--iree-input-demote-f64-to-f32=false")
        if self._level != "default":
            arguments.append(f"--iree-opt-level={self._level}")
        try:
            binary = self._compiler.compile_str(
                program.text, target_backends=["llvm-cpu"], input_type=program.dialect, extra_args=arguments
            )
        except Exception as error:
            error.args = (str(error).partition("\n\nInvoked with:")[0],)  # what follows names places on this machine
            raise
        return program, binary

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        program, binary = compiled
        context, module = self._loaded(binary)
        context.add_vm_module(module)
        result = getattr(context.modules, module.name)[program.entry](*(self._fed(value) for value in program.values))
        results = list(cast("tuple[Any, ...]", result)) if isinstance(result, (tuple, list)) else [result]
        arrays = [np.asarray(item.to_host() if hasattr(item, "to_host") else item) for item in results]
        return [
            _signed_as(array, declared)
            for array, declared in zip(arrays, stablehlo_format.results_are_unsigned(program.text, program.entry, len(arrays)), strict=True)
        ]

    def signature(self, compiled: Any, subject: Subject) -> Signature | None:
        program, binary = compiled
        if program.dialect != "stablehlo":  # functions of ONNX have no declaration
            return None
        _, module = self._loaded(binary)
        declared = str(module.lookup_function(program.entry).reflection.get("iree.abi.declaration", ""))
        return stablehlo_format.stated(declared.partition(") -> (")[2]) or None

    def _loaded(self, binary: bytes) -> tuple[Any, Any]:
        """A context, and the module of *binary* in it."""
        context = self._runtime.SystemContext(config=self._config)
        return context, self._runtime.VmModule.copy_buffer(context.instance, binary)

    def _fed(self, value: Any) -> Any:
        if value is None or isinstance(value, list):
            raise CannotFeed("IREE's Python API takes no optionals or sequences")
        name = dtype_name(cast(Array, value).dtype)
        if name not in _FED:
            raise CannotFeed(f"IREE's Python API takes no {name} array")
        return value

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The operation that the compiler's diagnostic is about, else the operator of the model; the linker, where that fails."""
        message = str((failure or {}).get("message", ""))
        if f"{_LINKER}: error: " in message:
            return _LINKER
        named = (
            re.search(r'"(onnx\.(?!Constant")\w+)"', message)
            or re.search(r"error: '([\w.]+)' op", message)
            or re.search(rf"operation '({_OPERAND}[\w.]+)'", message)
        )
        if named is not None:
            return named[1]
        return onnx_format.operator_of(subject) if subject.route.name == "onnx" else subject.instance.operator
