"""A random call of TensorFlow as a function whose outputs say whether two of its draws are as they should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from opera.extensions.generators.draws import stated
from opera.extensions.generators.draws.laws import Law
from opera.instance import Instance, Kind
from opera.models.template import LIBRARY_RAISED, Invalid, PythonSource, Reference
from opera.templates.tensorflow.artefacts import tf
from opera.templates.tensorflow.model import TensorFlowModel

_DIALECT = stated.Dialect(
    "tf.Module",
    "__call__",
    "tf",
    "tf.reduce_all",
    "tf.reduce_mean",
    cast="tf.cast({}, tf.float32)",
    sort="tf.sort({})",
    largest="tf.reduce_max({}, 1)",
)


class DrawnModel(TensorFlowModel):
    """Each output but the first is a statement, and true; the first has the dtype and the shape of a draw."""

    def __init__(self, instance: Instance, key: str, seed: int) -> None:
        law = Law.of(instance)
        super().__init__(replace(instance, kind=Kind.FUNCTION), key, seed)
        self._own, self.instance = self.instance, instance
        try:
            draw = super().call(self.tensors())[0]
        except Exception as error:
            raise Invalid(LIBRARY_RAISED) from error
        self._lines = stated.lines(law, int(tf.size(draw)), draw.dtype.name, _DIALECT)
        self._stated = stated.made(self._lines, "tf", tf, lambda *tensors: super(DrawnModel, self).call(tensors)[0])

    def call(self, tensors: Sequence[Any]) -> list[Any]:
        return list(self._stated(*tensors))

    def reference(self) -> Reference:
        """The statements, which have to hold for TensorFlow's own draws."""
        return stated.checked(super().reference())

    def source(self, form: str) -> PythonSource:
        drawn, self.instance = self.instance, self._own
        try:
            found = super().source(form)
        finally:
            self.instance = drawn
        return replace(found, text=stated.around(found.text, self._lines))
