"""Convolution and pooling: their types, and their meaning over views of all windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from opera.arrays import Array
from opera.extensions.programs.relations import Shape, Solution, count_of, integer, integers, same_dtype, typical
from opera.extensions.programs.types import Attribute, Attributes, IllTyped, TensorType, Type, tensor

WINDOW: Mapping[str, str] = {"kernel": "sizes of the window", "strides": "steps", "padding": "on both sides", "dilations": "distances"}
"""Parameters of a window, each with one number for each spatial axis."""


def _window(shape: Shape, random: Random, *, dilate: bool, pad: bool) -> tuple[Shape, dict[str, Attribute]]:
    """Spatial sizes from which a window makes *shape*, and the window."""
    kernel = [random.randint(1, 3) for _ in shape]
    strides = [random.choice((1, 1, 2)) for _ in shape]
    dilations = [random.choice((1, 1, 2)) if dilate else 1 for _ in shape]
    padding = [random.randint(0, min(1, (size - 1) // 2)) if pad else 0 for size in kernel]
    found: list[int] = []
    for index, size in enumerate(shape):
        reach = dilations[index] * (kernel[index] - 1) + 1
        wanted = (size - 1) * strides[index] + reach - 2 * padding[index]
        if wanted < 1:
            padding[index] = 0
            wanted = (size - 1) * strides[index] + reach
        found.append(wanted)
    return tuple(found), {"kernel": tuple(kernel), "strides": tuple(strides), "padding": tuple(padding), "dilations": tuple(dilations)}


def _slid(shape: Shape, attributes: Attributes) -> Shape:
    """The spatial sizes that a window makes of *shape*."""
    kernel, strides, padding, dilations = (integers(attributes, name, len(shape)) for name in WINDOW)
    if min((*kernel, *strides, *dilations), default=1) < 1 or min(padding, default=0) < 0:
        raise IllTyped(f"the window {dict(attributes)} is malformed")
    found = tuple(
        (size + 2 * pad - dilation * (width - 1) - 1) // step + 1
        for size, width, step, pad, dilation in zip(shape, kernel, strides, padding, dilations, strict=True)
    )
    if min(found, default=1) < 1:
        raise IllTyped(f"the window {kernel} is larger than {shape}")
    return found


@dataclass(frozen=True)
class Convolution:
    """Convolution of `(batch, channels, ...)` with `(filters, channels per group, ...)`.

    Attributes:
        spatial: The number of spatial axes.
    """

    spatial: int

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of a batch, channels, and the spatial axes."""
        found = typical(target, dtypes)
        return found is not None and len(found.shape) == self.spatial + 2 and min(found.shape) > 0

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """Any window, any number of channels."""
        shape, dtype = tensor(target)
        batch, filters = shape[:2]
        sizes, attributes = _window(shape[2:], random, dilate=True, pad=True)
        groups = filters if filters < 4 and random.random() < 0.25 else 1
        channels = random.randint(1, 3)
        kernel = attributes["kernel"]
        assert isinstance(kernel, tuple)
        data = TensorType((batch, channels * groups, *sizes), dtype)
        return Solution((data, TensorType((filters, channels, *kernel), dtype)), {**attributes, "groups": groups})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The batch, the filters, and what the window makes of the spatial sizes."""
        count_of(arguments, 2)
        data, weight = same_dtype(arguments)
        groups = integer(attributes, "groups")
        if len(data.shape) != self.spatial + 2 or len(weight.shape) != self.spatial + 2:
            raise IllTyped(f"{data} and {weight} have not {self.spatial} spatial axes")
        if groups < 1 or weight.shape[0] % groups or data.shape[1] != weight.shape[1] * groups:
            raise IllTyped(f"{data} and {weight} do not fit {groups} groups")
        if weight.shape[2:] != integers(attributes, "kernel"):
            raise IllTyped(f"{weight} is not a kernel of {attributes['kernel']}")
        return TensorType((data.shape[0], weight.shape[0], *_slid(data.shape[2:], attributes)), data.dtype)


@dataclass(frozen=True)
class SameConvolution(Convolution):
    """Convolution that keeps spatial sizes, so that many follow each other, as in real networks."""

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """An odd kernel with as much padding as it reaches; sometimes one group for each channel."""
        shape, dtype = tensor(target)
        batch, filters, *sizes = shape
        kernel, dilations = [random.choice((1, 3)) for _ in sizes], [random.choice((1, 1, 2)) for _ in sizes]
        padding = tuple(dilation * (size - 1) // 2 for size, dilation in zip(kernel, dilations, strict=True))
        groups = filters if filters <= 8 and random.random() < 0.3 else 1
        channels = 1 if groups > 1 else random.randint(1, 8)
        attributes: dict[str, Attribute] = {
            "kernel": tuple(kernel),
            "strides": (1,) * len(sizes),
            "padding": padding,
            "dilations": tuple(dilations),
            "groups": groups,
        }
        data = TensorType((batch, channels * groups, *sizes), dtype)
        return Solution((data, TensorType((filters, channels, *kernel), dtype)), attributes)


@dataclass(frozen=True)
class Pooling:
    """A window that slides over the spatial axes of `(batch, channels, ...)`.

    Attributes:
        spatial: The number of spatial axes.
    """

    spatial: int

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of a batch, channels, and the spatial axes."""
        found = typical(target, dtypes)
        return found is not None and len(found.shape) == self.spatial + 2 and min(found.shape) > 0

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """A random window, and an argument that it reduces to the shape of *target*."""
        shape, dtype = tensor(target)
        sizes, attributes = _window(shape[2:], random, dilate=False, pad=True)
        return Solution((TensorType((*shape[:2], *sizes), dtype),), attributes)

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """What the window makes of the spatial sizes."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        if len(shape) != self.spatial + 2:
            raise IllTyped(f"{arguments[0]} has not {self.spatial} spatial axes")
        return TensorType((*shape[:2], *_slid(shape[2:], attributes)), dtype)


def _windows(data: Array, attributes: Attributes, fill: float) -> Array:
    """A view of shape `(batch, channels, positions..., kernel...)`."""
    kernel, strides, padding, dilations = (integers(attributes, name) for name in ("kernel", "strides", "padding", "dilations"))
    padded = np.pad(data, [(0, 0), (0, 0), *((each, each) for each in padding)], constant_values=fill)
    reach = [dilation * (size - 1) + 1 for dilation, size in zip(dilations, kernel, strict=True)]
    spatial = tuple(range(2, data.ndim))
    seen = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=spatial)
    steps = (slice(None), slice(None), *(slice(None, None, step) for step in strides), *(slice(None, None, step) for step in dilations))
    return seen[steps]


def convolution(arguments: Sequence[Array], attributes: Attributes) -> Array:
    """Cross-correlation of data `(N, C, ...)` with weights `(O, C / groups, ...)`, summed in double precision."""
    data, weight = arguments
    groups = integer(attributes, "groups")
    seen = _windows(data.astype(np.float64), attributes, 0.0)
    spatial = data.ndim - 2
    parts: list[Array] = []
    for part, kernel in zip(np.split(seen, groups, axis=1), np.split(weight.astype(np.float64), groups, axis=0), strict=True):
        axes = [1, *range(2 + spatial, 2 + 2 * spatial)]
        found = np.tensordot(part, kernel, axes=(axes, list(range(1, kernel.ndim))))
        parts.append(np.moveaxis(found, -1, 1))
    return np.concatenate(parts, axis=1).astype(data.dtype)


def max_pool(arguments: Sequence[Array], attributes: Attributes) -> Array:
    """The largest element of each window; padding never is."""
    data = arguments[0]
    seen = _windows(data, attributes, float(np.finfo(data.dtype).min))
    return seen.max(axis=tuple(range(data.ndim, seen.ndim)))


def average_pool(arguments: Sequence[Array], attributes: Attributes) -> Array:
    """The mean of each window."""
    data = arguments[0]
    seen = _windows(data.astype(np.float64), attributes, 0.0)
    return seen.mean(axis=tuple(range(data.ndim, seen.ndim))).astype(data.dtype)
