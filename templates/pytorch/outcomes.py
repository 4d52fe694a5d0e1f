"""Calls after which inputs and results are written to: what shares memory with what, and what was read before a write, then shows.

`torch.compile` promises what PyTorch does: a call changes the inputs that it writes to, and a result that is a view of an input stays one
(the notes on functionalisation in `torch/_functorch/_aot_autograd/` of PyTorch 2.13). Inside one graph every compiler promises it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from opera.models.template import LIBRARY_RAISED, Invalid
from opera.templates.pytorch.source import WritesText

torch: Any = importlib.import_module("torch")

_MISSING = re.compile(r"not (yet )?implemented|not (yet )?supported|no longer supported|not support\b")
"""What the library says where it lacks a kernel, and no rule forbids the call."""


@dataclass(frozen=True)
class Writes:
    """What is written to.

    Attributes:
        inputs: Places of the inputs that the module itself writes to once it has its results.
        results: Places of the results that the caller writes to afterwards.
    """

    inputs: tuple[int, ...]
    results: tuple[int, ...]


def writes_after(module: Any, tensors: Sequence[Any]) -> Writes:
    """What can be written to after a call of *module* with *tensors*, which it spoils.

    No state of the module is, nor a tensor of which two elements lie in one place.

    Raises:
        Invalid: the library rejects the call, or says that only inputs or only results may be written to (`torch.unsafe_split`).
    """
    if "unsafe" in module.name:
        raise Invalid("unsafe-by-name")
    torch.manual_seed(1)
    try:
        with torch.no_grad():
            results = module(*tensors)
    except Exception as error:
        raise Invalid(LIBRARY_RAISED) from error
    state = {_storage(each) for each in (*module.parameters(), *module.buffers(), *module.constants)}
    inputs = tuple(place for place, each in enumerate(tensors) if _can_write(each))
    return Writes(inputs, tuple(place for place, each in enumerate(results) if _storage(each) not in state and _can_write(each)))


def writing(module: Any, writes: Writes) -> tuple[Any, Any]:
    """A module that calls *module* and then writes to its inputs, and one in whose graph the caller's writes stand too."""

    class Writing(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.call = module

        def operator_result(self, *tensors: Any) -> Any:
            return self.call.operator_result(*tensors)

        def forward(self, *tensors: Any) -> tuple[Any, ...]:
            results = self.call(*tensors)
            for place in writes.inputs:
                _write(tensors[place])
            return results

    class Whole(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.call = part

        def forward(self, *tensors: Any) -> tuple[Any, ...]:
            return tuple(after(self.call, [tensor.clone() for tensor in tensors], writes))

    part = Writing()
    return part, Whole()


def after(call: Callable[..., Sequence[Any]], tensors: Sequence[Any], writes: Writes) -> list[Any]:
    """The results of *call*, then its inputs, into which the caller's writes to the results reach where they share memory."""
    results = call(*tensors)
    seen = [result.clone() for result in results]
    for place in writes.results:
        _write(results[place])
    return [*seen, *tensors]


def refusal(call: Callable[..., object], tensors: Sequence[Any]) -> Exception | None:
    """What *call* raises; None if it accepts *tensors*."""
    try:
        call(*tensors)
    except Exception as error:
        return error
    return None


def summary(error: Exception | None) -> str:
    """The first line of what was raised, with its type."""
    return f"{type(error).__name__}: {str(error).strip()}".partition("\n")[0]


def check_refusal(call: Any, tensors: Sequence[Any]) -> None:
    """Raises `Invalid` where the library accepts the call, or refuses it because it lacks a kernel, which a compiler may have.

    Functions that promise no checks say so by their name (`torch._unsafe_index`).
    """
    with torch.no_grad():
        found = refusal(call, tensors)
    if found is None or "unsafe" in call.name:
        raise Invalid("not-refused" if found is None else "unsafe-by-name")
    if isinstance(found, NotImplementedError) or _MISSING.search(str(found)):
        raise Invalid("no-kernel-of-the-library") from found


def writes_text(writes: Writes, inputs: Sequence[Any], results: Sequence[Any]) -> WritesText:
    """The same as text, for tensors like those of a call."""
    own, others = (
        {place: _write_text(tensors[place]) for place in places} for places, tensors in ((writes.inputs, inputs), (writes.results, results))
    )
    return WritesText(own, others)


def _write_text(tensor: Any) -> str:
    return "logical_not_()" if tensor.dtype == torch.bool else "add_(1)"


def _write(tensor: Any) -> None:
    if tensor.dtype == torch.bool:
        tensor.logical_not_()
    else:
        tensor.add_(1)


def _can_write(tensor: Any) -> bool:
    if tensor.numel() == 0 or torch._debug_has_internal_overlap(tensor) != 0:
        return False
    try:
        _write(tensor)
    except RuntimeError:
        return False
    return True


def _storage(tensor: Any) -> int:
    return 0 if tensor.layout is not torch.strided or tensor.numel() == 0 else int(tensor.untyped_storage().data_ptr())
