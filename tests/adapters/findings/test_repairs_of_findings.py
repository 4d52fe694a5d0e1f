"""Repairs mend recorded findings of real compilers, and leave others as they are."""

from __future__ import annotations

import pytest
from checkout import ROOT
from parameters import quick

from opera.config import Config
from opera.extensions.findings.mending.trying import tried

CASES = {
    "openvino-pytorch/atan2-default-847e0aa2": (("inputs promoted",), ""),
    "tvm-pytorch/argmax-argmin-argmin-default-6a53e9e8": (("rank 0 as rank 1",), ""),
}
"""What mends a finding, and the signal that it ends with."""


@pytest.mark.parametrize("name", quick(CASES))
def test_the_repairs_that_mend_a_finding(name: str) -> None:
    subject, _, finding = name.partition("/")
    found = tried(subject, finding, ROOT / "data" / "findings" / f"{name}.py", subject.partition("-")[0], Config({}))
    assert found.problem == ""
    assert (found.mended, found.ends) == CASES[name]
