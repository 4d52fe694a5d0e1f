"""Draws values for tensors without recorded values, from their recorded constraints.

The same seed and the same instance give the same bytes on every machine: numpy's PCG64 with a key derived from both.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping

import numpy as np

from opera.arrays import Array, numpy_dtype, tensor_array
from opera.instance import Constraint, Distribution, Tensor
from opera.instrumentation.tensors import DTYPE_BITS

_DEFAULT_FLOAT = Constraint(-1.0, 1.0)
_DEFAULT_INTEGER = Constraint(0.0, 9.0)
_DIRECTIONS = ((1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0))
"""Signs of the first draws: for inputs at even and at odd places. Inputs that go the same way leave their ratio as it is."""
_WIDEST = 1e4
"""Bounds beyond this are drawn logarithmically, so that one huge value does not make all others huge."""


def sample(tensor: Tensor, key: str, seed: int) -> Array:
    """Values for *tensor*: its own under every seed where they were kept, because they are part of the test; else drawn.

    Args:
        tensor: What to draw for.
        key: Says which tensor this is, e.g. the instance's hash and the tensor's place.
        seed: Seed of the campaign.
    """
    if tensor.data is not None:
        return tensor_array(tensor)
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(hashlib.sha256(f"{seed}:{key}".encode()).digest()[:16], "big")))
    return draw(tensor, generator)


DOUBLE = 2.0**-48
"""A relative change that is not larger is a rounding error of double precision."""
_WHOLE = 12
"""The first draws move each element by the whole amount."""


def nudged(array: Array, scale: float, draw: int, place: int, computes_as: Mapping[str, str] | None = None) -> Array:
    """*array* with every element off by the relative amount *scale*; integers stay as they are.

    Args:
        array: Array of a floating-point dtype in which *scale* is no rounding error.
        scale: 0 changes nothing.
        draw: 0 for all up, 1 for all down, 2 and 3 for inputs at even and at odd places in opposite directions, else the seed of
            directions drawn at random. From 12 on, an element moves by any part of *scale*, so that equal numbers get any order.
        place: Place of the input among the inputs; each has directions of its own.
        computes_as: Dtypes and those that a compiler computes them as, to which they are rounded first.
    """
    narrow = (computes_as or {}).get(array.dtype.name)
    if narrow is not None and array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            array = array.astype(numpy_dtype(narrow)).astype(array.dtype)
    if scale == 0.0 or array.dtype.kind not in "fc":
        return array
    if draw < len(_DIRECTIONS):
        parts: Array | float = _DIRECTIONS[draw][place % 2]
    else:
        random = np.random.default_rng([draw, place])
        parts = random.integers(0, 2, array.shape) * 2 - 1 if draw < _WHOLE else random.uniform(-1, 1, array.shape)
    with np.errstate(over="ignore"):
        moved = array * (1.0 + parts * scale)
    return np.where(np.isfinite(moved), moved, array)  # a rounding error makes no number infinite


def is_inexact(dtype: str) -> bool:
    """Whether elements of *dtype* are floating point or complex numbers."""
    return dtype.startswith(("float", "bfloat", "complex"))


def draw(tensor: Tensor, generator: np.random.Generator) -> Array:
    """Values of the dtype and shape of *tensor* from its distribution, or else such that satisfy its constraint."""
    if tensor.distribution is not None:
        return _distributed(tensor, tensor.distribution, generator)
    if tensor.dtype == "string":
        words = np.array(["", "a", "opera"], dtype=object)
        return np.asarray(words[generator.integers(0, len(words), tensor.shape)], dtype=object).reshape(tensor.shape)
    if tensor.dtype == "bool":
        return generator.integers(0, 2, tensor.shape).astype(bool)
    if not is_inexact(tensor.dtype):
        return _integers(tensor, generator)
    constraint = tensor.constraint or _DEFAULT_FLOAT
    numbers = _structured(_floats(constraint, tensor.shape, generator), constraint, generator)
    if tensor.dtype.startswith("complex"):
        numbers = numbers + 1j * _floats(constraint, tensor.shape, generator)
    return numbers.astype(numpy_dtype(tensor.dtype))


def _distributed(tensor: Tensor, distribution: Distribution, generator: np.random.Generator) -> Array:
    dtype = numpy_dtype(tensor.dtype)
    numbers = _numbers(tensor.shape, distribution, generator)
    if tensor.dtype.startswith("complex") and distribution.name in ("normal", "uniform"):
        numbers = numbers + 1j * _numbers(tensor.shape, distribution, generator)
    return numbers.astype(dtype)


def _numbers(shape: tuple[int, ...], distribution: Distribution, generator: np.random.Generator) -> Array:
    parameters = distribution.parameters
    match distribution.name:
        case "normal":
            return generator.normal(float(parameters[0]), float(parameters[1]), shape)
        case "uniform":
            low, high = (float(each) for each in parameters)
            return low + (high - low) * generator.random(shape)
        case "randint":
            low, high = (int(each) for each in parameters)
            return generator.integers(low, high, shape, dtype=np.uint64 if high >= 2**63 else np.int64, endpoint=True)
        case "bernoulli":
            return generator.random(shape) < float(parameters[0])
        case "zeros":
            return np.zeros(shape)
        case _:
            return np.ones(shape)


def _integers(tensor: Tensor, generator: np.random.Generator) -> Array:
    constraint = tensor.constraint or _DEFAULT_INTEGER
    width = DTYPE_BITS[tensor.dtype]
    lowest, highest = (0, 2**width - 1) if tensor.dtype.startswith("u") else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    low = max(lowest, int(constraint.low if constraint.low is not None else lowest))
    high = min(highest, int(constraint.high if constraint.high is not None else highest), 2**63 - 2)
    return generator.integers(low, max(low, high) + 1, tensor.shape).astype(numpy_dtype(tensor.dtype))


def _floats(constraint: Constraint, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    low = -1.0 if constraint.low is None else constraint.low
    high = 1.0 if constraint.high is None else constraint.high
    if low > high:
        low, high = high, low
    unit = generator.random(shape)
    if max(abs(low), abs(high)) <= _WIDEST:
        return low + (high - low) * unit
    ends = [math.copysign(math.log1p(abs(end)), end) for end in (low, high)]
    exponents = ends[0] + (ends[1] - ends[0]) * unit
    return np.copysign(np.expm1(np.abs(exponents)), exponents)


def _structured(numbers: Array, constraint: Constraint, generator: np.random.Generator) -> Array:
    structure = set(constraint.structure)
    if "integral" in structure:
        numbers = np.round(numbers)
    if numbers.size == 0:
        return numbers
    if "constant" in structure:
        numbers = np.full_like(numbers, numbers.flat[0])
    if "positive-definite" in structure and numbers.ndim >= 2:
        side = numbers.shape[-1]
        numbers = numbers @ np.swapaxes(numbers, -1, -2) / side + np.eye(side)
    elif "symmetric" in structure and numbers.ndim >= 2:
        numbers = (numbers + np.swapaxes(numbers, -1, -2)) / 2
    if "lower-triangular" in structure and numbers.ndim >= 2:
        numbers = np.tril(numbers)
    if "upper-triangular" in structure and numbers.ndim >= 2:
        numbers = np.triu(numbers)
    if "sorted" in structure and numbers.ndim >= 1:
        numbers = np.sort(numbers, axis=-1)
    if "probabilities" in structure and numbers.ndim >= 1:
        numbers = np.abs(numbers) + 1e-3
        numbers = numbers / numbers.sum(axis=-1, keepdims=True)
    flat = numbers.reshape(-1)
    places = generator.permutation(flat.size)
    if constraint.nan:
        flat[places[0]] = math.nan
    if constraint.inf and flat.size > 1:
        flat[places[1]] = math.inf
    return flat.reshape(numbers.shape)
