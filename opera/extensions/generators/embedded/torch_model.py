"""A call of PyTorch as a part of a module: the module is text, which the reproducer shows as well.

A graph around the call is a function that gives the lines of `forward`. They call `self.operator` with the inputs, and end with a list of
results.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from opera.extensions.generators.draws import stated
from opera.extensions.generators.embedded.kind import EMBEDDING, alone, embedding
from opera.extensions.generators.quantising import ZERO_POINTS, channel_axes, clear_scale, clearance, is_quantisable, on_grid, on_grids
from opera.instance import Instance
from opera.models.template import Invalid, PythonSource
from opera.templates.pytorch.model import PyTorchModel, from_numpy, to_numpy
from opera.templates.pytorch.source import expected_source

__all__ = ["EMBEDDING", "KINDS", "SETTINGS", "EmbeddedModel"]

torch: Any = importlib.import_module("torch")

_REGISTERS = "torch.ao.quantization.fx._decomposed"
"""The module that registers the operators of `torch.ops.quantized_decomposed`."""
for _needed in (_REGISTERS, "torch._dynamo"):  # here, where no alarm of a call can end an import
    importlib.import_module(_needed)
_CLEAR = 1e-3
"""Smallest distance of a result from the middle of two steps, in steps: more than the rounding of float32 comes to."""
_RANGES = {"int8": (-128, 127), "uint8": (0, 255)}
_PASSES = 2


class EmbeddedModel(PyTorchModel):
    """A module whose `operator` is the call."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        name, *settings = embedding(instance) or ("",)
        if tuple(settings) not in SETTINGS.get(name, ()):
            raise Invalid("no-embedding")
        torch._dynamo.reset()  # else sizes that differ from those of an earlier instance become open ones
        super().__init__(alone(instance), key, seed)
        self._own, self.instance = self.instance, instance
        self._call = self.part
        self._lines = KINDS[name](self, *settings)
        self.part = self.module = stated.made(self._lines, "torch", torch, self._call)
        self.part.name, self.part.constants, self.part.in_place = self._call.name, self._constants, False
        self.part.operator_result = self.part.forward

    @property
    def tensors(self) -> list[Any]:
        """The inputs, which a graph may change."""
        return self._tensors

    def plain(self) -> list[Any]:
        """What the call alone gives."""
        return self._run(self.fresh_tensors(), seed=1)

    def _exported(self) -> Any:
        """As PyTorch's tracer of Python captures it, which leaves no size inside a branch open."""
        torch._dynamo.reset()
        return torch.export.export(self.module, tuple(self.fresh_tensors()), strict=True)

    def source(self, form: str) -> PythonSource:
        whole, module = self.instance, self.part
        self.instance, self.part = self._own, self._call
        try:
            found = super().source(form)
        finally:
            self.instance, self.part = whole, module
        registers = [f"import {_REGISTERS}"] if any("quantized_decomposed" in line for line in self._lines) else []
        expected = expected_source(plain=False, writes=False, converts="def numpy_of(" in found.text)
        imports = (*found.imports, *registers)
        return replace(found, imports=imports, text=stated.around(found.text, self._lines), expected=expected)


def _quantised(model: EmbeddedModel, dtype: str, zero: int, axis: int | None = None) -> list[str]:
    """The call between quantised tensors, as PyTorch's tools write models of 8 bits.

    Args:
        model: Has the call.
        dtype: Of the quantised numbers.
        zero: Their zero point.
        axis: Weights, which are the tensors behind the first, else the first, are int8 with a scale for each place along it.
    """
    lines: list[str] = []
    attributes: list[str] = []
    values = {place: to_numpy(each) for place, each in enumerate(model.tensors) if each.dtype == torch.float32}
    values = {place: each for place, each in values.items() if is_quantisable(each) and (place == 0 or each.ndim > 1)}
    weights = {} if axis is None else ({place: each for place, each in values.items() if place} or values)
    if axis is not None and any(axis not in channel_axes(each) for each in weights.values()):
        raise Invalid("not-quantisable")
    for place, value in values.items():
        if axis is not None and place in weights:
            exact, scales = on_grids(value, axis)
            names = [f"c{2 * place}", f"c{2 * place + 1}"]
            for name, numbers in zip(names, (f"{scales.tolist()}", f"{[0] * len(scales)}"), strict=True):
                attributes.append(f'self.register_buffer("{name}", torch.tensor({numbers}))')
            settings = f"self.{names[0]}, self.{names[1]}, {axis % value.ndim}, -128, 127, torch.int8"
            lines.append(f"x{place} = {_through(f'x{place}', 'channel', settings)}")
        else:
            exact, scale = on_grid(value, zero)
            lines.append(f"x{place} = {_through(f'x{place}', 'tensor', _per_tensor(scale, zero, dtype))}")
        model.tensors[place] = model.tensors[place].copy_(from_numpy(exact, "float32"))
    results: list[str] = []
    for place, result in enumerate(model.plain()):
        value, text = to_numpy(result), f"y[{place}]"
        if is_quantisable(value):
            scale = clear_scale(value)
            if clearance(value, scale) < _CLEAR:
                raise Invalid("no-clear-scale")
            text = _through(text, "tensor", _per_tensor(scale, zero, dtype))
        results.append(text)
    if not lines or all("(" not in each for each in results):
        raise Invalid("not-quantisable")
    body = [*lines, *_called(_inputs(model.tensors)), f"return [{', '.join(results)}]"]
    return _module(len(model.tensors), body, attributes)


