"""What an ONNX model may hold: nodes of listed operators, and no tensor whose elements are in a file."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from opera.models.operators import not_an_operator, operators_of

onnx: Any = importlib.import_module("onnx")

_PLAIN = frozenset({"ValueInfoProto", "TypeProto", "StringStringEntryProto"})
"""Messages without nodes and tensors."""


def check_message(message: Any) -> None:
    """Looks at every node, function, import and tensor in *message*, a protobuf message of ONNX, however deep.

    Raises:
        Invalid: a compiler or evaluator would have to run or read something that is not in the model.
    """
    own = {(each.domain, each.name) for each in getattr(message, "functions", ())}
    for each in (message, *messages(message)):
        if isinstance(each, onnx.NodeProto) and (each.domain, each.op_type) not in own:
            check_operator(each.domain, each.op_type)
        elif isinstance(each, (onnx.FunctionProto, onnx.OperatorSetIdProto)) and each.domain not in ("ai.onnx", *_domains()):
            raise not_an_operator(f"the domain {each.domain!r} is not one of the standard's")
        elif isinstance(each, onnx.TensorProto) and (each.data_location == onnx.TensorProto.EXTERNAL or each.external_data):
            raise not_an_operator(f"the elements of the tensor {each.name!r} are in a file outside of the model")


@cache
def check_operator(domain: str, name: str) -> None:
    """Raises `Invalid` where ONNX has no operator of this name in the domain, or where its list does not admit it."""
    operators_of("onnx").check(f"{domain or 'ai.onnx'}.{name}")
    if not onnx.defs.has(name, "" if domain == "ai.onnx" else domain):
        raise not_an_operator(f"ONNX has no operator {name} in the domain {domain!r}")


def messages(message: Any) -> Iterator[Any]:
    """Every protobuf message inside of *message* that may be or hold a node or a tensor, depth first."""
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.name not in _PLAIN:
            for part in value if hasattr(value, "__len__") else [value]:
                yield part
                yield from messages(part)


@cache
def _domains() -> frozenset[str]:
    return frozenset(schema.domain for schema in onnx.defs.get_all_schemas())
