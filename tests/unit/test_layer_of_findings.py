"""The layer of a finding is named only where evidence shows it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from opera.oracles.verdict import Detail, Stage, Verdict
from opera.report.words import layer_of
from opera.store import StoredResult
from opera.triage.findings import Finding

CONVERTER = ["tvm.relax.frontend.torch.exported_program_translator", "tvm/relax/frontend/torch/exported_program_translator.py", 12, "_sort"]
HELPER = ["tvm.topi.sort", "tvm/topi/sort.py", 7, "argsort"]


def crash(*frames: list[Any], stage: Stage = Stage.LOAD, frontend: str = "pytorch") -> Finding:
    failure = {"type": "ValueError", "message": "the axis is out of range for this tensor", "frames": list(frames)}
    detail: Any = {"failure": failure}
    return finding(StoredResult("t", "i", "tvm", frontend, "r", "runtime", 0, Verdict.CRASH, stage, detail=detail))


def finding(result: StoredResult, compiler: str = "tvm") -> Finding:
    return Finding(
        id="f",
        compiler=compiler,
        frontend=result.frontend,
        route="r",
        operators=("o",),
        verdict=result.verdict,
        stage=result.stage,
        converter="c",
        summary="summary",
        representative=result,
        tests=(result,),
        fingerprints=("f",),
        members=("m",),
    )


def wrong(**detail: Any) -> Finding:
    facts: Detail = {"difference": {"kind": "values", "expected": "1", "actual": "2"}, **detail}  # type: ignore[typeddict-item]
    return finding(StoredResult("t", "i", "tvm", "pytorch", "r", "runtime", 0, Verdict.INCONSISTENT, Stage.COMPARE, detail=facts))


def name(found: Finding, *among: Finding) -> str | None:
    layer = layer_of(found, among)
    return None if layer is None else layer.name


def test_the_function_that_raised_tells_the_frontend_from_what_it_calls() -> None:
    assert name(crash(CONVERTER)) == "frontend"
    assert "_sort of the importer" in str(layer_of(crash(CONVERTER)))
    assert name(crash(CONVERTER, HELPER)) is None


@pytest.mark.parametrize(("stage", "layer"), [(Stage.OPTIMIZE, "common transformation"), (Stage.RUN, "backend"), (Stage.CODEGEN, None)])
def test_a_stage_tells_the_layer_only_where_it_has_one(stage: Stage, layer: str | None) -> None:
    assert name(crash(HELPER, stage=stage)) == layer


def test_what_two_frontends_meet_is_of_neither() -> None:
    mine, other = crash(CONVERTER, HELPER), crash(CONVERTER, HELPER, frontend="onnx")
    assert name(mine, mine, other) == "common transformation"
    assert name(mine, mine, replace(other, compiler="iree")) is None


def test_a_failure_that_the_lowest_level_does_not_have_is_the_optimisers() -> None:
    assert name(wrong(lowest_level={"name": "none", "verdict": "pass", "vanishes": True})) == "optimiser"
    assert name(wrong(lowest_level={"name": "none", "verdict": "inconsistent", "vanishes": False})) is None
    assert name(wrong()) is None


def test_the_exporter_and_the_library_are_layers_of_their_own() -> None:
    result = replace(crash(CONVERTER).representative, exporter="torch.onnx")
    assert name(finding(result, "torch.onnx")) == "exporter"
    assert name(finding(crash(CONVERTER).representative, "pytorch")) == "library"
