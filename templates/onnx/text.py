"""An ONNX model in ONNX's own textual syntax, where that loses nothing.

Syntax: https://github.com/onnx/onnx/blob/main/docs/Syntax.md
"""

from __future__ import annotations

import importlib
import re
import textwrap
from typing import Any

from opera.templates.onnx.operators import messages
from opera.templates.python_text import WIDTH

_INDENT = 4
_ONE_A_LINE = 14
"""Largest number of statements with a line each; more statements share lines."""

onnx: Any = importlib.import_module("onnx")
numpy_helper: Any = importlib.import_module("onnx.numpy_helper")

_COMMON = frozenset(
    onnx.TensorProto.DataType.Value(name)
    for name in ("FLOAT", "DOUBLE", "BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "STRING")
)


def text_lines(proto: Any) -> list[str] | None:
    """The lines of *proto*, none longer than a script's; None where reading them gives another model, as rounded numbers do."""
    try:
        lines = _arranged(onnx.printer.to_text(proto).splitlines())
        read = onnx.parser.parse_model("\n".join(lines))
        same = _canonical(read) == _canonical(proto)
    except Exception:  # what ONNX itself cannot print, read or load
        return None
    plain = all(line.isprintable() and '"""' not in line and "\\" not in line for line in lines)
    return lines if plain and same and _keeps_elements(read) else None


def _keeps_elements(read: Any) -> bool:
    """Whether all constants are of types whose elements compilers read from wherever they are.

    ONNX's parser keeps elements in typed fields, `numpy_helper` as bytes; IREE's importer reads float8 from bytes only.
    """
    return all(each.data_type in _COMMON for each in _tensors(read))


def _tensors(message: Any) -> list[Any]:
    return [each for each in messages(message) if isinstance(each, onnx.TensorProto)]


def _arranged(written: list[str]) -> list[str]:
    """The header on one line, then one statement a line, or as many as fit where they are many."""
    end = written.index(">")
    header = [line.strip() for line in written[1:end] if "producer_name" not in line]
    lines = [f"<{' '.join(header).removesuffix(',')}>"]
    statements = [re.sub(r"(?<=\S)  +", " ", line) for line in written[end + 1 :]]
    many = len(statements) > _ONE_A_LINE
    for statement in statements:
        depth = " " * (len(statement) - len(statement.lstrip()))
        room = WIDTH - len(lines[-1])
        if statement == "{" or (many and len(lines) > 1 and len(statement.strip()) + 2 <= room):
            lines[-1] += f"{' ' if statement == '{' else '  '}{statement.strip()}"
        elif len(statement) <= WIDTH:
            lines.append(statement)
        else:
            further = depth + " " * _INDENT
            lines += textwrap.wrap(statement, WIDTH, subsequent_indent=further, break_long_words=False, break_on_hyphens=False)
    return lines


def _canonical(proto: Any) -> Any:
    """*proto* without what has no meaning: empty strings that are set, and the field in which a tensor keeps its elements."""
    copy = type(proto)()
    copy.CopyFrom(proto)
    copy.producer_name = ""
    for tensor in _tensors(copy):
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name))
    _simplify(copy)
    return copy


def _simplify(message: Any) -> None:
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if hasattr(value, "__len__") else [value]:
                _simplify(part)
        elif value == "":
            message.ClearField(field.name)
