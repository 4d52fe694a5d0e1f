"""The values that an argument can have.

Scalars, strings, bytes, lists, tuples, dicts, slices, ranges, None and Ellipsis are themselves. What is peculiar to a DL library
has a class here, so that an instance can be read, compared and hashed without that library.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType
from typing import Union

from opera.instrumentation.tensors import DTYPE_BITS

STRUCTURES = frozenset(
    ["constant", "integral", "lower-triangular", "positive-definite", "probabilities", "sorted", "symmetric", "upper-triangular"]
)
"""Known properties of a tensor's values, in addition to their bounds."""
LAYOUTS = frozenset(["strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged", "_mkldnn"])
"""How a tensor's elements may lie in memory."""
MOST_DIMS = 64
"""The largest number of dimensions that numpy and PyTorch allow."""
_WORD = 2**63
"""Sizes and strides are smaller in absolute value."""


@dataclass(frozen=True)
class Constraint:
    """The known properties of a tensor's unrecorded values: enough to draw others that the operator accepts.

    Attributes:
        low: Smallest finite value; None without a finite value.
        high: Largest finite value; None without a finite value.
        nan: Whether a NaN occurs.
        inf: Whether an infinity occurs.
        structure: Any of `STRUCTURES`, in alphabetical order.
    """

    low: float | None
    high: float | None
    nan: bool = False
    inf: bool = False
    structure: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"a constraint whose smallest value {self.low} exceeds its largest, {self.high}")
        for name in self.structure:
            if name not in STRUCTURES:
                raise ValueError(f"unknown structure {name[:40]!r} of a tensor's values")


Number = Union[bool, int, float]
DISTRIBUTIONS = {"normal": 2, "uniform": 2, "randint": 2, "bernoulli": 1, "zeros": 0, "ones": 0}
"""The distributions that a person can ask for, each with the number of its parameters."""


@dataclass(frozen=True)
class Distribution:
    """The distribution that a person asked for. Other than a constraint, it is part of the identity.

    Attributes:
        name: A key of `DISTRIBUTIONS`.
        parameters: Mean and standard deviation of `normal`; smallest and largest value of `uniform` and `randint`, both inclusive;
            probability of 1 of `bernoulli`.
    """

    name: str
    parameters: tuple[Number, ...] = ()

    def __post_init__(self) -> None:
        if len(self.parameters) != DISTRIBUTIONS.get(self.name, -1):
            raise ValueError(f"no distribution {self.name[:40]!r} with {len(self.parameters)} parameters")
        if not all(math.isfinite(each) for each in self.parameters):
            raise ValueError("a parameter of a distribution that is not finite")
        if self.name in ("uniform", "randint") and self.parameters[0] > self.parameters[1]:
            raise ValueError(f"a distribution whose smallest value {self.parameters[0]} exceeds its largest, {self.parameters[1]}")
        if self.name == "normal" and self.parameters[1] < 0:
            raise ValueError(f"a negative standard deviation {self.parameters[1]}")
        if self.name == "bernoulli" and not 0 <= self.parameters[0] <= 1:
            raise ValueError(f"{self.parameters[0]} is no probability")


@dataclass(frozen=True)
class Tensor:
    """A tensor argument.

    Attributes:
        shape: Its dimensions.
        dtype: A key of `DTYPE_BITS`.
        data: The elements in C order, little-endian, each in whole bytes; for dtype `string` a JSON array. None when the values
            were not kept, and then *constraint* says how to draw them.
        strides: In elements; None when contiguous.
        layout: `strided`, `sparse_coo`, `sparse_csr`, ...
        constraint: Range of the values seen.
        distribution: Distribution of the values to draw; only in tensors that a person described.
    """

    shape: tuple[int, ...]
    dtype: str
    data: bytes | None = None
    strides: tuple[int, ...] | None = None
    layout: str = "strided"
    constraint: Constraint | None = None
    distribution: Distribution | None = None

    def __post_init__(self) -> None:
        if self.dtype not in DTYPE_BITS:
            raise ValueError(f"unknown tensor dtype {self.dtype!r}")
        if self.layout not in LAYOUTS:
            raise ValueError(f"unknown tensor layout {self.layout[:40]!r}")
        if len(self.shape) > MOST_DIMS:
            raise ValueError(f"a tensor of {len(self.shape)} dimensions")
        for dim in self.shape:
            if not 0 <= dim < _WORD:
                raise ValueError(f"{'negative' if dim < 0 else 'impossible'} dimension in shape {self.shape}")
        if self.strides is not None and any(not -_WORD < step < _WORD for step in self.strides):
            raise ValueError(f"impossible strides {self.strides}")
        if self.strides is not None and len(self.strides) != len(self.shape):
            raise ValueError(f"strides {self.strides} do not fit shape {self.shape}")
        if self.data is not None and self.dtype != "string" and len(self.data) != self.size * self.itemsize:
            raise ValueError(f"{len(self.data)} bytes of data for a {self.dtype} tensor of shape {self.shape}")

    @property
    def size(self) -> int:
        """Number of elements of the tensor."""
        count = 1
        for dim in self.shape:
            count *= dim
        return count

    @property
    def itemsize(self) -> int:
        """Bytes of one element, at least 1."""
        return max(1, DTYPE_BITS[self.dtype] // 8)


@dataclass(frozen=True)
class DType:
    """A data type passed as an argument, by its canonical name (`float32`)."""

    name: str


@dataclass(frozen=True)
class Device:
    """A device passed as an argument (`cpu`)."""

    name: str


@dataclass(frozen=True)
class Enum:
    """A member of an enumeration, by the importable name of its class and the member's name."""

    path: str
    member: str


@dataclass(frozen=True)
class Named:
    """A callable or another object of the library, by importable name (`torch.nn.functional.relu`)."""

    path: str


@dataclass(frozen=True)
class Call:
    """An object that a call makes: a module passed to another module, a distribution, a generator."""

    api: str
    arguments: tuple[tuple[str | None, Value], ...]


@dataclass(frozen=True)
class Graph:
    """A subgraph in a library's own format, e.g. a serialised onnx.GraphProto as the body of If or Loop."""

    format: str
    data: bytes


@dataclass(frozen=True)
class Opaque:
    """A value that was seen but cannot be rebuilt; an instance that holds one is kept out of a corpus."""

    type: str
    reason: str


Scalar = Union[None, bool, int, float, complex, str, bytes]
Value = Union[
    Scalar,
    "list[Value]",
    "tuple[Value, ...]",
    "dict[Value, Value]",
    slice,
    range,
    EllipsisType,
    Tensor,
    DType,
    Device,
    Enum,
    Named,
    Call,
    Graph,
    Opaque,
]


def walk(value: Value) -> Iterator[Value]:
    """Yields *value* and every value nested in it, depth first."""
    yield value
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from walk(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from walk(key)
            yield from walk(item)
    elif isinstance(value, slice):
        for end in ends_of(value):
            yield from walk(end)
    elif isinstance(value, Call):
        for _, item in value.arguments:
            yield from walk(item)


def ends_of(value: slice) -> tuple[Value, Value, Value]:
    """Start, stop and step."""
    return value.start, value.stop, value.step
