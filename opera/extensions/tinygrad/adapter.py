"""tinygrad on the CPU: ONNX models, and PyTorch modules by way of torch.onnx."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from opera.arrays import Outputs, numpy_dtype
from opera.compilers import onnx_format
from opera.compilers.adapter import Adapter, CannotFeed, Route, Stage, Subject, UnsupportedRule
from opera.models import onnx_inputs
from opera.oracles.verdict import Failure

_FORM = """\
{% import "parts.md.j2" as parts %}
# {{ title }}

{{ parts.warning_of(warning) }}
`tinygrad.nn.onnx.OnnxRunner`: {{ summary }}

Expected: {{ expected }}

Actual: {{ actual }}

{{ parts.script_of(script, why_none) }}

{{ parts.versions_of(versions, system, machine, python) }}
"""
_SCRIPT = """\
from tinygrad import Tensor
from tinygrad.helpers import DEV
from tinygrad.nn.onnx import OnnxRunner

DEV.value = {{ target }}
{{ to_compile }}runner = OnnxRunner(Tensor(model.SerializeToString()))
{{ to_run }}outputs = runner(inputs)
{% if compares -%}
actual = [value.numpy() if isinstance(value, Tensor) else np.asarray(value) for value in outputs.values()]
{%- else -%}
[value.numpy() for value in outputs.values() if isinstance(value, Tensor)]
{%- endif %}
"""


class TinygradAdapter(Adapter):
    """tinygrad.nn.onnx.OnnxRunner on the device CPU, which compiles each kernel with clang; one thread, and no cache on the disk."""

    name = "tinygrad"
    revision = 3
    routes = (Route("onnx", "onnx", "onnx"), Route("pytorch", "onnx", "onnx"))
    packages = ("tinygrad>=0.14", "onnx>=1.19", "pillow>=10")  # ImageDecoder decodes by Pillow
    levels = ("default", "noopt")
    target = "CPU"
    environment = {"DEV": "CPU"}
    housekeeping = {"THREADS": "0", "PARALLEL": "0", "CACHELEVEL": "0"}
    project = ("tinygrad.", "tinygrad/")
    python_frontend = ("tinygrad.nn",)
    issue_form = _FORM
    reproducer = {"onnx": _SCRIPT}
    unsupported = (
        UnsupportedRule(("NotImplementedError",), "no-operator", r"^op='\w+' is not supported"),
        UnsupportedRule(("NotImplementedError",), "not-implemented", module="tinygrad.nn.onnx"),
        UnsupportedRule(("NotImplementedError",), "not-implemented", r"^topk with sorted_=False is not supported$"),
        UnsupportedRule(("ValueError",), "no-operator", r"^'.*' is not a valid Domain$"),
        UnsupportedRule(("ValueError",), "dtype", r"^\d+ is not a valid (OnnxDataType|AttributeType)$"),
        UnsupportedRule(("AssertionError",), "declined", r"\bnot supported\b|\bis supported$", "tinygrad.nn.onnx"),
        UnsupportedRule(("RuntimeError",), "declined", r"\bsequence must be homogeneous$", "tinygrad.nn.onnx"),
        UnsupportedRule(("ValueError",), "declined", r"^invalid \w+=", "tinygrad.nn.onnx"),
    )

    def start(self) -> Mapping[str, str]:
        clang = os.environ.get("CC", "clang")
        if shutil.which(clang) is None:
            raise RuntimeError("tinygrad compiles for the CPU with clang, which is not there; install it, e.g. `apt-get install clang`")
        probe = subprocess.run([clang, "-x", "c", "-fsyntax-only", "-"], input=b"__bf16 x;", capture_output=True, check=False)
        self._takes_bfloat16 = probe.returncode == 0
        self._tinygrad: Any = importlib.import_module("tinygrad")
        self._runner: Any = importlib.import_module("tinygrad.nn.onnx").OnnxRunner
        level = str(self.options.get("level", self.levels[0]))
        importlib.import_module("tinygrad.helpers").NOOPT.value = int(level == "noopt")
        return {"tinygrad": metadata.version("tinygrad"), "device": str(self._tinygrad.Device.DEFAULT), "optimization": level}

    def load(self, subject: Subject, stage: Stage) -> Any:
        model = onnx_format.parse(subject.data)
        if not self._takes_bfloat16 and "bfloat16" in onnx_format.dtypes_in(model.graph).values():
            raise CannotFeed("this clang has no bfloat16; newer ones have")
        return self._runner(self._tinygrad.Tensor(subject.data))(onnx_inputs.feeds(model, subject.inputs))

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        return loaded

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        """Compiles the kernels as well: tensors are computed when they are asked for."""
        return [self._value(each) for each in compiled.values()]

    def _value(self, value: Any) -> Any:
        if type(value) in (list, tuple):
            return [self._value(each) for each in value]
        if not isinstance(value, self._tinygrad.Tensor):
            return value
        array = value.numpy()  # of bfloat16 in float32
        return array.astype(numpy_dtype("bfloat16")) if value.dtype == self._tinygrad.dtypes.bfloat16 else array

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        return onnx_format.operator_of(subject)
