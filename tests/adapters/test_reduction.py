"""Real failures of real compilers, reduced, split, merged and reproduced through the real commands."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest
from instances import node, tensor

from opera.instance import Occurrence, Tensor, decode_instance
from opera.store import Corpus
from opera.store.database import open_workspace
from opera.store.reductions import Reductions

pytestmark = pytest.mark.slow


def opera(workspace: Path, *arguments: str, codes: tuple[int, ...] = (0,)) -> Any:
    run = commands.run(*arguments, "--workspace", str(workspace), "--json", folder=Path.cwd())
    assert run.returncode in codes, run.stderr[-3000:]
    return json.loads(run.stdout) if run.stdout else run.stderr


def random(*shape: int) -> Tensor:
    return tensor(np.random.default_rng(0).normal(size=shape))


FAILING = (
    node("Pow", 13, X=tensor([[1, 2, 3], [4, 5, 6]], "int32"), Y=random(2, 3)),
    node("Pow", 13, X=random(4), Y=tensor([1, 2, 3, 4], "int32")),
    node("IsInf", 20, {"detect_negative": 0}, X=tensor([-1.7, np.nan, np.inf, 3.6, -np.inf, np.inf])),
    node(
        "NonMaxSuppression", 11, boxes=tensor([[[0, 0, 1, 1], [0.5, 0.5, 1.5, 1.5]]]), scores=tensor([[[0.9, 0.8]]]),
        max_output_boxes_per_class=tensor([3], "int64"), iou_threshold=tensor([0.14285715]), score_threshold=tensor([0]),
    ),
)  # fmt: skip
"""Operators that TVM converts wrongly: mixed types, the sign of infinities, boxes just at a threshold."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reduction")
    with open_workspace(folder, write=True) as space:
        Corpus(space).add((each, Occurrence("hand", "test")) for each in FAILING)
    opera(folder, "run", "--compiler", "tvm", "--frontend", "onnx", "--exit-zero", "--quiet")
    return folder


@pytest.fixture(scope="module")
def findings(workspace: Path) -> dict[str, Any]:
    before = opera(workspace, "report")["findings"]
    outcome = opera(workspace, "triage")
    assert outcome["reduced"] >= 4
    assert outcome["findings_before"] == len(before)
    return {each["operators"][0].rpartition(".")[2]: each for each in opera(workspace, "report")["findings"]}


def test_the_trigger_names_what_the_failure_needs(findings: dict[str, Any]) -> None:
    assert "dtype(X)≠dtype(Y)" in findings["Pow"]["trigger"]
    assert "detect_negative=0" in findings["IsInf"]["trigger"]
    assert "X has a value of -infinity" in findings["IsInf"]["trigger"]


def test_both_orders_of_mixed_types_are_one_finding_with_a_reason_and_can_be_taken_apart(workspace: Path, findings: dict[str, Any]) -> None:
    pair = findings["Pow"]
    assert len(pair["fingerprints"]) > 1
    assert "both have" in pair["merged_because"][0]
    one, other = pair["merged_because"][0].split(":")[0].split(" and ")
    opera(workspace, "triage", "--split", one, other)
    apart = [each for each in opera(workspace, "report")["findings"] if each["operators"] == ["ai.onnx.Pow"]]
    assert len(apart) == 2
    opera(workspace, "triage", "--join", one, other)
    (together,) = [each for each in opera(workspace, "report")["findings"] if each["operators"] == ["ai.onnx.Pow"]]
    assert together["id"] == pair["id"]


def test_the_reduced_instance_is_what_a_person_would_write(workspace: Path, findings: dict[str, Any]) -> None:
    shown = opera(workspace, "show", findings["IsInf"]["id"])
    instance = decode_instance(shown["reduction"]["instance"])
    (argument,) = instance.call
    assert argument.value.size <= 2
    assert shown["reduction"]["confirmed"] == 3


def test_a_reduced_instance_is_one_that_another_compiler_can_run(workspace: Path, findings: dict[str, Any]) -> None:
    """The reference evaluator takes boxes of one number, where the specification asks for two corners; ONNX Runtime does not."""
    reduced = decode_instance(opera(workspace, "show", findings["NonMaxSuppression"]["id"])["reduction"]["instance"])
    values = {argument.name: argument.value for argument in reduced.call}
    assert values["boxes"].shape[-1] == 4
    assert values["scores"].shape[-1] == values["boxes"].shape[1]


def test_other_compilers_are_asked_about_wrong_results(workspace: Path, findings: dict[str, Any]) -> None:
    asked = {each["subject"]: each["side"] for each in findings["IsInf"]["other_compilers"]}
    assert asked == {"onnxruntime/onnx": "library", "openvino/onnx": "library"}
    assert findings["Pow"]["verdict"] == "crash"
    assert findings["Pow"]["other_compilers"] == []
    issue = opera(workspace, "issue", findings["IsInf"]["id"])
    assert "onnxruntime/onnx gives the library's result" in issue["text"]


