"""Repairs mend recorded findings of real compilers, and leave others as they are."""

from __future__ import annotations

import pytest
from checkout import ROOT

from opera.config import Config
from opera.extensions.findings.repairs.trying import tried

CASES = {
    "openvino-pytorch/atan2-default-847e0aa2": ("inputs promoted",),
    "openvino-pytorch/argmin-53e1abba": ("rank 0 as rank 1",),
    "onnxruntime-onnx/einsum-empty-a02ca282": ("no elements",),
    "openvino-onnx/batchnorm-rank1-5a3fe017": (),
}


@pytest.mark.parametrize("name", CASES)
def test_the_repairs_that_mend_a_finding(name: str) -> None:
    subject, _, finding = name.partition("/")
    found = tried(subject, finding, ROOT / "data" / "findings" / f"{name}.py", subject.partition("-")[0], Config({}))
    assert found.problem == ""
    assert found.mended == CASES[name]
    assert found.ends == ("signal 8" if "einsum" in name else "")
