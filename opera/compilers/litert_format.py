"""TFLite models for several compilers: the names of the inputs, and the operators."""

from __future__ import annotations

import importlib
import re
from typing import Any, cast

from opera.compilers.adapter import Subject

_MOST_NAMED = 3


def parse(data: bytes) -> Any:
    """A `tflite.Model` from its bytes."""
    tflite: Any = importlib.import_module("tflite")
    return tflite.Model.GetRootAsModel(data, 0)


def input_names(data: bytes) -> list[str]:
    """The model's inputs in its own order, by the names that the library's model gave them (`x0`, `x1` ...)."""
    graph = parse(data).Subgraphs(0)
    return [input_name(graph.Tensors(graph.Inputs(index)).Name().decode()) for index in range(graph.InputsLength())]


def input_name(tensor: str) -> str:
    """The library's name of an input, from the converter's `serving_default_x0:0`."""
    found = re.search(r"(?:^|_)(x\d+)(?::\d+)?$", tensor)
    return found[1] if found is not None else tensor


def operators_of(subject: Subject) -> str:
    """The operators of a model, joined by `+`; the instance's own operator where they are many."""
    tflite: Any = importlib.import_module("tflite")
    model = parse(subject.data)
    graph = model.Subgraphs(0)
    table = cast("dict[str, Any]", vars(tflite.BuiltinOperator))
    names = {value: name for name, value in table.items() if isinstance(value, int)}
    distinct: dict[str, None] = {}
    for index in range(graph.OperatorsLength()):
        code = model.OperatorCodes(graph.Operators(index).OpcodeIndex())
        distinct[names[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]] = None
    return "+".join(distinct) if 0 < len(distinct) <= _MOST_NAMED else f"{subject.instance.operator} (converted)"
