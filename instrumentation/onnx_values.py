"""ONNX and numpy values in the form of the instance format."""

from __future__ import annotations

import importlib
import json
from typing import Any, Dict, List, Optional, cast

from . import tensors, wire
from .stream import Document
from .wire import Json, Unrecordable

np: Any = importlib.import_module("numpy")
onnx: Any = importlib.import_module("onnx")
numpy_helper: Any = importlib.import_module("onnx.numpy_helper")

_NAMES = {
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "FLOAT8E4M3FN": "float8_e4m3fn",
    "FLOAT8E4M3FNUZ": "float8_e4m3fnuz",
    "FLOAT8E5M2": "float8_e5m2",
    "FLOAT8E5M2FNUZ": "float8_e5m2fnuz",
    "FLOAT8E8M0": "float8_e8m0fnu",
    "FLOAT4E2M1": "float4_e2m1fn",
}
"""Element types whose name in the instance format is not their ONNX name in lower case."""


def dtype_names() -> Dict[int, str]:
    """ONNX element type to dtype name."""
    pairs = ((number, _NAMES.get(name, name.lower())) for name, number in onnx.TensorProto.DataType.items())
    return {number: name for number, name in pairs if name in tensors.DTYPE_BITS}


def encode(value: Any) -> Json:
    """The JSON form of an input or output: an array, a TensorProto, a list of them, or None."""
    return wire.encode(value, _foreign)


def _foreign(value: Any) -> Json:
    if isinstance(value, onnx.TensorProto):
        return {"tensor": encode_array(to_array(value))}
    if isinstance(value, (np.ndarray, np.generic)):
        return {"tensor": encode_array(np.asarray(value))}
    if isinstance(value, onnx.SparseTensorProto):
        return graph(value)
    raise Unrecordable(f"unrecordable:{type(value).__module__}.{type(value).__qualname__}")


def to_array(tensor: Any) -> Any:
    """A TensorProto as an array of one element per item, also of the types that ONNX packs."""
    return np.asarray(numpy_helper.to_array(tensor))


def encode_array(array: Any) -> Document:
    """Shape, dtype and all data of *array*; zero dimensions stay zero."""
    shape: List[Json] = [int(dim) for dim in array.shape]
    dtype = array_dtype(array)
    if dtype == "string":
        items = [item.decode("utf-8") if isinstance(item, bytes) else str(item) for item in array.reshape(-1).tolist()]
        data = json.dumps(items, ensure_ascii=True).encode("ascii")
    else:
        data = cast(bytes, little_endian(array).tobytes())
    return {"shape": shape, "dtype": dtype, "data": tensors.encode_bytes(data)}


def array_dtype(array: Any) -> str:
    """The dtype name of an array's elements."""
    name = "string" if array.dtype.kind in "OSUT" else str(array.dtype.name)
    if name not in tensors.DTYPE_BITS:
        raise Unrecordable(f"tensor-dtype:{name}")
    return name


def little_endian(array: Any) -> Any:
    """*array*, contiguous and in the byte order of the format."""
    plain = np.ascontiguousarray(array)
    return plain.astype(plain.dtype.newbyteorder("<"), copy=False) if plain.dtype.byteorder == ">" else plain


def graph(proto: Any) -> Json:
    """A protobuf message as a graph value, serialised in one and the same way."""
    data = proto.SerializeToString(deterministic=True)
    return {"graph": {"format": f"onnx.{type(proto).__name__}", "data": tensors.encode_bytes(data)}}


def attribute(proto: Any, clean: Any) -> Json:
    """The value of a node attribute; *clean* brings a subgraph into its canonical form."""
    value = onnx.helper.get_attribute_value(proto)
    kind = proto.type
    kinds = onnx.AttributeProto
    if kind == kinds.GRAPH:
        return graph(clean(value))
    if kind == kinds.GRAPHS:
        return [graph(clean(item)) for item in value]
    if kind == kinds.STRING:
        return text(value)
    if kind == kinds.STRINGS:
        return [text(item) for item in value]
    if kind in (kinds.TYPE_PROTO, kinds.SPARSE_TENSOR):
        return graph(value)
    if kind in (kinds.TYPE_PROTOS, kinds.SPARSE_TENSORS):
        return [graph(item) for item in value]
    return encode(list(value) if kind in (kinds.FLOATS, kinds.INTS, kinds.TENSORS) else value)


def text(value: bytes) -> Json:
    """A string where *value* is UTF-8, else the bytes."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return wire.encode(value, _foreign)


def derived_type(content: Json) -> Optional[Any]:
    """The TypeProto of a tensor in the form of the format; None for any other value, whose type does not follow from it."""
    if not isinstance(content, dict) or not isinstance(content.get("tensor"), dict):
        return None
    tensor = cast(Document, content["tensor"])
    numbers = {name: number for number, name in dtype_names().items()}
    return onnx.helper.make_tensor_type_proto(numbers[cast(str, tensor["dtype"])], cast("list[int]", tensor["shape"]))
