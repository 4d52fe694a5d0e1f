"""Keras for generation by relation, on whichever library it runs."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from opera.extensions.generators.deeprel.values import Arguments, Values, equal
from opera.extensions.generators.docter.keras import KerasBench
from opera.extensions.generators.settings.recorded import Call

_USUAL = {"image_data_format": "channels_last", "floatx": "float32", "dtype_policy": "float32"}
"""Global settings where the context of a recorded call says nothing else."""


class Relations(KerasBench):
    """The library's APIs, and its values made from instance documents."""

    def __init__(self) -> None:
        super().__init__()
        self._values = Values("keras.model", self._made)

    def resolve(self, api: str) -> Any:
        """The function or class called *api*; raises ImportError or AttributeError."""
        return self._values.resolve(api)

    def arguments(self, document: dict[str, Any]) -> Arguments:
        """The arguments of the recorded call *document*; equal for every call of this. Its settings hold until the next `reset`."""
        return self.rebuilt(self.sampled(document))

    def sampled(self, document: dict[str, Any]) -> Call:
        """The recorded call *document* with the values of its tensors."""
        return self._values.sampled(document)

    def rebuilt(self, call: Call) -> Arguments:
        """The arguments of *call*. Its settings hold until the next `reset`."""
        made = self._values.rebuilt(call)
        self._set({**_USUAL, **made.context})
        return made

    def typed(self, call: Call, dtype: str) -> Mapping[str, Any]:
        """The context of *call* with inputs of *dtype*: a layer computes in it, if it can."""
        real = call.module and dtype.startswith(("float", "bfloat"))
        return {**call.context, "dtype_policy": dtype} if real else call.context

    def numpy_dtype(self, name: str) -> Any:
        """The numpy dtype for the canonical *name*."""
        return self._values.numpy_dtype(name)

    def built(self, factory: Any, positional: list[Any], keywords: dict[str, Any], context: dict[str, Any]) -> Any:
        """The layer of a recorded call, which is called in the mode of that call."""
        layer = factory(*positional, **keywords)
        training = context.get("training")
        if training is None or not getattr(layer, "_call_has_training_arg", False):
            return layer
        return functools.partial(layer, training=bool(training))

    def equal(self, one: Any, other: Any) -> bool:
        """Whether two results have the same structure and nearly the same values."""
        return equal(self._keras.tree.flatten(one), self._keras.tree.flatten(other))

    def reset(self, seed: int, entry: str) -> None:
        """Seeds the library's generators and undoes settings; it is called too often to collect garbage as well."""
        self._keras.backend.clear_session(free_memory=False)
        self._set(_USUAL)
        self._keras.utils.set_random_seed(seed)

    def _set(self, settings: dict[str, Any]) -> None:
        self._keras.config.set_image_data_format(settings["image_data_format"])
        self._keras.config.set_floatx(settings["floatx"])
        self._keras.config.set_dtype_policy(settings["dtype_policy"])

    def _made(self, described: Any, array: Any, part: str) -> Any:
        """A tensor of the backend; constructors get arrays, and texts stay one, as most backends have no such tensors."""
        if described.dtype == "string":
            return array.astype(str)
        if part == "build":
            return array
        if described.dtype.startswith("float8"):
            return self._keras.ops.cast(self._keras.ops.convert_to_tensor(array.astype("float32")), array.dtype.name)
        return self._keras.ops.convert_to_tensor(array, dtype=array.dtype.name)
