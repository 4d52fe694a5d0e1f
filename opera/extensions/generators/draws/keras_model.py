"""A random call of Keras as an operator whose outputs say whether two of its draws are as they should be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from opera.extensions.generators.draws import stated
from opera.extensions.generators.draws.laws import Law
from opera.instance import Instance, Kind
from opera.models.template import PythonSource, Reference
from opera.templates.keras.backend import keras
from opera.templates.keras.model import KerasModel

_DIALECT = stated.Dialect(
    "object",
    "__call__",
    "keras.ops",
    "keras.ops.all",
    "keras.ops.mean",
    cast='keras.ops.cast({}, "float32")',
    sort="keras.ops.sort({})",
    largest="keras.ops.max({}, 1)",
)


class DrawnModel(KerasModel):
    """Each output but the first is a statement, and true; the first has the dtype and the shape of a draw."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        self._law = Law.of(instance)
        super().__init__(replace(instance, kind=Kind.MODULE if instance.init else Kind.FUNCTION), key, seed)

    def _operator(self, instance: Instance, seed: int) -> Any:
        """The operator, which makes its statements when it is first called, and only then knows the shape of a draw."""
        operator: Any = super()._operator(instance, seed)
        draw = operator.call

        def call(tensors: Sequence[Any]) -> Any:
            drawn = draw(tensors)
            self._lines = stated.lines(self._law, math.prod(drawn.shape), keras.backend.standardize_dtype(drawn.dtype), _DIALECT)
            return stated.made(self._lines, "keras", keras, lambda *inputs: draw(inputs))(*tensors)

        operator.call = call
        return operator

    def reference(self) -> Reference:
        """The statements, which have to hold for Keras' own draws."""
        return stated.checked(super().reference())

    def source(self, form: str) -> PythonSource:
        found = super().source(form)
        before, functional, after = found.text.partition("\nmodel = keras.Model([")
        if not functional:
            return replace(found, text=stated.around(found.text, self._lines))
        call, _, rest = after.partition("\n")
        names, _, result = call.removesuffix(")").partition("], ")
        model = f"model = keras.Model([{names}], list(Stated(lambda {names}: {result})({names})))"
        return replace(found, text="\n".join([before, "", "", *self._lines, "", "", model, rest]))
