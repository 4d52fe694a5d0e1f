"""A random call of PyTorch as a module whose outputs say whether two of its draws are as they should be."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from opera.extensions.generators.draws import stated
from opera.extensions.generators.draws.laws import Law
from opera.instance import Instance, Kind
from opera.models.template import PythonSource, Reference
from opera.oracles.blame import Undefined
from opera.templates.pytorch.model import PyTorchModel
from opera.templates.pytorch.source import expected_source

torch: Any = importlib.import_module("torch")

_DIALECT = stated.Dialect(
    "torch.nn.Module",
    "forward",
    "torch",
    "torch.all",
    "torch.mean",
    cast="{}.to(torch.float32)",
    sort="torch.sort({})[0]",
    largest="torch.max({}, 1)[0]",
)


class DrawnModel(PyTorchModel):
    """Each output but the first is a statement, and true; the first has the dtype and the shape of a draw."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        law = Law.of(instance)
        super().__init__(replace(instance, kind=Kind.FUNCTION), key, seed)
        self._own, self.instance = self.instance, instance
        self._draw = self.part
        draw = self._run(self.fresh_tensors(), seed=1)[0]
        self._lines = stated.lines(law, draw.numel(), str(draw.dtype).removeprefix("torch."), _DIALECT)
        self.part = self.module = stated.made(self._lines, "torch", torch, self._draw)
        self.part.name, self.part.constants, self.part.in_place = self._draw.name, self._constants, False
        self.part.operator_result = self.part.forward

    def reference(self) -> Reference:
        """The statements, which have to hold for PyTorch's own draws."""
        return stated.checked(super().reference())

    def captured(self, kind: str, data: bytes) -> tuple[str, Sequence[Any] | Undefined | None] | None:
        """Where a captured model itself draws otherwise, chance decides which of its statements are false."""
        found = super().captured(kind, data)
        return found if found is None or stated.holds(found[1]) else (found[0], Undefined("random numbers", only_values=True))

    def source(self, form: str) -> PythonSource:
        drawn, module = self.instance, self.part
        self.instance, self.part = self._own, self._draw
        try:
            found = super().source(form)
        finally:
            self.instance, self.part = drawn, module
        expected = expected_source(plain=False, writes=False, converts="def numpy_of(" in found.text)
        return replace(found, text=stated.around(found.text, self._lines), expected=expected)
