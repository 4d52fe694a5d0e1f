"""What the text of an issue claims to have ruled out: only what a run has shown."""

from __future__ import annotations

import pytest
from reporting import relu, result

from opera.extensions.findings.text import IssueFacts, text_of
from opera.instance import encode_instance
from opera.oracles.verdict import Stage, Verdict
from opera.report.reproducer import ScriptCase
from opera.store import StoredResult

DIFFERENCE = {"difference": {"kind": "values", "output": 0, "expected": "1.0", "actual": "2.0", "share": 1.0}}


def text(library: str, frontend: str, route: str) -> str:
    wrong = result("a1", relu(1), "onnxruntime", Verdict.INCONSISTENT, Stage.COMPARE, converter="Relu", detail=DIFFERENCE)
    failing = StoredResult(**{**vars(wrong), "frontend": frontend, "route": route})
    case = ScriptCase(failing, {**encode_instance(relu(1)), "library": library}, "key")
    return text_of(IssueFacts("f" * 16, "onnxruntime", case, "values differ", None, "Relu(x)", (), 1, ""))


@pytest.mark.parametrize(
    ("library", "frontend", "route", "claimed"),
    [("onnx", "onnx", "onnx", False), ("pytorch", "pytorch", "onnx", True), ("keras", "keras", "tf2onnx", True)],
)
def test_an_exporter_is_ruled_out_only_where_there_is_one(library: str, frontend: str, route: str, claimed: bool) -> None:
    assert ("The exporter:" in text(library, frontend, route)) == claimed
