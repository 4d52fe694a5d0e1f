"""Apache TVM (Relax): from PyTorch programs, ONNX and TFLite models, and programs of Relax itself, to native code by LLVM."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from opera.arrays import Array, Outputs, Signature, dtype_name
from opera.compilers import litert_format, onnx_format, torch_format, tvm_relax, watching
from opera.compilers.adapter import REJECTS, Adapter, CannotFeed, Route, Stage, Subject, UnsupportedRule, on_backend, rejecting
from opera.instrumentation.tensors import DTYPE_BITS
from opera.models import onnx_inputs
from opera.oracles.verdict import Failure

FRONTEND = "tvm.relax.frontend"
_PLUMBING = frozenset({"_translate_fx_graph", "_check_unsupported_func_type", "_import_branch_subgraph", "_process_derived_symbol"})
_MOST_NAMED = 3


def of_frames(frames: Sequence[Sequence[Any]]) -> str | None:
    """The first method of an importer that a failing call went through: `Conv._impl_v1`, `_batch_norm`, `convert_conv`."""
    for module, _, _, function in frames:
        owner, _, method = str(function).rpartition(".")
        if str(module).startswith(f"{FRONTEND}.onnx") and method.startswith("_impl_v"):
            return f"{owner}.{method}"
        if str(module).startswith(f"{FRONTEND}.torch") and method not in _PLUMBING and method.startswith("_"):
            return method
        if (
            str(module).startswith(f"{FRONTEND}.tflite")
            and method.startswith(("convert_", "_convert_"))
            and method != "convert_op_to_relax"
        ):
            return method
    return None


def of_onnx(data: bytes) -> list[str | None]:
    """The converter of each node of a model, in order; None for one that TVM has no converter for."""
    model = onnx_format.parse(data)
    frontend: Any = importlib.import_module(f"{FRONTEND}.onnx.onnx_frontend")
    table: Mapping[str, Any] = frontend._get_convert_map()
    opsets = {str(entry.domain): int(entry.version) for entry in model.opset_import}
    return [
        f"{node.op_type}.{table[node.op_type].get_converter(opsets.get(node.domain, 1)).__name__}" if node.op_type in table else None
        for node in model.graph.node
    ]


def of_torch(names: Sequence[Any], route: str) -> str | None:
    """The converters of the functions and layers of a graph, joined by `+`; None where they are many."""
    distinct = [name for name in dict.fromkeys(names) if name != "getitem"]
    if not distinct or len(distinct) > _MOST_NAMED:
        return None
    table = _torch_table(route)
    labels = [str(getattr(name, "__name__", name)) for name in distinct]
    return "+".join(_name(table[name], label) if name in table else label for name, label in zip(distinct, labels, strict=True))


@cache
def _torch_table(route: str) -> Mapping[Any, Callable[..., Any]]:
    module, owner = ("fx_translator", "TorchFXImporter") if route == "fx" else ("exported_program_translator", "ExportedProgramImporter")
    importer = getattr(importlib.import_module(f"{FRONTEND}.torch.{module}"), owner)
    return cast("Mapping[Any, Callable[..., Any]]", importer().create_convert_map())


def _name(function: Callable[..., Any], operator: str) -> str:
    """Name of a converter. One that a factory made for many operators is told apart by the operator: `_unary_op(abs.default)`."""
    outer, _, inner = function.__qualname__.partition(".<locals>.")
    factory = outer.rpartition(".")[2]
    if not inner:
        return factory
    return operator if factory == "create_convert_map" else f"{factory}({operator})"


_EVERYWHERE = ("load", "optimize", "codegen", "run")
_TYPED = ("TypeError", "ValueError", "AssertionError", "NotImplementedError", "tvm.error.DiagnosticError", "tvm.error.OpNotImplemented")
"""Its exceptions for a module that is wrong: those that are raised on purpose, in contrast to a check of its own (`InternalError`)."""
_DECLINES = (
    r"(?i)\bnot (yet |currently )?(supported|implemented|handled)\b|\bunsupported\b|\bonly\b.{0,80}\bsupported\b|\bsupported only\b"
    r"|\bsupports only\b|\bonly supports?\b|\brequires a statically (known|typed)\b|\bfor (the )?Relax frontend\b"
    r"|\b(should|must) be one of \[.*\],? but got\b|\bdoes not support\b"
)


class TvmAdapter(Adapter):
    """TVM, by the frontends of its dialect Relax."""

    name = "tvm"
    routes = (
        Route("pytorch", "exported-program", "exported-program-decomposed"),
        Route("pytorch", "fx", None),
        Route("onnx", "onnx", "onnx"),
        Route("onnx", "unbound", "onnx"),
        Route("keras", "exported-program", "exported-program-decomposed", environment=on_backend("torch")),
        Route("keras", "onnx", "onnx", environment=on_backend("torch")),
        Route("keras", "litert", "tflite", environment=on_backend("tensorflow")),
        Route("tflite", "litert", "tflite", library="tensorflow", environment=on_backend("tensorflow")),
        *tvm_relax.ROUTES,
        rejecting("onnx"),
    )
    packages = ("apache-tvm>=0.25",)
    levels = ("default", "target", "default_build")
    project = ("tvm.", "tvm/")
    issue_form = "tvm"
    target = "llvm"
    test_tolerances = {"onnx": (1e-5, 1e-7), "pytorch": (1e-5, 1e-5)}  # tests/python/relax/test_frontend_*.py
    python_frontend = (FRONTEND,)
    housekeeping = {"TVM_NUM_THREADS": "1"}
    optional = ("torch",)  # which is two thirds of the time to import TVM
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
        UnsupportedRule(("ValueError", "AssertionError"), "not-constant", r"\bmust be (a )?constant\b", FRONTEND),
        UnsupportedRule(("ValueError",), "dtype", r"^unknown dtype `\w+`", "tvm", _EVERYWHERE),
    )

    rejections = (UnsupportedRule(_TYPED, "rejected", r"\A(?!.*Check failed)", stages=_EVERYWHERE),)

    def start(self) -> Mapping[str, str]:
        self._tvm: Any = importlib.import_module("tvm")
        self._relax: Any = importlib.import_module("tvm.relax")
        if not self._tvm.runtime.enabled("llvm"):
            raise RuntimeError("this build of TVM has no LLVM; install one that has, e.g. `pip install apache-tvm`")
        self._target = self._tvm.target.Target("llvm")
        self._level = str(self.options.get("level", "default"))
        return {"tvm": str(self._tvm.__version__), "target": "llvm", "pipeline": self._level}

    def load(self, subject: Subject, stage: Stage) -> Any:
        """The module, and the values that its main function takes, in order."""
        if subject.route.frontend == tvm_relax.FRONTEND:
            return tvm_relax.module_of(subject), list(subject.inputs.values())
        if subject.route.artefact == "onnx" or subject.route.name == REJECTS:
            return self._from_onnx(subject)
        if subject.route.name == "litert":
            return self._from_tflite(subject)
        frontend: Any = importlib.import_module("tvm.relax.frontend.torch")
        if subject.route.name == "fx":
            graph = torch_format.graph_module(subject)
            information = [(list(value.shape), dtype_name(value.dtype)) for value in subject.inputs.values()]
            return frontend.from_fx(graph, information), list(subject.inputs.values())
        with importlib.import_module("torch").no_grad():
            module = frontend.from_exported_program(torch_format.saved_program(subject), run_ep_decomposition=False)
        return module, list(subject.inputs.values())

    def _from_onnx(self, subject: Subject) -> Any:
        frontend: Any = importlib.import_module("tvm.relax.frontend.onnx")
        model = onnx_format.parse(subject.data)
        fed = list(onnx_inputs.feeds(model, subject.inputs).values())
        if subject.route.name != "unbound":
            return frontend.from_onnx(model, keep_params_in_input=False), fed
        module, weights = self._relax.frontend.detach_params(frontend.from_onnx(model, keep_params_in_input=True))
        return module, [*fed, *(each.numpy() for each in weights.get("main", ()))]

    def _from_tflite(self, subject: Subject) -> Any:
        frontend: Any = importlib.import_module("tvm.relax.frontend.tflite")
        module = frontend.from_tflite(litert_format.parse(subject.data))
        return module, [subject.inputs[name] for name in litert_format.input_names(subject.data)]

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        module, feeds = loaded
        self._stated: Signature | None = None
        stage("optimize")
        if not subject.route.compares:
            return tvm_relax.ORACLES[subject.route.name](module)
        if subject.route.frontend != tvm_relax.FRONTEND:
            self._stated = tvm_relax.stated(module["main"], subject.outputs)
        with self._target:
            if subject.route.name == tvm_relax.LEGALIZED:
                module = self._relax.get_pipeline("default_build")(self._relax.transform.LegalizeOps()(module))
            else:
                module = self._pipeline()(module)
        stage("codegen")
        return self._relax.build(module, self._target, relax_pipeline=None), feeds

    def _pipeline(self) -> Any:
        """The passes of the level; those of `target` are what `relax.build` takes by itself."""
        return self._relax.get_default_pipeline(self._target) if self._level == "target" else self._relax.get_pipeline(self._level)

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        executable, feeds = compiled
        machine = self._relax.VirtualMachine(executable, self._tvm.cpu())
        result = machine["main"](*(self._tensor(value) for value in feeds))
        if subject.route.artefact == "onnx" and subject.outputs == 1:
            return [self._output(result)]
        output = self._output(result)
        if subject.route.frontend == tvm_relax.FRONTEND:
            return list(tvm_relax.tensors_in(output))
        return cast("list[Any]", output) if isinstance(output, list) else [output]

    def signature(self, compiled: Any, subject: Subject) -> Signature | None:
        """What the importer infers: a compiled module states no types."""
        return self._stated

    def prepared(self, compiled: Any, subject: Subject) -> Callable[[], object]:
        executable, feeds = compiled
        call = self._relax.VirtualMachine(executable, self._tvm.cpu())["main"]
        tensors = [self._tensor(value) for value in feeds]
        return lambda: call(*tensors)

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
        if isinstance(value, self._tvm.runtime.ShapeTuple):  # what Relax calls a shape, the library calls a tensor of int64
            return np.array([int(size) for size in value], dtype=np.int64)
        return [self._output(item) for item in value]

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The method of the importer that the failing call went through, else what its tables say of the operator."""
        found = of_frames((failure or {}).get("frames", ()))
        if found is not None:
            return found
        if not subject.instance.kind.behaviour.has_one_operator:
            return subject.instance.operator
        if subject.route.artefact == "onnx":
            names = of_onnx(subject.data)
            return (names[0] if len(names) == 1 else None) or onnx_format.operator_of(subject)
        if subject.route.name == "litert":
            return litert_format.operators_of(subject)
        functions = torch_format.functions_of(subject)
        return of_torch(functions, subject.route.name) or torch_format.operators_of(subject)

    def converters(self, subject: Subject) -> Sequence[str]:
        if subject.route.artefact == "onnx":
            return [name for name in of_onnx(subject.data) if name is not None]
        return super().converters(subject) if subject.instance.kind.behaviour.has_one_operator else ()

    def watched(self, scratch: Path) -> AbstractContextManager[dict[str, None]]:
        return watching.of_tvm()

    def without(self, name: str) -> AbstractContextManager[None]:
        return importlib.import_module("tvm.ir.transform").PassContext(disabled_pass=[name])
