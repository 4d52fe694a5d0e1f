"""The arguments of a recorded Keras or TensorFlow call as Python objects, with a slot for every tensor that becomes an input."""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from opera.instance import Argument, Call, Instance, Tensor
from opera.models.arrays import Array
from opera.models.sampling import sample
from opera.models.template import Invalid


@dataclass(frozen=True)
class Slot:
    """Stands for the tensor that the model takes as its *index*-th input."""

    index: int


class Arguments:
    """What an instance is built and called with.

    Attributes:
        arrays: The values of the inputs.
        init: Positional and keyword arguments of the constructor; tensors are arrays.
        call: Positional and keyword arguments of the call; tensors are slots.
    """

    def __init__(self, instance: Instance, key: str, seed: int, constant: Callable[[Any], Any]) -> None:
        """*constant* gives the library's object for a value that is peculiar to a library, or raises ImportError or AttributeError."""
        self.arrays: list[Array] = []
        self._key = key
        self._seed = seed
        self._constant = constant
        self._drawn = 0
        self.init = self._all(instance.init, inputs=False)
        self.call = self._all(instance.call, inputs=True)

    def _all(self, arguments: Sequence[Argument], *, inputs: bool) -> tuple[list[Any], dict[str, Any]]:
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for argument in arguments:
            value = self._value(argument.value, inputs)
            if argument.keyword:
                keywords[argument.name] = value
            else:
                positional.append(value)
        return positional, keywords

    def _value(self, value: Any, inputs: bool) -> Any:
        if isinstance(value, Tensor):
            return self._tensor(value, inputs)
        if isinstance(value, (list, tuple)):
            items = [self._value(item, inputs) for item in cast("list[Any]", value)]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, dict):
            return {key: self._value(item, inputs) for key, item in cast("dict[Any, Any]", value).items()}
        if isinstance(value, slice):
            return slice(*(self._value(end, inputs) for end in cast("tuple[Any, ...]", (value.start, value.stop, value.step))))
        try:
            return self._call(value) if isinstance(value, Call) else self._constant(value)
        except (ImportError, AttributeError) as error:
            raise Invalid("argument-not-rebuilt") from error

    def _tensor(self, tensor: Tensor, inputs: bool) -> Any:
        array = sample(tensor, f"{self._key}:{self._drawn}", self._seed)
        self._drawn += 1
        if not inputs:
            return array
        self.arrays.append(array)
        return Slot(len(self.arrays) - 1)

    def _call(self, call: Call) -> Any:
        """What the call makes; its tensors are constants."""
        positional = [self._value(item, False) for name, item in call.arguments if name is None]
        keywords = {name: self._value(item, False) for name, item in call.arguments if name is not None}
        try:
            return resolve(call.api)(*positional, **keywords)
        except (ImportError, AttributeError):
            raise
        except Exception as error:
            raise Invalid("argument-not-rebuilt") from error


def filled(value: Any, tensors: Sequence[Any]) -> Any:
    """*value* with *tensors* in place of the slots."""
    if isinstance(value, Slot):
        return tensors[value.index]
    if isinstance(value, (list, tuple)):
        items = [filled(item, tensors) for item in cast("list[Any]", value)]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        return {key: filled(item, tensors) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, slice):
        return slice(*(filled(end, tensors) for end in cast("tuple[Any, ...]", (value.start, value.stop, value.step))))
    return value


_ROOTS: Mapping[str, str] = {"keras": "keras", "tf": "tensorflow", "builtins": "builtins"}
"""First part of a recorded name to the module that it means."""


def resolve(path: str) -> Any:
    """The object at a recorded dotted name.

    Raises:
        ImportError: it is not the library's, though it may be reachable through it, or it is a builtin and no type.
        AttributeError: it is not there.
    """
    head, *rest = path.split(".")
    if head not in _ROOTS:
        raise ImportError(f"{path} is outside the library")
    found: Any = importlib.import_module(_ROOTS[head])
    for part in rest:
        found = getattr(found, part)
        home = found.__name__ if isinstance(found, types.ModuleType) else getattr(found, "__module__", None)
        if isinstance(home, str) and home.partition(".")[0] not in _ROOTS.values():
            raise ImportError(f"{path} is outside the library")
    if head == "builtins" and not isinstance(found, type):
        raise ImportError(f"{path} is no type")
    return found


WIDER: Mapping[str, str] = {
    "float16": "float64",
    "bfloat16": "float64",
    "float32": "float64",
    "complex64": "complex128",
}
"""The dtype in which a precise reference computes what is narrower."""


def widened(arrays: Sequence[Array]) -> list[Array] | None:
    """The arrays with every floating-point one in double precision; None where nothing is to be widened."""
    names = [array.dtype.name for array in arrays]
    if not any(name in WIDER for name in names):
        return None
    return [array.astype(WIDER.get(name, name)) for array, name in zip(arrays, names, strict=True)]
