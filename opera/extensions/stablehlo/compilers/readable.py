"""OPERA's own interpreter of StableHLO: a second opinion on what a program means."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from opera.arrays import Outputs
from opera.compilers.adapter import Stage, Subject, UnsupportedRule
from opera.extensions.stablehlo.compilers.reference import StableHloReference


class StableHloReadable(StableHloReference):
    """`opera.extensions.stablehlo.interpreter`, which gets its programs from jaxlib's parser."""

    name = "stablehlo-readable"
    gives_references = False
    remarks = ()
    unsupported = (
        *StableHloReference.unsupported,
        UnsupportedRule(("opera.extensions.stablehlo.interpreter.machine.Unsupported",), "no-converter", stages=("load", "run")),
        UnsupportedRule(("opera.extensions.stablehlo.interpreter.machine.PastLimit",), "too-slow", stages=("load", "run")),
        UnsupportedRule(
            ("opera.extensions.stablehlo.scanner.TextError",), "type", r"no type of a tensor|no element type", stages=("load", "run")
        ),
    )

    def start(self) -> Mapping[str, str]:
        versions = super().start()
        self._readable: Any = importlib.import_module("opera.extensions.stablehlo.templates.readable")
        return versions

    def load(self, subject: Subject, stage: Stage) -> Any:
        """The module, the function to begin with, and its inputs."""
        context = self._module.new_context()
        with context, self._module.ir.Location.unknown():
            module = self._module.parse(subject.data.decode())
            function = next(each for each in self._module.functions_of(module) if each.name == "main")
            return context, module, function, self.inputs(subject, function)

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        context, module, function, inputs = compiled
        with context, self._module.ir.Location.unknown():
            observed = self._readable.evaluate_readably(module, function, inputs, with_results=True)
            results = self._plan.results_of(observed.plan, observed.written)
        return [None if value is None else value.array for _, value in results]
