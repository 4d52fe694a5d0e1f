"""TorchInductor on the processor and on a GPU: `torch.compile` of the live module.

There is no artefact in between, so the worker rebuilds the module itself.
"""

from __future__ import annotations

import copy
import importlib
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from opera.arrays import Outputs
from opera.compilers.adapter import Adapter, CannotCapture, Fork, Route, Stage, Subject, UnsupportedRule
from opera.models.forms import OUTCOME, InputForm
from opera.models.template import Invalid
from opera.oracles.compare import disagreement
from opera.oracles.verdict import Failure

_BACKEND = "inductor"
_DYNAMIC = "dynamic"
"""The route whose graphs have symbols in place of sizes from the first call on."""


class NotOneGraph(Exception):
    """How many outputs there are depends on values, which no graph expresses; in a full graph PyTorch says so in several ways."""


class OtherOnTheGpu(Exception):
    """PyTorch itself, without a compiler, raises on the GPU or computes there what the processor does not."""


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
        return self._compiled(subject.module.part, subject)

    def _compiled(self, module: Any, subject: Subject) -> Any:
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
            return [to_numpy(item.to("cpu")) for item in subject.module.outcome(compiled, self._inputs(subject))]

    def _first(self, subject: Subject) -> list[Any]:
        """The inputs of the first call; with open sizes, larger ones whose open sizes are marked."""
        if subject.instance.context_value(OUTCOME) != InputForm.SYMBOLIC.value:
            return self._inputs(subject)
        try:
            tensors, axes = subject.module.opened()
        except Invalid as error:
            raise CannotCapture("open sizes") from error
        tensors = [tensor.to(self.target) for tensor in tensors]
        for place, axis in axes:
            self._torch._dynamo.mark_dynamic(tensors[place], axis)
        return tensors

    def _inputs(self, subject: Subject) -> list[Any]:
        return [tensor.to(self.target) for tensor in subject.module.fresh_tensors()]

    def prepared(self, compiled: Any, subject: Subject) -> Callable[[], object]:
        tensors = self._inputs(subject)

        def call() -> object:
            with self._torch.no_grad():
                return compiled(*tensors)

        return call

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The ATen operator that a lowering error names, else the instance's operator."""
        text = str((failure or {}).get("message", ""))
        named = re.search(r"target: (aten\.[\w.]+)", text) or re.search(r"\b(aten\.\w+(?:\.\w+)?)\b", text)
        return named[1] if named is not None else subject.instance.operator


class InductorCudaAdapter(InductorAdapter):
    """Inductor on the first NVIDIA GPU, where Triton compiles its kernels; TF32 off, so that float32 means float32.

    A call is tested where PyTorch itself gives the same on both devices: random numbers, say, are others on a GPU.
    """

    name = "inductor-cuda"
    packages = ("torch>=2.9", "triton>=3.5")
    target = "cuda"
    devices = ("cpu", "cuda")
    fork = Fork.STARTED
    housekeeping = {**InductorAdapter.housekeeping, "TRITON_CACHE_DIR": "{cache}/triton", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
    unsupported = (
        UnsupportedRule((f"{__name__}.OtherOnTheGpu",), "differs-on-gpu"),
        *InductorAdapter.unsupported,
    )

    def start(self) -> Mapping[str, str]:
        """Leaves CUDA alone, which survives no copy of a process."""
        torch: Any = importlib.import_module("torch")
        if not torch.cuda.is_available():
            raise RuntimeError(
                "Inductor for CUDA needs an NVIDIA GPU, its driver, and a PyTorch built for CUDA; run it on a machine that has them"
            )
        importlib.import_module("triton")
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        named = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=True)
        return {**super().start(), "gpu": named.stdout.splitlines()[0], "cuda": str(torch.version.cuda)}

    def load(self, subject: Subject, stage: Stage) -> Any:
        from opera.templates.pytorch.model import to_numpy

        expected = [to_numpy(item) for item in subject.module.run_once()]
        try:
            module = copy.deepcopy(subject.module.part).to(self.target)
            self._torch.manual_seed(1)
            with self._torch.no_grad():
                actual = [to_numpy(item.to("cpu")) for item in subject.module.outcome(module, self._inputs(subject))]
        except Exception as error:
            raise OtherOnTheGpu(str(error)) from error
        if (reason := disagreement(expected, [actual])) is not None:
            raise OtherOnTheGpu(reason)
        return self._compiled(module, subject)

    def is_spent(self) -> bool:
        try:
            self._torch.cuda.synchronize()
        except Exception:
            return True
        return False
