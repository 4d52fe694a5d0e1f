"""PyTorch for generation by relation."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from opera.extensions.generators.deeprel.values import Arguments, Values, equal
from opera.extensions.generators.docter.pytorch import PyTorchBench
from opera.extensions.generators.settings.recorded import Call

torch: Any = importlib.import_module("torch")


class Relations(PyTorchBench):
    """The library's APIs, and its values made from instance documents."""

    def __init__(self) -> None:
        super().__init__()
        self._values = Values("pytorch.model", self._made)
        self._template = self._values.template

    def resolve(self, api: str) -> Any:
        """The function or class called *api*; raises ImportError or AttributeError."""
        return self._values.resolve(api)

    def arguments(self, document: dict[str, Any]) -> Arguments:
        """The arguments of the recorded call *document*; equal for every call of this."""
        return self._values.arguments(document)

    def sampled(self, document: dict[str, Any]) -> Call:
        """The recorded call *document* with the values of its tensors."""
        return self._values.sampled(document)

    def rebuilt(self, call: Call) -> Arguments:
        """The arguments of *call*."""
        return self._values.rebuilt(call)

    def typed(self, call: Call, dtype: str) -> Mapping[str, Any]:
        """The context of *call* with inputs of *dtype*: the parameters of a module have it too, if they can."""
        inexact = call.module and dtype.startswith(("float", "bfloat", "complex"))
        return {**call.context, "parameters": self._values.dtype(dtype)} if inexact else call.context

    def numpy_dtype(self, name: str) -> Any:
        """The numpy dtype for the canonical *name*."""
        return self._values.numpy_dtype(name)

    def built(self, factory: Any, positional: list[Any], keywords: dict[str, Any], context: dict[str, Any]) -> Any:
        """The module of a recorded call, in the dtype and the mode of that call."""
        module = factory(*positional, **keywords)
        if not isinstance(module, torch.nn.Module):
            return module
        dtype = context.get("parameters")
        whole: Any = module if dtype is None else module.to(self._template.constant(dtype))
        return whole.train(bool(context.get("training", False)))

    def equal(self, one: Any, other: Any) -> bool:
        """Whether two results have the same structure and nearly the same values."""
        return equal(torch.utils._pytree.tree_leaves(one), torch.utils._pytree.tree_leaves(other))

    def _made(self, described: Any, array: Any, part: str) -> Any:
        tensor = self._template.from_numpy(array, described.dtype)
        if described.strides is None or 0 in described.strides:
            return tensor
        return torch.empty_strided(tensor.shape, described.strides, dtype=tensor.dtype).copy_(tensor)
