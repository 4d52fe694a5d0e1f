"""The reference interpreter of StableHLO, as jaxlib has it: no compiler, but a judge of compilers, and itself under test."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from opera.arrays import Outputs, as_array, dtype_name, is_array
from opera.compilers.adapter import Adapter, CannotFeed, Fork, Route, Stage, Subject, UnsupportedRule, on_backend
from opera.compilers.stablehlo_format import UNKNOWN, as_declared, declared_inputs
from opera.extensions.stablehlo.types import TensorType, of_dtype

_MLIR = ("jaxlib.mlir._mlir_libs._mlir.ir.MLIRError",)
_REJECTED = ("opera.extensions.stablehlo.templates.module.Rejected",)
_UNKNOWN = rf"{UNKNOWN}|unregistered operation '(?:stablehlo|chlo)\.\w+'"


class StableHloReference(Adapter):
    """`jaxlib.mlir.dialects.stablehlo.eval_module`, in a process that an unknown operation may end."""

    name = "stablehlo-reference"
    is_interpreter = True
    gives_references = True
    routes = (
        Route("stablehlo", "text", "stablehlo"),
        Route("keras", "stablehlo", "stablehlo", environment=on_backend("jax")),
    )
    packages = ("jaxlib>=0.10",)
    remarks = (
        "no route from PyTorch: torchax 0.0.13, the maintained exporter, cannot be imported beside torch 2.13"
        " (`aten.prod` has no overload `dim_Dimname` there); torch_xla and torch-mlir are bound to other versions",
    )
    is_slow = True
    fork = Fork.WARM
    project = ("jaxlib.",)
    environment = {"JAX_PLATFORMS": "cpu"}
    unsupported = (
        UnsupportedRule(_REJECTED, "no-converter", _UNKNOWN),
        UnsupportedRule(_REJECTED, "dialect", r"is of another dialect"),
        UnsupportedRule(_REJECTED, "quantised", r"!quant\."),
        UnsupportedRule(_MLIR, "no-converter", r"failed to legalize operation", stages=("load", "optimize", "run")),
        UnsupportedRule(("opera.extensions.stablehlo.templates.probes.NoProbe",), "type"),
        UnsupportedRule(("opera.extensions.stablehlo.templates.plan.NotInterpreted",), "no-converter", stages=("run",)),
    )

    def start(self) -> Mapping[str, str]:
        self._module: Any = importlib.import_module("opera.extensions.stablehlo.templates.module")
        self._plan: Any = importlib.import_module("opera.extensions.stablehlo.templates.plan")
        self._inputs: Any = importlib.import_module("opera.extensions.stablehlo.templates.inputs")
        version: Any = importlib.import_module("jaxlib.version")
        self._module.stablehlo.register_stablehlo_passes()
        return {"jaxlib": str(version.__version__), "stablehlo": str(self._module.stablehlo.get_current_version())}

    def load(self, subject: Subject, stage: Stage) -> Any:
        """The module with probes for its results, ready to run; the context is kept with it."""
        context = self._module.new_context()
        with context, self._module.ir.Location.unknown():
            module = self._module.parse(subject.data.decode())
            function = next(each for each in self._module.functions_of(module) if each.name == "main")
            return context, self._plan.instrument(module, function, self.inputs(subject, function), with_results=True)

    def inputs(self, subject: Subject, function: Any) -> list[Any]:
        """The inputs of *function* as constants of MLIR."""
        values = declared_inputs(subject, len(function.inputs))
        return [self._constant(as_declared(value, str(type))) for value, type in zip(values, function.inputs, strict=True)]

    def _constant(self, value: Any) -> Any:
        if not is_array(value):
            raise CannotFeed("StableHLO has no optionals and no sequences")
        array = as_array(value)
        try:
            type = TensorType(array.shape, of_dtype(dtype_name(array.dtype)))
        except ValueError as error:
            raise CannotFeed(f"StableHLO has no {array.dtype} tensors") from error
        return self._inputs.constant(type, array.tobytes())

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        return loaded

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        context, plan = compiled
        with context, self._module.ir.Location.unknown():
            try:
                written = self._plan.evaluate_apart(plan)
            except ChildProcessError as error:  # so that the test has this verdict
                os.write(2, f"{error}\n".encode())
                os.abort()
            results = self._plan.results_of(plan, written)
        return [None if value is None else value.array for _, value in results]
