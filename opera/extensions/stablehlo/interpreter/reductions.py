"""Operations that apply a region to elements: reductions, windows, maps and sorting."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

from opera.extensions.stablehlo.interpreter.element import converted
from opera.extensions.stablehlo.interpreter.machine import Invocation, Results, Stopped, evaluates
from opera.extensions.stablehlo.interpreter.shapes import in_bounds
from opera.extensions.stablehlo.interpreter.tensor import Index, Tensor, empty, filled, index_space, scalar
from opera.extensions.stablehlo.types import TensorType


def _scalars(tensors: Sequence[Tensor], index: Index, types: Sequence[TensorType]) -> list[Tensor]:
    """The elements at *index* as tensors without dimensions, of the types with which the body computes."""
    return [scalar(converted(each.get(index), type.element)) for each, type in zip(tensors, types, strict=True)]


def _promoted(tensors: Sequence[Tensor], types: Sequence[TensorType]) -> list[Tensor]:
    return _scalars(tensors, (), types)


@evaluates("reduce")
def reduce(it: Invocation) -> Results:
    """`reduce`: from the initial values on, the body of what was found and the next elements, along some dimensions."""
    count = len(it.operands) // 2
    inputs, initial, types = it.tensors[:count], it.tensors[count:], it.types
    along = it.operation.integers("dimensions")
    results = [empty(each) for each in types]
    sizes = [inputs[0].shape[d] for d in along]
    for index in results[0].index_space():
        found = _promoted(initial, types)
        for inner in index_space(sizes):
            place = _inserted(index, dict(zip(along, inner, strict=True)), inputs[0].rank)
            found = it.body(*found, *_scalars(inputs, place, types))
        for result, value in zip(results, found, strict=True):
            result.set(index, value.get())
    return results


def _inserted(index: Index, given: dict[int, int], rank: int) -> Index:
    """*index* with the dimensions *given* among its own."""
    places = iter(index)
    return tuple(given[d] if d in given else next(places) for d in range(rank))


class Windows:
    """Windows over a tensor that is padded and has gaps.

    Args:
        it: The operation, whose attributes say how.
        rank: The number of dimensions of its inputs.
    """

    def __init__(self, it: Invocation, rank: int) -> None:
        ones = (1,) * rank
        self.sizes = it.operation.integers("window_dimensions", ones)
        self.strides = it.operation.integers("window_strides", ones)
        self.gaps = it.operation.integers("base_dilations", ones)
        self.steps = it.operation.integers("window_dilations", ones)
        padding = it.operation.integers("padding", (0, 0) * rank)
        self.low = padding[0::2]

    def places(self, index: Index, shape: Sequence[int]) -> Iterator[Index | None]:
        """The places of the elements in the window with *index*; None where the window has padding."""
        for inner in index_space(self.sizes):
            found: list[int] = []
            for at, stride, place, step, low, gap in zip(index, self.strides, inner, self.steps, self.low, self.gaps, strict=True):
                where, rest = divmod(at * stride + place * step - low, gap)
                found.append(-1 if rest else where)
            yield tuple(found) if in_bounds(found, shape) else None


@evaluates("reduce_window")
def reduce_window(it: Invocation) -> Results:
    """`reduce_window`: `reduce` of each window; padding and gaps hold the initial values."""
    count = len(it.operands) // 2
    inputs, initial, types = it.tensors[:count], it.tensors[count:], it.types
    windows, shape = Windows(it, inputs[0].rank), inputs[0].shape
    results = [empty(each) for each in types]
    for index in results[0].index_space():
        found = first = _promoted(initial, types)
        for place in windows.places(index, shape):
            found = it.body(*found, *(first if place is None else _scalars(inputs, place, types)))
        for result, value in zip(results, found, strict=True):
            result.set(index, value.get())
    return results


@evaluates("select_and_scatter")
def select_and_scatter(it: Invocation) -> Results:
    """`select_and_scatter`: each element of the source joins, by `scatter`, the element that `select` prefers in its window."""
    operand, source, initial = it.tensors
    windows, types = Windows(it, operand.rank), it.types
    (start,) = _promoted([initial], types)
    result = filled(it.type, lambda _: start.get())

    def better(one: Index, other: Index) -> Index:
        chosen = it.body(scalar(operand.get(one)), scalar(operand.get(other)))[0].get().number
        return one if chosen else other

    for index in source.index_space():
        places = [each for each in windows.places(index, operand.shape) if each is not None]
        if not places:
            raise Stopped("select_and_scatter has a window without elements")
        place = functools.reduce(better, places)
        old, new = scalar(result.get(place)), _scalars([source], index, types)[0]
        result.set(place, it.body(old, new, number=1)[0].get())
    return result


@evaluates("map")
def map_(it: Invocation) -> Tensor:
    """`map`: the body of the operands' elements at each index."""
    operands = it.tensors
    return filled(it.shaped(operands[0].shape), lambda index: it.body(*(scalar(each.get(index)) for each in operands))[0].get())


@evaluates("sort")
def sort(it: Invocation) -> Results:
    """`sort`: the slices along a dimension, together, so that the comparator never finds a later element to be less. It is stable."""
    inputs = it.tensors
    dimension = it.operation.integer("dimension", -1) % inputs[0].rank
    results = [each.copy() for each in inputs]

    def less(one: Index, other: Index) -> bool:
        pairs = [scalar(each.get(place)) for each in inputs for place in (one, other)]
        return bool(it.body(*pairs)[0].get().number)

    across = [1 if d == dimension else size for d, size in enumerate(inputs[0].shape)]
    for index in index_space(across):
        places = [(*index[:dimension], place, *index[dimension + 1 :]) for place in range(inputs[0].shape[dimension])]
        for old, new in zip(places, merged(places, less), strict=True):
            for result, each in zip(results, inputs, strict=True):
                result.set(old, each.get(new))
    return results


def merged(places: list[Index], less: Callable[[Index, Index], bool]) -> list[Index]:
    """*places* in order, equal ones as they came."""
    return sorted(places, key=functools.cmp_to_key(lambda one, other: -1 if less(one, other) else int(less(other, one))))
