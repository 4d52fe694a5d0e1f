"""StableHLO programs of others as a kind of instance, which is reduced operation by operation."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, ClassVar

from opera.console import one_line
from opera.extensions.stablehlo.scanner import TextError
from opera.instance import Graph, Instance
from opera.instance.kinds import InstanceKind, Steps

KIND = "mlir"
"""The name of the kind: the text of a module in generic form in `context`, a value for each argument of its `main` in `call`."""
API = "stablehlo.module"
FORMAT = "mlir.stablehlo"
_SHOWN_LINES = 60


def text_of(instance: Instance) -> str:
    """The text of the module; raises TextError if the instance holds none."""
    graph = instance.context_value("graph")
    if not isinstance(graph, Graph) or graph.format != FORMAT:
        raise TextError("the instance holds no module of StableHLO", 1)
    return graph.data.decode("utf-8", "replace")


class ModuleKind(InstanceKind):
    """A module of many operations."""

    has_one_operator = False
    fixes_inputs = True
    is_model = True
    nouns: ClassVar[Mapping[str, str]] = {API: "program"}

    def operators(self, instance: Instance) -> tuple[str, ...]:
        return tuple(_reduction().operations_of(instance))

    def lines(self, instance: Instance) -> tuple[str, ...]:
        """The functions of the module."""
        with suppress(TextError):
            lines = [one_line(each, 200) for each in _reduction().lines_of(instance)]
            more = len(lines) - _SHOWN_LINES
            return (*lines[:_SHOWN_LINES], *([f"… {more:,} more lines"] if more > 0 else []))
        return ()

    def features(self, instance: Instance) -> tuple[str, ...]:
        return tuple(_reduction().features_of(instance))

    def cost(self, instance: Instance) -> float:
        return float(_reduction().cost_of(instance))

    def steps(self, instance: Instance) -> Steps:
        steps: Steps = _reduction().STEPS
        return steps


def _reduction() -> Any:
    return import_module("opera.extensions.stablehlo.reduction")
