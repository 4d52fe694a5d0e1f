"""Cheap keys of calls: two calls with one key are the same instance.

The recorder writes a call down in full only when it sees a new key; all others it counts. A key is a tuple of what the instance's
document would be made of. Different keys may still mean one instance (an argument by position or by name): the stream and the driver
see to that.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
from typing import Any, Callable, Dict, FrozenSet, Hashable, Sequence, Set

from . import tensors
from .pytorch_structure import Natures, nature
from .pytorch_values import DEEP, LARGEST, LONG, bounded, check, plain, raw
from .wire import MAX_DEPTH

torch: Any = importlib.import_module("torch")

Nested = Callable[[Any], Hashable]


class NoKey(Exception):
    """A value of a type that has no cheap key."""


class Keys:
    """Makes the keys of arguments; *nested* gives that of a module."""

    def __init__(self, nested: Nested, natures: Natures) -> None:
        self._nested = nested
        self._natures = natures

    def of_call(self, args: Sequence[Any], kwargs: Dict[str, Any]) -> Hashable:
        """The key of a call's arguments; raises `NoKey`, and `Unrecordable` for a tensor that the format does not hold."""
        if kwargs:
            return tuple([self._key(value, 0) for value in args]), tuple([(name, self._key(value, 0)) for name, value in kwargs.items()])
        return tuple([self._key(value, 0) for value in args])

    def outline(self, args: Sequence[Any], kwargs: Dict[str, Any]) -> Hashable:
        """What is left of a call's arguments without their numbers: types, and dtypes and shapes of tensors."""
        return _outline(args, 0), tuple([(name, _outline(value, 0)) for name, value in kwargs.items()])

    def _key(self, value: Any, depth: int) -> Hashable:
        kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
        if kind is torch.Tensor or kind is torch.nn.Parameter:
            return _tensor(value, self._natures)
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


_PLAIN: FrozenSet[type] = frozenset(
    {type(None), bool, int, str, type(Ellipsis), torch.dtype, torch.device, torch.layout, torch.memory_format}
)
_NUMBERS: FrozenSet[type] = frozenset({int, float, complex})
_SEQUENCES: FrozenSet[type] = frozenset({list, tuple, torch.Size})
_WRITABLE: Dict[Any, str] = {getattr(torch, name): name for name in ("float16", "float32", "float64")}
_REMEMBERED = 20_000

_dispatch_keys = torch._C._dispatch_keys
_ordinary: Set[int] = set()
"""Sets of dispatch keys whose tensors have passed `check`: they tell layout, device, transforms and lazy negation in one look."""


class _Small:
    """What tells small tensors apart, as a number; remembers the contents that it has seen."""

    def __init__(self) -> None:
        self._contents: Dict[Hashable, int] = {}
        self._classes: Dict[Hashable, int] = {}
        self._numbers = itertools.count()

    def number(self, dtype: Any, shape: Any, strides: Any, data: bytes, tensor: Any) -> int:
        """The same for equal contents that a person wrote, and for random ones of one class."""
        content = (dtype, shape, strides, data)
        known = self._contents.get(content)
        if known is None:
            if len(self._contents) >= _REMEMBERED:
                self._contents.clear()
                self._classes.clear()
            if not tensors.written(data, _WRITABLE[dtype], len(data) // dtype.itemsize):
                known = self._classes.setdefault((dtype, shape, strides, nature(plain(tensor)).signs()), next(self._numbers))
            else:
                known = next(self._numbers)
            self._contents[content] = known
        return known


_small = _Small()


def _outline(value: Any, depth: int) -> Hashable:
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is torch.Tensor or kind is torch.nn.Parameter:
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


def _tensor(tensor: Any, natures: Natures) -> Hashable:
    size = tensor.numel()
    nature_of_memory = _dispatch_keys(tensor).raw_repr()
    if nature_of_memory not in _ordinary:
        check(tensor)
        if not (tensor.is_conj() or tensor.is_neg()):
            _ordinary.add(nature_of_memory)
    dtype, shape = tensor.dtype, tensor.shape
    if not size:
        return dtype, shape, None if tensor.is_contiguous() else tensor.stride()
    address, width = tensor.const_data_ptr(), dtype.itemsize
    if tensor.is_contiguous():
        strides, span = None, size
    else:
        strides = tensor.stride()
        span = 1 + sum([(side - 1) * stride for side, stride in zip(shape, strides)])  # noqa: B905
    if size > LARGEST or not address or (tensor.storage_offset() + span) * width > tensor.untyped_storage().nbytes():
        check(tensor)
    integral = not (dtype.is_floating_point or dtype.is_complex)
    if size <= tensors.KEEP_WRITTEN and (integral or dtype in _WRITABLE):
        dense = span == size and nature_of_memory in _ordinary  # then the same memory and strides are the same elements
        data = ctypes.string_at(address, size * width) if dense else raw(plain(tensor))
        return (dtype, shape, strides, data) if integral else _small.number(dtype, shape, strides, data, tensor)
    if integral:
        return dtype, shape, strides
    return dtype, shape, strides, natures.of(tensor, plain).signs()
