"""Plug-in providers of ONNX Runtime, each in an environment that the real command makes: slow, and only where there is a package index."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SAMPLES = HERE.parents[2] / "corpora" / "samples" / "onnx.jsonl"
HAS_GPU = any(Path("/sys/class/drm").glob("card[0-9]"))
HAS_DRIVER = Path("/proc/driver/nvidia/version").exists()
IS_INTEL = "GenuineIntel" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
pytestmark = pytest.mark.slow


def opera(folder: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    command = [sys.executable, "-m", "opera", *arguments, "--json"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=1800)
    assert run.returncode == code, run.stderr[-3000:]
    return json.loads(run.stdout)


def python(folder: Path, name: str, *arguments: str | Path) -> str:
    """What a program prints that runs in the environment *name* and finds OPERA's sources."""
    command = [folder / ".opera-envs" / name / "bin" / "python", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[2]), "ORT_GGML_LOG": "off"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=600).stdout


@pytest.fixture(scope="module")
def ggml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which ggml's provider has an environment of its own, with ONNX's sample instances."""
    folder = tmp_path_factory.mktemp("ggml")
    made = opera(folder, "env", "create", "onnxruntime-ggml")
    assert [(check["frontend"], check["state"]) for check in made["environments"][0]["checks"]] == [("onnx", "pass"), ("pytorch", "pass")]
    opera(folder, "import", str(SAMPLES))
    return folder


def test_doctor_names_the_options_and_claims_no_precision_of_a_convolution_that_was_declined(ggml: Path) -> None:
    for entry in opera(ggml, "doctor", "--compiler", "onnxruntime-ggml")["adapters"]:
        assert entry["settings"]["options"] == "device=cpu threads=1 weights=f32"
        assert "products" not in entry["settings"]
        assert entry["imported"].endswith("onnxruntime_ggml/__init__.py")


def test_each_rule_meets_its_message_and_none_a_fault(ggml: Path) -> None:
    """The recorded messages of the quick test are those of the real provider."""
    recorded = [each for each in json.loads((HERE / "messages.json").read_text(encoding="utf-8")) if "ggml" in each["provider"]]
    real = json.loads(python(ggml, "onnxruntime-ggml", HERE / "models.py", "GgmlProvider"))
    facts = [[(each["name"], each["stage"], each["type"], each["reason"]) for each in cases] for cases in (real, recorded)]
    assert facts[0] == facts[1]
    assert {each["reason"] for each in real} == {"no-kernel", "declined", "newer-opset", None}


def test_constants_stay_float32_which_the_providers_default_narrows(ggml: Path) -> None:
    program = """
import numpy as np
from onnx import TensorProto, helper, numpy_helper
from opera.compilers.adapter import Subject
from opera.extensions.providers.plugins import GgmlProvider
import sys
F, entry = TensorProto.FLOAT, helper.make_tensor_value_info
weight = np.array([[1 + 2**-14]], np.float32)
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [entry("x", F, [1, 1])], [entry("y", F, [1, 1])],
                          [numpy_helper.from_array(weight, "w")])
data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()
GgmlProvider.options_of_provider = {**GgmlProvider.options_of_provider, "weights": sys.argv[1]}
adapter = GgmlProvider({})
adapter.start()
subject = Subject(adapter.routes[0], data, {"x": np.ones((1, 1), np.float32)}, 1, lambda: None)
print(bool(adapter.run(adapter.load(subject, print), subject, print)[0][0, 0] == weight[0, 0]))
"""
    exact = {each: python(ggml, "onnxruntime-ggml", "-c", program, each).strip() for each in ("f32", "f16")}
    assert exact == {"f32": "True", "f16": "False"}


def test_what_it_runs_passes_and_a_fault_of_its_own_is_reproduced(ggml: Path) -> None:
    run = ("run", "--compiler", "onnxruntime-ggml", "--frontend", "onnx", "--exit-zero", "--quiet")
    good = opera(ggml, *run, "-k", "ai.onnx.relu or ai.onnx.tanh")
    assert good["complete"]
    assert good["verdicts"] == {"pass": good["executed"]}
    opera(ggml, *run, "-k", "ai.onnx.layernormalization")
    findings = opera(ggml, "report")["findings"]
    assert findings
    assert all("was never produced" in each["summary"] for each in findings)
    assert opera(ggml, "reproduce", findings[0]["id"])["reproduced"]


@pytest.mark.parametrize(
    ("name", "works", "said"),
    [
        ("webgpu", HAS_GPU, "onnxruntime-ep-webgpu offers no device on this machine; ONNX Runtime looks for GPUs in /sys/class/drm"),
        ("openvino", IS_INTEL, "onnxruntime-ep-openvino offers no device on this machine; it takes Intel's processors only"),
        ("tensorrt-rtx", HAS_DRIVER, "onnxruntime-ep-nv-tensorrt-rtx does not load; libcuda.so.1: cannot open shared object file"),
    ],
)
def test_a_provider_that_does_not_work_here_is_made_and_not_used_with_the_reason(name: str, works: bool, said: str, tmp_path: Path) -> None:
    made = opera(tmp_path, "env", "create", f"onnxruntime-{name}", code=0 if works else 3)
    assert made["environments"][0]["used"] is works
    for check in made["environments"][0]["checks"]:
        assert check["ok"] is works
        assert works or check["reason"].startswith(f"the provider of {said}")


def test_a_plugin_that_opera_toml_names_is_installed_and_tested(tmp_path: Path) -> None:
    settings = tmp_path / "opera.toml"
    settings.write_text("[compiler.onnxruntime-plugin]\nenv = {ONNXRUNTIME_EP = 'nxrt-ep-cpu==0.1.0.dev6'}\n")
    made = opera(tmp_path, "env", "create", "onnxruntime-plugin")
    assert [(check["state"], check["version"]) for check in made["environments"][0]["checks"]] == [("pass", "0.1.0.dev6")] * 2
    assert made["environments"][0]["checks"][0]["settings"]["provider"] == "cpu_ep"
    assert made["environments"][0]["checks"][0]["settings"]["products"] == "float32"
    opera(tmp_path, "import", str(SAMPLES))
    run = ("run", "--compiler", "onnxruntime-plugin", "--frontend", "onnx", "--exit-zero", "--quiet")
    good = opera(tmp_path, *run, "-k", "ai.onnx.relu or ai.onnx.tanh")
    assert good["verdicts"] == {"pass": good["executed"]}
