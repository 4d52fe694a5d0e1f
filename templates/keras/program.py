"""A Keras instance as a pure function of its tensors, ready to be captured by the library on which Keras runs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Protocol

from opera.arrays import Array
from opera.templates.keras.backend import keras


class Operator(Protocol):
    """A function, or a layer that was built."""

    @property
    def layer(self) -> Any:
        """The layer; None for a function."""
        ...

    def call(self, tensors: Sequence[Any]) -> Any:
        """The outputs of the operator for *tensors*."""
        ...

    def restore(self, weights: Sequence[Array]) -> None:
        """Sets the weights, and resets a stateful layer."""
        ...

    def seeds(self) -> list[Array]:
        """The states of its generators of random numbers."""
        ...

    def rewind(self, seeds: Sequence[Array]) -> None:
        """Sets the states of its generators to *seeds*."""
        ...


class KerasProgram:
    """An operator whose weights are those of the reference.

    Attributes:
        layer: The layer, whose variables the program reads; None for a function.
        tensors: The inputs, as tensors of the backend.
    """

    def __init__(self, operator: Operator, weights: Sequence[Array], tensors: Sequence[Any], settings: Any) -> None:
        """*settings* makes a context in which Keras has the settings under which the instance was recorded."""
        self.layer = operator.layer
        self.tensors = list(tensors)
        self._operator = operator
        self._weights = weights
        self._seeds = operator.seeds()
        self._settings = settings

    def restore(self) -> None:
        """Undoes what calls have done to the layer's variables."""
        with self._settings():
            self._operator.restore(self._weights)
            self._operator.rewind(self._seeds)

    def call(self, *tensors: Any) -> tuple[Any, ...]:
        """Every tensor of the operator's result on *tensors*, in the order of the reference. Changes nothing that outlives the call."""
        with self._settings(), _stateless():
            result = self._operator.call(tensors)
            return tuple(leaf for leaf in keras.tree.flatten(result) if keras.ops.is_tensor(leaf))


def _stateless() -> contextlib.AbstractContextManager[Any]:
    """On JAX, a scope that keeps changes of variables to itself: a traced value must not outlive its trace."""
    return keras.StatelessScope() if keras.config.backend() == "jax" else contextlib.nullcontext()
