"""StableHLO text for several compilers: the entry function `main`, and the inputs that it takes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from opera.arrays import Array, Signature, as_array, is_array
from opera.compilers.adapter import CannotFeed, Subject

UNKNOWN = r"custom op '(?:stablehlo|chlo)\.\w+' is unknown"
"""How MLIR says that its version of StableHLO lacks an operation that a text has."""
_ELEMENT = re.compile(r"tensor<(?:[^<>]*[x,])?(\w+)>")
_QUIET = r'"(?:\\.|[^"\\])*"|//[^\n]*'
"""Strings and comments, in which nothing counts."""
_MAIN = re.compile(rf'{_QUIET}|(?P<main>func\.func\s+(?:\w+\s+)?(?:@main|@"main")\s*\()')
_TOKEN = re.compile(rf"{_QUIET}|->|[<({{\[]|[>)}}\]]|,")
_ARGUMENT = re.compile(r"\s*%[\w$.-]+\s*:\s*(?P<type>[^\s<]+(?:<.*>)?)", re.DOTALL)
_DTYPE = re.compile(r"tensor<(?:[\d?]+x)*(?P<kind>f|i|ui|complex<f)(?P<bits>16|32|64)>")
_TENSOR = re.compile(r"tensor<((?:[\d?]+x)*)((?:[a-z]|complex<)[\w>]*?)>(?![\w>])")
_ENCODED = re.compile(r"tensor<[^<> ]*> \{iree\.abi\.encoding = (tensor<[^ ]*>)\}")
_KINDS = {"f": ("float", 1), "i": ("int", 1), "ui": ("uint", 1), "complex<f": ("complex", 2)}
"""Name of the dtype, and how often it holds its bits."""


def input_types(text: str) -> list[str]:
    """The types of the arguments of `main`, as the text has them; raises CannotFeed where it has no such function."""
    found = next((each for each in _MAIN.finditer(text) if each["main"]), None)
    if found is None:
        raise CannotFeed("the module has no function main")
    types: list[str] = []
    for each in _arguments(text, found.end()):
        match = _ARGUMENT.match(re.split(r"\s(?:\{|loc\()", each, maxsplit=1)[0])
        if match is None:
            raise CannotFeed(f"the arguments of main cannot be read: {each.strip()[:80]!r} has no type")
        types.append(match["type"])
    return types


def _arguments(text: str, start: int) -> list[str]:
    """The parts of the list of arguments that begins at *start*, without its brackets."""
    depth, parts = 0, [start]
    for token in _TOKEN.finditer(text, start):
        sign = token[0]
        if sign in "<({[":
            depth += 1
        elif sign in (">", ")", "}", "]"):
            if depth == 0:
                ends = [*(each - 1 for each in parts[1:]), token.start()]
                found = [text[begin:end] for begin, end in zip(parts, ends, strict=True)]
                return found if any(each.strip() for each in found) else []
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(token.end())
    raise CannotFeed("the arguments of main cannot be read: the list has no end")


def declared_inputs(subject: Subject, count: int) -> list[Any]:
    """The inputs that `main` takes: none where they are baked in."""
    values = list(subject.inputs.values())
    return values if count else []


def as_declared(value: Any, type: str) -> Any:
    """A value in the dtype that `main` declares for it: JAX narrows 64 bits to 32 before a model sees them."""
    if not is_array(value):
        return value
    array: Array = as_array(value)
    found = _DTYPE.search(type)
    if found is None:
        return array
    name, parts = _KINDS[found["kind"]]
    dtype = np.dtype(f"{name}{parts * int(found['bits'])}")
    narrows = array.dtype.kind == dtype.kind and array.dtype.itemsize > dtype.itemsize
    return array.astype(dtype) if narrows else array


def stated(types: str) -> Signature:
    """The tensors in a list of types. Where IREE names another type as the encoding, that one counts; other integers are signed."""
    found = _TENSOR.findall(_ENCODED.sub(r"\1", types))
    return [(_name_of(name), [int(size) if size.isdigit() else None for size in sizes.split("x")[:-1]]) for sizes, name in found]


def _name_of(element: str) -> str | None:
    found = _DTYPE.match(f"tensor<{element}>")
    if found is None:
        return {"i1": "bool", "i8": "int8", "ui8": "uint8", "bf16": "bfloat16"}.get(element)
    name, parts = _KINDS[found["kind"]]
    return f"{name}{parts * int(found['bits'])}"


def results_are_unsigned(text: str, entry: str, count: int) -> list[bool]:
    """Which results the function *entry* declares as unsigned; all are not, where the text does not say it for *count* results."""
    signature = re.search(rf"func\.func (?:public )?@{re.escape(entry)}\(.*?\) *-> *(.*?)\{{\s*$", text, re.MULTILINE)
    types = _ELEMENT.findall(signature[1]) if signature else []
    return [name.startswith("ui") for name in types] if len(types) == count else [False] * count
