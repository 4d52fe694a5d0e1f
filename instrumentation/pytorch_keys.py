"""Cheap keys of calls: two calls with one key are the same instance.

The recorder writes a call down in full only when it sees a new key; all others it counts. A key is a tuple of what the instance's
document would be made of. Different keys may still mean one instance (an argument by position or by name): the stream and the driver
see to that.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any, Callable, Dict, FrozenSet, Hashable, Sequence, Set

from . import tensors
from .pytorch_contents import Contents
from .pytorch_memory import LARGEST, check, plain, raw
from .pytorch_structure import Natures, address_of
from .pytorch_values import DEEP, LONG, bounded
from .wire import MAX_DEPTH

torch: Any = importlib.import_module("torch")

Nested = Callable[[Any], Hashable]


class NoKey(Exception):
    """A value of a type that has no cheap key."""


class Keys:
    """Makes the keys of arguments; *nested* gives the key of a module."""

    def __init__(self, nested: Nested, natures: Natures, contents: Contents) -> None:
        self._nested = nested
        self._natures = natures
        self._contents = contents

    def of_call(self, args: Sequence[Any], kwargs: Dict[str, Any]) -> Hashable:
        """The key of a call's arguments; raises `NoKey`, and `Unrecordable` for a tensor that the format does not hold."""
        natures, contents, key = self._natures, self._contents, self._key
        positional = tuple([_tensor(value, natures, contents) if type(value) in _TENSORS else key(value, 0) for value in args])
        return (positional, tuple([(name, key(value, 0)) for name, value in kwargs.items()])) if kwargs else positional

    def outline(self, args: Sequence[Any], kwargs: Dict[str, Any]) -> Hashable:
        """What is left of a call's arguments without their numbers: types, and dtypes and shapes of tensors."""
        return _outline(args, 0), tuple([(name, _outline(value, 0)) for name, value in kwargs.items()])

    def _key(self, value: Any, depth: int) -> Hashable:
        kind: Any = type(value)
        if kind in _TENSORS:
            return _tensor(value, self._natures, self._contents)
        if kind in _PLAIN:
            return kind, value
        if kind is float:
            return value.hex()
        if depth > MAX_DEPTH:
            raise NoKey
        if kind in _SEQUENCES:
            if depth >= DEEP or len(value) > LONG:
                bounded(value)
            return kind, tuple([self._key(item, depth + 1) for item in value])
        if kind is dict:
            if depth >= DEEP or len(value) > LONG:
                bounded(value)
            return dict, tuple([(self._key(name, depth + 1), self._key(item, depth + 1)) for name, item in value.items()])
        if kind is slice:
            return slice, self._key((value.start, value.stop, value.step), depth + 1)
        if isinstance(value, torch.nn.Module):
            return self._nested(value)
        raise NoKey


_TENSORS: FrozenSet[type] = frozenset({torch.Tensor, torch.nn.Parameter})
_PLAIN: FrozenSet[type] = frozenset(
    {type(None), bool, int, str, type(Ellipsis), torch.dtype, torch.device, torch.layout, torch.memory_format}
)
_NUMBERS: FrozenSet[type] = frozenset({int, float, complex})
_SEQUENCES: FrozenSet[type] = frozenset({list, tuple, torch.Size})

_dispatch_keys = torch._C._dispatch_keys
_ordinary: Set[int] = set()
"""Sets of dispatch keys whose tensors have passed `check`: they tell layout, device, transforms and lazy negation in one look."""


def _outline(value: Any, depth: int) -> Hashable:
    kind: Any = type(value)
    if kind in _TENSORS:
        return value.dtype, value.shape
    if kind in _NUMBERS or depth > MAX_DEPTH:
        return kind
    if kind in _SEQUENCES:
        if depth >= DEEP or len(value) > LONG:
            bounded(value)
        return kind, tuple([_outline(item, depth + 1) for item in value])
    if kind is slice:
        return slice, value.start is None, value.stop is None, value.step is None
    return value if kind in _PLAIN else kind


def _tensor(tensor: Any, natures: Natures, contents: Contents) -> Hashable:
    size = tensor.numel()
    nature_of_memory = _dispatch_keys(tensor).raw_repr()
    if nature_of_memory not in _ordinary:
        check(tensor)
        if not (tensor.is_conj() or tensor.is_neg()):
            _ordinary.add(nature_of_memory)
    dtype, shape = tensor.dtype, tensor.shape
    if not size:
        return dtype, shape, None if tensor.is_contiguous() else tensor.stride()
    address, width = address_of(tensor), dtype.itemsize
    if tensor.is_contiguous():
        strides, span = None, size
    else:
        strides = tensor.stride()
        span = 1 + sum([(side - 1) * stride for side, stride in zip(shape, strides)])  # noqa: B905
    if size > LARGEST or not address or (tensor.storage_offset() + span) * width > tensor.untyped_storage().nbytes():
        check(tensor)
    integral = not (dtype.is_floating_point or dtype.is_complex)
    if size <= tensors.KEEP_WRITTEN:
        dense = span == size and nature_of_memory in _ordinary  # then the same memory and strides are the same elements
        data = ctypes.string_at(address, size * width) if dense else raw(plain(tensor))
        return (dtype, shape, strides, data) if integral else contents.of(dtype, shape, strides, data, tensor).number
    if integral:
        return dtype, shape, strides
    return dtype, shape, strides, natures.of(tensor, plain).signs()
