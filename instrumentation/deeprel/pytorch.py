"""PyTorch for generation by relation: values of recorded instances, and whether two results are equal.

Unlike a recorder this runs in no test's process, and it needs the driver's own reading of instances: it imports `opera`.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, Dict, List, NamedTuple, Tuple, cast

from ..docter.pytorch import PyTorchBench

torch: Any = importlib.import_module("torch")

RELATIVE, ABSOLUTE = 1e-3, 1e-4
"""How far apart equal floating-point results may be: relations are between formulas, not between kernels."""


class Arguments(NamedTuple):
    """Arguments of one recorded call, made anew: (part, name, value, by keyword)."""

    items: List[Tuple[str, str, Any, bool]]
    context: Dict[str, Any]


class Relations(PyTorchBench):
    """The library's APIs, and its values made from instance documents."""

    def __init__(self) -> None:
        super().__init__()
        _find_opera(__file__)
        self._instance: Any = importlib.import_module("opera.instance")
        self._sampling: Any = importlib.import_module("opera.models.sampling")
        self._template: Any = importlib.import_module("opera.templates.pytorch_model")

    def resolve(self, api: str) -> Any:
        """The function or class called *api*; raises ImportError or AttributeError."""
        return self._template.resolve(api)

    def arguments(self, document: Dict[str, Any]) -> Arguments:
        """The arguments of the recorded call *document*; equal for every call of this."""
        instance = self._instance.decode_instance(document)
        items: List[Tuple[str, str, Any, bool]] = []
        for part, given in (("build", instance.init), ("call", instance.call)):
            for number, argument in enumerate(given):
                value = self._made(argument.value, f"{instance.api}:{part}:{number}")
                items.append((part, argument.name, value, argument.keyword))
        return Arguments(items, dict(instance.context))

    def built(self, factory: Any, positional: List[Any], keywords: Dict[str, Any], context: Dict[str, Any]) -> Any:
        """The module of a recorded call, in the dtype and the mode of that call."""
        module = factory(*positional, **keywords)
        if not isinstance(module, torch.nn.Module):
            return module
        dtype = context.get("parameters")
        whole: Any = module if dtype is None else module.to(self._template.constant(dtype))
        return whole.train(bool(context.get("training", False)))

    def equal(self, one: Any, other: Any) -> bool:
        """Whether two results have the same structure and nearly the same values."""
        left, right = torch.utils._pytree.tree_leaves(one), torch.utils._pytree.tree_leaves(other)
        return len(left) == len(right) and bool(left) and all(_equal(a, b) for a, b in zip(left, right, strict=True))

    def _made(self, value: Any, key: str) -> Any:
        if isinstance(value, self._instance.Tensor):
            tensor = self._template.from_numpy(self._sampling.sample(value, key, 0), value.dtype)
            if value.strides is None or 0 in value.strides:
                return tensor
            return torch.empty_strided(tensor.shape, value.strides, dtype=tensor.dtype).copy_(tensor)
        if isinstance(value, (list, tuple)):
            items = [self._made(item, f"{key}.{place}") for place, item in enumerate(cast("List[Any]", value))]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, dict):
            return {name: self._made(item, f"{key}.{name}") for name, item in cast("Dict[Any, Any]", value).items()}
        if isinstance(value, self._instance.Call):
            positional = [self._made(item, key) for name, item in value.arguments if name is None]
            keywords = {name: self._made(item, key) for name, item in value.arguments if name is not None}
            return self._template.resolve(value.api)(*positional, **keywords)
        return self._template.constant(value)


def _find_opera(place: str) -> None:
    """Puts the folder that holds the package `opera` on the module search path."""
    folder = os.path.dirname(os.path.abspath(place))
    while not os.path.isfile(os.path.join(folder, "opera", "instance", "__init__.py")):
        above = os.path.dirname(folder)
        if above == folder:
            raise ImportError("deeprel rebuilds recorded values with the package opera, which is in no folder above this one")
        folder = above
    if folder not in sys.path:
        sys.path.append(folder)


def _equal(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return type(one) is type(other) and bool(one == other)
    if one.shape != other.shape or one.layout is not torch.strided or other.layout is not torch.strided:
        return False
    left, right = (item.detach().to(torch.complex128 if item.is_complex() else torch.float64) for item in (one, other))
    if left.dtype != right.dtype:
        return False
    return bool(torch.allclose(left, right, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True))
