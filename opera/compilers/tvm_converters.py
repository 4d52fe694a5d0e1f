"""Which function of TVM's importers converts an operator, as their own tables say."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from opera.compilers import onnx_format

FRONTEND = "tvm.relax.frontend"
_PLUMBING = frozenset({"_translate_fx_graph", "_check_unsupported_func_type", "_import_branch_subgraph", "_process_derived_symbol"})
_MOST_NAMED = 3


def of_frames(frames: Sequence[Sequence[Any]]) -> str | None:
    """The first method of an importer that a failing call went through: `Conv._impl_v1`, `_batch_norm`, `convert_conv`."""
    for module, _, _, function in frames:
        owner, _, method = str(function).rpartition(".")
        if str(module).startswith(f"{FRONTEND}.onnx") and method.startswith("_impl_v"):
            return f"{owner}.{method}"
        if str(module).startswith(f"{FRONTEND}.torch") and method not in _PLUMBING and method.startswith("_"):
            return method
        if (
            str(module).startswith(f"{FRONTEND}.tflite")
            and method.startswith(("convert_", "_convert_"))
            and method != "convert_op_to_relax"
        ):
            return method
    return None


def of_onnx(data: bytes) -> str | None:
    """The converter of the only node of a model; None where there are several, or TVM has none."""
    model = onnx_format.parse(data)
    nodes = model.graph.node
    frontend: Any = importlib.import_module(f"{FRONTEND}.onnx.onnx_frontend")
    table: Mapping[str, Any] = frontend._get_convert_map()
    if len(nodes) != 1 or nodes[0].op_type not in table:
        return None
    opset = next((entry.version for entry in model.opset_import if entry.domain == nodes[0].domain), 1)
    return f"{nodes[0].op_type}.{table[nodes[0].op_type].get_converter(opset).__name__}"


def of_torch(names: Sequence[Any], route: str) -> str | None:
    """The converters of the functions and layers of a graph, joined by `+`; None where they are many."""
    distinct = [name for name in dict.fromkeys(names) if name != "getitem"]
    if not distinct or len(distinct) > _MOST_NAMED:
        return None
    table = _torch_table(route)
    labels = [str(getattr(name, "__name__", name)) for name in distinct]
    return "+".join(_name(table[name], label) if name in table else label for name, label in zip(distinct, labels, strict=True))


@cache
def _torch_table(route: str) -> Mapping[Any, Callable[..., Any]]:
    module, owner = ("fx_translator", "TorchFXImporter") if route == "fx" else ("exported_program_translator", "ExportedProgramImporter")
    importer = getattr(importlib.import_module(f"{FRONTEND}.torch.{module}"), owner)
    return cast("Mapping[Any, Callable[..., Any]]", importer().create_convert_map())


def _name(function: Callable[..., Any], operator: str) -> str:
    """Name of a converter. One that a factory made for many operators is told apart by the operator: `_unary_op(abs.default)`."""
    outer, _, inner = function.__qualname__.partition(".<locals>.")
    factory = outer.rpartition(".")[2]
    if not inner:
        return factory
    return operator if factory == "create_convert_map" else f"{factory}({operator})"
