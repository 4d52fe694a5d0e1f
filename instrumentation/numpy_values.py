"""numpy arrays in the form of the instance format: what the recorders of libraries whose tensors become numpy arrays share."""

from __future__ import annotations

import functools
import importlib
import json
from typing import Any, List, Optional, Tuple, cast

from . import tensors
from .numpy_structure import constraint
from .stream import Document, Loose
from .wire import Json, Unrecordable

np: Any = importlib.import_module("numpy")

_DRAWN = 1.0


def tensor(array: Any) -> Tuple[Document, Optional[Loose]]:
    """The content of a tensor with the elements of *array*, and what tells it apart where its values look drawn at random.

    Integers, booleans and strings keep their values, floats only where they are few; a constraint says enough of the others.

    Raises:
        Unrecordable: the format does not have such elements.
    """
    shape: List[Json] = [int(dim) for dim in array.shape]
    dtype = dtype_name(array.dtype)
    content: Document = {"shape": shape, "dtype": dtype}
    if dtype == "string":
        content["data"] = tensors.encode_bytes(_text(array))
        return content, None
    plain = little_endian(array)
    if not is_inexact(dtype):
        if array.size <= tensors.KEEP_INTEGERS:
            content["data"] = tensors.encode_bytes(plain.tobytes())
        else:
            content["constraint"] = constraint(plain.astype(np.float64))
        return content, None
    by_hand = False
    if array.size <= tensors.KEEP_WRITTEN:
        data = cast(bytes, plain.tobytes())
        by_hand = tensors.written(data, dtype, array.size)
        if by_hand or array.size <= tensors.KEEP_FLOATS:
            content["data"] = tensors.encode_bytes(data)
    content["constraint"] = constraint(plain)
    return content, None if by_hand else tensors.loosen(content)


def symbolic(shape: Tuple[Any, ...], dtype: str) -> Tuple[Document, Optional[Loose]]:
    """The content of a tensor with only a shape and a dtype: its values are drawn around zero.

    Raises:
        Unrecordable: a dimension is not known, or the elements have meaning that no draw can give them.
    """
    if any(not isinstance(dim, int) for dim in shape):
        raise Unrecordable("symbolic-shape")
    if dtype != "bool" and not is_inexact(dtype):
        raise Unrecordable("symbolic-integers")
    known: List[Json] = [*shape]
    content: Document = {"shape": known, "dtype": canonical(dtype)}
    if dtype == "bool":
        return content, None
    content["constraint"] = {"low": -_DRAWN, "high": _DRAWN}
    return content, tensors.loosen(content)


@functools.cache
def dtype_name(dtype: Any) -> str:
    """The name of a numpy dtype; raises `Unrecordable` for one that the format does not have."""
    return "string" if dtype.kind in "OSUT" else canonical(str(dtype.name))


def canonical(name: str) -> str:
    """*name*; raises `Unrecordable` where it is no dtype of the format."""
    if name not in tensors.DTYPE_BITS:
        raise Unrecordable(f"tensor-dtype:{name}")
    return name


def is_inexact(dtype: str) -> bool:
    """Whether the elements are floating-point or complex numbers."""
    return dtype.startswith(("float", "bfloat", "complex"))


def little_endian(array: Any) -> Any:
    """*array*, contiguous and in the byte order of the format; zero dimensions stay zero."""
    plain = np.ascontiguousarray(array).reshape(array.shape)
    return plain.astype(plain.dtype.newbyteorder("<"), copy=False) if plain.dtype.byteorder == ">" else plain


def _text(array: Any) -> bytes:
    """The elements as a JSON array of strings; bytes count as UTF-8."""
    items: List[str] = []
    for item in array.reshape(-1).tolist():
        if isinstance(item, bytes):
            items.append(item.decode("utf-8", "surrogateescape"))
        elif isinstance(item, str):
            items.append(item)
        else:
            raise Unrecordable("tensor-dtype:object")
    return json.dumps(items, ensure_ascii=True).encode("ascii")
