"""Parameter names and defaults of PyTorch's functions. Most of these functions are builtins without a signature.

Names come from `inspect.signature`, else from the stand-ins that `torch.overrides.get_testing_overrides()` has for every overridable
function, else from the ATen schemas. Defaults come from a real signature, else from the schemas, else from the stand-ins: where both
know a parameter, the stand-ins are sometimes wrong.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, cast

from . import wire
from .pytorch_values import encode_constant
from .wire import Json

torch: Any = importlib.import_module("torch")

Encode = Callable[[object], Json]
UNKNOWN: Json = {"unknown": True}
"""Stands for a default that is not known."""

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Parameters(NamedTuple):
    """What is known of a callable's parameters.

    Attributes:
        names: Names of the positional parameters, in order.
        rest: Of the variadic parameter, if there is one.
        defaults: Name and JSON form of each known default.
    """

    names: Tuple[str, ...]
    rest: Optional[str]
    defaults: Tuple[Tuple[str, Json], ...]

    def bind(self, args: Sequence[object], kwargs: Mapping[str, object], encode: Encode) -> List[Json]:
        """The arguments of one call in the form of the instance format.

        The library's Python functions hand on private keyword parameters (`_stacklevel`) that no user passes: these are left out.
        """
        public = {name: value for name, value in kwargs.items() if not name.startswith("_")}
        bound: List[Json] = [{"name": self.name(position), "value": encode(value)} for position, value in enumerate(args)]
        bound.extend({"name": name, "value": encode(value), "keyword": True} for name, value in public.items())
        return bound

    def name(self, position: int) -> str:
        """The name of the argument at *position*."""
        return self.names[position] if position < len(self.names) else self.rest or f"arg{position}"

    def encoded_defaults(self) -> List[Json]:
        """The defaults as pairs."""
        return [[name, value] for name, value in self.defaults]


def of_function(function: Any) -> Parameters:
    """The parameters of a function or method."""
    found = _signature(function)
    if found is not None and found.names:
        return found
    names, guesses = _stand_in(function)
    overloads = _overload_defaults(function)
    if names is None:
        names = max((tuple(argument.name for argument in schema.arguments) for schema in _aten(function)), key=len, default=())
    settled = {name: _settle(guesses.get(name, UNKNOWN), overloads.get(name, [])) for name in (*guesses, *overloads)}
    return Parameters(names, None, tuple((name, value) for name, value in settled.items() if value != UNKNOWN))


def of_class(kind: type) -> Parameters:
    """The parameters of a class's constructor; none where it takes anything."""
    found = _signature(kind.__init__)
    return Parameters((), None, ()) if found is None else found._replace(names=found.names[1:])


def of_forward(kind: Any) -> Parameters:
    """The parameters of a module class's `forward`."""
    found = _signature(kind.forward)
    return Parameters((), None, ()) if found is None else found._replace(names=found.names[1:])


def _signature(function: Any) -> Optional[Parameters]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    rest = next((item.name for item in parameters if item.kind is inspect.Parameter.VAR_POSITIONAL), None)
    return Parameters(tuple(item.name for item in parameters if item.kind in _POSITIONAL), rest, tuple(_defaults(parameters).items()))


def _defaults(parameters: Any) -> Dict[str, Json]:
    """The defaults that the instance format can express."""
    found: Dict[str, Json] = {}
    for item in parameters:
        if item.default is not inspect.Parameter.empty:
            try:
                found[item.name] = wire.encode(item.default, _constant)
            except wire.Unrecordable:
                continue
    return found


def _constant(value: object) -> Json:
    plain = encode_constant(value)
    if plain is None:
        raise wire.Unrecordable("default")
    return plain


def _stand_in(function: Any) -> Tuple[Optional[Tuple[str, ...]], Dict[str, Json]]:
    """Names and defaults by the function's stand-in in `torch.overrides`."""
    stand_in = _stand_ins().get(function)
    found = None if stand_in is None else _signature(stand_in)
    return (None, {}) if found is None or not found.names else (found.names, dict(found.defaults))


@functools.cache
def _stand_ins() -> Dict[Any, Any]:
    return dict(torch.overrides.get_testing_overrides())


def _aten(function: Any) -> List[Any]:
    """The schemas of the ATen operators of the function's name."""
    name = getattr(function, "__name__", None)
    if isinstance(function, torch._ops.OpOverload):
        return [function._schema]
    return list(torch._C._jit_get_schemas_for_operator(f"aten::{name}")) if isinstance(name, str) else []


def _overload_defaults(function: Any) -> Dict[str, List[Json]]:
    """The defaults of each parameter in all overloads that have it; `UNKNOWN` where it has none or one that is no plain value."""
    found: Dict[str, List[Json]] = {}
    for schema in _aten(function):
        for argument in schema.arguments:
            found.setdefault(argument.name, []).append(_plain(argument.default_value) if argument.has_default_value() else UNKNOWN)
    return found


def _settle(guess: Json, overloads: List[Json]) -> Json:
    """The stand-in's default where no overload contradicts it, else that on which all overloads agree, else `UNKNOWN`."""
    if guess != UNKNOWN and all(_agrees(guess, value) for value in overloads):
        return guess
    first = overloads[0] if overloads else UNKNOWN
    return first if all(_same(value, first) for value in overloads) else UNKNOWN


def _agrees(guess: Json, value: Json) -> bool:
    """Whether a schema's default is the stand-in's: schemas write `padding=0` of two dimensions as [0, 0] and `stride=None` as []."""
    if isinstance(value, list):
        return guess is None if not value else all(_same(item, guess) for item in value)
    return _same(guess, value)


def _same(one: Json, other: Json) -> bool:
    return type(one) is type(other) and one == other


def _plain(value: Any) -> Json:
    if value is None or type(value) in (bool, int, str) or (type(value) is float and value - value == 0):
        return value
    if isinstance(value, list) and all(type(item) is int for item in cast("list[Any]", value)):
        return cast(Json, value)
    return UNKNOWN
