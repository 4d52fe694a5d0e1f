"""Calls of PyTorch as calls of ATen operators: what other runners of the format execute.

The API stays as the label `impl`, by which OPERA calls it. An argument that equals the API's default changes no identity: it is left out or
written as the operator needs it.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from opera.extensions.opidiff.fields import refused
from opera.extensions.opidiff.signatures import is_function
from opera.extensions.opidiff.table import SCALAR_TYPES
from opera.instance import Argument, DType, Instance, Tensor, Value, encode_value

_FACTS = Path(__file__).resolve().parents[2] / "facts" / "pytorch_schemas.json"
_ATEN = "torch.ops.aten."
_PREFIXES = ("linalg", "fft", "special")
_OTHERS = {
    "torch.nn.functional.nll_loss": (
        "nll_loss_nd",
        "(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor",
    ),
    "torch.nn.functional.unfold": (
        "im2col",
        "(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
    ),
}
"""ATen operators that do the same as an API of another name, with their schemas."""
_DTYPES = ("dtype", "out_dtype")
"""Parameters of ATen operators that take the number of a dtype."""
_NUMBER_OF = {name: number for number, name in SCALAR_TYPES.items()}
_REDUCTION = "reduction"
_REDUCTIONS = ("none", "mean", "sum")
"""What functions take in place of the numbers 0, 1 and 2 of ATen operators."""
_PARAMETER = re.compile(r"(?P<type>\S+) (?P<name>\w+)(?:=(?P<default>.*))?")
_LIST = re.compile(r"(?P<of>Sym)?(?P<item>Int|int|float|bool)\[(?P<size>\d*)\]")


@dataclass(frozen=True)
class NativeCall:
    """A call of an ATen operator.

    Attributes:
        operator: `aten::NAME`.
        impl: The API that the instance calls; None where that is the operator.
        call: The arguments.
    """

    operator: str
    impl: str | None
    call: tuple[Argument, ...]


@dataclass(frozen=True)
class _Parameter:
    """A parameter of an ATen operator; *default* is its text, None where it is required."""

    type: str
    name: str
    default: str | None
    keyword: bool


@dataclass(frozen=True)
class _Schema:
    """An overload of an ATen operator."""

    parameters: tuple[_Parameter, ...]
    outputs: int


def native_call(instance: Instance) -> NativeCall | None:
    """The call of an ATen operator that does what *instance*, a call of a function, does; None where none takes the arguments."""
    api = instance.api
    if api.startswith(_ATEN):
        return NativeCall(f"aten::{api.removeprefix(_ATEN)}", None, tuple(_written(each) for each in instance.call))
    name = _operator_of(api)
    if name is None or refused(api) is not None:
        return None
    texts = (_OTHERS[api][1],) if api in _OTHERS else _schemas().get(api, ())
    for text in texts:
        call = _fitted(instance, _parsed(text))
        if call is not None:
            return NativeCall(f"aten::{name}", api, call)
    return None


def _operator_of(api: str) -> str | None:
    """The name of the ATen operator of a function: that with the prefix of its module, else that of the same name."""
    parts = api.split(".")
    last = parts[-1].strip("_") if parts[-1].startswith("__") else parts[-1]
    names = [_OTHERS[api][0]] if api in _OTHERS else [*(f"{each}_{last}" for each in _PREFIXES if each in parts), last]
    return next((each for each in names if is_function(f"{_ATEN}{each}")), None)


@functools.cache
def _schemas() -> dict[str, tuple[str, ...]]:
    """The overloads of the ATen operator of each function."""
    families: list[dict[str, Any]] = json.loads(_FACTS.read_text(encoding="utf-8"))["families"]
    return {api: tuple(each["schemas"]) for each in families for api in each["functions"]}


@functools.cache
def _parsed(text: str) -> _Schema:
    inside, _, outputs = text.rpartition(") -> ")
    parameters: list[_Parameter] = []
    keyword = False
    for part in re.split(r", (?![^\[(]*[\])])", inside.removeprefix("(")):
        match = _PARAMETER.fullmatch(part)
        if match is not None:
            parameters.append(_Parameter(match["type"].split("(")[0], match["name"], match["default"], keyword))
        keyword = keyword or part == "*"
    return _Schema(tuple(parameters), outputs.count(",") + 1 if outputs.startswith("(") else 1)


def _fitted(instance: Instance, schema: _Schema) -> tuple[Argument, ...] | None:
    """The arguments as the overload takes them; None where it does not."""
    defaults = dict(instance.defaults)
    if schema.outputs > 1 and any(each.startswith("return_") for each in defaults):
        return None
    if instance.api.startswith("torch.Tensor.") and (not schema.parameters or schema.parameters[0].name not in ("self", "input")):
        return None
    positional = [each for each in instance.call if not each.keyword]
    places = [each for each in schema.parameters if not each.keyword]
    names = [each.name for each in places]
    while positional and len(positional) > len(places) and _is_default(positional[-1], defaults):
        positional.pop()
    if len(positional) > len(places) or any(each.name in names and names[n] != each.name for n, each in enumerate(positional)):
        return None
    fitted = [_accepted(each, place) for each, place in zip(positional, places, strict=False)]
    bound = {each.name for each in places[: len(positional)]}
    by_name = {each.name: each for each in schema.parameters}
    for each in instance.call:
        if each.keyword:
            place = by_name.get(each.name)
            found = None if place is None or each.name in bound else _accepted(each, place)
            if found is not None:
                bound.add(each.name)
                fitted.append(found)
            elif not _is_default(each, defaults):
                return None
    for place in schema.parameters:
        if place.name not in bound:
            missing = _missing(place, defaults)
            if missing is None:
                return None
            fitted += missing
    return None if None in fitted else tuple(each for each in fitted if each is not None)


def _missing(place: _Parameter, defaults: Mapping[str, Value]) -> list[Argument] | None:
    """What to write for a parameter that the call does not give: nothing where the operator's default means the API's."""
    if place.name not in defaults or (defaults[place.name] is None and place.default is not None):
        return [] if place.default is not None else None
    argument = _accepted(Argument(place.name, defaults[place.name], keyword=True), place)
    if argument is None:
        return None
    return [] if place.default is not None and _means(place.default, argument.value) else [argument]


def _means(default: str, value: Value) -> bool:
    """Whether a default of a schema means *value*: a list of equal numbers is the number."""
    try:
        native = cast(object, ast.literal_eval(default))
    except (ValueError, SyntaxError):
        return False
    if isinstance(value, (list, tuple)):
        return bool(native == list(cast("Sequence[Value]", value)))
    if isinstance(native, list):
        items = cast("list[object]", native)
        return items != [] and all(each == value for each in items)
    return bool(native == value)


def _is_default(argument: Argument, defaults: Mapping[str, Value]) -> bool:
    return argument.name in defaults and repr(encode_value(argument.value)) == repr(encode_value(defaults[argument.name]))


def _accepted(argument: Argument, place: _Parameter) -> Argument | None:
    """*argument* as the parameter takes it; None where it does not."""
    written = _written(argument)
    if place.name == _REDUCTION and place.type == "int" and argument.value in _REDUCTIONS:
        written = replace(argument, value=_REDUCTIONS.index(cast(str, argument.value)))
    if place.type.startswith("ScalarType") and argument.value is not None:
        return written if isinstance(argument.value, DType) and type(written.value) is int and argument.name in _DTYPES else None
    return written if _takes(place.type, written.value) else None


def _takes(kind: str, value: Value) -> bool:
    """Whether a parameter of this type takes *value*."""
    if kind.endswith("?"):
        return value is None or _takes(kind[:-1], value)
    match = _LIST.fullmatch(kind)
    if match is not None:
        item = match["item"].lower()
        if isinstance(value, (list, tuple)):
            return all(_takes(item, each) for each in cast("Sequence[Value]", value))
        return bool(match["size"]) and match["of"] is None and _takes(item, value)
    if kind == "Tensor[]":
        return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(each, Tensor) for each in cast("Sequence[Value]", value))
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {
        "Tensor": isinstance(value, Tensor),
        "int": isinstance(value, int) and number,
        "SymInt": isinstance(value, int) and number,
        "float": number,
        "bool": isinstance(value, bool),
        "str": isinstance(value, str),
        "Scalar": number or isinstance(value, bool),
        "Device": isinstance(value, str),
    }.get(kind, False)


def _written(argument: Argument) -> Argument:
    """*argument* with a number in place of a dtype."""
    if argument.name in _DTYPES and isinstance(argument.value, DType) and argument.value.name in _NUMBER_OF:
        return replace(argument, value=_NUMBER_OF[argument.value.name])
    return argument


def from_native(call: Sequence[Argument], defaults: Sequence[tuple[str, Value]]) -> tuple[Argument, ...]:
    """*call*, of an ATen operator, as the API with these defaults takes it: dtypes and reductions in place of their numbers."""
    known = dict(defaults)

    def restored(argument: Argument) -> Argument:
        value = argument.value
        if type(value) is not int:
            return argument
        if argument.name in _DTYPES and value in SCALAR_TYPES:
            return replace(argument, value=DType(SCALAR_TYPES[value]))
        if argument.name == _REDUCTION and isinstance(known.get(_REDUCTION), str) and 0 <= value < len(_REDUCTIONS):
            return replace(argument, value=_REDUCTIONS[value])
        return argument

    return tuple(map(restored, call))
