"""The public names of PyTorch's functions and module classes."""

from __future__ import annotations

import functools
import importlib
import types
from typing import Any, Dict, List, Optional

from .pytorch_values import importable_name

torch: Any = importlib.import_module("torch")

_PLACES = (
    "torch",
    "torch.nn.functional",
    "torch.linalg",
    "torch.fft",
    "torch.special",
    "torch.sparse",
    "torch.nested",
    "torch.masked",
    "torch.signal.windows",
    "torch.nn.init",
    "torch.nn.utils",
    "torch.nn.utils.rnn",
    "torch.utils.checkpoint",
)
_CLASS_PLACES = ("torch.nn", "torch.nn.utils.parametrizations", "torch.ao.nn.quantized", "torch.ao.nn.qat", "torch.ao.nn.intrinsic")


def function_name(function: Any) -> Optional[str]:
    """The name under which users call *function*; None for one that has no importable name."""
    if isinstance(function, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return f"torch.ops.{function}"
    path = _own_name(function, torch.overrides.resolve_name(function))
    if path is not None and (path.startswith("torch.Tensor.") or path in _public_functions()):
        return str(path)
    return _index().get(id(function)) or path or importable_name(function)


def _own_name(function: Any, path: Optional[str]) -> Optional[str]:
    """*path*, or the name that *function* gives itself if its module has it too: `torch.mm`, not its alias `torch.spmm`."""
    module, _, name = (path or "").rpartition(".")
    own = getattr(function, "__name__", name)
    found = _public_functions().get(f"{module}.{own}")
    return path if own.startswith("_") or found is None or found != function else f"{module}.{own}"


@functools.cache
def _public_functions() -> Dict[str, Any]:
    """Every function of the public modules by full name."""
    found: Dict[str, Any] = {}
    for place in _PLACES:
        module = importlib.import_module(place)
        for name, value in vars(module).items():
            if not name.startswith("__") and callable(value) and not isinstance(value, (type, types.ModuleType)):
                found[f"{place}.{name}"] = value
    return found


@functools.cache
def _index() -> Dict[int, str]:
    """Identity of a public function to its name, the first place in the order above."""
    index: Dict[int, str] = {}
    for name, value in _public_functions().items():
        index.setdefault(id(value), name)
    return index


@functools.cache
def class_name(kind: type) -> Optional[str]:
    """The name under which users import the module class *kind*; None for one that is not the library's own."""
    if kind.__module__.split(".")[0] != "torch" or kind.__module__.startswith("torch.testing"):
        return None
    for place in _CLASS_PLACES:
        try:
            module = importlib.import_module(place)
        except ImportError:
            continue
        if vars(module).get(kind.__name__) is kind:
            return f"{place}.{kind.__name__}"
    found: Any = importlib.import_module(kind.__module__)
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return f"{kind.__module__}.{kind.__qualname__}" if found is kind else None


def library_classes() -> List[type]:
    """`torch.nn.Module` and all its subclasses that are the library's own and loaded by now."""
    found: List[type] = []
    waiting: List[type] = [torch.nn.Module]
    while waiting:
        kind = waiting.pop()
        if kind in found or "jit" in kind.__module__ or not kind.__module__.startswith("torch."):
            continue
        found.append(kind)
        waiting.extend(type.__subclasses__(kind))
    return found
