"""Compilers that live in environments of their own, made by the real command and driven through it.

The environments take a gigabyte or more and come from a package index: slow, and only where there is a network.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import torch

from opera.compilers.adapter import CannotFeed
from opera.extensions.executorch.adapter import ExecuTorchAdapter

SAMPLES = Path(__file__).parents[2] / "corpora" / "samples"
COMMENTED = "# this project's own interpreters\n[library.onnx]  # as installed\npython = 'python3'\n"
HAS_GPU = any(Path("/proc/driver/nvidia/gpus").glob("*"))


def opera(folder: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    command = [sys.executable, "-m", "opera", *arguments, "--json"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=1800)
    assert run.returncode == code, run.stderr[-3000:]
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def executorch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which ExecuTorch has an environment of its own, and PyTorch instances."""
    folder = tmp_path_factory.mktemp("executorch")
    (folder / "opera.toml").write_text(COMMENTED)
    made = opera(folder, "env", "create", "executorch")
    assert made["environments"][0]["used"]
    assert [(check["route"], check["state"]) for check in made["environments"][0]["checks"]] == [("exported-program", "pass")]
    opera(folder, "import", str(SAMPLES / "pytorch.jsonl"))
    return folder


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        (torch.zeros(2, 3), torch.contiguous_format),
        (torch.zeros(1, 2, 3, 3).to(memory_format=torch.channels_last), torch.channels_last),
        (torch.zeros(3, 2).t(), None),
        (torch.zeros(8)[::2], None),
        (torch.zeros(1, 2, 3, 3).permute(0, 1, 3, 2), None),
    ],
)
def test_executorch_gets_inputs_as_its_program_reads_them(example: torch.Tensor, expected: torch.memory_format | None) -> None:
    adapter = ExecuTorchAdapter({})
    adapter._torch = torch
    if expected is not None:
        assert adapter._layout(example) == expected
        return
    with pytest.raises(CannotFeed, match="contiguous or channels-last"):
        adapter._layout(example)


