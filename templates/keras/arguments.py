"""The arguments of a recorded Keras or TensorFlow call, drawn as arrays; and what both libraries' names mean."""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opera.arrays import Array
from opera.instance import Instance, Tensor
from opera.instrumentation.foreign_tensors import array_of
from opera.instrumentation.wire import Unrecordable
from opera.models.operators import operators_of
from opera.models.sampling import sample
from opera.models.template import Invalid
from opera.templates.call_arguments import CallArguments


class KerasArguments(CallArguments):
    """What an instance is built and called with; inputs are arrays.

    Attributes:
        init: Positional and keyword arguments of the constructor; tensors are arrays.
        call: Positional and keyword arguments of the call; tensors are slots.
    """

    def __init__(self, instance: Instance, key: str, seed: int, constant: Callable[[Any], Any]) -> None:
        """*constant* gives the library's object for a value that is peculiar to a library, or raises ImportError or AttributeError."""
        super().__init__()
        self._library = instance.library
        self._key = key
        self._seed = seed
        self._constant = constant
        self._drawn = 0
        self.init = self.made(instance.init, inputs=False)
        self.call = self.made(instance.call, inputs=True)

    def tensor(self, tensor: Tensor) -> Array:
        array = sample(tensor, f"{self._key}:{self._drawn}", self._seed)
        self._drawn += 1
        return array

    def constant(self, value: Any) -> Any:
        return self._constant(value)

    def resolved(self, path: str) -> Any:
        return resolved(self._library, path)


_ROOTS: Mapping[str, str] = {"keras": "keras", "tf": "tensorflow", "builtins": "builtins"}
"""First part of a recorded name to the module that it means."""


def resolved(library: str, path: str, *, called: bool = True) -> Any:
    """The object at a dotted name that an instance of *library* gives.

    Raises:
        Invalid: the library's list does not admit it.
        ImportError: it is not the library's, though it may be reachable through it.
        AttributeError: it is not there.
    """
    operators = operators_of(library)
    operators.check(path, called=called)
    head, *rest = path.split(".")
    found: Any = importlib.import_module(_ROOTS[head])
    for part in rest:
        found = getattr(found, part)
        home = found.__name__ if isinstance(found, types.ModuleType) else getattr(found, "__module__", None)
        if isinstance(home, str) and home.partition(".")[0] not in _ROOTS.values():
            raise ImportError(f"{path} is outside the library")
    if isinstance(found, types.ModuleType):
        raise ImportError(f"{path} is a module")
    return operators.guarded(path, found)


def output_array(tensor: Any) -> Array:
    """The elements of an output, copied; raises `Invalid` where it has none that an array holds."""
    try:
        array = array_of(tensor)
    except Unrecordable as error:
        raise Invalid("sparse-output") from error
    if array is None:
        raise Invalid("no-tensor-output")
    return array.copy()


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
