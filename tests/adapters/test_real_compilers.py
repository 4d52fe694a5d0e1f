"""Every real compiler of the main environment, on real single-operator models, through the real command.

One campaign per subject over a few operators: what each is known to get right passes, and what each is known to decline is counted as
unsupported, under the reason that its adapter gives. These compilers are installed by `make setup`; their absence is a failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from opera.store import Campaigns
from opera.store.database import open_workspace

PYTORCH_ENTRIES = ["nn.functional.relu", "add", "matmul", "nn.functional.conv2d", "histogram", "randn_like"]


def opera(*arguments: str, workspace: Path, codes: tuple[int, ...] = (0,)) -> dict[str, object]:
    command = [sys.executable, "-m", "opera", *arguments, "--workspace", str(workspace), "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert run.returncode in codes, run.stderr[-3000:]
    return json.loads(run.stdout)


@pytest.fixture(scope="session")
def onnx_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("onnx")
    opera("extract", "--lib", "onnx", "--quiet", workspace=workspace)
    return workspace


@pytest.fixture(scope="session")
def pytorch_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("pytorch")
    only = [part for entry in PYTORCH_ENTRIES for part in ("--only", entry)]
    opera(
        "extract",
        "--lib",
        "pytorch",
        "--source",
        "opinfo",
        *only,
        "--option",
        "dtypes=float32",
        "--option",
        "variants=",
        "--quiet",
        workspace=workspace,
    )
    return workspace


def campaign(workspace: Path, compiler: str, frontend: str, keyword: str, *more: str) -> dict[str, object]:
    arguments = ["run", "--compiler", compiler, "--frontend", frontend, "-k", keyword, "--exit-zero", "--quiet", *more]
    return opera(*arguments, workspace=workspace)


@pytest.mark.parametrize("compiler", ["tvm", "openvino", "onnxruntime", "iree"])
def test_onnx_operators_that_everyone_supports_pass(onnx_workspace: Path, compiler: str) -> None:
    summary = campaign(onnx_workspace, compiler, "onnx", "ai.onnx.transpose or ai.onnx.relu or ai.onnx.tanh", "--limit", "8")
    verdicts = summary["verdicts"]
    assert isinstance(verdicts, dict)
    assert summary["complete"] is True
    assert verdicts["pass"] == summary["executed"] == 8


@pytest.mark.parametrize(
    ("compiler", "operator"),
    [
        ("tvm", "ai.onnx.StringConcat"),
        ("openvino", "ai.onnx.StringConcat"),
        ("onnxruntime", "ai.onnx.SwiGLU"),
        ("iree", "ai.onnx.StringSplit"),
    ],
)
def test_what_a_compiler_declines_is_unsupported_and_no_finding(onnx_workspace: Path, compiler: str, operator: str) -> None:
    summary = campaign(onnx_workspace, compiler, "onnx", f"{operator} and not expanded", "--limit", "2")
    assert summary["verdicts"] == {"unsupported": summary["executed"]}
    assert summary["findings"] == 0


UNUSUAL = ("SequenceLength", "SequenceInsert", "OptionalHasElement", "OptionalGetElement", "StringNormalizer", "CastLike", "BitCast")
"""Operators whose instances have sequences, optionals, strings, and the types that numpy has not."""


@pytest.mark.parametrize("compiler", ["tvm", "openvino", "onnxruntime", "iree"])
def test_no_kind_of_input_trips_an_adapter(onnx_workspace: Path, compiler: str) -> None:
    wanted = " or ".join(f"ai.onnx.{operator}" for operator in UNUSUAL)
    summary = campaign(onnx_workspace, compiler, "onnx", f"({wanted}) and not expanded", "--limit", "60")
    with open_workspace(onnx_workspace, write=False) as space:
        results = list(Campaigns(space).results(str(summary["campaign"])))
    assert len(results) == summary["executed"] == 60
    assert [each.detail for each in results if each.reason in ("harness-error", "template-error")] == []


@pytest.mark.parametrize(
    ("compiler", "route"),
    [
        ("tvm", "exported-program"),
        ("tvm", "fx"),
        ("openvino", "exported-program"),
        ("openvino", "torchscript"),
        ("onnxruntime", "onnx"),
        ("inductor", "dynamo"),
    ],
)
def test_every_pytorch_route_works(pytorch_workspace: Path, compiler: str, route: str) -> None:
    summary = campaign(pytorch_workspace, compiler, "pytorch", "torch.matmul or torch.nn.functional.relu", "--route", route, "--limit", "6")
    verdicts = summary["verdicts"]
    assert isinstance(verdicts, dict)
    assert summary["complete"] is True
    assert verdicts["pass"] == summary["executed"] == 6


def test_a_known_wrong_result_is_found_reproduced_and_reported(onnx_workspace: Path, tmp_path: Path) -> None:
    """SpaceToDepth has a `mode` since opset 28; TVM 0.27 and OpenVINO 2026.4 take the model and ignore it."""
    for compiler in ("tvm", "openvino"):
        campaign(onnx_workspace, compiler, "onnx", "SpaceToDepth")
    report = opera("report", workspace=onnx_workspace)
    findings = report["findings"]
    assert isinstance(findings, list)
    found = {finding["compiler"]: finding for finding in findings if finding["converter"].startswith("SpaceToDepth")}
    assert set(found) == {"tvm", "openvino"}
    for finding in found.values():
        assert finding["verdict"] == "inconsistent"
        outcome = opera("reproduce", finding["id"], "--output", str(tmp_path / "script.py"), workspace=onnx_workspace)
        assert outcome["reproduced"] is True
    again = opera("report", workspace=onnx_workspace)["findings"]
    assert isinstance(again, list)
    assert all(finding["verified"] for finding in again if finding["converter"].startswith("SpaceToDepth"))


def test_a_converter_is_named_as_the_compilers_own_table_has_it(onnx_workspace: Path) -> None:
    """TVM's importer has a class per operator and a method per opset; ONNX Runtime has kernels per range of opsets."""
    for compiler, operator, converter in (("tvm", "SpaceToDepth", "SpaceToDepth._impl_v1"), ("onnxruntime", "ReduceMax", "ReduceMax 20+")):
        campaign(onnx_workspace, compiler, "onnx", operator)
        findings = opera("report", "--compiler", compiler, workspace=onnx_workspace)["findings"]
        assert isinstance(findings, list)
        assert {finding["converter"] for finding in findings if f"ai.onnx.{operator}" in finding["operators"]} == {converter}


def test_doctor_passes_every_adapter_of_the_main_environment(tmp_path: Path) -> None:
    adapters = opera("doctor", workspace=tmp_path)["adapters"]
    assert isinstance(adapters, list)
    broken = [(each["name"], each["frontend"], each["reason"]) for each in adapters if each["state"] not in ("pass", "absent")]
    assert broken == []
    assert {each["name"] for each in adapters if each["state"] == "absent"} <= {"executorch", "tensorrt"}
    names = {(each["name"], each["frontend"]) for each in adapters if each["ok"]}
    subjects = {(name, frontend) for name in ("tvm", "openvino", "onnxruntime") for frontend in ("onnx", "pytorch")}
    assert names >= subjects | {("inductor", "pytorch")}
