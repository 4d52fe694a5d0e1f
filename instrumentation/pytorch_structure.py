"""What is known of a float tensor's values: bounds, NaN, infinities and structure that an operator may demand."""

from __future__ import annotations

import importlib
from typing import Any, List

from .stream import Document
from .wire import Json

torch: Any = importlib.import_module("torch")

MATRIX_LIMIT = 512
SORTED_FROM = 4
_NATIVE = (torch.float32, torch.float64)


def constraint(tensor: Any) -> Document:
    """The constraint of a contiguous, detached tensor; of a complex one that of its parts, without structure."""
    real = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    if real.dtype not in _NATIVE:
        real = real.to(torch.float32)
    if not real.numel():
        return {"low": None, "high": None}
    low, high = (bound.item() for bound in real.aminmax())
    if low - low == 0 and high - high == 0:
        return _with_structure({"low": low, "high": high}, [] if tensor.is_complex() else _structure(real, low, high))
    return _special(real)


def _special(real: Any) -> Document:
    """The constraint of values among which some are not finite."""
    content: Document = {"low": None, "high": None}
    finite = real[real.isfinite()]
    if finite.numel():
        low, high = (bound.item() for bound in finite.aminmax())
        content.update(low=low, high=high)
    if bool(real.isnan().any()):
        content["nan"] = True
    if bool(real.isinf().any()):
        content["inf"] = True
    return content


def _with_structure(content: Document, names: List[str]) -> Document:
    if names:
        found: List[Json] = [*sorted(names)]
        content["structure"] = found
    return content


def _structure(real: Any, low: float, high: float) -> List[str]:
    """The structures that *real* has, of those that are not accidents of a small size."""
    names = ["integral"] if low == int(low) and bool((real == real.round()).all()) else []
    if real.numel() < 2:
        return names
    if low == high:
        return [*names, "constant"]
    if real.dim() == 0:
        return names
    last = real.shape[-1]
    if low >= 0 and high <= 1 and last >= 2 and bool(((real.sum(-1) - 1).abs() < 1e-3).all()):
        names.append("probabilities")
    if last >= SORTED_FROM and bool((real[..., 1:] >= real[..., :-1]).all()):
        names.append("sorted")
    if real.dim() >= 2 and 2 <= last <= MATRIX_LIMIT and real.shape[-2] == last:
        names.extend(_matrix(real))
    return names


def _matrix(real: Any) -> List[str]:
    names: List[str] = []
    if bool((real.triu(1) == 0).all()):
        names.append("lower-triangular")
    if bool((real.tril(-1) == 0).all()):
        names.append("upper-triangular")
    scale = real.abs().max().item()
    if bool(((real - real.mT).abs() <= 1e-5 * scale).all()):
        names.append("symmetric")
        if bool((torch.linalg.cholesky_ex(real).info == 0).all()):
            names.append("positive-definite")
    return names
