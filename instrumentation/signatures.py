"""Parameter names and defaults of Python functions, and the arguments of a call under these names."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from . import wire
from .tensors import DTYPE_BITS
from .wire import Json

Encode = Callable[[object], Json]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_LABEL = "name"
"""A parameter by which Keras and TensorFlow name a node of a graph; it says nothing of what is computed, and is not recorded."""
_DTYPE = "dtype"


class Signature(NamedTuple):
    """What is known of a callable's parameters.

    Attributes:
        names: Names of the positional parameters, in order.
        rest: Of the variadic parameter, if there is one.
        defaults: Name and JSON form of each known default.
    """

    names: Tuple[str, ...] = ()
    rest: Optional[str] = None
    defaults: Tuple[Tuple[str, Json], ...] = ()

    def bind(self, args: Sequence[object], kwargs: Mapping[str, object], encode: Encode) -> List[Json]:
        """The arguments of one call in the form of the instance format, without labels."""
        bound: List[Json] = []
        for position, value in enumerate(args):
            name = self.name(position)
            bound.append({"name": name, "value": None if name == _LABEL else _encoded(name, value, encode)})
        for name, value in kwargs.items():
            if name != _LABEL:
                bound.append({"name": name, "value": _encoded(name, value, encode), "keyword": True})
        return bound

    def name(self, position: int) -> str:
        """The name of the argument at *position*."""
        return self.names[position] if position < len(self.names) else self.rest or f"arg{position}"

    def encoded_defaults(self) -> List[Json]:
        """The defaults as pairs."""
        return [[name, value] for name, value in self.defaults]


def _encoded(name: str, value: object, encode: Encode) -> Json:
    """The form of an argument. A data type is one, whether it is passed as an object or by its name."""
    if name == _DTYPE and isinstance(value, str) and value in DTYPE_BITS:
        return {"dtype": value}
    return encode(value)


def signature(function: Any, constant: Encode, skip: int = 0) -> Signature:
    """The signature of *function* without its first *skip* parameters; an empty one where it has none.

    Args:
        function: Any callable.
        constant: Gives the JSON form of a default that JSON cannot say, or raises `Unrecordable`.
        skip: 1 for a method whose object is no argument.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())[skip:]
    except (TypeError, ValueError):
        return Signature()
    rest = next((item.name for item in parameters if item.kind is inspect.Parameter.VAR_POSITIONAL), None)
    names = tuple(item.name for item in parameters if item.kind in _POSITIONAL)
    return Signature(names, rest, tuple(_defaults(parameters, constant).items()))


def _defaults(parameters: Sequence[inspect.Parameter], constant: Encode) -> Dict[str, Json]:
    """The defaults that the instance format can express."""
    found: Dict[str, Json] = {}
    for item in parameters:
        if item.default is not inspect.Parameter.empty:
            try:
                found[item.name] = _encoded(item.name, item.default, lambda value: wire.encode(value, constant))
            except wire.Unrecordable:
                continue
    return found
