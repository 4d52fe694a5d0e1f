"""Tensors as they lie in memory: which can be read, and their elements."""

from __future__ import annotations

import ctypes
import importlib
import sys
from typing import Any

from . import tensors
from .pytorch_structure import STRUCTURE_LIMIT, address_of
from .wire import Unrecordable

torch: Any = importlib.import_module("torch")
LARGEST = 1 << 28
"""Elements beyond which a call is dropped: no model with such an input can be run."""


def plain(tensor: Any) -> Any:
    """*tensor* detached and contiguous; of one that is too large to be copied the first elements, which tell enough of its class."""
    seen = tensor.detach()
    if seen.is_complex() or seen.is_neg():
        seen = seen.resolve_conj().resolve_neg()
    if seen.is_contiguous():
        return seen
    for axis, stride in enumerate(seen.stride()):
        if seen.numel() > STRUCTURE_LIMIT:
            seen = seen.narrow(
                axis, 0, 1 if stride == 0 else max(1, min(seen.shape[axis], STRUCTURE_LIMIT * seen.shape[axis] // seen.numel()))
            )
    return seen.contiguous()


def check(tensor: Any) -> None:
    """Raises `Unrecordable` unless *tensor* is a plain dense one in this machine's memory."""
    if type(tensor) is not torch.Tensor and type(tensor) is not torch.nn.Parameter:
        raise Unrecordable("tensor-subclass")
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor) or torch._is_functional_tensor(tensor):
        raise Unrecordable("tensor-of-transform")
    if tensor.device.type != "cpu":
        raise Unrecordable(f"tensor-device:{tensor.device.type}")
    if tensor.layout is not torch.strided or tensor.is_nested:
        raise Unrecordable(f"tensor-layout:{'nested' if tensor.is_nested else str(tensor.layout)[6:]}")
    if tensor.is_quantized:
        raise Unrecordable("tensor-quantized")
    if tensor.numel() > LARGEST:
        raise Unrecordable("tensor-too-large")
    if tensor.numel() and not (address_of(tensor) and has_memory(tensor)):
        raise Unrecordable("tensor-without-memory")


def has_memory(tensor: Any) -> bool:
    """Whether all elements lie in memory: the storage under a tensor can be resized."""
    if tensor.is_contiguous():
        last = tensor.numel()
    else:
        last = 1 + sum([(side - 1) * stride for side, stride in zip(tensor.shape, tensor.stride())])  # noqa: B905
    return (tensor.storage_offset() + last) * tensor.itemsize <= tensor.untyped_storage().nbytes()


def raw(tensor: Any) -> bytes:
    """The elements of a contiguous tensor, little-endian."""
    if sys.byteorder != "little":
        raise Unrecordable("big-endian-machine")
    if not tensor.numel():
        return b""
    address = address_of(tensor)
    if not address:
        raise Unrecordable("tensor-without-memory")
    return ctypes.string_at(address, tensor.numel() * tensor.element_size())


def dtype_name(dtype: Any) -> str:
    """`float32` for torch.float32; raises `Unrecordable` for a dtype that the format does not have."""
    name = str(dtype)[6:]
    if name not in tensors.DTYPE_BITS:
        raise Unrecordable(f"tensor-dtype:{name}")
    return name
