"""Keras values in the form of the instance format, the same whichever library Keras runs on."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple, cast

from . import numpy_values, wire
from .calls import class_of, type_name
from .foreign_tensors import array_of
from .stream import Loose
from .wire import Json, Unrecordable

keras: Any = importlib.import_module("keras")
np: Any = importlib.import_module("numpy")
_export: Any = importlib.import_module("keras.src.api_export")

Nested = Callable[[Any], Json]
_SCALARS: Tuple[Any, ...] = (int, float, complex, str)
_PLAIN_TYPES = (bool, int, float, complex, str)
_LABEL = "name"


class KerasValues:
    """Encodes the arguments of one call and collects its tensors of random values.

    Attributes:
        loose: The tensors of random values.
        symbolic: Whether a call had a tensor with only a shape and a dtype.
    """

    def __init__(self, nested: Nested) -> None:
        """*nested* gives the form of a layer that is passed as an argument."""
        self.loose: List[Loose] = []
        self.symbolic = False
        self._nested = nested

    def encode(self, value: object) -> Json:
        """The JSON form of *value*; raises `Unrecordable` with a reason code."""
        return wire.encode(value, self._foreign)

    def _foreign(self, value: Any) -> Json:
        tensor = self._tensor(value)
        if tensor is not None:
            return tensor
        if isinstance(value, keras.Layer):
            return self._nested(value)
        plain = encode_constant(value)
        return self._object(value) if plain is None else plain

    def _tensor(self, value: Any) -> Optional[Json]:
        if isinstance(value, keras.KerasTensor):
            if value.sparse or value.ragged:
                raise Unrecordable(f"tensor-layout:{'sparse' if value.sparse else 'ragged'}")
            self.symbolic = True
            content, loose = numpy_values.symbolic(value.shape, value.dtype)
        else:
            array = array_of(value.value if isinstance(value, keras.Variable) else value)
            if array is None:
                return None
            content, loose = numpy_values.tensor(array)
        if loose is not None:
            self.loose.append(loose)
        return {"tensor": content}

    def _object(self, value: Any) -> Json:
        """An object of the library by the call that makes it; an instance of a subclass of Python's own types as the type itself."""
        name = public_name(type(value))
        if name is not None and hasattr(value, "get_config"):
            config = cast("Dict[str, object]", value.get_config())
            return {"call": [name, [[key, self.encode(item)] for key, item in config.items() if key != _LABEL]]}
        own = wire.of_own_type(value, self.encode, _SCALARS)
        if own is None:
            raise Unrecordable(f"unrecordable:{type_name(class_of(value))}")
        return own


def encode_constant(value: Any) -> Optional[Dict[str, Json]]:
    """The form of a value that is one of a fixed set, or that the library exports; None for any other."""
    for kind in _PLAIN_TYPES:
        if value is kind:
            return {"name": f"builtins.{kind.__name__}"}
    dtype = _dtype(value)
    if dtype is not None:
        return {"dtype": dtype}
    if isinstance(value, keras.DTypePolicy) and public_name(type(value)) is not None:
        return {"call": ["keras.dtype_policies.get", [["identifier", value.name]]]}
    name = public_name(value) if callable(value) else None
    return None if name is None else {"name": name}


def constant(value: object) -> Json:
    """The form of a parameter's default; raises `Unrecordable`."""
    plain = encode_constant(value)
    if plain is None:
        raise Unrecordable("default")
    return plain


def _dtype(value: Any) -> Optional[str]:
    """The name of a data type of numpy or of a library that Keras runs on."""
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return numpy_values.dtype_name(np.dtype(value))
    for root, kind in (("torch", "dtype"), ("tensorflow", "DType")):
        library = sys.modules.get(root)
        if library is not None and isinstance(value, getattr(library, kind)):
            return numpy_values.canonical(str(keras.backend.standardize_dtype(value)))
    return None


def public_name(value: Any) -> Optional[str]:
    """The name under which Keras exports *value*, a function or a class; None where it does not.

    Keras keeps one name for each thing that it exports, so aliases have one name too.
    """
    try:
        name = _export.get_name_from_symbol(value)
    except TypeError:
        return None
    return name if isinstance(name, str) and _importable(name) is value else None


@functools.cache
def _importable(name: str) -> Any:
    """What users get by *name*, or None."""
    found: Any = keras
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found
