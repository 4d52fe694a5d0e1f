"""Apache TVM's importer of StableHLO, which works with an older jaxlib than everything else: a compiler with an environment of its own."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any

from opera.compilers import stablehlo_format
from opera.compilers.adapter import CannotFeed, Route, Stage, Subject, UnsupportedRule, on_backend
from opera.compilers.tvm import FRONTEND, TvmAdapter
from opera.oracles.verdict import Failure

_IMPORTER = f"{FRONTEND}.stablehlo"
_COMPLEX = re.compile(r"\bconstant dense<.*: tensor<[^<>]*complex<")
_MLIR = ("jaxlib.mlir._mlir_libs._site_initialize.<locals>.MLIRError",)
_PLUMBING = frozenset({"_retrieve_operands", "_attr2value", "_convert_data_type", "_const"})


class TvmStableHloAdapter(TvmAdapter):
    """`tvm.relax.frontend.stablehlo`, beside a jaxlib whose Python API it knows."""

    name = "tvm-stablehlo"
    routes = (
        Route("stablehlo", "text", "stablehlo"),
        Route("stablehlo", "jax", "stablehlo", library="keras", environment=on_backend("jax")),
    )
    packages = ("apache-tvm>=0.25", "jax>=0.6,<0.8", "jaxlib>=0.6,<0.8")
    unsupported = (*TvmAdapter.unsupported, UnsupportedRule(_MLIR, "no-converter", stablehlo_format.UNKNOWN))

    def start(self) -> Mapping[str, str]:
        version: Any = importlib.import_module("jaxlib.version")
        self._importer: Any = importlib.import_module(_IMPORTER)
        return {**super().start(), "jaxlib of the importer": str(version.__version__)}

    def load(self, subject: Subject, stage: Stage) -> Any:
        """The module, and the values that its main function takes, in order."""
        text = subject.data.decode()
        types = stablehlo_format.input_types(text)
        values = stablehlo_format.declared_inputs(subject, len(types))
        if _COMPLEX.search(text):
            raise CannotFeed("jaxlib's Python API, which the importer uses, ends the process at a complex constant")
        feeds = [stablehlo_format.as_declared(value, type) for value, type in zip(values, types, strict=True)]
        return self._importer.from_stablehlo(text), feeds

    def converter(self, subject: Subject, failure: Failure | None) -> str:
        """The method of the importer that the failing call went through, else the operation of the instance."""
        for module, _, _, function in (failure or {}).get("frames", ()):
            method = str(function).rpartition(".")[2]
            if str(module).startswith(_IMPORTER) and method.startswith("_") and method not in _PLUMBING and method != "__init__":
                return method
        return subject.instance.operator
