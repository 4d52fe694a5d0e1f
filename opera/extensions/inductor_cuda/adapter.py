"""TorchInductor on an NVIDIA GPU."""

from __future__ import annotations

import copy
import importlib
import subprocess
from collections.abc import Mapping
from typing import Any

from opera.compilers.adapter import Fork, Stage, Subject, UnsupportedRule
from opera.compilers.inductor import InductorAdapter
from opera.oracles.compare import disagreement


class OtherOnTheGpu(Exception):
    """PyTorch itself, without a compiler, raises on the GPU or computes there what the processor does not."""


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
                actual = [to_numpy(item.to("cpu")) for item in subject.module.outcome(module, self.inputs(subject))]
        except Exception as error:
            raise OtherOnTheGpu(str(error)) from error
        if (reason := disagreement(expected, [actual])) is not None:
            raise OtherOnTheGpu(reason)
        return self.compiled(module, subject)

    def is_spent(self) -> bool:
        try:
            self._torch.cuda.synchronize()
        except Exception:
            return True
        return False
