"""The types of StableHLO's tensors, and the numpy arrays that hold their elements."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import ml_dtypes
import numpy as np

from opera.arrays import Array, numpy_dtype

_INTEGER = re.compile(r"(u?)i(\d+)")
_FLOATS = {
    "f4E2M1FN": "float4_e2m1fn",
    "f6E2M3FN": "float6_e2m3fn",
    "f6E3M2FN": "float6_e3m2fn",
    "f8E3M4": "float8_e3m4",
    "f8E4M3": "float8_e4m3",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
}
_COMPLEX = {"complex<f32>": "complex64", "complex<f64>": "complex128"}
_WIDTHS = (2, 4, 8, 16, 32, 64)
_TENSOR = re.compile(r"tensor<((?:\d+x)*)([A-Za-z]\w*(?:<\w+>)?)>")


@dataclass(frozen=True)
class ElementType:
    """The type of an element.

    Attributes:
        name: As StableHLO writes it: `i1`, `ui4`, `bf16`, `f8E4M3FN`, `complex<f32>`.
        dtype: Its canonical name in OPERA, which is also numpy's or that of ml_dtypes.
    """

    name: str
    dtype: str

    @cached_property
    def numpy(self) -> np.dtype[Any]:
        """The numpy dtype: one or more whole bytes for each element."""
        return numpy_dtype(self.dtype)

    @property
    def is_boolean(self) -> bool:
        """Whether this is `i1`, which has a kind of its own in StableHLO."""
        return self.name == "i1"

    @property
    def is_float(self) -> bool:
        """Whether elements are floating-point numbers."""
        return self.name in _FLOATS

    @property
    def is_complex(self) -> bool:
        """Whether elements are complex."""
        return self.name in _COMPLEX

    @cached_property
    def part(self) -> ElementType:
        """The type of the real and of the imaginary part; of other types, the type itself."""
        return element_type(self.name[len("complex<") : -1]) if self.is_complex else self

    @cached_property
    def bits(self) -> int:
        """The width of an element, which is less than its width in numpy for integers of 1, 2 and 4 bits."""
        if self.is_boolean:
            return 1
        if self.is_complex:
            return 2 * self.part.bits
        if self.is_float:
            return int(float_facts(self).bits)
        return int(self.name.lstrip("ui"))


@cache
def float_facts(type: ElementType) -> Any:
    """The number of bits of a floating-point type, and so on, as `ml_dtypes.finfo` has them."""
    finfo: Any = ml_dtypes.finfo
    return finfo(type.numpy)


@cache
def element_type(name: str) -> ElementType:
    """The element type called *name*; raises ValueError where StableHLO has none, and for quantised types."""
    if name == "i1":
        return ElementType(name, "bool")
    if name in _FLOATS or name in _COMPLEX:
        return ElementType(name, _FLOATS.get(name) or _COMPLEX[name])
    match = _INTEGER.fullmatch(name)
    if match is None or int(match[2]) not in _WIDTHS:
        raise ValueError(f"no element type {name[:60]!r}")
    return ElementType(name, f"{match[1]}int{match[2]}")


def of_dtype(dtype: str) -> ElementType:
    """The element type whose elements have the canonical dtype *dtype*; raises ValueError where StableHLO has none."""
    known = {"bool": "i1", **{value: key for key, value in (*_FLOATS.items(), *_COMPLEX.items())}}
    if dtype in known:
        return element_type(known[dtype])
    return element_type(dtype.replace("int", "i"))


@dataclass(frozen=True)
class TensorType:
    """The type of a tensor with known dimensions."""

    shape: tuple[int, ...]
    element: ElementType

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element.name}>"

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count


def tensor_type(text: str) -> TensorType:
    """The type that *text* is; raises ValueError for dynamic dimensions, encodings, and what is no tensor."""
    match = _TENSOR.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:60]!r} is no type of a tensor with known dimensions")
    return TensorType(tuple(int(size) for size in match[1].split("x")[:-1]), element_type(match[2]))


def parts_of(array: Array) -> tuple[Array, Array]:
    """The real and the imaginary parts of a complex array."""
    complex_array: Any = array
    return complex_array.real, complex_array.imag


@dataclass(frozen=True)
class Value:
    """A tensor at run time: its type, and an array of its shape and dtype."""

    type: TensorType
    array: Array

    def __post_init__(self) -> None:
        if self.array.shape != self.type.shape or self.array.dtype != self.type.element.numpy:
            raise ValueError(f"an array {self.array.dtype}{list(self.array.shape)} for {self.type}")


def value_of(type: TensorType, data: bytes) -> Value:
    """The value whose elements are *data*: in C order, little-endian, each in whole bytes; raises ValueError for a wrong number."""
    element = type.element
    if len(data) != type.size * element.numpy.itemsize:
        raise ValueError(f"{len(data)} bytes for {type}")
    if element.bits >= 8:
        return Value(type, np.frombuffer(data, element.numpy).reshape(type.shape))
    codes = np.frombuffer(data, np.uint8) & ((1 << element.bits) - 1)
    if element.is_float or element.is_boolean:
        return Value(type, codes.view(element.numpy).reshape(type.shape))
    sign = 0 if element.name.startswith("u") else 1 << (element.bits - 1)
    return Value(type, ((codes.astype(np.int8) ^ sign) - sign).astype(element.numpy).reshape(type.shape))


def decoded(type: str, data: str | None) -> Value | None:
    """The value of a type as MLIR writes it, and of elements in base64; None without elements. Raises ValueError where they do not fit."""
    return None if data is None else value_of(tensor_type(type), base64.b64decode(data, validate=True))
