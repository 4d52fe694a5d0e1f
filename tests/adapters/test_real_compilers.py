"""Every real compiler of the main environment, on real single-operator models, through the real command.

One campaign per subject over a few operators: what each is known to get right passes, and what each is known to decline is counted as
unsupported, under the reason that its adapter gives. These compilers are installed by `make setup`; their absence is a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import recordings
from innocent import INNOCENT
from parameters import quick
from real_campaigns import Campaign, filled, opera, run, selected

from opera.oracles.fingerprint import NEWER_OPSET

PYTORCH_ENTRIES = ["nn.functional.relu", "matmul"]


EVERYWHERE = "ai.onnx.transpose or ai.onnx.relu or ai.onnx.tanh"
DECLINED = {
    "tvm": "ai.onnx.StringConcat",
    "openvino": "ai.onnx.StringConcat",
    "onnxruntime": "ai.onnx.ImageDecoder",
    "iree": "ai.onnx.StringSplit",
}
UNUSUAL = " or ".join(
    f"ai.onnx.{operator}"
    for operator in (
        "SequenceLength", "SequenceInsert", "OptionalHasElement", "OptionalGetElement", "StringNormalizer", "CastLike", "BitCast",
    )
)  # fmt: skip
"""Operators whose instances have sequences, optionals, strings, and the types that numpy has not."""
RECORDED = (
    "transpose", "relu", "tanh", "string", "image_decoder", "sequence", "optional", "castlike", "bitcast", "spacetodepth", "isinf",
    "reduce_max",
)  # fmt: skip
"""Parts of the names of the node tests that are recorded: of the operators that are named here."""
SLOW = ("iree", "tvm")
"""Compilers that take long for a model: a quick run gives them few instances."""
WRONG = ("tvm", "openvino")
CONVERTERS = {"tvm": ("IsInf", "IsInf._impl_v10"), "onnxruntime": ("ReduceMax", "ReduceMax 20+")}


def quickly(compilers: Iterable[str]) -> list[Any]:
    """Parameters of *compilers*, of which a quick run takes one: each other one has tests of its own, or is in the demo."""
    return quick(compilers, "onnxruntime")


@pytest.fixture(scope="module")
def onnx_workspace(tmp_path_factory: pytest.TempPathFactory, node_tests: list[Any]) -> Path:
    return filled(tmp_path_factory.mktemp("onnx"), recordings.instances(node_tests, *(f"*{name}*" for name in RECORDED)))


@pytest.fixture(scope="module")
def pytorch_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("pytorch")
    only = [part for entry in PYTORCH_ENTRIES for part in ("--only", entry)]
    opinfo = ("--source", "opinfo", "--option", "dtypes=float32", "--option", "variants=")
    opera("extract", "--lib", "pytorch", *opinfo, *only, "--quiet", workspace=workspace)
    return workspace


@pytest.fixture(scope="module")
def on_onnx(onnx_workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Campaign]:
    """Gives the campaign of a compiler with ONNX models, which runs when it is asked for first."""
    done: dict[str, Campaign] = {}

    def get(compiler: str) -> Campaign:
        if compiler not in done:
            keywords = [DECLINED[compiler]]
            if compiler in WRONG:
                keywords.append("SpaceToDepth")
            if compiler in CONVERTERS:
                keywords.append(CONVERTERS[compiler][0])
            chosen = selected(onnx_workspace, "onnx", EVERYWHERE, 3 if compiler in SLOW else 8)
            chosen += selected(onnx_workspace, "onnx", " or ".join(f"({each})" for each in keywords), 4 if compiler == "iree" else 100)
            if compiler not in SLOW:
                chosen += [*selected(onnx_workspace, "onnx", UNUSUAL, 100), *INNOCENT.get((compiler, "onnx"), ())]
            workspace = filled(tmp_path_factory.mktemp(compiler), chosen)
            done[compiler] = run(workspace, compiler, "onnx", [])
        return done[compiler]

    return get


@pytest.mark.parametrize("compiler", quickly(DECLINED))
def test_onnx_operators_that_everyone_supports_pass(on_onnx: Callable[[str], Campaign], compiler: str) -> None:
    found = on_onnx(compiler).of(EVERYWHERE)
    assert {result.verdict.value for result in found} <= {"pass", "unsupported"}
    assert sum(result.verdict.value == "pass" for result in found) >= (6 if compiler in SLOW else 12)


@pytest.mark.parametrize("compiler", quickly(DECLINED))
def test_what_a_compiler_declines_is_unsupported_and_no_finding(on_onnx: Callable[[str], Campaign], compiler: str) -> None:
    operator = DECLINED[compiler]
    found = on_onnx(compiler).of(operator)
    assert len(found) >= 2
    assert {result.verdict.value for result in found} == {"unsupported"}
    assert [each for each in on_onnx(compiler).report()["findings"] if operator in each["operators"]] == []


@pytest.mark.parametrize("compiler", quickly([each for each in DECLINED if each not in SLOW]))
def test_no_kind_of_input_trips_an_adapter(on_onnx: Callable[[str], Campaign], compiler: str) -> None:
    found = on_onnx(compiler).of(UNUSUAL)
    assert len(found) >= 60
    assert [each.detail for each in found if each.reason in ("harness-error", "template-error")] == []


@pytest.mark.slow
@pytest.mark.parametrize(("compiler", "most"), [("tvm", 100), ("iree", 2)])
def test_no_kind_of_input_trips_a_slow_compiler(onnx_workspace: Path, tmp_path: Path, compiler: str, most: int) -> None:
    instances = selected(onnx_workspace, "onnx", UNUSUAL, most)
    found = run(filled(tmp_path, instances), compiler, "onnx", []).of(UNUSUAL)
    assert len(found) >= len(instances) >= 10
    assert [each.detail for each in found if each.reason in ("harness-error", "template-error")] == []


@pytest.mark.parametrize("compiler", quickly([compiler for compiler, frontend in INNOCENT if frontend == "onnx" and compiler not in SLOW]))
def test_nobody_is_at_fault(on_onnx: Callable[[str], Campaign], compiler: str) -> None:
    assert on_onnx(compiler).failures_of(INNOCENT[compiler, "onnx"]) == []


@pytest.mark.slow
def test_nobody_is_at_fault_on_tvm(tmp_path: Path) -> None:
    innocent = INNOCENT["tvm", "onnx"]
    assert run(filled(tmp_path, innocent), "tvm", "onnx", []).failures_of(innocent) == []


@pytest.mark.slow
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
def test_pytorch_operators_pass_and_nobody_is_at_fault(pytorch_workspace: Path, tmp_path: Path, compiler: str, route: str) -> None:
    supported = selected(pytorch_workspace, "pytorch", "torch.matmul or torch.nn.functional.relu", 2)
    innocent = INNOCENT.get((compiler, "pytorch"), ())
    found = run(filled(tmp_path, [*supported, *innocent]), compiler, "pytorch", [], "--route", route)
    passed = found.of("torch.matmul or torch.nn.functional.relu")
    assert [each.verdict.value for each in passed] == ["pass"] * len(passed)
    assert len(passed) >= 3
    assert found.failures_of(innocent) == []


@pytest.mark.parametrize("compiler", quickly(WRONG))
def test_a_known_wrong_result_is_found_reproduced_and_reported(on_onnx: Callable[[str], Campaign], compiler: str, tmp_path: Path) -> None:
    """SpaceToDepth has a `mode` since opset 28; TVM 0.27 and OpenVINO 2026.4 take the model and ignore it."""
    found = on_onnx(compiler)
    wrong = [each for each in found.report()["findings"] if each["converter"] == NEWER_OPSET]
    assert wrong
    for finding in wrong:
        assert finding["compiler"] == compiler
        assert "ai.onnx.SpaceToDepth" in finding["operators"]
        assert finding["verdict"] == "inconsistent"
        outcome = opera("reproduce", finding["id"], "--output", str(tmp_path / "script.py"), workspace=found.workspace)
        assert outcome["reproduced"] is True
    assert all(finding["verified"] for finding in found.report()["findings"] if finding["converter"] == NEWER_OPSET)


@pytest.mark.parametrize("compiler", CONVERTERS)
def test_a_converter_is_named_as_the_compilers_own_table_has_it(on_onnx: Callable[[str], Campaign], compiler: str) -> None:
    """TVM's importer has a class per operator and a method per opset; ONNX Runtime has kernels per range of opsets."""
    operator, converter = CONVERTERS[compiler]
    findings = on_onnx(compiler).report()["findings"]
    assert {finding["converter"] for finding in findings if f"ai.onnx.{operator}" in finding["operators"]} == {converter}


