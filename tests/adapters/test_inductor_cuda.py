"""Inductor for a GPU: what it asks of PyTorch before it blames the compiler, with the processor in place of the GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import commands
import pytest
import torch
from real_campaigns import opera

from opera.compilers.adapter import Subject
from opera.extensions.inductor_cuda.adapter import InductorCudaAdapter, OtherOnTheGpu
from opera.extensions.suites.driver import general_facts
from opera.report.reproducer import driving_code

SAMPLES = Path(__file__).parents[2] / "corpora" / "samples"
HAS_GPU = any(Path("/proc/driver/nvidia/gpus").glob("*"))


class OnTheProcessor(InductorCudaAdapter):
    target = "cpu"

    def __init__(self) -> None:
        super().__init__({})
        self._torch = torch


class Twice(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor]:
        return (x * 2,)


class Device(torch.nn.Module):
    """Gives twice its input where it was built, and what *there* makes of it on another device."""

    def __init__(self, there: Any) -> None:
        super().__init__()
        self.there = there
        self.is_copy = False

    def __deepcopy__(self, memo: Any) -> Device:
        copy = Device(self.there)
        copy.is_copy = True
        return copy

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor]:
        return (self.there(x) if self.is_copy else x * 2,)


class Model:
    def __init__(self, module: torch.nn.Module) -> None:
        self.part = module

    def fresh_tensors(self) -> list[torch.Tensor]:
        return [torch.tensor([1.0, 2.0])]

    def outcome(self, call: Any, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        return list(call(*tensors))

    def run_once(self) -> list[torch.Tensor]:
        return self.outcome(self.part, self.fresh_tensors())


def load(module: torch.nn.Module) -> Any:
    subject = Subject(InductorCudaAdapter.routes[0], b"", {}, 1, lambda: None, Model(module))
    return OnTheProcessor().load(subject, lambda _: None)


def no_kernel(x: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("not implemented on this device")


@pytest.mark.slow
def test_what_pytorch_computes_alike_on_both_devices_is_compiled() -> None:
    module = Twice()
    assert load(module)._orig_mod is not module  # a copy: the module itself stays on the processor


@pytest.mark.parametrize(("there", "why"), [(no_kernel, "not implemented"), (lambda x: x * 3, "library-disagrees-with-itself")])
def test_the_compiler_is_not_asked_where_pytorch_itself_differs_on_the_device(there: Any, why: str) -> None:
    with pytest.raises(OtherOnTheGpu, match=why):
        load(Device(there))


def test_a_script_moves_model_and_inputs_to_the_gpu_and_results_back() -> None:
    assert driving_code(InductorCudaAdapter, "pytorch", {}).text.count('.to("cuda")') == 2
    scope: dict[str, Any] = {"torch": torch, "model": Twice(), "inputs": (torch.tensor([1.0, 2.0]),)}
    exec(driving_code(InductorCudaAdapter, "pytorch", {"target": '"cpu"'}).text, scope)
    assert [value.tolist() for value in scope["actual"]] == [[2.0, 4.0]]


def test_an_exported_suite_computes_on_the_target_that_it_is_given() -> None:
    text = driving_code(InductorCudaAdapter, "pytorch", general_facts({})).text
    assert text.count(".to(target)") == 2
    assert "numpy_of(leaf.cpu())" in text


def test_without_a_build_for_cuda_it_is_absent_and_doctor_says_what_it_takes(tmp_path: Path) -> None:
    run = commands.run("doctor", "--compiler", "inductor-cuda", "--json", folder=tmp_path)
    assert run.returncode == 3
    for entry in json.loads(run.stdout)["adapters"]:
        assert entry["state"] == "absent"
        assert "triton is not installed" in entry["reason"]


@pytest.mark.slow
@pytest.mark.skipif(not HAS_GPU, reason="it needs an NVIDIA GPU, and PyTorch's build for CUDA")
def test_pytorch_operators_pass_on_a_gpu(tmp_path: Path) -> None:
    opera("import", str(SAMPLES / "pytorch.jsonl"), workspace=tmp_path)
    summary = opera("run", "--compiler", "inductor-cuda", "--frontend", "pytorch", "--exit-zero", "--limit", "8", workspace=tmp_path)
    assert summary["complete"]
    assert summary["verdicts"]["pass"] >= 4