def test_the_library_is_at_fault_where_all_others_agree_against_it(workspace: Path, findings: dict[str, Any], tmp_path: Path) -> None:
    shutil.copytree(workspace, tmp_path / "copy")
    sides: list[tuple[str, list[list[str]], str]] = [
        ("NonMaxSuppression", [["a/onnx", "compiler"], ["b/onnx", "compiler"]], "onnx"),
        ("NonMaxSuppression", [["a/onnx", "compiler"], ["b/onnx", ""]], "tvm"),
        ("NonMaxSuppression", [["a/onnx", "compiler"], ["b/onnx", "library"]], "tvm"),
        ("NonMaxSuppression", [["a/onnx", "neither"], ["b/onnx", "compiler"]], "tvm"),
        ("IsInf", [["a/onnx", "compiler"], ["b/onnx", "compiler"]], "tvm"),  # all of them may ignore its `detect_negative`
    ]
    for operator, arbiters, culprit in sides:
        wrong = findings[operator]["id"]
        with open_workspace(tmp_path / "copy", write=True) as space:
            store = Reductions(space)
            (reduction,) = [each for each in store.all() if each.test == findings[operator]["representative"]]
            store.keep(replace(reduction, detail={**reduction.detail, "arbiters": arbiters}))
        (finding,) = [each for each in opera(tmp_path / "copy", "report")["findings"] if each["id"] == wrong]
        assert finding["compiler"] == culprit


@pytest.mark.usefixtures("findings")
def test_the_page_shows_trigger_and_reduced_instance(workspace: Path, tmp_path: Path) -> None:
    listed = opera(workspace, "report", "--html", str(tmp_path / "report.html"))["findings"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<p>Fails with <span") == sum(finding["trigger"] is not None for finding in listed) > 0
    assert "<h4>Reduced call</h4>" in page


def test_reproducers_are_short_and_fail(workspace: Path, findings: dict[str, Any]) -> None:
    for finding in findings.values():
        outcome = opera(workspace, "reproduce", finding["id"])
        assert outcome["reproduced"] is True
        script = Path(outcome["script"]).read_text(encoding="utf-8")
        assert len(script.splitlines()) <= 40
        assert "import opera" not in script
        assert "Reduced from" in script


def test_triage_that_has_nothing_left_to_do_changes_nothing(workspace: Path, findings: dict[str, Any]) -> None:
    before = opera(workspace, "report")["findings"]
    assert opera(workspace, "triage")["reduced"] == 0
    assert [each["id"] for each in opera(workspace, "report")["findings"]] == [each["id"] for each in before]


@pytest.mark.slow
def test_only_what_is_reduced_again_is_forgotten(workspace: Path, findings: dict[str, Any], tmp_path: Path) -> None:
    shutil.copytree(workspace, tmp_path / "copy")
    again = opera(tmp_path / "copy", "triage", "--again", "--limit", "1")["reduced"]
    assert 0 < again < sum(len(finding["fingerprints"]) for finding in findings.values())
    assert {each["id"] for each in opera(tmp_path / "copy", "report")["findings"]} == {each["id"] for each in findings.values()}


@pytest.mark.slow
def test_a_compiler_that_is_gone_is_named_and_nothing_is_lost(
    workspace: Path, findings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPERA_COMPILER_TVM_PYTHON", str(workspace / "no-such-python"))
    message = opera(workspace, "triage", "--again", codes=(3,))
    assert "no-such-python" in message
    monkeypatch.delenv("OPERA_COMPILER_TVM_PYTHON")
    assert opera(workspace, "triage")["reduced"] >= 4
    assert {each["id"] for each in opera(workspace, "report")["findings"]} >= {each["id"] for each in findings.values() if each["trigger"]}


@pytest.mark.slow
def test_a_finding_whose_data_are_gone_is_skipped_with_a_reason(tmp_path: Path) -> None:
    big = node("Pow", 13, X=tensor(np.ones(2000), "int32"), Y=tensor(np.ones(2000)))
    with open_workspace(tmp_path, write=True) as space:
        Corpus(space).add([(big, Occurrence("hand", "test"))])
    opera(tmp_path, "run", "--compiler", "tvm", "--frontend", "onnx", "--exit-zero", "--quiet")
    for blob in (tmp_path / "blobs").glob("*/*"):
        blob.unlink()
    assert opera(tmp_path, "triage")["not_reduced"] == 1
    (finding,) = opera(tmp_path, "report")["findings"]
    assert finding["reduced"] is False
    assert "gone" in opera(tmp_path, "show", finding["id"])["reduction"]["reason"]
