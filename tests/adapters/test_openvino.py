"""What OpenVINO's adapter has to know of its frontends: inputs that they prune, and the words with which they decline."""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from instances import counting, tensor, torch_call
from real_campaigns import Campaign, run

from opera.compilers.adapter import Subject
from opera.compilers.openvino import OpenVinoAdapter
from opera.compilers.torch_format import operators_of
from opera.difftest import messages
from opera.instance import Argument, Instance, Kind, Occurrence, Tensor
from opera.oracles.verdict import Verdict
from opera.report import reproducer
from opera.store import Corpus, StoredResult
from opera.store.database import open_workspace
from opera.templates.onnx.model import OnnxTemplate

INSTANCES = (
    torch_call("torch.addr", counting(2, 3), counting(2), counting(3), beta=0),
    torch_call("torch.var", counting(3, 4), dim=0, correction=2),
    torch_call("torch.mean", counting(3, 4), dim=0),
    torch_call("torch.view_as_complex", counting(3, 2)),
    torch_call("torch.t", tensor(np.ones((1, 2)), "complex64")),
    torch_call("torch.native_layer_norm", counting(2, 3), normalized_shape=(3,), weight=None, bias=counting(3), eps=1e-5),
    torch_call("torch.logspace", start=2, end=10.5, steps=1, base=-1.0),
    torch_call("torch.histogram", counting(6), bins=2),
    torch_call("torch.softmax", tensor(np.ones((2, 0)), "bool"), dim=1),
    torch_call("torch.exp", tensor(np.ones((2, 0)))),
)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    workspace = tmp_path_factory.mktemp("openvino")
    with open_workspace(workspace, write=True) as space:
        Corpus(space).add((each, Occurrence("hand", "test")) for each in INSTANCES)
    found = run(workspace, "openvino", "pytorch", ["torch"])
    assert found.summary["executed"] == len(INSTANCES)
    return found


def verdict(campaign: Campaign, api: str) -> tuple[str, str | None]:
    """Verdict and reason of the only test of *api*."""
    (result,) = campaign.of(api)
    return result.verdict.value, result.reason


def test_inputs_are_fed_by_name_where_the_frontend_prunes_one(campaign: Campaign) -> None:
    """With `beta=0` the first input of `addr` is not used: the others must not take its place or its shape."""
    assert verdict(campaign, "torch.addr") == ("pass", None)


def test_a_clear_refusal_is_no_crash(campaign: Campaign) -> None:
    assert verdict(campaign, "torch.var") == ("unsupported", "declined")
    assert verdict(campaign, "torch.mean") == ("pass", None)
    assert verdict(campaign, "torch.view_as_complex") == ("unsupported", "dtype")


def test_a_model_that_cannot_be_fed_is_no_crash(campaign: Campaign) -> None:
    """OpenVINO converts a model with complex inputs, and its CPU plugin then finds no memory for them."""
    assert verdict(campaign, "torch.t") == ("unsupported", "no-array-interface")


@pytest.mark.parametrize("api", ["torch.logspace", "torch.histogram"])
def test_what_pytorch_cannot_decompose_is_no_crash_of_openvino(campaign: Campaign, api: str) -> None:
    """OpenVINO lets PyTorch decompose the program first; `ExportedProgram.run_decompositions` alone raises, too."""
    assert verdict(campaign, api) == ("invalid", "capture-failed:torch.export")


def test_dtypes_that_pytorch_takes_only_of_empty_tensors_are_invalid(campaign: Campaign) -> None:
    """PyTorch has no softmax of bool, but says so only where there is an element."""
    assert verdict(campaign, "torch.softmax") == ("invalid", "only-when-empty")
    assert verdict(campaign, "torch.exp") == ("pass", None)


def test_an_internal_type_is_no_converter(campaign: Campaign) -> None:
    """A message that names only what OpenVINO puts between its nodes names the PyTorch function that this came from elsewhere."""
    assert verdict(campaign, "torch.native_layer_norm")[0] == "crash"
    (result,) = campaign.of("torch.native_layer_norm")
    assert result.converter == "native_layer_norm.default"


def test_conversions_send_no_telemetry() -> None:
    """Without a consent file, `convert_model` sends some fifteen messages for each model, from threads of its own."""
    script = "from openvino.tools.ovc.telemetry_utils import init_ovc_telemetry\nprint(init_ovc_telemetry().consent)"
    environment = {**os.environ, **OpenVinoAdapter.housekeeping}
    result = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_the_converter_is_what_computes() -> None:
    """Keras checks and converts each tensor before it is used, mostly to the dtype that the tensor has."""
    torch: Any = importlib.import_module("torch")

    class Converts(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.sin(x.to(torch.float32)).to(torch.float64)

    program = torch.export.export(Converts(), (torch.zeros(2),))
    assert [str(node.target) for node in program.graph.nodes if "_assert_" in str(node.target)]
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    (route,) = (each for each in OpenVinoAdapter.routes if (each.frontend, each.name) == ("keras", "exported-program"))
    subject = Subject(route, buffer.getvalue(), {}, 1, lambda: torch_call("torch.sin", counting(2)))
    assert operators_of(subject) == "sin.default+to.dtype"


@pytest.mark.parametrize("dtype", ["int4", "uint4", "float4_e2m1fn"])
@pytest.mark.parametrize(("right", "agrees"), [("[[0.0, 1.0, 3.0]]", True), ("[[0.0, 1.0, 2.0]]", False)])
def test_a_script_packs_and_unpacks_elements_that_share_a_byte(tmp_path: Path, dtype: str, right: str, agrees: bool) -> None:
    """Three elements do not fill a byte, and the last one lies in a byte of its own."""
    value = Tensor((1, 3), dtype, np.array([[0, 1, 3]]).astype(getattr(ml_dtypes, dtype)).tobytes())
    node = Instance("onnx", "ai.onnx.Identity", Kind.NODE, (), (Argument("input", value),), (("opset", 25), ("outputs", [True])))
    source = OnnxTemplate().build(node, "key", 0).source("runtime")
    expected = f"expected = [np.array({right}, ml_dtypes.{dtype})]"
    detail = {"difference": {"kind": "values", "dtype": dtype, "expected": "3", "actual": "2"}}
    result = StoredResult("test", "instance", "openvino", "onnx", None, "runtime", 0, Verdict.INCONSISTENT, detail=detail)
    answer = messages.ModelSource([*source.imports, "import ml_dtypes"], source.text, expected)
    script = reproducer.render(lambda *_: answer, reproducer.ScriptCase(result, {"context": [["opset", 25]]}, "key"), {})
    (tmp_path / "script.py").write_text(script)
    ran = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False)
    assert (ran.returncode == 0) == agrees, script + ran.stderr
    assert agrees or "AssertionError" in ran.stderr
