"""PyTorch values in the form of the instance format. Nothing here may run while a tracer or a dispatch mode watches."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, cast

from . import tensors, wire
from .pytorch_contents import Contents
from .pytorch_memory import check, dtype_name, plain, raw
from .pytorch_structure import Natures
from .stream import Document, Loose
from .wire import Json, Unrecordable

torch: Any = importlib.import_module("torch")
Nested = Callable[[Any], Json]
MOST = 100_000
"""Values in one argument beyond which a call is dropped: lists that share their parts can stand for more than fits on any disk."""
LONG, DEEP = 1000, 4
"""From how many parts, or how deep, such lists are looked for."""
_SCALARS: Tuple[Any, ...] = (int, float, complex, str)


class PyTorchValues:
    """Encodes the arguments of one call and collects its tensors of random values."""

    def __init__(self, nested: Nested, natures: Natures, contents: Contents) -> None:
        """*nested* gives the form of a module that is passed as an argument."""
        self._random: List[Document] = []
        self._nested = nested
        self._natures = natures
        self._contents = contents

    @property
    def loose(self) -> List[Loose]:
        """The tensors of random values, each with what tells it apart."""
        return [tensors.loosen(content) or (content, _without_data(content)) for content in self._random]

    def encode(self, value: object) -> Json:
        """The JSON form of *value*; raises `Unrecordable` with a reason code."""
        if isinstance(value, (list, tuple, dict)):
            bounded(cast("list[object]", value))
        return wire.encode(value, self._foreign)

    def _foreign(self, value: Any) -> Json:
        if isinstance(value, torch.Tensor):
            return {"tensor": self._tensor(value)}
        if isinstance(value, torch.nn.Module):
            return self._nested(value)
        plain = encode_constant(value)
        own = wire.of_own_type(value, self.encode, _SCALARS) if plain is None else plain
        if own is not None:
            return own
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
        strides = None if value.is_contiguous() else value.stride()
        if strides is not None:
            content["strides"] = list(strides)
        small = value.numel() <= tensors.KEEP_WRITTEN
        if value.dtype.is_floating_point or value.dtype.is_complex:
            known = self._contents.of(value.dtype, value.shape, strides, raw(plain(value)), value) if small else None
            content.update({"constraint": self._natures.of(value, plain).document()} if known is None else known.parts(value))
            if known is None or not known.written:
                self._random.append(content)
        elif value.numel() <= tensors.KEEP_INTEGERS:
            content["data"] = tensors.encode_bytes(raw(plain(value)))
            if not small:
                self._random.append(content)
        else:
            content["constraint"] = self._natures.of(value, lambda whole: plain(whole).to(torch.float64)).document()
        return content


def _without_data(content: Document) -> Document:
    return {name: value for name, value in content.items() if name != "data"}


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
