"""A PyTorch instance as the source of a module that a person would write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from opera.instance import Argument, Call, Device, DType, Enum, Instance, Kind, Named, Tensor
from opera.models.arrays import Array, dtype_name
from opera.templates.python_text import array_text, number_text

_VIEWED = {"bfloat16": "float32", "float8_e4m3fn": "float32", "float8_e5m2": "float32"}


def module_source(
    instance: Instance,
    inputs: Sequence[Array],
    strides: Sequence[tuple[int, ...] | None],
    *,
    seed: int,
    plain: bool,
    in_place: bool,
    lazy: bool,
) -> str:
    """Source that defines `model` and `inputs` (a tuple of tensors).

    Args:
        instance: What the module calls.
        inputs: Values of its inputs.
        strides: Of each input, in elements; None when contiguous.
        seed: Of the module's parameters.
        plain: Whether the call returns one tensor.
        in_place: Whether the call writes to its inputs, which therefore get copied.
        lazy: Whether parameters get their shapes from the first call.
    """
    writer = _Writer(in_place)
    init = ", ".join(writer.argument(argument, inputs=False) for argument in instance.init)
    call = ", ".join(writer.argument(argument, inputs=True) for argument in instance.call)
    names = "".join(f", x{place}" for place in range(len(inputs)))
    lines = ["class Model(torch.nn.Module):"]
    if instance.kind is Kind.MODULE:
        lines += ["    def __init__(self):", "        super().__init__()", f"        self.operator = {instance.api}({init})", ""]
    target = "self.operator" if instance.kind is Kind.MODULE else instance.api
    result = f"{target}({call})"
    if not plain:
        result = f"tuple(leaf for leaf in tree_leaves({result}) if isinstance(leaf, torch.Tensor))"
    if instance.operator == "__setitem__":
        call = call.replace("x0.clone()", "y", 1)
        lines += [f"    def forward(self{names}):", "        y = x0.clone()", f"        {target}({call})", "        return y"]
    else:
        lines += [f"    def forward(self{names}):", f"        return {result}"]
    mode = f".train({instance.context_value('training')})" if instance.context_value("training") is not None else ""
    dtype = instance.context_value("parameters")
    moved = f".to(torch.{dtype.name})" if isinstance(dtype, DType) else ""
    lines += ["", "", f"torch.manual_seed({seed})", f"model = Model(){moved}{mode}", "inputs = ("]
    lines += [f"    {_tensor_text(array, each)}," for array, each in zip(inputs, strides, strict=True)]
    lines.append(")")
    if lazy:
        lines.append("model(*inputs)  # gives the lazy parameters their shapes")
    if any(each is not None for each in strides):
        lines[:0] = [*_STRIDED.strip().splitlines(), "", ""]
    return "\n".join(lines)


def expected_source(*, plain: bool) -> str:
    """Source that defines `expected`, a list of arrays, by running `model`."""
    arrays = "[result.numpy()]" if plain else "[leaf.numpy() for leaf in result]"
    return f"with torch.no_grad():\n    result = model(*inputs)\nexpected = {arrays}"


_STRIDED = """
def strided(tensor, strides):
    extent = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, strides))
    view = torch.zeros(extent, dtype=tensor.dtype).as_strided(tensor.shape, strides)
    return view.copy_(tensor)
"""


def _tensor_text(array: Array, strides: tuple[int, ...] | None) -> str:
    name = dtype_name(array.dtype)
    if name in _VIEWED:
        text = f"torch.from_numpy({array_text(array.astype(_VIEWED[name]))}).to(torch.{name})"
    else:
        text = f"torch.from_numpy({array_text(array)}.copy())"
    return text if strides is None else f"strided({text}, {strides})"


class _Writer:
    """Writes arguments; tensors of the call become x0, x1, ... in the order in which the model takes them."""

    def __init__(self, in_place: bool) -> None:
        self._in_place = in_place
        self._count = 0

    def argument(self, argument: Argument, *, inputs: bool) -> str:
        text = self._value(argument.value, inputs)
        return f"{argument.name}={text}" if argument.keyword else text

    def _value(self, value: Any, inputs: bool) -> str:
        if isinstance(value, Tensor):
            return self._tensor(value, inputs)
        if isinstance(value, (list, tuple)):
            items = [self._value(item, inputs) for item in cast("list[Any]", value)]
            if isinstance(value, list):
                return f"[{', '.join(items)}]"
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {self._value(item, inputs)}" for key, item in cast("dict[Any, Any]", value).items()) + "}"
        if isinstance(value, slice):
            ends = cast("tuple[Any, ...]", (value.start, value.stop, value.step))
            return f"slice({', '.join(self._value(end, inputs) for end in ends)})"
        if isinstance(value, Call):
            parts = [text if name is None else f"{name}={text}" for name, text in ((n, self._value(v, False)) for n, v in value.arguments)]
            return f"{value.api}({', '.join(parts)})"
        return _scalar(value)

    def _tensor(self, tensor: Tensor, inputs: bool) -> str:
        if not inputs:
            return f"torch.zeros({tensor.shape}, dtype=torch.{tensor.dtype})"
        name = f"x{self._count}"
        self._count += 1
        return f"{name}.clone()" if self._in_place else name


def _scalar(value: Any) -> str:
    if isinstance(value, DType):
        return f"torch.{value.name}"
    if isinstance(value, Device):
        return f'torch.device("{value.name}")'
    if isinstance(value, Enum):
        return f"{value.path}.{value.member}"
    if isinstance(value, Named):
        return value.path
    if isinstance(value, (int, float, complex)):
        return number_text(value)
    return repr(value)
