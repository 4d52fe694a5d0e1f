"""ONNX's own evaluator, driven as if it were a compiler."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from opera.compilers import onnx_format
from opera.compilers.adapter import Adapter, Fork, Route, Stage, Subject, UnsupportedRule
from opera.models import onnx_inputs


class OnnxReferenceAdapter(Adapter):
    """onnx.reference.ReferenceEvaluator."""

    name = "onnx-reference"
    routes = (Route("onnx", "onnx", "onnx"), Route("pytorch", "onnx", "onnx"))
    packages = ("onnx>=1.19",)
    project = ("onnx.", "onnx/")
    fork = Fork.WARM
    unsupported = (
        UnsupportedRule(
            types=("onnx.reference.op_run.RuntimeImplementationError", "NotImplementedError"),
            reason="not-implemented",
            module="onnx.reference",
            stages=("load", "codegen", "run"),
        ),
        UnsupportedRule(
            types=("ImportError",),
            reason="needs-pillow",
            pattern=r"^Pillow must be installed to use the reference implementation",
            module="onnx.reference",
            stages=("run",),
        ),
    )
    reproducer = {
        "onnx": """\
from onnx.reference import ReferenceEvaluator

actual = ReferenceEvaluator(model).run(None, inputs)
"""
    }
    issue_form = """\
{% import "parts.md.j2" as parts %}
# {{ title }}

{{ parts.warning_of(warning) }}
### Describe the bug

{{ summary }}

### System information

{{ parts.versions_of(versions, system, machine, python) }}

### Reproduction instructions

{{ parts.script_of(script, why_none) }}

### Expected behavior

{{ expected }}
"""

    def start(self) -> Mapping[str, str]:
        self._onnx: Any = importlib.import_module("onnx")
        self._reference: Any = importlib.import_module("onnx.reference")
        return {"onnx": str(self._onnx.__version__)}

    def load(self, subject: Subject, stage: Stage) -> Any:
        model = onnx_format.parse(subject.data)
        return model, onnx_inputs.feeds(model, subject.inputs)

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        model, feeds = loaded
        stage("codegen")
        return self._reference.ReferenceEvaluator(model), feeds

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Sequence[Any]:
        evaluator, feeds = compiled
        return list(evaluator.run(None, feeds))

    def converter(self, subject: Subject, failure: Mapping[str, Any] | None) -> str:
        return onnx_format.operator_of(subject)
