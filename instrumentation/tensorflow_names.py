"""The public functions of TensorFlow that compute with tensors, each under one name."""

from __future__ import annotations

import functools
import importlib
import types
from typing import Any, Dict, Optional

tensorflow: Any = importlib.import_module("tensorflow")
_export: Any = importlib.import_module("tensorflow.python.util.tf_export")

PREFIX = "tf."
_PLACES = (
    "audio.",
    "bitwise.",
    "experimental.numpy.",
    "image.",
    "linalg.",
    "math.",
    "nn.",
    "quantization.",
    "ragged.",
    "random.",
    "raw_ops.",
    "sets.",
    "signal.",
    "sparse.",
    "strings.",
)
"""Modules all of whose functions are watched; of the others, those that TensorFlow lets other tensor types take over (dispatch)."""
_DISPATCHED = ("_tf_fallback_dispatchers", "_tf_type_based_dispatcher")


def functions() -> Dict[str, types.FunctionType]:
    """The functions by the name that TensorFlow calls the canonical one of its aliases, and the operators of tensors."""
    found: Dict[str, types.FunctionType] = {}
    for name in list(_export._NAME_TO_SYMBOL_MAPPING):
        symbol = _resolved(name)
        if not isinstance(symbol, types.FunctionType) or public_name(symbol) != PREFIX + name:
            continue
        if name.startswith(_PLACES) or any(hasattr(symbol, mark) for mark in _DISPATCHED):
            found[PREFIX + name] = symbol
    for name in sorted(tensorflow.Tensor.OVERLOADABLE_OPERATORS):
        method = getattr(tensorflow.Tensor, name, None)
        if isinstance(method, types.FunctionType) and public_name(method) not in found:
            found[f"{PREFIX}Tensor.{name}"] = method
    return found


def public_name(symbol: Any) -> Optional[str]:
    """The canonical name of a function or class, as users write it; None for one that is not public."""
    try:
        name = _export.get_canonical_name_for_symbol(symbol)
    except Exception:
        return None
    return PREFIX + name if isinstance(name, str) and _resolved(name) is symbol else None


@functools.cache
def _resolved(name: str) -> Any:
    """What users get by *name*, or None. TensorFlow's own Keras is not looked at: it would be imported."""
    parts = name.split(".")
    if parts[0] in ("keras", "compat", "estimator"):
        return None
    found: Any = tensorflow
    for part in parts:
        found = getattr(found, part, None)
    return found
