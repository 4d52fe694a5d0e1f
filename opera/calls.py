"""An instance as a call that a person can read: `ai.onnx.Reshape(data=float32[2,3], shape=int64([3, 2]))`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from opera.arrays import Array, tensor_array
from opera.console import one_line
from opera.instance import Argument, Call, Device, DType, Enum, Graph, Instance, Kind, Named, Opaque, Tensor
from opera.instance.values import Value

_SHOWN_ELEMENTS = 12
_SHOWN_ITEMS = 24
WIDTH = 100
"""Most characters of a call on one line."""
_LIMIT = 4_000


def call_text(instance: Instance, width: float = WIDTH) -> str:
    """*instance* as a Python-like call; tensors by dtype and shape, small ones with their values; longer than *width*, in several lines."""
    if instance.kind is Kind.MODULE:
        text = f"{_call(instance.api, _arguments(instance.init), width)}{_call('', _arguments(instance.call), width)}"
    else:
        text = _call(instance.api, [*_arguments(instance.call), *_arguments(instance.init)], width)
    return (text if len(text) <= _LIMIT else text[:_LIMIT] + " …") + _wanted_outputs(instance)


def _wanted_outputs(instance: Instance) -> str:
    """Which outputs of a node are wanted, as a comment, where not all are."""
    found = instance.context_value("outputs")
    outputs = cast("Sequence[Value]", found) if isinstance(found, (list, tuple)) else ()
    if all(outputs):
        return ""
    places = [str(index) for index, wanted in enumerate(outputs) if wanted]
    return f"  # wanted: {'output' if len(places) == 1 else 'outputs'} {', '.join(places) or 'none'} of {len(outputs)}"


def value_text(value: Value, depth: int = 0) -> str:
    """One value of an instance."""
    if isinstance(value, Tensor):
        return _tensor(value)
    if isinstance(value, DType):
        return value.name
    if isinstance(value, Device):
        return f"device({value.name!r})"
    if isinstance(value, Enum):
        return f"{value.path}.{value.member}"
    if isinstance(value, Named):
        return value.path
    if isinstance(value, Call):
        return _call(
            value.api, [f"{name}={value_text(item, depth + 1)}" if name else value_text(item, depth + 1) for name, item in value.arguments]
        )
    if isinstance(value, Graph):
        return f"<{value.format}, {len(value.data):,} bytes>" if value.data else f"<{value.format}>"
    if isinstance(value, Opaque):
        return f"<{value.type}>"
    if isinstance(value, (list, tuple)):
        return _sequence(value, depth)
    if isinstance(value, dict):
        return "{" + _few((f"{value_text(key, depth + 1)}: {value_text(item, depth + 1)}" for key, item in value.items()), len(value)) + "}"
    return one_line(repr(value), 160)


def _sequence(value: list[Value] | tuple[Value, ...], depth: int) -> str:
    if depth > 6:
        return "…"
    inner = _few((value_text(item, depth + 1) for item in value), len(value))
    if isinstance(value, list):
        return f"[{inner}]"
    return f"({inner},)" if len(value) == 1 else f"({inner})"


def _few(items: Iterable[str], count: int) -> str:
    shown = [item for _, item in zip(range(_SHOWN_ITEMS), items, strict=False)]
    return ", ".join([*shown, f"… {count - _SHOWN_ITEMS:,} more"] if count > _SHOWN_ITEMS else shown)


def _arguments(arguments: Iterable[Argument]) -> list[str]:
    return [f"{one_line(argument.name, 80)}={value_text(argument.value)}" for argument in arguments]


def _call(api: str, arguments: list[str], width: float = WIDTH) -> str:
    api = one_line(api, 400)
    line = f"{api}({', '.join(arguments)})"
    if len(line) <= width or not arguments:
        return line
    return f"{api}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"


def _tensor(tensor: Tensor) -> str:
    shape = f"{tensor.dtype}[{','.join(str(dim) for dim in tensor.shape)}]"
    extra = "" if tensor.layout == "strided" else f" {tensor.layout}"
    if tensor.strides is not None:
        extra += f" strides {list(tensor.strides)}"
    values = _values(tensor)
    if values is not None and not extra:
        return f"{tensor.dtype}({values})"
    limits = tensor.constraint
    if limits is not None and limits.low is not None and limits.high is not None:
        extra += f" in [{limits.low:.6g}, {limits.high:.6g}]"
    if limits is not None:
        extra += (" with nan" if limits.nan else "") + (" with inf" if limits.inf else "")
        extra += "".join(f" {name}" for name in limits.structure)
    return shape + extra


def _values(tensor: Tensor) -> str | None:
    """The values where they are few and short; None where shape and dtype say more."""
    if tensor.data is None or not 0 < tensor.size <= _SHOWN_ELEMENTS:
        return None
    try:
        text = _elements(tensor_array(tensor))
    except (ValueError, TypeError, AttributeError):
        return None
    return text if len(text) <= 72 else None


def _elements(array: Array) -> str:
    """Nested lists, each number as short as its dtype allows."""
    if array.ndim == 0:
        item = array[()]
        return repr(item) if isinstance(item, str) else str(item)
    return f"[{', '.join(_elements(array[index, ...]) for index in range(len(array)))}]"
