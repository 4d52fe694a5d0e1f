"""What is known of a float tensor's values: bounds, NaN, infinities and structure that an operator may demand.

Most tensors of a test suite are small and random, and their first few elements rule out most structures. So small tensors are
looked at in Python, large ones by torch after a glance at their beginning.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import operator
import struct
from typing import Any, Callable, Dict, Hashable, List, NamedTuple, Optional, Sequence, Tuple

from .stream import Document
from .wire import Json

torch: Any = importlib.import_module("torch")
address_of: Callable[[Any], int] = getattr(torch.Tensor, "const_data_ptr", torch.Tensor.data_ptr)
"""The address of a tensor's first element. Older releases give it by a method that first copies memory that is shared lazily."""

MATRIX_LIMIT = 512
SORTED_FROM = 4
SMALL = 64
"""Elements up to which a tensor is looked at in Python."""
STRUCTURE_LIMIT = 1 << 18
"""Elements that are looked at: of larger tensors the first ones tell the bounds, and structure is not looked for."""
REMEMBERED = 1000
"""Tensors whose nature is remembered."""
EDGE = 64
"""Bytes at either end of a storage that show whether code outside PyTorch wrote into it."""
_CODES = {torch.float16: "e", torch.float32: "f", torch.float64: "d"}
_NATIVE = (torch.float32, torch.float64)


class Nature(NamedTuple):
    """The constraint of a tensor's values, as the instance format has it."""

    low: Optional[float]
    high: Optional[float]
    nan: bool = False
    inf: bool = False
    structure: Tuple[str, ...] = ()

    def document(self) -> Document:
        """The constraint as JSON."""
        content: Document = {"low": self.low, "high": self.high}
        if self.nan:
            content["nan"] = True
        if self.inf:
            content["inf"] = True
        if self.structure:
            names: List[Json] = [*self.structure]
            content["structure"] = names
        return content

    def signs(self) -> Tuple[object, ...]:
        """The part that tells instances apart."""
        return (_sign(self.low), _sign(self.high), self.nan, self.inf, self.structure)


def _sign(bound: Optional[float]) -> Optional[int]:
    return None if bound is None else (bound > 0) - (bound < 0)


class Natures:
    """Remembers the nature of large tensors for as long as they live unchanged: a suite often takes one apart, element by element.

    What is remembered hangs on the storage, and without keeping it: weak references to a tensor are something that a test can see.
    """

    def __init__(self) -> None:
        self._known: Dict[Hashable, Tuple[Nature, Any]] = {}

    def of(self, tensor: Any, plain: Callable[[Any], Any]) -> Nature:
        """The nature of *tensor*; *plain* gives its detached and contiguous form, as real or complex floats."""
        size = tensor.numel()
        if size <= SMALL or tensor.is_inference():
            return nature(plain(tensor))
        storage = tensor.untyped_storage()
        address, offset = address_of(tensor), tensor.storage_offset()
        rest = storage.nbytes() - offset * tensor.itemsize
        edges = (ctypes.string_at(address, EDGE), ctypes.string_at(address + rest - EDGE, EDGE)) if rest >= EDGE else ()
        shape = tensor.dtype, tensor.shape, tensor.stride(), tensor.is_neg(), tensor.is_conj()
        key = (storage._cdata, offset, address, tensor._version, shape, edges)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            known = self._known[key] = nature(plain(tensor)), torch.multiprocessing.reductions.StorageWeakRef(storage)
        return known[0]


def nature(tensor: Any) -> Nature:
    """The nature of a contiguous, detached tensor; for a complex tensor, the nature of its parts, without structure."""
    real = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    size = real.numel()
    if not size:
        return Nature(None, None)
    if size <= SMALL:
        return _of_numbers(_numbers(real, size), tensor)
    if size > STRUCTURE_LIMIT:
        real = real.flatten()[:STRUCTURE_LIMIT]
    if real.dtype not in _NATIVE:
        real = real.to(torch.float32)
    low, high = (bound.item() for bound in real.aminmax())
    if low - low != 0 or high - high != 0:
        return _special(real)
    if tensor.is_complex() or size > STRUCTURE_LIMIT:
        return Nature(low, high)
    return Nature(low, high, structure=tuple(sorted(_structure(real, low, high))))


