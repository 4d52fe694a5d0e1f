"""Relations between the types of an operator's arguments and of its result, in both directions.

A relation recognises the types that a call can have, solves for arguments that give such a type, and infers the type that given arguments
give. Two promises hold, and are tested for each operator: what is recognised can be solved, and what is solved is inferred again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, Protocol

from opera.extensions.programs.types import NO_ATTRIBUTES, Attribute, Attributes, IllTyped, TensorType, Type, tensor

Shape = tuple[int, ...]
MOST_RANK = 5
"""No solver makes tensors of more dimensions."""


class Solution(NamedTuple):
    """A call that has the type asked for.

    Attributes:
        arguments: The types of its arguments.
        attributes: Its parameters.
    """

    arguments: tuple[TensorType, ...]
    attributes: Attributes = NO_ATTRIBUTES


class Relation(Protocol):
    """What holds between the types of a call."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Whether a call with arguments of these *dtypes* can have the type *target*."""
        ...

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """A call that has the type *target*, which is recognised."""
        ...

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The type of a call.

        Raises:
            IllTyped: there is no such call.
        """
        ...


def typical(target: Type, dtypes: Sequence[str]) -> TensorType | None:
    """*target*, if it is a tensor of one of these *dtypes*."""
    return target if isinstance(target, TensorType) and target.dtype in dtypes else None


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """The shape that *shapes* broadcast to.

    Raises:
        IllTyped: they do not.
    """
    rank = max(map(len, shapes), default=0)
    found = [1] * rank
    for shape in shapes:
        for index, size in enumerate(shape, rank - len(shape)):
            if size not in (1, found[index]):
                if found[index] != 1:
                    raise IllTyped(f"shapes {' and '.join(map(str, shapes))} do not broadcast")
                found[index] = size
    return tuple(found)


def narrowed(shape: Shape, random: Random) -> Shape:
    """A shape that broadcasts to *shape*: leading sizes dropped, others 1."""
    start = random.randint(0, len(shape))
    return tuple(1 if random.random() < 0.4 else size for size in shape[start:])


def same_dtype(arguments: Sequence[Type]) -> tuple[TensorType, ...]:
    """*arguments*, tensors of one dtype.

    Raises:
        IllTyped: they are not.
    """
    found = tuple(map(tensor, arguments))
    if len({each.dtype for each in found}) > 1:
        raise IllTyped(f"dtypes {', '.join(each.dtype for each in found)} differ")
    return found


def count_of(arguments: Sequence[Type], number: int) -> None:
    """Raises `IllTyped` unless there are *number* arguments."""
    if len(arguments) != number:
        raise IllTyped(f"takes {number} arguments, not {len(arguments)}")


def integer(attributes: Attributes, name: str) -> int:
    """Parameter *name*, an integer.

    Raises:
        IllTyped: it is absent, or something else.
    """
    value = attributes.get(name)
    if not isinstance(value, int):
        raise IllTyped(f"needs an integer {name!r}, found {value!r}")
    return value


def integers(attributes: Attributes, name: str, length: int | None = None) -> Shape:
    """Parameter *name*, a tuple of integers.

    Raises:
        IllTyped: it is absent, something else, or has another *length*.
    """
    value = attributes.get(name)
    if not isinstance(value, tuple) or (length is not None and len(value) != length):
        raise IllTyped(f"needs {'integers' if length is None else f'{length} integers'} {name!r}, found {value!r}")
    return value


def axis_of(attributes: Attributes, rank: int) -> int:
    """Parameter `axis`, one of *rank* axes.

    Raises:
        IllTyped: it is not.
    """
    axis = integer(attributes, "axis")
    if not 0 <= axis < rank:
        raise IllTyped(f"axis {axis} of a tensor of {rank} dimensions")
    return axis


def subset(places: Sequence[int], random: Random) -> Shape:
    """Some of *places*, at least one, in order."""
    return tuple(sorted(random.sample(places, random.randint(1, len(places)))))


@dataclass(frozen=True)
class Elementwise:
    """Arguments of one dtype that broadcast to the result.

    Attributes:
        arity: The number of arguments.
        result: The dtype of the result; None for that of the arguments.
    """

    arity: int
    result: str | None = None

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of a fitting dtype."""
        return typical(target, dtypes if self.result is None else (self.result,)) is not None

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """One argument has the whole shape; others may broadcast."""
        shape, dtype = tensor(target)
        if self.result is not None:
            dtype = random.choice(dtypes)
        whole = TensorType(shape, dtype)
        if self.arity == 1 or random.random() < 0.6:
            return Solution((whole,) * self.arity)
        kept = random.randrange(self.arity)
        return Solution(tuple(whole if index == kept else TensorType(narrowed(shape, random), dtype) for index in range(self.arity)))

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The shape to which all arguments broadcast."""
        count_of(arguments, self.arity)
        found = same_dtype(arguments)
        return TensorType(broadcast([each.shape for each in found]), found[0].dtype if self.result is None else self.result)


class Select:
    """`where`: a boolean condition, and two arguments of the result's dtype."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of a fitting dtype."""
        return typical(target, dtypes) is not None

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """A condition that may broadcast, and two whole arguments."""
        whole = tensor(target)
        shape = whole.shape if random.random() < 0.6 else narrowed(whole.shape, random)
        return Solution((TensorType(shape, "bool"), whole, whole))

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The shape to which the condition and the arguments broadcast."""
        count_of(arguments, 3)
        if tensor(arguments[0]).dtype != "bool":
            raise IllTyped(f"a condition is boolean, not {arguments[0]}")
        values = same_dtype(arguments[1:])
        return TensorType(broadcast([tensor(each).shape for each in arguments]), values[0].dtype)


class Conversion:
    """`astype`: the same shape in another dtype."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of a fitting dtype."""
        return typical(target, dtypes) is not None

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """An argument of any dtype, the same included."""
        shape, dtype = tensor(target)
        return Solution((TensorType(shape, random.choice(dtypes)),), {"dtype": dtype})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The dtype asked for."""
        count_of(arguments, 1)
        dtype = attributes.get("dtype")
        if not isinstance(dtype, str):
            raise IllTyped(f"needs a 'dtype', found {dtype!r}")
        return TensorType(tensor(arguments[0]).shape, dtype)


@dataclass(frozen=True)
class Reduction:
    """Axes become 1, or vanish.

    Attributes:
        result: The dtype of the result; None for that of the argument.
        single: Whether there is exactly one axis.
    """

    result: str | None = None
    single: bool = False

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors with a free dimension."""
        found = typical(target, dtypes if self.result is None else (self.result,))
        return found is not None and len(found.shape) < MOST_RANK - 1

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """Sizes of 1 grow, or axes are added."""
        shape, dtype = tensor(target)
        dtype = dtype if self.result is None else random.choice(dtypes)
        ones = [index for index, size in enumerate(shape) if size == 1]
        keep = bool(ones) and random.random() < 0.7
        sizes = list(shape)
        if keep:
            axes = (random.choice(ones),) if self.single else subset(ones, random)
            for axis in axes:
                sizes[axis] = random.randint(1, 4)
        else:
            rank = len(shape) + (1 if self.single else random.randint(1, min(2, MOST_RANK - 1 - len(shape))))
            axes = tuple(sorted(random.sample(range(rank), rank - len(shape))))
            for axis in axes:
                sizes.insert(axis, random.randint(1, 4))
        where: dict[str, Attribute] = {"axis": axes[0]} if self.single else {"axes": axes}
        return Solution((TensorType(tuple(sizes), dtype),), {**where, "keepdims": keep})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The shape without the axes, or with 1 in their place."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        axes = (axis_of(attributes, len(shape)),) if self.single else integers(attributes, "axes")
        if len(set(axes)) < len(axes) or not all(0 <= axis < len(shape) for axis in axes):
            raise IllTyped(f"axes {axes} of a tensor of {len(shape)} dimensions")
        kept = attributes.get("keepdims") is True
        sizes = tuple(1 if index in axes else size for index, size in enumerate(shape) if kept or index not in axes)
        return TensorType(sizes, dtype if self.result is None else self.result)