@pytest.mark.slow
def test_doctor_passes_a_compiler_on_all_its_routes(tmp_path: Path) -> None:
    adapters = opera("doctor", "--compiler", "onnxruntime", workspace=tmp_path)["adapters"]
    assert {(each["frontend"], each["state"]) for each in adapters} == {(name, "pass") for name in ("onnx", "pytorch", "keras")}


@pytest.mark.slow
def test_doctor_passes_every_adapter_of_the_main_environment(tmp_path: Path) -> None:
    adapters = opera("doctor", workspace=tmp_path)["adapters"]
    apart = {"tvm-stablehlo"}  # JAX is there in a version that it does not take
    broken = [(each["name"], each["frontend"], each["reason"]) for each in adapters if each["state"] not in ("pass", "absent")]
    assert {each[0] for each in broken} <= apart, broken
    others = {f"onnxruntime-{name}" for name in ("ggml", "openvino", "plugin", "tensorrt-rtx", "webgpu")}
    assert {each["name"] for each in adapters if each["state"] == "absent"} <= {
        "executorch",
        "inductor-cuda",
        "tensorrt",
        "tinygrad",
        *others,
    }
    names = {(each["name"], each["frontend"]) for each in adapters if each["ok"]}
    subjects = {(name, frontend) for name in ("tvm", "openvino", "onnxruntime") for frontend in ("onnx", "pytorch")}
    assert names >= subjects | {("inductor", "pytorch")}
