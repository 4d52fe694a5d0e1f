"""Tensors of the libraries on which Keras can run, as numpy arrays. Imports none of them: it looks only at those that are loaded."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Callable, Optional

from .calls import TRACER
from .wire import Unrecordable

np: Any = importlib.import_module("numpy")


def array_of(value: Any) -> Optional[Any]:
    """The elements of *value* as an array; None where it is no tensor of any loaded library.

    Raises:
        Unrecordable: it is a tensor that has no values to read, or no plain ones.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        if type(value) is not np.ndarray and isinstance(value, np.ndarray):
            raise Unrecordable("tensor-subclass")
        return np.asarray(value)
    for root, convert in _LIBRARIES.items():
        library = sys.modules.get(root)
        if library is not None and (array := convert(library, value)) is not None:
            return array
    return None


def tracing(backend: str) -> bool:
    """Whether calls are being traced rather than computed, by the library named *backend*."""
    library: Any = sys.modules.get(backend)
    if backend == "tensorflow":
        return not library.executing_eagerly()
    if backend == "jax":
        clean = getattr(sys.modules.get("jax._src.core"), "trace_state_clean", None)  # JAX has no public name for it
        return clean is not None and not clean()
    if backend == "torch":
        return bool(library.compiler.is_compiling() or library._C._get_tracing_state() is not None)
    return False


def compiling(backend: str) -> Callable[[], bool]:
    """What says whether code is being compiled from its bytecode by the library named *backend*."""
    return sys.modules["torch"].compiler.is_compiling if backend == "torch" else bool


def _torch(torch: Any, value: Any) -> Optional[Any]:
    if not isinstance(value, torch.Tensor):
        return None
    if type(value) is not torch.Tensor and type(value) is not torch.nn.Parameter:
        raise Unrecordable(TRACER if type(value).__name__ == "FakeTensor" else "tensor-subclass")
    if value.device.type == "meta":
        raise Unrecordable(TRACER)
    if torch._C._functorch.is_functorch_wrapped_tensor(value):
        raise Unrecordable("tensor-of-transform")
    if value.layout is not torch.strided or value.is_nested:
        raise Unrecordable(f"tensor-layout:{'nested' if value.is_nested else str(value.layout)[6:]}")
    if value.is_quantized:
        raise Unrecordable("tensor-quantized")
    plain = value.detach().cpu().resolve_conj().resolve_neg()
    narrow = str(plain.dtype)[6:]
    if narrow == "bfloat16" or narrow.startswith("float8"):
        kind = getattr(importlib.import_module("ml_dtypes"), narrow)
        return plain.contiguous().view(torch.int16 if narrow == "bfloat16" else torch.uint8).numpy().view(kind)
    return plain.numpy()


def _tensorflow(tensorflow: Any, value: Any) -> Optional[Any]:
    if isinstance(value, tensorflow.Variable):
        with tensorflow.init_scope():
            return value.numpy()
    if isinstance(value, tensorflow.Tensor):
        if not hasattr(value, "numpy"):
            raise Unrecordable(TRACER)
        if value.dtype.name in ("resource", "variant"):
            raise Unrecordable(f"tensor-dtype:{value.dtype.name}")
        return np.asarray(value.numpy())
    for kind in ("RaggedTensor", "SparseTensor", "IndexedSlices"):
        if isinstance(value, getattr(tensorflow, kind)):
            raise Unrecordable(f"tensor-layout:{kind}")
    return None


def _jax(jax: Any, value: Any) -> Optional[Any]:
    if isinstance(value, jax.core.Tracer):
        raise Unrecordable(TRACER)
    if isinstance(value, jax.Array):
        if jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended):
            raise Unrecordable(f"tensor-dtype:{value.dtype}")
        return np.asarray(value)
    if type(value).__module__.startswith("jax.experimental.sparse"):
        raise Unrecordable(f"tensor-layout:{type(value).__name__}")
    return None


_LIBRARIES = {"torch": _torch, "tensorflow": _tensorflow, "jax": _jax}
