"""PyTorch values in the form of the instance format. Nothing here may run while a tracer or a dispatch mode watches."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import importlib
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, cast

from . import tensors, wire
from .pytorch_structure import STRUCTURE_LIMIT, Natures
from .stream import Document, Loose
from .wire import Json, Unrecordable

torch: Any = importlib.import_module("torch")
Nested = Callable[[Any], Json]
LARGEST = 1 << 28
"""Elements beyond which a call is dropped: no model with such an input can be run."""
MOST = 100_000
"""Values in one argument beyond which a call is dropped: lists that share their parts can stand for more than fits on any disk."""
LONG, DEEP = 1000, 4
"""From how many parts, or how deep, such lists are looked for."""
_SCALARS: Tuple[Any, ...] = (int, float, complex, str)


class Values:
    """Encodes the arguments of one call and collects its tensors of random values."""

    def __init__(self, nested: Nested, natures: Natures) -> None:
        """*nested* gives the form of a module that is passed as an argument."""
        self.loose: List[Loose] = []
        self._nested = nested
        self._natures = natures

    def encode(self, value: object) -> Json:
        """The JSON form of *value*; raises `Unrecordable` with a reason code."""
        if isinstance(value, (list, tuple, dict)):
            bounded(cast("list[object]", value))
        return wire.encode(cast(object, value), self._foreign)

    def _foreign(self, value: Any) -> Json:
        if isinstance(value, torch.Tensor):
            return {"tensor": self._tensor(value)}
        if isinstance(value, torch.nn.Module):
            return self._nested(value)
        plain = encode_constant(value)
        if plain is not None:
            return plain
        return self._subclass(value)

    def _subclass(self, value: Any) -> Json:
        """Instances of subclasses of Python's own types, such as torch.Size and OrderedDict, count as the type itself."""
        if isinstance(value, tuple):
            return {"tuple": [self.encode(item) for item in cast("tuple[Any, ...]", value)]}
        if isinstance(value, list):
            return [self.encode(item) for item in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {"dict": [[self.encode(key), self.encode(item)] for key, item in cast("dict[Any, Any]", value).items()]}
        for base in _SCALARS:
            if isinstance(value, base):
                return self.encode(base(value))
        if dataclasses.is_dataclass(value):
            return self._dataclass(value)
        raise Unrecordable(f"unrecordable:{type_name(class_of(value))}")

    def _dataclass(self, value: Any) -> Json:
        """A bundle of options as the call that makes it."""
        path = importable_name(class_of(value))
        if path is None:
            raise Unrecordable(f"unrecordable:{type_name(class_of(value))}")
        fields = [item.name for item in dataclasses.fields(value) if item.init]
        return {"call": [path, [[name, self.encode(getattr(value, name))] for name in fields]]}

    def _tensor(self, value: Any) -> Document:
        check(value)
        content: Document = {"shape": list(value.shape), "dtype": dtype_name(value.dtype)}
        if not value.is_contiguous():
            content["strides"] = list(value.stride())
        self._values(value, content)
        return content

    def _values(self, tensor: Any, content: Document) -> None:
        """Adds data and constraint to *content*."""
        seen = plain(tensor)
        size = tensor.numel()
        dtype = cast(str, content["dtype"])
        if not (seen.is_floating_point() or seen.is_complex()):
            if size <= tensors.KEEP_INTEGERS:
                content["data"] = tensors.encode_bytes(raw(seen))
                if size > tensors.KEEP_WRITTEN:
                    self.loose.append((content, {name: value for name, value in content.items() if name != "data"}))
            else:
                content["constraint"] = self._natures.of(tensor, lambda _: seen.to(torch.float64)).document()
            return
        by_hand = False
        if size <= tensors.KEEP_WRITTEN:
            data = raw(seen)
            by_hand = tensors.written(data, dtype, size)
            if by_hand or size <= tensors.KEEP_FLOATS:
                content["data"] = tensors.encode_bytes(data)
        content["constraint"] = self._natures.of(tensor, lambda _: seen).document()
        loose = None if by_hand else tensors.loosen(content)
        if loose is not None:
            self.loose.append(loose)


def bounded(value: Sequence[object]) -> None:
    """Raises `Unrecordable` where *value* has too many parts, or too deep ones."""
    count = 0
    level: List[object] = [value]
    for _ in range(wire.MAX_DEPTH + 1):
        inner: List[object] = []
        for each in level:
            if isinstance(each, dict):
                inner.extend(cast("dict[object, object]", each).values())
            elif isinstance(each, (list, tuple)):
                inner.extend(cast("list[object]", each))
        if not inner:
            return
        count += len(inner)
        if count > MOST:
            raise Unrecordable("too-many-values")
        level = inner
    raise Unrecordable("nested-too-deep")


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
    if tensor.numel() and not (tensor.const_data_ptr() and has_memory(tensor)):
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
    address = tensor.const_data_ptr()
    if not address:
        raise Unrecordable("tensor-without-memory")
    return ctypes.string_at(address, tensor.numel() * tensor.element_size())


def dtype_name(dtype: Any) -> str:
    """`float32` for torch.float32; raises `Unrecordable` for a dtype that the format does not have."""
    name = str(dtype)[6:]
    if name not in tensors.DTYPES:
        raise Unrecordable(f"tensor-dtype:{name}")
    return name


def encode_constant(value: Any) -> Optional[Dict[str, Json]]:
    """The form of a value that is one of a fixed set, or of an importable object; None for any other."""
    if isinstance(value, torch.dtype):
        return {"dtype": str(value)[6:]}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, (torch.layout, torch.memory_format)):
        return {"name": str(value)}
    if isinstance(value, enum.Enum):
        return {"enum": [type_name(class_of(value)), value.name]}
    if callable(value):
        path = importable_name(value)
        return None if path is None else {"name": path}
    return None


def importable_name(value: Any) -> Optional[str]:
    """The name under which *value* can be imported from a library or from Python itself, or None."""
    path = torch.overrides.resolve_name(value)
    if path is not None:
        return str(path)
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module in ("__main__", "conftest"):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}.{name}" if found is value and module.split(".")[0] in ("torch", "builtins", "math", "operator") else None


def class_of(value: object) -> type:
    """The class of *value*, which is not asked for it."""
    return type(value)


def type_name(kind: type) -> str:
    """Module and name of a class, without looking at any of its instances."""
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
