"""The baseline of wrong numbers: PyTorch's result in double precision, for any script with a model, inputs, and two results."""

from __future__ import annotations

import json

import pytest

from opera.extensions.findings import wide
from opera.extensions.findings.baseline import told

SCRIPT = """
import numpy as np
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(0.1))

    def forward(self, x0):
        return {body}


model = Model()
inputs = ({given},)
with torch.no_grad():
    result = model(*inputs)
expected = [leaf.float().numpy() if leaf.dtype is torch.bfloat16 else leaf.numpy() for leaf in [result]]
actual = [{actual} for each in expected]
assert False
"""


def said(capsys: pytest.CaptureFixture[str], body: str, given: str, actual: str = "each + 1") -> dict[str, str]:
    wide.main(SCRIPT.format(body=body, given=given, actual=actual))
    _, _, line = capsys.readouterr().out.partition("BASELINE ")
    return json.loads(line or "{}")


@pytest.mark.parametrize(
    ("body", "given", "exact"),
    [
        ("x0 / 3", "torch.tensor([1.0])", 1 / 3),
        ("x0.sum() * self.weight", "torch.tensor([7.0]).half()", 7 * 0.10000000149),
        ("torch.softmax(x0, 0)[1]", "torch.tensor([0.0, 1.0]).bfloat16()", 0.731058579),
        ("x0.float() + torch.tensor(0.5, dtype=torch.float32)", "torch.tensor([1 / 3]).half()", 0.833251953),
        ("torch.sqrt(x0)", "torch.tensor([2])", 1.414213562),
        ("x0.mean(dtype=torch.float32)", "torch.tensor([1, 1, 2])", 4 / 3),
        ("x0.add_(1)", "torch.tensor([1 / 3], dtype=torch.float64)", 4 / 3),
        ("torch.cond(x0.sum() > 0, lambda x: x / 3, lambda x: x, (x0,))", "torch.ones(1)", 1 / 3),
    ],
)
def test_the_error_of_both_results_is_measured_against_double_precision(
    capsys: pytest.CaptureFixture[str], body: str, given: str, exact: float
) -> None:
    found = said(capsys, body, given)
    assert float(found["exact"]) == pytest.approx(exact, rel=1e-8)
    assert float(found["eager_error"]) < 4e-3 < 0.9 < float(found["compiled_error"])


def test_the_parts_of_a_complex_number_and_what_is_lost_count(capsys: pytest.CaptureFixture[str]) -> None:
    assert float(said(capsys, "x0 * 1j", "torch.tensor([3 + 4j])", "each + 2j")["compiled_error"]) == 2
    assert said(capsys, "x0 / 0", "torch.tensor([0.0, 1.0])", "np.zeros(2, np.float32)")["compiled_error"] == "inf"


@pytest.mark.parametrize(
    ("body", "actual"), [("x0 + 1", "~each"), ("x0 > 1", "~each"), ("x0 / 3", "each.astype(np.float64)"), ("x0 / 3", "each[:1]")]
)
def test_only_wrong_fractions_have_a_baseline(capsys: pytest.CaptureFixture[str], body: str, actual: str) -> None:
    assert said(capsys, body, "torch.tensor([1, 2])", actual) == {}


@pytest.mark.parametrize(
    ("body", "given", "why"),
    [
        ("torch.nn.functional.dropout(x0)", "torch.ones(20)", "random"),
        ("x0.view(torch.int32).float()", "torch.ones(3)", "another shape or dtype"),
        ("x0 if x0.dtype is torch.float32 else [][0]", "torch.ones(3)", "IndexError"),
    ],
)
def test_a_missing_baseline_has_its_reason(capsys: pytest.CaptureFixture[str], body: str, given: str, why: str) -> None:
    found = said(capsys, body, given, "each * 2")
    assert why in found["problem"]
    assert why in told(found).text


def test_a_compiled_result_that_is_as_near_as_the_own_one_is_doubtful(capsys: pytest.CaptureFixture[str]) -> None:
    body, given = "x0 + 1000 - 1000", "torch.tensor([0.125]).half()"
    assert told(said(capsys, body, given, "np.array([0.125], np.float16)")).doubt
    wrong = told(said(capsys, body, given, "np.array([6], np.float16)"))
    assert wrong.doubt == ""
    assert "`0.125`; PyTorch gives `0`, and the compiled call `6`" in wrong.text
