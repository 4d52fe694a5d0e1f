"""Small corpora made by hand, and the commands of `opera` in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from opera.cli import command
from opera.cli.options import guarded
from opera.instance import Argument, DType, Instance, Kind, Occurrence, Outcome, Tensor
from opera.store import Corpus
from opera.store.database import open_workspace


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one document on standard output."""
        return json.loads(self.out)


Run = Callable[..., Done]


def runner(capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in the current folder."""

    def call(*arguments: object) -> Done:
        capfd.readouterr()
        code = guarded(command, [str(each) for each in arguments])
        return Done(code, *capfd.readouterr())

    return call


def torch_call(name: str, *values: Any, defaults: dict[str, Any] | None = None, **keywords: Any) -> Instance:
    arguments = [Argument(f"a{index}", value) for index, value in enumerate(values)]
    arguments += [Argument(key, value, keyword=True) for key, value in keywords.items()]
    return Instance(
        "pytorch", f"torch.{name}", Kind.FUNCTION, call=tuple(arguments), defaults=tuple((defaults or {}).items()), outcome=Outcome.RETURNED
    )


def tensor(*shape: int, dtype: str = "float32") -> Tensor:
    return Tensor(shape, dtype)


def fill(folder: str, *instances: Instance, source: str = "suite", test: str = "test_one", calls: int = 1) -> None:
    with open_workspace(Path(folder), write=True) as space:
        Corpus(space).add((each, Occurrence(source, test, calls)) for each in instances)


def held(folder: str) -> dict[str, tuple[Instance, list[Occurrence]]]:
    """Everything in a workspace."""
    with open_workspace(Path(folder), write=False) as space:
        corpus = Corpus(space)
        pairs = [pair for library in corpus.libraries() for pair in corpus.instances(library)]
        return {key: (instance, corpus.provenance(key)) for key, instance in pairs}


BIG = torch_call("big", Tensor((5000,), "uint8", bytes(range(250)) * 20))
VARIOUS = (
    torch_call("add", tensor(2, 3), 1.5, alpha=float("inf")),
    torch_call("cat", [tensor(2), tensor(0)], dim=-1),
    torch_call("to", tensor(2), DType("float64")),
    torch_call("index", tensor(4), (slice(None, 2), None, ...)),
    replace(torch_call("bad", tensor(1)), outcome=Outcome.RAISED, exception="RuntimeError"),
    Instance("onnx", "ai.onnx.Relu", Kind.NODE, call=(Argument("X", tensor(2)),), context=(("opset", 14),)),
    BIG,
)  # fmt: skip
"""Instances with values of many kinds."""