@pytest.mark.slow
def test_the_environment_holds_the_pinned_versions_and_nothing_else(executorch: Path) -> None:
    pins = Path(__file__).parents[2] / "opera" / "environments" / "executorch.txt"
    pinned = {line for line in pins.read_text().splitlines() if not line.startswith("#")}
    python = executorch / ".opera-envs" / "executorch" / "bin" / "python"
    frozen = subprocess.run([python, "-m", "pip", "freeze", "--all"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert {line.partition("+")[0] for line in frozen if not line.startswith("pip==")} == pinned


@pytest.mark.slow
def test_opera_toml_names_it_and_is_otherwise_as_it_was(executorch: Path) -> None:
    text = (executorch / "opera.toml").read_text()
    assert text.startswith(COMMENTED)
    assert tomllib.loads(text)["compiler"] == {"executorch": {"python": ".opera-envs/executorch/bin/python"}}


@pytest.mark.slow
@pytest.mark.parametrize("level", ["portable", "xnnpack"])
def test_operators_that_executorch_has_pass_and_others_are_unsupported(executorch: Path, level: str) -> None:
    run = ("run", "--compiler", "executorch", "--frontend", "pytorch", "--level", level, "--exit-zero", "--quiet", "-j", "2")
    good = opera(executorch, *run, "-k", "torch.nn.linear or torch.nn.prelu or torch.nn.hardtanh")
    assert good["complete"]
    assert good["verdicts"] == {"pass": good["executed"]}
    declined = opera(executorch, *run, "-k", "torch.sort", code=4)
    assert declined["verdicts"] == {"unsupported": declined["executed"]}
    assert declined["versions"]["compiler"]["kernels"] == level


@pytest.mark.slow
def test_a_failure_of_its_runtime_says_why_and_is_reproduced(executorch: Path) -> None:
    run = ("run", "--compiler", "executorch", "--frontend", "pytorch", "--exit-zero", "--quiet", "-k", "torch.tensor.gather")
    opera(executorch, *run)
    (finding,) = [each for each in opera(executorch, "report")["findings"] if each["operators"] == ["torch.Tensor.gather"]]
    assert finding["converter"] == "aten.gather"
    assert "Check failed (index.scalar_type() == ScalarType::Long)" in finding["summary"]
    assert opera(executorch, "reproduce", finding["id"])["reproduced"]


@pytest.mark.slow
def test_removing_it_takes_its_entry_away(executorch: Path) -> None:
    assert {row["name"]: row["state"] for row in opera(executorch, "env", "list")["environments"]}["executorch"] == "in use"
    assert opera(executorch, "env", "remove", "executorch")["served"] == ["compiler.executorch"]
    assert not (executorch / ".opera-envs").exists()
    assert (executorch / "opera.toml").read_text().strip() == COMMENTED.strip()
    states = {entry["state"] for entry in opera(executorch, "doctor", "--compiler", "executorch", code=3)["adapters"]}
    assert states == {"absent"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("clang") is None, reason="clang comes from the system, not from our set-up")
def test_operators_that_tinygrad_has_pass_and_others_are_unsupported(tmp_path: Path) -> None:
    made = opera(tmp_path, "env", "create", "tinygrad")
    assert [(check["frontend"], check["state"]) for check in made["environments"][0]["checks"]] == [("onnx", "pass"), ("pytorch", "pass")]
    opera(tmp_path, "import", str(SAMPLES / "onnx.jsonl"))
    run = ("run", "--compiler", "tinygrad", "--frontend", "onnx", "--exit-zero", "--quiet", "-j", "1", "--cap", "1")
    good = opera(tmp_path, *run, "-k", "onnx.Relu or onnx.MatMul")
    assert good["verdicts"] == {"pass": good["executed"]}
    assert good["versions"]["compiler"]["device"] == "CPU"
    declined = opera(tmp_path, *run, "-k", "onnx.LSTM", code=4)
    assert declined["verdicts"] == {"unsupported": declined["executed"]}


def test_without_its_package_tensorrt_is_absent_and_doctor_says_what_it_takes(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "opera", "doctor", "--compiler", "tensorrt", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 3
    for entry in json.loads(run.stdout)["adapters"]:
        assert entry["state"] == "absent"
        assert "tensorrt-rtx-cu13-bindings is not installed" in entry["reason"]
        assert "`opera env create tensorrt`" in entry["reason"]


@pytest.fixture(scope="module")
def tensorrt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which TensorRT for RTX has an environment of its own."""
    folder = tmp_path_factory.mktemp("tensorrt")
    made = opera(folder, "env", "create", "tensorrt")
    assert [(check["frontend"], check["state"]) for check in made["environments"][0]["checks"]] == [("onnx", "pass"), ("pytorch", "pass")]
    return folder


@pytest.mark.slow
def test_doctor_says_whether_tensorrt_runs_or_only_builds(tensorrt: Path) -> None:
    told = opera(tensorrt, "doctor", "--compiler", "tensorrt")
    builds_only = [each["remark"] for each in told["remarks"] if each["name"] == "tensorrt"]
    assert len(builds_only) == (0 if HAS_GPU else 1), builds_only
    assert all(each.startswith("builds only, runs nothing: no NVIDIA driver is installed") for each in builds_only)


@pytest.mark.slow
def test_tensorrt_passes_onnx_and_pytorch_models_and_says_what_was_compared(tensorrt: Path) -> None:
    for library, keyword in (("onnx", "ai.onnx.tanh or ai.onnx.prelu"), ("pytorch", "torch.nn.prelu or torch.nn.functional.bilinear")):
        opera(tensorrt, "import", str(SAMPLES / f"{library}.jsonl"))
        summary = opera(
            tensorrt, "run", "--compiler", "tensorrt", "--frontend", library, "-k", keyword, "--exit-zero", "--quiet", "--limit", "4"
        )
        assert summary["complete"]
        assert summary["verdicts"] == {"pass": summary["executed"]}
        assert summary["accepted"] == ({} if HAS_GPU else {"same-signature": summary["executed"]})


@pytest.mark.slow
def test_each_rule_of_tensorrt_meets_its_message_and_none_a_fault(tensorrt: Path) -> None:
    """The recorded messages of the quick test are those of the real compiler."""
    tests = Path(__file__).parents[1]
    run = subprocess.run(
        [tensorrt / ".opera-envs" / "tensorrt" / "bin" / "python", tests / "adapters" / "tensorrt" / "models.py"],
        env={**os.environ, "PYTHONPATH": str(tests.parent)},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    recorded = json.loads((tests / "unit" / "tensorrt" / "messages.json").read_text(encoding="utf-8"))
    facts = [[(each["name"], each["stage"], each["reason"]) for each in cases] for cases in (json.loads(run.stdout), recorded)]
    assert facts[0] == facts[1]
    faults = [each for each in recorded if each["name"].startswith("fault")]
    assert faults
    assert all((each["reason"] is None) is each["name"].startswith("fault") for each in recorded)


@pytest.mark.slow
@pytest.mark.skipif(HAS_GPU, reason="with a GPU values are compared")
def test_suites_of_a_compiler_that_only_builds_say_that_they_compare_signatures(tensorrt: Path) -> None:
    opera(tensorrt, "import", str(SAMPLES / "onnx.jsonl"))
    subject = ("--compiler", "tensorrt", "--frontend", "onnx")
    opera(tensorrt, "run", *subject, "-k", "rnn or averagepool or onehot or relu", "--exit-zero", "--quiet", "-j", "1")
    python = tensorrt / ".opera-envs" / "tensorrt" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "pytest"], check=True, timeout=600)
    for style in ("onnx-backend", "plain"):
        said = opera(tensorrt, "export", "pytest", style, *subject, "--style", style, "--passing", "4")
        assert (said["green"], said["burn_down"] >= 3, said["left_out"]) == (4, True, {}), said
        readme = " ".join((tensorrt / style / "README.md").read_text(encoding="utf-8").split())
        assert "Nothing ran where the tests were exported" in readme
    done = subprocess.run([python, "-m", "pytest", "-q", "plain"], cwd=tensorrt, capture_output=True, text=True, check=False, timeout=600)
    assert f"4 passed, {said['burn_down']} xfailed" in done.stdout, done.stdout[-2000:]
