"""Names and defaults of the parameters of PyTorch's functions and classes, from a table: nothing is imported."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opera.instance import Value
from opera.instance.codec import decode_value

_TABLE = Path(__file__).resolve().parents[2] / "facts" / "pytorch_signatures.json"


@dataclass(frozen=True)
class Signature:
    """What is known of a callable's parameters.

    Attributes:
        names: Names of the positional parameters, in order.
        rest: Of the variadic parameter, if there is one.
        defaults: Name and value of each known default.
    """

    names: tuple[str, ...] = ()
    rest: str | None = None
    defaults: tuple[tuple[str, Value], ...] = ()

    def name(self, position: int) -> str:
        """The name of the argument at *position*."""
        return self.names[position] if position < len(self.names) else self.rest or f"arg{position}"


@functools.cache
def _table() -> dict[str, dict[str, Any]]:
    return json.loads(_TABLE.read_text(encoding="utf-8"))


@functools.cache
def _signature(part: str, api: str) -> Signature:
    row = _table()[part].get(api)
    if row is None:
        return Signature()
    names, rest, defaults = row
    return Signature(tuple(names), rest, tuple((name, decode_value(value)) for name, value in defaults.items()))


def of_function(api: str) -> Signature:
    """The parameters of a function or method."""
    return _signature("functions", api)


def of_class(api: str) -> Signature:
    """The parameters of a class's constructor."""
    return _signature("classes", api)


def of_forward(api: str) -> Signature:
    """The parameters of a module class's `forward`."""
    return _signature("forwards", api)


def is_function(api: str) -> bool:
    """Whether the table has the function *api*."""
    return api in _table()["functions"]


@functools.cache
def aten_operators() -> tuple[str, ...]:
    """The operators of ATen without their overloads, as a suite names them: `aten::add`."""
    names = (each.removeprefix("torch.ops.aten.") for each in _table()["functions"] if each.startswith("torch.ops.aten."))
    return tuple(dict.fromkeys(f"aten::{name.partition('.')[0]}" for name in names))
