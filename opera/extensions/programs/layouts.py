"""Relations of operators that move elements, and compute nothing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from opera.extensions.programs.relations import (
    MOST_RANK,
    Solution,
    axis_of,
    broadcast,
    count_of,
    integer,
    integers,
    narrowed,
    same_dtype,
    subset,
    typical,
)
from opera.extensions.programs.types import Attributes, IllTyped, TensorType, TupleType, Type, tensor


class Reshape:
    """Another shape with as many elements."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of a fitting dtype."""
        return typical(target, dtypes) is not None

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """Sizes are split, shuffled and multiplied together."""
        shape, dtype = tensor(target)
        sizes = [factor for size in shape for factor in _split(size, random)]
        random.shuffle(sizes)
        while len(sizes) > MOST_RANK - 1 or (len(sizes) > 1 and random.random() < 0.4):
            place = random.randrange(len(sizes) - 1)
            sizes[place : place + 2] = [sizes[place] * sizes[place + 1]]
        return Solution((TensorType(tuple(sizes), dtype),), {"shape": shape})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The shape asked for."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        wanted = integers(attributes, "shape")
        if math.prod(wanted) != math.prod(shape) or min(wanted, default=0) < 0:
            raise IllTyped(f"{arguments[0]} does not have the elements of shape {wanted}")
        return TensorType(wanted, dtype)


