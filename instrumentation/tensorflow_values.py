"""TensorFlow values in the form of the instance format."""

from __future__ import annotations

import importlib
from typing import Any, Dict, List, Optional, cast

from . import numpy_values, wire
from .calls import class_of, type_name
from .foreign_tensors import array_of
from .stream import Loose
from .tensorflow_names import public_name
from .wire import Json, Unrecordable

tensorflow: Any = importlib.import_module("tensorflow")
np: Any = importlib.import_module("numpy")

_PLAIN_TYPES = (bool, int, float, complex, str)


class TensorFlowValues:
    """Encodes the arguments of one call and collects its tensors of random values."""

    def __init__(self) -> None:
        self.loose: List[Loose] = []

    def encode(self, value: object) -> Json:
        """The JSON form of *value*; raises `Unrecordable` with a reason code."""
        return wire.encode(value, self._foreign)

    def _foreign(self, value: Any) -> Json:
        foreign = hasattr(class_of(value), "__tf_tensor__") and not isinstance(value, (tensorflow.Tensor, tensorflow.Variable))
        array = array_of(tensorflow.convert_to_tensor(value) if foreign else value)
        if array is not None:
            content, loose = numpy_values.tensor(array)
            if loose is not None:
                self.loose.append(loose)
            return {"tensor": content}
        plain = encode_constant(value)
        if plain is not None:
            return plain
        if isinstance(value, tensorflow.TensorShape):
            if value.rank is None:
                raise Unrecordable("unknown-rank")
            return [dim if isinstance(dim, int) else None for dim in cast("List[Any]", value.as_list())]
        own = wire.of_own_type(value, self.encode, (int, float, complex, str))
        if own is None:
            raise Unrecordable(f"unrecordable:{type_name(class_of(value))}")
        return own


def encode_constant(value: Any) -> Optional[Dict[str, Json]]:
    """The form of a data type or of a public function; None for any other value."""
    if isinstance(value, tensorflow.DType):
        return {"dtype": numpy_values.canonical(str(value.name))}
    if isinstance(value, type):
        if value in _PLAIN_TYPES:
            return {"name": f"builtins.{value.__name__}"}
        if issubclass(value, np.generic):
            return {"dtype": numpy_values.dtype_name(np.dtype(value))}
    if isinstance(value, np.dtype):
        return {"dtype": numpy_values.dtype_name(value)}
    name = public_name(value) if callable(value) else None
    return None if name is None else {"name": name}


def constant(value: object) -> Json:
    """The form of a parameter's default; raises `Unrecordable`."""
    plain = encode_constant(value)
    if plain is None:
        raise Unrecordable("default")
    return plain
