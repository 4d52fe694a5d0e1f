"""The value subspaces of the paper (equivalence class partitioning, section III-B).

What the paper leaves open is settled so: NaN is a subspace of its own. Of a list or shape longer than five, the first six elements
count; None and a parameter that is not given and has no known default are subspaces of their own. Any other value is itself.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from opera.instance import Call, Device, DType, Enum, Graph, Named, Opaque, Tensor
from opera.instance.values import Value, ends_of

_LONGEST = 6


def subspace(value: Value) -> str:
    """The name of the subspace that *value* falls into."""
    if value is None or isinstance(value, (bool, str, bytes)):
        return repr(value)
    if isinstance(value, int):
        return integer_subspace(value)
    if isinstance(value, float):
        return float_subspace(value)
    if isinstance(value, Tensor):
        return f"{value.dtype}{_elements(value.shape)}"
    if isinstance(value, (list, tuple)):
        return _elements(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{subspace(item)}" for key, item in value.items()) + "}"
    if isinstance(value, slice):
        return "slice" + _elements(ends_of(value))
    if isinstance(value, range):
        return "range" + _elements((value.start, value.stop, value.step))
    return _name(value)


def integer_subspace(value: int) -> str:
    """Below -1, -1, 0, 1, above 1."""
    return str(value) if -1 <= value <= 1 else "<-1" if value < 0 else ">1"


def float_subspace(value: float) -> str:
    """Below 0, 0, above 0, NaN."""
    return "nan" if math.isnan(value) else "0.0" if value == 0 else "<0.0" if value < 0 else ">0.0"


def _elements(values: Sequence[Value]) -> str:
    return "[" + ",".join(subspace(value) for value in values[:_LONGEST]) + "]"


def _name(value: Value) -> str:
    if isinstance(value, (DType, Device)):
        return value.name
    if isinstance(value, Enum):
        return f"{value.path}.{value.member}"
    if isinstance(value, Named):
        return value.path
    if isinstance(value, Call):
        return f"{value.api}()"
    if isinstance(value, Graph):
        return f"{value.format} {hashlib.blake2b(value.data, digest_size=6).hexdigest()}"
    return value.type if isinstance(value, Opaque) else type(value).__name__
