"""Runs calls that an OpiDiff suite cannot say in YAML: data types, slices, strided tensors, and functions without an ATen operator.

`opera export opidiff` writes this file next to the suite. It needs PyTorch only. The suite calls `Call`.
"""

from __future__ import annotations

import base64
import functools
import importlib
import math
from collections.abc import Sequence
from typing import Any, cast

torch: Any = importlib.import_module("torch")

_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Call(torch.nn.Module):
    """Calls a function of PyTorch, or a module that it constructs.

    Args:
        call: `api`, `kind` (`function` or `module`), `init` and `call`: lists of arguments, each with `name`, `value` and `keyword`; and
            `context`: the mode and the dtype of the module. A value `{"input": N}` is input N; with `as`, in the dtype and with the strides
            that `as` has, complex numbers from pairs.
    """

    def __init__(self, call: dict[str, Any]) -> None:
        torch.nn.Module.__init__(self)
        self._arguments = call["call"]
        self.target = _resolved(call["api"])
        if call["kind"] == "module":
            context = {name: _value(value, ()) for name, value in call.get("context", ())}
            positional, keywords = _split(call.get("init", ()), ())
            module = self.target(*positional, **keywords)
            if "parameters" in context:
                module = module.to(context["parameters"])
            self.target = module.train(bool(context.get("training", False)))

    def forward(self, *inputs: Any) -> Any:
        positional, keywords = _split(self._arguments, inputs)
        return self.target(*positional, **keywords)


def tensor(content: dict[str, Any]) -> Any:
    """A tensor of a shape and a dtype: with its data, or drawn uniformly between the bounds of its constraint."""
    dtype = getattr(torch, content["dtype"])
    shape = content["shape"]
    if content.get("data") is not None:
        data = bytearray(base64.b64decode(content["data"]))
        made = torch.frombuffer(data, dtype=dtype).reshape(shape).clone() if data else torch.empty(shape, dtype=dtype)
    else:
        bounds = content.get("constraint", {})
        low, high = (default if bounds.get(name) is None else bounds[name] for name, default in (("low", -1.0), ("high", 1.0)))
        generator = torch.Generator().manual_seed(0)
        made = low + (high - low) * torch.rand(shape, generator=generator, dtype=torch.float64)
        made = (made if dtype.is_floating_point or dtype.is_complex else made.round()).to(dtype)
    return made if content.get("strides") is None else _strided(made, content["strides"])


def _restored(values: Any, described: dict[str, Any]) -> Any:
    """*values*, an input, as the call takes it."""
    dtype = getattr(torch, described["dtype"])
    if dtype.is_complex and not values.is_complex():
        values = torch.complex(values[..., 0], values[..., 1])
    values = values.to(dtype)
    return values if described.get("strides") is None else _strided(values, described["strides"])


def _strided(values: Any, strides: Sequence[int]) -> Any:
    """*values* with these strides, in elements."""
    if values.numel() == 0:
        return values
    extent = 1 + sum((size - 1) * step for size, step in zip(values.shape, strides, strict=True))
    view = torch.zeros(extent, dtype=values.dtype).as_strided(values.shape, tuple(strides))
    index = tuple(slice(0, 1) if step == 0 else slice(None) for step in strides)
    view[index] = values[index]
    return view


def _split(arguments: Sequence[dict[str, Any]], inputs: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments."""
    positional = [_value(each["value"], inputs) for each in arguments if not each.get("keyword")]
    return positional, {each["name"]: _value(each["value"], inputs) for each in arguments if each.get("keyword")}


def _resolved(path: str) -> Any:
    """The object of PyTorch at a dotted path."""
    head, *rest = path.split(".")
    return functools.reduce(getattr, rest, importlib.import_module(head))


def _value(tree: Any, inputs: Sequence[Any]) -> Any:
    """The value that *tree* describes: a scalar, a list, or an object with one tag."""
    kind = cast(Any, type)(tree)
    if kind is list:
        return [_value(each, inputs) for each in tree]
    if kind is not dict:
        return tree
    if "input" in tree:
        return inputs[tree["input"]] if "as" not in tree else _restored(inputs[tree["input"]], tree["as"])
    ((tag, content),) = tree.items()
    return _tagged(tag, content, inputs)


def _tagged(tag: str, content: Any, inputs: Sequence[Any]) -> Any:
    match tag:
        case "float":
            return _NOT_FINITE[content]
        case "tuple":
            return tuple(_value(each, inputs) for each in content)
        case "complex" | "slice" | "range":
            return {"complex": complex, "slice": slice, "range": range}[tag](*(_value(each, inputs) for each in content))
        case "dict":
            return {_value(key, inputs): _value(each, inputs) for key, each in content}
        case "bytes":
            return base64.b64decode(content)
        case "ellipsis":
            return Ellipsis
        case "dtype":
            return getattr(torch, content)
        case "device":
            return torch.device(content)
        case "enum":
            return getattr(_resolved(content[0]), content[1])
        case "name":
            return _resolved(content)
        case "tensor":
            return tensor(content)
        case "call":
            positional = [_value(value, inputs) for name, value in content[1] if name is None]
            keywords = {name: _value(value, inputs) for name, value in content[1] if name is not None}
            return _resolved(content[0])(*positional, **keywords)
        case _:
            raise ValueError(f"unknown tag {tag!r}")
