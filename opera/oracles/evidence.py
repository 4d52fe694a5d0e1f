"""The data for a condition on an output: the inputs, the library's outputs and the compiler's outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from opera.arrays import Array, Outputs, as_array, is_array
from opera.instance import Instance


@dataclass(frozen=True)
class Evidence:
    """The data for a condition.

    Attributes:
        instance: What the model was made from.
        inputs: The model's.
        place: The input that the filter names.
        outputs: The library's outputs.
        results: The compiler's; None where it gave none.
        index: The output in question.
        crossed: Where a rounding error of the inputs takes the library from its own result to the compiler's, exactly on a step as well.
        exact: The output where integers are int64 or float64; None where it cannot be had.
        rounded: The output where the inputs are rounded to the dtypes that the compiler declares to compute in; None as above.
        computes_as: The dtypes that the compiler declares to compute as others.
    """

    instance: Instance
    inputs: Outputs
    place: int
    outputs: Outputs
    results: Outputs | None
    index: int
    crossed: Callable[[], Array]
    exact: Callable[[str], Array | None]
    rounded: Callable[[], Array | None]
    computes_as: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def expected(self) -> Array:
        """The library's output that is compared."""
        return as_array(self.outputs[self.index])

    @property
    def actual(self) -> Array | None:
        """The compiler's, of the same shape."""
        return None if self.results is None else as_array(self.results[self.index])

    @property
    def input(self) -> Array | None:
        """The input that the filter names, where it is an array."""
        if self.place >= len(self.inputs) or not is_array(self.inputs[self.place]):
            return None
        return as_array(self.inputs[self.place])

    def arrays(self, kinds: str) -> list[Array]:
        """The inputs that are arrays of dtypes of these numpy kinds."""
        arrays = [as_array(value) for value in self.inputs if is_array(value)]
        return [array for array in arrays if array.dtype.kind in kinds]

    def spread(self, mask: Array) -> Array:
        """A mask over the input as one over the output: element by element where the shapes allow it, else all or nothing."""
        try:
            return np.broadcast_to(mask, self.expected.shape)
        except ValueError:
            return self.everywhere(bool(mask.any()))

    def everywhere(self, condition: bool) -> Array:
        """Every element, or none."""
        return np.full(self.expected.shape, condition)

    def nowhere(self) -> Array:
        """A mask that selects no element."""
        return self.everywhere(False)
