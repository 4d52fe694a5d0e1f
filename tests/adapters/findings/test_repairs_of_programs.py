"""Repairs of exported programs: each changes a call that it is about, leaves other calls alone, and gives what PyTorch gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from opera.extensions.findings.mending import torch_program

WHOLE, REAL = torch.tensor([3, -2, 5]), torch.tensor([[1.5, -2.0], [0.25, 4.0]])
HALF = torch.tensor([1.5, 2.0], dtype=torch.float16)
BYTES = torch.tensor([200, 100, 7], dtype=torch.uint8)
SCALAR, BARE = torch.tensor(2.5), torch.zeros(2, 0)
ABOUT: dict[str, list[tuple[Callable[..., Any], tuple[torch.Tensor, ...]]]] = {
    "inputs promoted": [
        (torch.exp, (WHOLE,)), (torch.atan2, (WHOLE, WHOLE)), (lambda x: x / 2, (WHOLE,)),
        (torch.add, (WHOLE, torch.tensor([0.5, 1.5, 2.5]))), (torch.eq, (WHOLE, BYTES)),
    ],
    "integers to int64": [(torch.sum, (BYTES,)), (lambda x: torch.cumsum(x, 0), (BYTES,)), (torch.prod, (WHOLE > 0,))],
    "booleans as integers": [(torch.add, (WHOLE > 0, WHOLE > 3)), (torch.amax, (WHOLE > 0,)), (torch.logical_not, (WHOLE > 0,))],
    "narrow integers as int64": [(torch.add, (BYTES, BYTES)), (torch.neg, (BYTES,)), (torch.sort, (BYTES,))],
    "halves as float32": [(torch.mul, (HALF, HALF)), (torch.amax, (HALF,))],
    "doubles as float32": [(torch.mul, (REAL.double(), REAL.double()))],
    "indices of rank 0 as rank 1": [
        (lambda x, index: torch.index_select(x, 1, index), (REAL, torch.tensor(1))), (torch.take, (REAL, torch.tensor(2)))
    ],
    "rank 0 as rank 1": [
        (torch.argmin, (SCALAR,)), (lambda x: torch.sort(x, 0), (SCALAR,)), (lambda x: torch.softmax(x, 0), (SCALAR,)),
        (lambda x: torch.sum(x, 0, keepdim=True), (SCALAR,)), (lambda x: torch.max(x, 0), (SCALAR,)), (torch.add, (REAL, SCALAR)),
    ],
    "no elements": [
        (torch.sum, (BARE,)), (torch.mean, (BARE,)), (lambda x: torch.sum(x, 1), (BARE,)), (torch.exp, (BARE,)),
        (lambda x, y: torch.cat([x, y], 1), (BARE, REAL)), (lambda x: torch.nn.functional.pixel_shuffle(x, 2), (torch.zeros(1, 4, 0, 2),)),
    ],
    "axes from the front": [
        (lambda x: torch.sum(x, -1), (REAL,)), (lambda x: torch.select(x, -1, -2), (REAL,)), (lambda x: torch.unsqueeze(x, -1), (REAL,)),
        (lambda x: torch.stack([x, x], -1), (REAL,)), (lambda x: x[:, -1:], (REAL,)), (lambda x: torch.transpose(x, -1, 0), (REAL,)),
    ],
    "all axes listed": [(lambda x: torch.mean(x, []), (REAL,)), (lambda x: torch.var(x, ()), (REAL,))],
    "dtype as a cast": [
        (lambda x: torch.sum(x, 1, dtype=torch.float64), (REAL,)), (lambda x: torch.cumsum(x, 0, dtype=torch.half), (BYTES,)),
    ],
    "finite numbers": [(lambda x: torch.clamp(x, float("-inf"), 3), (WHOLE,))],
    torch_program.DEFAULTS: [(lambda x: torch.sum(x, 1), (REAL,)), (lambda x: torch.nn.functional.avg_pool1d(x, 2), (REAL,))],
}  # fmt: skip


class Model(torch.nn.Module):
    def __init__(self, call: Callable[..., Any]) -> None:
        super().__init__()
        self.call = call

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.call(*inputs)


def repaired(monkeypatch: pytest.MonkeyPatch, name: str, call: Callable[..., Any], inputs: tuple[torch.Tensor, ...]) -> Any:
    """The program of *call* with the repair *name*."""
    monkeypatch.setattr(torch.export, "export", torch.export.export)
    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", torch.export.ExportedProgram.run_decompositions)
    torch_program.install(name)
    return torch.export.export(Model(call), inputs)


@pytest.mark.parametrize(("name", "place"), [(name, place) for name, calls in ABOUT.items() for place in range(len(calls))])
def test_a_repaired_program_gives_what_pytorch_gives(monkeypatch: pytest.MonkeyPatch, name: str, place: int) -> None:
    call, inputs = ABOUT[name][place]
    assert torch_program.changes(torch.export.export(Model(call), inputs), name)
    program = repaired(monkeypatch, name, call, inputs)
    want, got = (torch.utils._pytree.tree_leaves(each(*inputs)) for each in (call, program.module()))
    assert [each.dtype for each in got] == [each.dtype for each in want]
    assert all(torch.equal(*map(torch.nan_to_num, pair)) and pair[0].shape == pair[1].shape for pair in zip(want, got, strict=True))


def test_every_repair_is_shown_by_a_call_and_leaves_an_ordinary_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(ABOUT) == set(torch_program.NAMES)
    monkeypatch.setattr(torch.export, "export", torch.export.export)
    found: list[list[str]] = []
    torch_program.probe(found.append)
    torch.export.export(Model(torch.exp), (REAL,))
    torch.export.export(Model(torch.nn.functional.poisson_nll_loss), (WHOLE, WHOLE))  # what it is made of takes floats only
    assert found[0] == []
    assert "inputs promoted" in found[1]


def test_defaults_are_written_where_a_program_is_decomposed(monkeypatch: pytest.MonkeyPatch) -> None:
    program = repaired(
        monkeypatch, torch_program.DEFAULTS, torch.linalg.cross, (REAL[:1].repeat(1, 3)[:, :3], REAL[:1].repeat(1, 3)[:, :3])
    )
    calls = [node for node in program.run_decompositions({}).graph.nodes if node.op == "call_function"]
    assert [node.args[2:] for node in calls] == [(-1,)]


def test_inputs_and_results_keep_their_structure(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs: Any = [WHOLE, BYTES], {"scale": WHOLE}
    program = repaired(monkeypatch, "inputs promoted", lambda xs, more: {"sum": xs[0] + xs[1], "rest": (more["scale"],)}, inputs)
    found = program.module()(*inputs)
    assert torch.equal(found["sum"], WHOLE + BYTES)
    assert torch.equal(found["rest"][0], WHOLE)


def test_an_index_is_no_operand_that_a_repair_may_convert(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = REAL, torch.tensor([1, 0], dtype=torch.int32)
    program = repaired(monkeypatch, "narrow integers as int64", lambda x, index: x[index], inputs)
    assert torch.equal(program.module()(*inputs), REAL[[1, 0]])
