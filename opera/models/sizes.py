"""Which sizes of a model's inputs may be left open: those that the library takes one larger."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from opera.arrays import Array
from opera.instance import Instance, Tensor
from opera.instance.values import walk
from opera.models.template import Invalid

NO_FREE_SIZE = "no-free-size"
"""Reason code of an instance of which no size can be left open."""
_LEAST = 2
"""A size of 1 may be broadcast, and one of 0 says that there is nothing: neither can be any other."""

Axis = tuple[int, int]
"""An input's place and one of its axes."""


WEIGHTS = frozenset({"W", "w", "R", "weight", "weights", "filter", "filters"})
"""Names of parameters that models hold as constants: nobody leaves the size of a kernel open."""


def weights_among(instance: Instance) -> list[int]:
    """The places of weights among the tensors with which *instance* is called."""
    names = [each.name for each in instance.call for value in walk(each.value) if isinstance(value, Tensor)]
    return [place for place, name in enumerate(names) if name in WEIGHTS]


def free_axes(inputs: Sequence[Array], accepts: Callable[[Sequence[Array]], bool], fixed: Collection[int] = ()) -> Mapping[Axis, int]:
    """The axes of *inputs* whose size may be left open, each with the size that it shares with others.

    Axes of equal size grow together, because most operators want them to be equal. Where the library does not take them so, the last
    of them keep their size.

    Args:
        inputs: The inputs.
        accepts: Whether the library takes these inputs in place of them.
        fixed: Places of inputs that keep their sizes.

    Raises:
        Invalid: no axis is free.
    """
    found: dict[Axis, int] = {}
    for size in sorted({size for each in inputs for size in each.shape if size >= _LEAST}):
        places = [(place, each) for place, each in enumerate(inputs) if place not in fixed]
        axes = [(place, axis) for place, each in places for axis, own in enumerate(each.shape) if own == size]
        while axes and not accepts(larger(inputs, {*found, *axes})):
            axes.pop()
        found.update(dict.fromkeys(axes, size))
    if not found:
        raise Invalid(NO_FREE_SIZE)
    return found


def larger(inputs: Sequence[Array], axes: Collection[Axis]) -> list[Array]:
    """*inputs* with one slice more along each of *axes*: the first one again, so that values stay in their range."""
    grown: list[Array] = []
    for place, each in enumerate(inputs):
        for axis in range(each.ndim):
            if (place, axis) in axes:
                each = np.concatenate([each, np.take(each, [0], axis)], axis)
        grown.append(each)
    return grown