def _per_tensor(scale: float, zero: int, dtype: str) -> str:
    low, high = _RANGES[dtype]
    return f"{scale!r}, {zero}, {low}, {high}, torch.{dtype}"


def _through(value: str, per: str, settings: str) -> str:
    """*value*, quantised *per* `tensor` or `channel`, and made a real number again."""
    stem = "torch.ops.quantized_decomposed"
    return f"{stem}.dequantize_per_{per}({stem}.quantize_per_{per}({value}, {settings}), {settings})"


def _branch(model: EmbeddedModel) -> list[str]:
    """The call as the branch of `torch.cond` that is taken, beside one that gives zeros; no compiler knows the condition."""
    names = _inputs(model.tensors)
    zeros = ", ".join(_zeros(each, model.tensors) for each in model.plain())
    if not names:
        raise Invalid("no-input")
    body = [
        f"def taken({names}):",
        *(f"    {line}" for line in _called(names)),
        f"    return {_COPIES}",
        "",
        f"def other({names}):",
        f"    return [{zeros}]",
        "",
        f"return torch.cond(torch.sum(x0 != 0) >= 0, taken, other, ({names},))",
    ]
    return _module(len(model.tensors), body)


def _loop(model: EmbeddedModel, how: str = "") -> list[str]:
    """The call in `while_loop`, which keeps its results; the first is the first input of the next pass where it is like it.

    Args:
        model: Has the call.
        how: `carried` makes the inputs variables of the loop, which it otherwise reads from outside; the second is the last first result
            in the next pass where both are alike. `none` ends the loop before its first pass.
    """
    plain = model.plain()
    if not model.tensors:
        raise Invalid("no-input")
    first, result = model.tensors[0], plain[0]
    is_next = first.shape == result.shape and first.dtype == result.dtype
    states = [f"y{place}" for place in range(len(plain))]
    carried = [f"x{place}" for place in range(len(model.tensors))] if how == "carried" else []
    given = ", ".join(["y0" if is_next and not place else f"x{place}" for place in range(len(model.tensors))])
    begin = [*(_zeros(each, model.tensors) for each in plain), *map(_copy, carried)]
    if is_next:
        begin[0] = _copy("x0")
    taken = ", ".join(("number", *states, *carried))
    is_last = is_next and any(each.shape == result.shape and each.dtype == result.dtype for each in model.tensors[1:2])
    kept = "".join(f", {_copy('y0' if is_last and each == 'x1' else each)}" for each in carried)
    body = [
        f"def goes_on({taken}):",
        f"    return number < {0 if how == 'none' else _PASSES}",
        "",
        f"def once({taken}):",
        *(f"    {line}" for line in _called(given)),
        f"    return [number + 1, *{_COPIES}{kept}]",
        "",
        f"begin = (torch.zeros((), dtype=torch.int64), {', '.join(begin)})",
        f"return torch._higher_order_ops.while_loop(goes_on, once, begin)[1:{len(plain) + 1}]",
    ]
    return _module(len(model.tensors), body)


KINDS: Mapping[str, Callable[..., list[str]]] = {"quantised": _quantised, "channels": _quantised, "branch": _branch, "loop": _loop}
"""Graphs around one call, by name."""

SETTINGS: Mapping[str, Sequence[tuple[Any, ...]]] = {
    "quantised": ZERO_POINTS,
    "channels": [(*each, axis) for axis in (0, 1, -1) for each in ZERO_POINTS[:2]],
    "branch": [()],
    "loop": [(), ("carried",), ("none",)],
}
"""The settings of a graph, by name."""

_COPIES = "[torch.clone(each, memory_format=torch.contiguous_format) for each in y]"
"""Results that share no memory with inputs, which higher-order operators refuse."""


def _copy(name: str) -> str:
    """A copy, which shares no memory with what *name* stands for."""
    return f"torch.clone({name}, memory_format=torch.contiguous_format)"


def _zeros(like: Any, inputs: Sequence[Any]) -> str:
    """Zeros of the shape of *like*, and of the dtype of an input if there is one: so that other dtypes of inputs can be taken."""
    same = next((f"x{place}.dtype" for place, each in enumerate(inputs) if each.dtype == like.dtype), str(like.dtype))
    return f"torch.zeros({tuple(like.shape)}, dtype={same})"


def _called(given: str) -> tuple[str, str]:
    """The lines that make `y` the list of the call's results."""
    return f"y = self.operator({given})", "y = y if isinstance(y, tuple) else (y,)"


def _inputs(tensors: Sequence[Any]) -> str:
    return ", ".join(f"x{place}" for place in range(len(tensors)))


def _module(count: int, body: Sequence[str], attributes: Sequence[str] = ()) -> list[str]:
    head = (
        "class Whole(torch.nn.Module):",
        "    def __init__(self, operator):",
        "        super().__init__()",
        "        self.operator = operator",
        *(f"        {line}" for line in attributes),
        "",
        f"    def forward(self{''.join(f', x{place}' for place in range(count))}):",
    )
    return [*head, *(f"        {line}".rstrip() for line in body)]
