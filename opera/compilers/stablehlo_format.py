"""StableHLO text for several compilers: the entry function `main`, and the inputs that it takes."""

from __future__ import annotations

import re
from typing import Any

from opera.arrays import Array, as_array, is_array
from opera.compilers.adapter import CannotFeed, Subject
from opera.stablehlo.scanner import Cursor, TextError, tokens
from opera.stablehlo.types import tensor_type

UNKNOWN = r"custom op '(?:stablehlo|chlo)\.\w+' is unknown"
"""How MLIR says that its version of StableHLO lacks an operation that a text has."""
_MAIN = "@main"
_ELEMENT = re.compile(r"tensor<(?:[^<>]*[x,])?(\w+)>")


def input_types(text: str) -> list[str]:
    """The types of the arguments of `main`, as the text has them; raises CannotFeed where it has no such function."""
    found = tokens(text)
    for token in found:
        if token.text == "func.func":
            name = next((each for each in found if each.kind in ("name", "string")), None)
            if name is not None and name.text == _MAIN:
                return _types(Cursor(text, name.end))
    raise CannotFeed("the module has no function main")


def _types(cursor: Cursor) -> list[str]:
    types: list[str] = []
    try:
        inner = Cursor(cursor.group(), 1)
        while inner.peek() not in (")", ""):
            inner.take()
            inner.expect(":")
            types.append(inner.type())
            if inner.peek() == "{":
                inner.group()
            inner.accept(",")
    except TextError as error:
        raise CannotFeed(f"the arguments of main cannot be read: {error}") from error
    return types


def declared_inputs(subject: Subject, count: int) -> list[Any]:
    """The inputs that `main` takes: none where they are baked in."""
    values = list(subject.inputs.values())
    return values if count else []


def as_declared(value: Any, type: str) -> Any:
    """A value in the dtype that `main` declares for it: JAX narrows 64 bits to 32 before a model sees them."""
    if not is_array(value):
        return value
    array: Array = as_array(value)
    try:
        dtype = tensor_type(type).element.numpy
    except ValueError:
        return array
    narrows = array.dtype.kind == dtype.kind and array.dtype.itemsize > dtype.itemsize
    return array.astype(dtype) if narrows else array


def results_are_unsigned(text: str, entry: str, count: int) -> list[bool]:
    """Which results the function *entry* declares as unsigned; all are not, where the text does not say it for *count* results."""
    signature = re.search(rf"func\.func (?:public )?@{re.escape(entry)}\(.*?\) *-> *(.*?)\{{\s*$", text, re.MULTILINE)
    types = _ELEMENT.findall(signature[1]) if signature else []
    return [name.startswith("ui") for name in types] if len(types) == count else [False] * count