@dataclass(frozen=True)
class Product:
    """`matmul`: products of matrices, with axes of batches that broadcast."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of two to four dimensions."""
        found = typical(target, dtypes)
        return found is not None and 2 <= len(found.shape) < MOST_RANK

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """Any inner size; one side may lack the batches."""
        shape, dtype = tensor(target)
        *batch, rows, columns = shape
        inner = random.randint(1, 6)
        other = tuple(batch) if random.random() < 0.6 else narrowed(tuple(batch), random)
        first, second = (tuple(batch), other) if random.random() < 0.5 else (other, tuple(batch))
        left, right = (*first, rows, inner), (*second, inner, columns)
        return Solution((TensorType(left, dtype), TensorType(right, dtype)))

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The batches, the rows of the first and the columns of the second argument."""
        count_of(arguments, 2)
        left, right = same_dtype(arguments)
        if len(left.shape) < 2 or len(right.shape) < 2 or left.shape[-1] != right.shape[-2]:
            raise IllTyped(f"{left} and {right} have no product")
        return TensorType((*broadcast([left.shape[:-2], right.shape[:-2]]), left.shape[-2], right.shape[-1]), left.dtype)


@dataclass(frozen=True)
class AlongAxis:
    """The same type, computed along an axis.

    Attributes:
        result: The dtype of the result; None for that of the argument.
    """

    result: str | None = None

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of at least one dimension."""
        found = typical(target, dtypes if self.result is None else (self.result,))
        return found is not None and len(found.shape) > 0

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """An argument of the same shape, and any of its axes."""
        shape, dtype = tensor(target)
        return Solution(
            (TensorType(shape, dtype if self.result is None else random.choice(dtypes)),), {"axis": random.randrange(len(shape))}
        )

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The shape of the argument."""
        count_of(arguments, 1)
        shape, dtype = tensor(arguments[0])
        axis_of(attributes, len(shape))
        return TensorType(shape, dtype if self.result is None else self.result)


@dataclass(frozen=True)
class Normalisation:
    """Normalisation over the last axes, with a scale and, perhaps, an offset for them.

    Attributes:
        offset: Whether there is an offset.
    """

    offset: bool = True

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of at least one dimension."""
        found = typical(target, dtypes)
        return found is not None and len(found.shape) > 0

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """Any number of last axes."""
        whole = tensor(target)
        axis = random.randrange(len(whole.shape))
        each = TensorType(whole.shape[axis:], whole.dtype)
        return Solution((whole, each, each) if self.offset else (whole, each), {"axis": axis})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The type of the first argument."""
        count_of(arguments, 3 if self.offset else 2)
        whole, *others = same_dtype(arguments)
        axis = axis_of(attributes, len(whole.shape))
        if any(each.shape != whole.shape[axis:] for each in others):
            raise IllTyped(f"{', '.join(map(str, others))} are not the last axes of {whole} from {axis}")
        return whole


class Triangle:
    """`triu` and `tril`: a triangle of each matrix, the rest 0."""

    def recognises(self, target: Type, dtypes: Sequence[str]) -> bool:
        """Tensors of at least two dimensions."""
        found = typical(target, dtypes)
        return found is not None and len(found.shape) > 1

    def solve(self, target: Type, dtypes: Sequence[str], random: Random) -> Solution:
        """A diagonal near the main one."""
        return Solution((tensor(target),), {"k": random.randint(-2, 2)})

    def infer(self, arguments: Sequence[Type], attributes: Attributes) -> Type:
        """The type of the argument."""
        count_of(arguments, 1)
        integer(attributes, "k")
        if len(tensor(arguments[0]).shape) < 2:
            raise IllTyped(f"{arguments[0]} is no matrix")
        return arguments[0]