def _split(size: int, random: Random) -> list[int]:
    factor = next((each for each in (2, 3, 5, 7) if size > each and size % each == 0), None)
    return [size] if factor is None or random.random() < 0.5 else [factor, size // factor]


class Unsqueeze:
    """`expand_dims`: a new axis of size 1."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors with a size of 1."""
        found = typical(target, dtypes)
        return found is not None and 1 in found.shape

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """One of the sizes of 1 is the new axis."""
        shape, dtype = tensor(target)
        axis = random.choice([index for index, size in enumerate(shape) if size == 1])
        return Solution((TensorType((*shape[:axis], *shape[axis + 1 :]), dtype),), {"axis": axis})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The shape with the new axis."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        axis = axis_of(attributes, len(shape) + 1)
        return TensorType((*shape[:axis], 1, *shape[axis:]), dtype)


class Squeeze:
    """An axis of size 1 vanishes."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors with a free dimension."""
        found = typical(target, dtypes)
        return found is not None and len(found.shape) < MOST_RANK

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """An axis of size 1 anywhere."""
        shape, dtype = tensor(target)
        axis = random.randint(0, len(shape))
        return Solution((TensorType((*shape[:axis], 1, *shape[axis:]), dtype),), {"axis": axis})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The shape without the axis."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        axis = axis_of(attributes, len(shape))
        if shape[axis] != 1:
            raise IllTyped(f"axis {axis} of {arguments[0]} has not size 1")
        return TensorType((*shape[:axis], *shape[axis + 1 :]), dtype)


class Transposition:
    """`permute_dims`: the axes in another order."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of at least two dimensions."""
        found = typical(target, dtypes)
        return found is not None and len(found.shape) > 1

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """A random order of the axes."""
        shape, dtype = tensor(target)
        axes = list(range(len(shape)))
        random.shuffle(axes)
        sizes = [0] * len(shape)
        for index, axis in enumerate(axes):
            sizes[axis] = shape[index]
        return Solution((TensorType(tuple(sizes), dtype),), {"axes": tuple(axes)})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The sizes in the new order."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        axes = integers(attributes, "axes", len(shape))
        if sorted(axes) != list(range(len(shape))):
            raise IllTyped(f"axes {axes} are no order of {len(shape)} axes")
        return TensorType(tuple(shape[axis] for axis in axes), dtype)


class Broadcast:
    """`broadcast_to`: the shape asked for."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of a fitting dtype."""
        return typical(target, dtypes) is not None

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """A shape that broadcasts."""
        shape, dtype = tensor(target)
        return Solution((TensorType(narrowed(shape, random), dtype),), {"shape": shape})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The shape asked for."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        wanted = integers(attributes, "shape")
        if min(wanted, default=0) < 0 or broadcast([shape, wanted]) != wanted:
            raise IllTyped(f"{arguments[0]} does not broadcast to {wanted}")
        return TensorType(wanted, dtype)


class Concatenation:
    """Tensors, one behind the other along an axis."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors with an axis of at least two."""
        found = typical(target, dtypes)
        return found is not None and max(found.shape, default=0) > 1

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """Two or three parts."""
        shape, dtype = tensor(target)
        axis = random.choice([index for index, size in enumerate(shape) if size > 1])
        number = random.randint(2, min(3, shape[axis]))
        cuts = [0, *sorted(random.sample(range(1, shape[axis]), number - 1)), shape[axis]]
        parts = tuple(TensorType((*shape[:axis], high - low, *shape[axis + 1 :]), dtype) for low, high in itertools.pairwise(cuts))
        return Solution(parts, {"axis": axis})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The sum of the sizes along the axis."""
        found = same_dtype(arguments)
        if not found:
            raise IllTyped("takes at least one argument")
        axis = axis_of(attributes, len(found[0].shape))
        rest = {(*each.shape[:axis], *each.shape[axis + 1 :]) for each in found}
        if len(rest) > 1 or len({len(each.shape) for each in found}) > 1:
            raise IllTyped(f"{', '.join(map(str, found))} differ in another axis than {axis}")
        shape = found[0].shape
        return TensorType((*shape[:axis], sum(each.shape[axis] for each in found), *shape[axis + 1 :]), found[0].dtype)


class Division:
    """`split`: a tuple of parts along an axis."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tuples of at least two tensors that fit together along an axis."""
        return self._axes(target, dtypes) != []

    def _axes(self, target: Type, dtypes: Sequence[str]) -> list[int]:
        if not isinstance(target, TupleType) or len(target.fields) < 2:
            return []
        fields = [each for each in target.fields if isinstance(each, TensorType)]
        shapes = {each.shape for each in fields}
        if len(fields) < len(target.fields) or {each.dtype for each in fields} > {fields[0].dtype} or fields[0].dtype not in dtypes:
            return []
        rank = len(fields[0].shape)
        if any(len(shape) != rank for shape in shapes):
            return []
        return [axis for axis in range(rank) if len({(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}) == 1]

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """The parts, put together."""
        axis = random.choice(self._axes(target, dtypes))
        assert isinstance(target, TupleType)
        fields = [tensor(each) for each in target.fields]
        sizes = tuple(each.shape[axis] for each in fields)
        shape = (*fields[0].shape[:axis], sum(sizes), *fields[0].shape[axis + 1 :])
        return Solution((TensorType(shape, fields[0].dtype),), {"axis": axis, "sizes": sizes})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """One part for each size."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        axis, sizes = axis_of(attributes, len(shape)), integers(attributes, "sizes")
        if sum(sizes) != shape[axis] or min(sizes, default=-1) < 0:
            raise IllTyped(f"sizes {sizes} do not divide axis {axis} of {arguments[0]}")
        return TupleType(tuple(TensorType((*shape[:axis], size, *shape[axis + 1 :]), dtype) for size in sizes))


class Slice:
    """A part of each axis: from `begin` to before `end`, by `strides`."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of at least one dimension."""
        found = typical(target, dtypes)
        return found is not None and len(found.shape) > 0 and min(found.shape) > 0

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """Some axes are longer in the argument."""
        shape, dtype = tensor(target)
        sizes, begin, end, strides = list(shape), [0] * len(shape), list(shape), [1] * len(shape)
        for axis in subset(range(len(shape)), random):
            strides[axis] = random.choice((1, 1, 2, 3))
            begin[axis] = random.randint(0, 2)
            end[axis] = begin[axis] + (shape[axis] - 1) * strides[axis] + 1
            sizes[axis] = end[axis] + random.randint(0, 2)
        return Solution((TensorType(tuple(sizes), dtype),), {"begin": tuple(begin), "end": tuple(end), "strides": tuple(strides)})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The number of places in each range."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        begin, end, strides = (integers(attributes, name, len(shape)) for name in ("begin", "end", "strides"))
        if any(not 0 <= low <= high <= size or step < 1 for low, high, step, size in zip(begin, end, strides, shape, strict=True)):
            raise IllTyped(f"the slice {begin}, {end}, {strides} leaves {arguments[0]}")
        return TensorType(tuple(len(range(*each)) for each in zip(begin, end, strides, strict=True)), dtype)


class Padding:
    """Elements of one value around a tensor."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors with an axis of at least two."""
        found = typical(target, dtypes)
        return found is not None and max(found.shape, default=0) > 1

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """Some axes are shorter in the argument."""
        shape, dtype = tensor(target)
        before, after = [0] * len(shape), [0] * len(shape)
        for axis in subset([index for index, size in enumerate(shape) if size > 1], random):
            before[axis] = random.randint(0, min(2, shape[axis] - 1))
            after[axis] = random.randint(0, min(2, shape[axis] - 1 - before[axis]))
        sizes = tuple(size - low - high for size, low, high in zip(shape, before, after, strict=True))
        return Solution((TensorType(sizes, dtype),), {"before": tuple(before), "after": tuple(after)})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The sizes with what is added."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        before, after = (integers(attributes, name, len(shape)) for name in ("before", "after"))
        if min((*before, *after), default=0) < 0:
            raise IllTyped(f"a width of {before}, {after} is negative")
        return TensorType(tuple(map(sum, zip(before, shape, after, strict=True))), dtype)


class Tiling:
    """Each axis, several times."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of at least one dimension."""
        found = typical(target, dtypes)
        return found is not None and len(found.shape) > 0

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """Divisors of the sizes."""
        shape, dtype = tensor(target)
        repeats = tuple(random.choice([each for each in range(1, size + 1) if size % each == 0] or [1]) for size in shape)
        sizes = tuple(size // each for size, each in zip(shape, repeats, strict=True))
        return Solution((TensorType(sizes, dtype),), {"repeats": repeats})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """Each size times its number of repetitions."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        repeats = integers(attributes, "repeats", len(shape))
        if min(repeats, default=1) < 0:
            raise IllTyped(f"repeats {repeats} are negative")
        return TensorType(tuple(size * each for size, each in zip(shape, repeats, strict=True)), dtype)


@dataclass(frozen=True)
class Gathering:
    """`take`: the rows that indices name.

    Attributes:
        dtype: Dtype of the indices.
    """

    dtype: str = "int64"

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of at least one dimension."""
        found = typical(target, dtypes)
        return found is not None and len(found.shape) > 0

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """Some axes come from the indices."""
        shape, dtype = tensor(target)
        axis = random.randrange(len(shape))
        rank = random.randint(1, min(2, len(shape) - axis))
        data = (*shape[:axis], random.randint(1, 6), *shape[axis + rank :])
        return Solution((TensorType(data, dtype), TensorType(shape[axis : axis + rank], self.dtype)), {"axis": axis})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The axis, replaced by the shape of the indices."""
        count_of(arguments, 2)
        (shape, dtype), (places, kind) = tensor(arguments[0]), tensor(arguments[1])
        axis = axis_of(attributes, len(shape))
        if kind != self.dtype:
            raise IllTyped(f"indices are {self.dtype}, not {kind}")
        return TensorType((*shape[:axis], *places, *shape[axis + 1 :]), dtype)


class ElementGathering:
    """`gather_elements`: along an axis, the element that each index names."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of at least one dimension."""
        found = typical(target, dtypes)
        return found is not None and len(found.shape) > 0

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """The axis has any size in the data."""
        shape, dtype = tensor(target)
        axis = random.randrange(len(shape))
        data = (*shape[:axis], random.randint(1, 6), *shape[axis + 1 :])
        return Solution((TensorType(data, dtype), TensorType(shape, "int64")), {"axis": axis})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The shape of the indices."""
        count_of(arguments, 2)
        (shape, dtype), (places, kind) = tensor(arguments[0]), tensor(arguments[1])
        axis = axis_of(attributes, len(shape))
        others = [(size, own) for index, (size, own) in enumerate(zip(shape, places, strict=False)) if index != axis]
        if kind != "int64" or len(shape) != len(places) or any(own > size for size, own in others):
            raise IllTyped(f"indices {arguments[1]} do not fit {arguments[0]} along axis {axis}")
        if any(own < size for size, own in others):
            raise IllTyped(f"indices {arguments[1]} reach a part of {arguments[0]} only")
        return TensorType(places, dtype)


class Largest:
    """`topk`: the largest values along an axis, and their indices. At least one: ONNX asks for a positive number."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tuples of values and indices."""
        if not isinstance(target, TupleType) or len(target.fields) != 2:
            return False
        values, places = typical(target.fields[0], dtypes), typical(target.fields[1], ("int64",))
        return values is not None and places is not None and values.shape == places.shape and any(values.shape)

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """An axis that is longer in the argument."""
        assert isinstance(target, TupleType)
        shape, dtype = tensor(target.fields[0])
        axis = random.choice([index for index, size in enumerate(shape) if size])
        sizes = (*shape[:axis], shape[axis] + random.randint(0, 3), *shape[axis + 1 :])
        return Solution((TensorType(sizes, dtype),), {"axis": axis, "k": shape[axis], "largest": random.random() < 0.5})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The axis has `k` elements."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        axis, number = axis_of(attributes, len(shape)), integer(attributes, "k")
        if not 1 <= number <= shape[axis]:
            raise IllTyped(f"the largest {number} of {shape[axis]}")
        sizes = (*shape[:axis], number, *shape[axis + 1 :])
        return TupleType((TensorType(sizes, dtype), TensorType(sizes, "int64")))
