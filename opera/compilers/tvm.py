"""Apache TVM (Relax): from exported PyTorch programs and from ONNX models, to native code by LLVM."""

from __future__ import annotations

import importlib
import io
from collections.abc import Mapping, Sequence
from typing import Any, cast

from opera.compilers import onnx_format
from opera.compilers.adapter import Adapter, CannotFeed, Route, Stage, Subject, UnsupportedRule
from opera.compilers.torch_format import operators_of
from opera.instance.values import DTYPE_BITS
from opera.models.arrays import Array, dtype_name

_FRONTEND = "tvm.relax.frontend"
_EVERYWHERE = ("load", "optimize", "codegen", "run")
_DECLINES = (
    r"(?i)\bnot (yet )?(supported|implemented|handled)\b|\bunsupported\b|\bonly \w[\w ,'-]* (currently )?supported\b"
    r"|\b(should|must) be one of \[.*\],? but got\b"
)


class TvmAdapter(Adapter):
    """TVM's Relax frontends."""

    name = "tvm"
    routes = (
        Route("pytorch", "exported-program", "exported-program-decomposed"),
        Route("onnx", "onnx", "onnx"),
    )
    packages = ("apache-tvm",)
    levels = ("default", "zero")
    project = ("tvm.", "tvm/")
    unsupported = (
        UnsupportedRule(("NotImplementedError",), "not-implemented", module="tvm."),
        UnsupportedRule(("AssertionError",), "no-converter", pattern=r"^Unsupported function types "),
        UnsupportedRule(("ValueError", "AssertionError", "TypeError"), "declined", _DECLINES, "tvm", _EVERYWHERE),
        UnsupportedRule(
            ("tvm.error.InternalError",),
            "declined",
            r"\bUnsupported \w+|\bnot supported\b|\bonly supports? \w",
            stages=_EVERYWHERE,
        ),
        UnsupportedRule(("ValueError", "AssertionError"), "not-constant", r"\bmust be (a )?constant\b", _FRONTEND),
        UnsupportedRule(("ValueError",), "dtype", r"^unknown dtype `object`", "tvm"),
    )

    def start(self) -> Mapping[str, str]:
        self._tvm: Any = importlib.import_module("tvm")
        self._relax: Any = importlib.import_module("tvm.relax")
        if not self._tvm.runtime.enabled("llvm"):
            raise RuntimeError("this build of TVM has no LLVM; install one that has, e.g. `pip install apache-tvm`")
        self._target = self._tvm.target.Target("llvm")
        self._level = str(self.options.get("level", "default"))
        return {"tvm": str(self._tvm.__version__), "target": "llvm", "pipeline": self._level}

    def load(self, subject: Subject, stage: Stage) -> Any:
        if subject.route.frontend == "onnx":
            return self._from_onnx(subject)
        torch: Any = importlib.import_module("torch")
        program = torch.export.load(io.BytesIO(subject.data))
        frontend: Any = importlib.import_module("tvm.relax.frontend.torch")
        with torch.no_grad():
            module = frontend.from_exported_program(program, run_ep_decomposition=False)
        names = [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
        return module, list(zip(names, subject.inputs.values(), strict=True))

    def _from_onnx(self, subject: Subject) -> Any:
        frontend: Any = importlib.import_module("tvm.relax.frontend.onnx")
        model = onnx_format.parse(subject.data)
        module = frontend.from_onnx(model, keep_params_in_input=False)
        baked = {initializer.name for initializer in model.graph.initializer}
        feeds = [(entry.name, subject.inputs[entry.name]) for entry in model.graph.input if entry.name not in baked]
        return module, feeds

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        module, feeds = loaded
        stage("optimize")
        with self._target:
            module = self._relax.get_pipeline(self._level)(module)
        stage("codegen")
        return self._relax.build(module, self._target, relax_pipeline=None), feeds

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Sequence[Any]:
        executable, feeds = compiled
        machine = self._relax.VirtualMachine(executable, self._tvm.cpu())
        result = machine["main"](*(self._tensor(value) for _, value in feeds))
        if subject.route.frontend == "onnx" and subject.outputs == 1:
            return [self._output(result)]
        output = self._output(result)
        return cast("list[Any]", output) if isinstance(output, list) else [output]

    def _tensor(self, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, list):
            return tuple(self._tensor(item) for item in cast("list[Any]", value))
        name = dtype_name(cast(Array, value).dtype)
        if DTYPE_BITS[name] < 8:
            raise CannotFeed(f"TVM's Python API takes no {name} array")
        return self._tvm.runtime.tensor(cast(Array, value))

    def _output(self, value: Any) -> Any:
        if value is None:
            return None
        if hasattr(value, "numpy"):
            return value.numpy()
        return [self._output(item) for item in value]

    def converter(self, subject: Subject, failure: Mapping[str, Any] | None) -> str:
        """The method of the importer that the failing call went through, else the entry of its table for the operator."""
        for module, _, _, function in (failure or {}).get("frames", ()):
            owner, _, method = str(function).rpartition(".")
            if str(module).startswith(f"{_FRONTEND}.onnx") and method.startswith("_impl_v"):
                return f"{owner}.{method}"
            if str(module).startswith(f"{_FRONTEND}.torch") and method not in _PLUMBING and method.startswith("_"):
                return method
        if subject.route.frontend == "onnx":
            return onnx_format.operator_of(subject)
        return operators_of(subject)


_PLUMBING = frozenset({"_translate_fx_graph", "_check_unsupported_func_type", "_import_branch_subgraph", "_process_derived_symbol"})
