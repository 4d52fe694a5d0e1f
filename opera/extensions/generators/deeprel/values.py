"""Rebuilds recorded calls, and compares two results: the parts that all libraries share.

Unlike a recorder this runs in no test's process, and it needs the driver's own reading of instances: it imports `opera`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from opera import arrays
from opera import instance as instances
from opera.extensions.generators.settings.recorded import Call, DtypeName, HeldTensor, Item
from opera.instrumentation.foreign_tensors import array_of
from opera.instrumentation.wire import Unrecordable
from opera.models import operators, sampling
from opera.models.template import Invalid

np: Any = importlib.import_module("numpy")

RELATIVE, ABSOLUTE = 1e-3, 1e-4
"""How far apart equal floating-point results may be: relations are between formulas, not between kernels."""


class Arguments(NamedTuple):
    """Rebuilt arguments of one recorded call: (part, name, value, by keyword), and the call's context."""

    items: list[tuple[str, str, Any, bool]]
    context: dict[str, Any]


class Values:
    """Makes the values of instance documents.

    Attributes:
        template: The module of the library's template.
    """

    def __init__(self, template: str, tensor: Callable[[Any, Any, str], Any]) -> None:
        """*template* names the library's template; *tensor* makes a tensor of its description, its values and the part of the call."""
        self.template: Any = importlib.import_module(f"opera.templates.{template}")
        self._tensor = tensor

    def resolve(self, api: str) -> Any:
        """The function or class called *api*.

        Raises:
            ImportError: the library's list of operators does not admit it, or it is not the library's.
            AttributeError: it is not there.
        """
        try:
            return self.template.resolve(api)
        except Invalid as error:
            raise ImportError(f"{api} is no operator") from error

    def arguments(self, document: dict[str, Any]) -> Arguments:
        """The arguments of the recorded call *document*; equal for every call of this."""
        return self.rebuilt(self.sampled(document))

    def sampled(self, document: dict[str, Any]) -> Call:
        """The recorded call *document* with the values of its tensors; equal for every call of this."""
        instance = instances.decode_instance(document)
        operators.operators_of(instance.library).check_instance(instance)
        items: list[Item] = []
        for part, given in (("build", instance.init), ("call", instance.call)):
            for number, argument in enumerate(given):
                value = self._sampled(argument.value, f"{instance.api}:{part}:{number}")
                items.append(Item(part, argument.name, value, argument.keyword))
        return Call(instance.api, tuple(items), instance.kind is instances.Kind.MODULE, dict(instance.context))

    def rebuilt(self, call: Call) -> Arguments:
        """The arguments of *call* as the library's own objects."""
        items = [(item.part, item.name, self._made(item.value, item.part), item.keyword) for item in call.items]
        return Arguments(items, dict(call.context))

    def dtype(self, name: str) -> Any:
        """A data type as the context of a call has it."""
        return instances.DType(name)

    def numpy_dtype(self, name: str) -> Any:
        """The numpy dtype for the canonical *name*."""
        return arrays.numpy_dtype(name)

    def _sampled(self, value: Any, key: str) -> Any:
        if isinstance(value, instances.Tensor):
            return HeldTensor(value.dtype, sampling.sample(value, key, 0), value.strides)
        if isinstance(value, instances.DType):
            return DtypeName(value.name)
        if isinstance(value, (list, tuple)):
            items = [self._sampled(item, f"{key}.{index}") for index, item in enumerate(cast("list[Any]", value))]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, dict):
            return {name: self._sampled(item, f"{key}.{name}") for name, item in cast("dict[Any, Any]", value).items()}
        if isinstance(value, slice):
            ends = cast("tuple[Any, ...]", (value.start, value.stop, value.step))
            return slice(*(self._sampled(end, f"{key}.{index}") for index, end in enumerate(ends)))
        if isinstance(value, instances.Call):
            return instances.Call(value.api, tuple((name, self._sampled(item, key)) for name, item in value.arguments))
        return value

    def _made(self, value: Any, part: str) -> Any:
        if isinstance(value, HeldTensor):
            return self._tensor(value, value.array, part)
        if isinstance(value, DtypeName):
            return self.template.constant(self.dtype(value.name))
        if isinstance(value, (list, tuple)):
            items = [self._made(item, part) for item in cast("list[Any]", value)]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, dict):
            return {name: self._made(item, part) for name, item in cast("dict[Any, Any]", value).items()}
        if isinstance(value, slice):
            return slice(*(self._made(end, part) for end in cast("tuple[Any, ...]", (value.start, value.stop, value.step))))
        if isinstance(value, instances.Call):
            positional = [self._made(item, part) for name, item in value.arguments if name is None]
            keywords = {name: self._made(item, part) for name, item in value.arguments if name is not None}
            return self.resolve(value.api)(*positional, **keywords)
        return self.template.constant(value)


def equal(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether the leaves of two results are as many and nearly the same; two results without any are not."""
    return len(one) == len(other) and bool(one) and all(_equal(left, right) for left, right in zip(one, other, strict=True))


def _equal(one: Any, other: Any) -> bool:
    try:
        left, right = array_of(one), array_of(other)
    except Unrecordable:
        return False
    if left is None and right is None:
        return type(one) is type(other) and bool(one == other)
    if left is None or right is None or left.shape != right.shape:
        return False
    if left.dtype.kind in "OSU" or right.dtype.kind in "OSU":
        return bool(np.array_equal(left, right))
    if (left.dtype.kind == "c") != (right.dtype.kind == "c"):
        return False
    kind = "complex128" if left.dtype.kind == "c" else "float64"
    return bool(np.allclose(left.astype(kind), right.astype(kind), rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True))