def _numbers(real: Any, size: int) -> Sequence[float]:
    """The elements of a small tensor."""
    code = _CODES.get(real.dtype)
    if code is None:
        return tuple(real.to(torch.float32).flatten().tolist())
    return struct.unpack(f"<{size}{code}", ctypes.string_at(address_of(real), size * real.element_size()))


def _of_numbers(numbers: Sequence[float], tensor: Any) -> Nature:
    if not all(map(math.isfinite, numbers)):
        finite = [number for number in numbers if math.isfinite(number)]
        low, high = (min(finite), max(finite)) if finite else (None, None)
        return Nature(low, high, any(map(math.isnan, numbers)), any(map(math.isinf, numbers)))
    low, high = min(numbers), max(numbers)
    return Nature(low, high, structure=() if tensor.is_complex() else tuple(sorted(_small_structure(numbers, low, high, tensor))))


def _small_structure(numbers: Sequence[float], low: float, high: float, tensor: Any) -> List[str]:
    names = ["integral"] if numbers[0] == int(numbers[0]) and all(number == int(number) for number in numbers) else []
    if len(numbers) < 2:
        return names
    if low == high:
        return [*names, "constant"]
    shape = tensor.shape
    last = shape[-1]
    rows = range(0, len(numbers), last)
    if low >= 0 and high <= 1 and last >= 2 and all(abs(math.fsum(numbers[row : row + last]) - 1) < 1e-3 for row in rows):
        names.append("probabilities")
    if last >= SORTED_FROM and not any(any(map(operator.gt, numbers[row : row + last], numbers[row + 1 : row + last])) for row in rows):
        names.append("sorted")
    if len(shape) >= 2 and shape[-2] == last >= 2:
        names.extend(_small_matrix(numbers, last, max(-low, high), tensor))
    return names


def _small_matrix(numbers: Sequence[float], last: int, scale: float, tensor: Any) -> List[str]:
    pairs = [
        (start + i * last + j, start + j * last + i) for start in range(0, len(numbers), last * last) for i in range(last) for j in range(i)
    ]
    names: List[str] = []
    if not any(numbers[above] for _, above in pairs):
        names.append("lower-triangular")
    if not any(numbers[below] for below, _ in pairs):
        names.append("upper-triangular")
    if all(abs(numbers[below] - numbers[above]) <= 1e-5 * scale for below, above in pairs):
        names.extend(_symmetric(tensor))
    return names


def _special(real: Any) -> Nature:
    """The nature of values among which some are not finite."""
    finite = real[real.isfinite()]
    low, high = (bound.item() for bound in finite.aminmax()) if finite.numel() else (None, None)
    return Nature(low, high, bool(real.isnan().any()), bool(real.isinf().any()))


def _structure(real: Any, low: float, high: float) -> List[str]:
    """The structures that a tensor of more than `SMALL` elements has."""
    first = _numbers(real.flatten()[:SMALL], SMALL)
    names = ["integral"] if all(number == int(number) for number in first) and bool((real == real.round()).all()) else []
    if low == high:
        return [*names, "constant"]
    last = real.shape[-1]
    if low >= 0 and high <= 1 and last >= 2 and bool(((real.sum(-1) - 1).abs() < 1e-3).all()):
        names.append("probabilities")
    row = first[:last]
    if last >= SORTED_FROM and not any(map(operator.gt, row, row[1:])) and bool((real[..., 1:] >= real[..., :-1]).all()):
        names.append("sorted")
    if real.dim() >= 2 and 2 <= last <= MATRIX_LIMIT and real.shape[-2] == last:
        names.extend(_matrix(real, max(-low, high)))
    return names


def _matrix(real: Any, scale: float) -> List[str]:
    names: List[str] = []
    corner = real.flatten()[: real.shape[-1] + 1]
    above, below = corner[1].item(), corner[-1].item()
    if above == 0 and bool((real.triu(1) == 0).all()):
        names.append("lower-triangular")
    if below == 0 and bool((real.tril(-1) == 0).all()):
        names.append("upper-triangular")
    if abs(above - below) <= 1e-5 * scale and bool(((real - real.mT).abs() <= 1e-5 * scale).all()):
        names.extend(_symmetric(real))
    return names


def _symmetric(matrix: Any) -> List[str]:
    real = matrix if matrix.dtype in _NATIVE else matrix.to(torch.float32)
    definite = bool((torch.linalg.cholesky_ex(real).info == 0).all())
    return ["symmetric", "positive-definite"] if definite else ["symmetric"]
