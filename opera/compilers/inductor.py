"""TorchInductor on the processor: `torch.compile` of the live module.

There is no artefact in between, so the worker rebuilds the module itself.
"""

from __future__ import annotations

import importlib
import re
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from opera.arrays import Outputs
from opera.compilers.adapter import Adapter, CannotCapture, Route, Stage, Subject, UnsupportedRule
from opera.models.forms import OUTCOME, InputForm
from opera.models.template import Invalid
from opera.oracles.verdict import Failure

_BACKEND = "inductor"
_DYNAMIC = "dynamic"
"""The route whose graphs have symbols in place of sizes from the first call on."""


class NotOneGraph(Exception):
    """How many outputs there are depends on values, which no graph expresses; in a full graph PyTorch says so in several ways."""


class InductorAdapter(Adapter):
    """torch.compile with the Inductor backend, one graph, one compile thread."""

    name = "inductor"
    routes = (Route("pytorch", "dynamo", None, marks=True), Route("pytorch", _DYNAMIC, None, marks=True))
    packages = ("torch>=2.9",)
    issue_form = "pytorch"
    test_tolerances = {"pytorch": (1e-5, 1.3e-6)}  # torch.testing.assert_close, which test/inductor uses
    housekeeping = {"TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_CACHE_DIR": "{cache}/inductor"}
    project = ("torch._inductor", "torch._dynamo", "torch._functorch", "torch/_inductor", "torch/_dynamo")
    unsupported = (
        UnsupportedRule(("torch._dynamo.exc.Unsupported",), "dynamo", stages=("load", "codegen")),
        UnsupportedRule(("torch._dynamo.exc.UserError",), "dynamo", stages=("load", "codegen")),
        UnsupportedRule(("torch.fx.experimental.symbolic_shapes.ConstraintViolationError",), "fixed-size", stages=("codegen",)),
        UnsupportedRule((f"{__name__}.NotOneGraph",), "data-dependent", stages=("codegen",)),
    )

    def start(self) -> Mapping[str, str]:
        self._torch: Any = importlib.import_module("torch")
        importlib.import_module("torch._inductor.compile_fx")
        compiler = next((name for name in ("g++", "clang++", "c++") if shutil.which(name)), None)
        if compiler is None:
            raise RuntimeError("Inductor needs a C++ compiler; install g++ (Debian: `apt install g++`)")
        return {"torch": str(self._torch.__version__), "cxx": compiler, "backend": _BACKEND}

    def load(self, subject: Subject, stage: Stage) -> Any:
        return self.compiled(subject.module.part, subject)

    def compiled(self, module: Any, subject: Subject) -> Any:
        """What `torch.compile` makes of *module* for the route of *subject*; it compiles when it is first called."""
        self._torch._dynamo.reset()
        self._torch.manual_seed(1)
        return self._torch.compile(module, backend=_BACKEND, fullgraph=True, dynamic=subject.route.name == _DYNAMIC or None)

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        stage("codegen")
        try:
            with self._torch.no_grad():
                subject.module.outcome(loaded, self._first(subject))
        except Exception as error:
            if "data-dependent" in str(error) and subject.module.number_of_outputs_varies():
                raise NotOneGraph("the number of outputs depends on values of the inputs") from error
            raise
        return loaded

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        from opera.templates.pytorch.model import to_numpy

        self._torch.manual_seed(1)
        with self._torch.no_grad():
            return [to_numpy(item.to("cpu")) for item in subject.module.outcome(compiled, self.inputs(subject))]

    def _first(self, subject: Subject) -> list[Any]:
        """The inputs of the first call; with open sizes, larger ones whose open sizes are marked."""
        if subject.instance.context_value(OUTCOME) != InputForm.SYMBOLIC.value:
            return self.inputs(subject)
        try:
            tensors, axes = subject.module.opened()
        except Invalid as error:
            raise CannotCapture("open sizes") from error
        tensors = [tensor.to(self.target) for tensor in tensors]
        for place, axis in axes:
            self._torch._dynamo.mark_dynamic(tensors[place], axis)
        return tensors

    def inputs(self, subject: Subject) -> list[Any]:
        return [tensor.to(self.target) for tensor in subject.module.fresh_tensors()]

    def prepared(self, compiled: Any, subject: Subject) -> Callable[[], object]:
        tensors = self.inputs(subject)

        def call() -> object:
            with self._torch.no_grad():
                return compiled(*tensors)

        return call

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The ATen operator that a lowering error names, else the instance's operator."""
        text = str((failure or {}).get("message", ""))
        named = re.search(r"target: (aten\.[\w.]+)", text) or re.search(r"\b(aten\.\w+(?:\.\w+)?)\b", text)
        return named[1] if named is not None else subject.instance.operator
