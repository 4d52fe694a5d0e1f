"""Gather and scatter: slices of a tensor, from and to places that another tensor has."""

from __future__ import annotations

from collections.abc import Sequence

from opera.extensions.stablehlo.interpreter.element import converted
from opera.extensions.stablehlo.interpreter.machine import Invocation, Results, evaluates
from opera.extensions.stablehlo.interpreter.shapes import in_bounds
from opera.extensions.stablehlo.interpreter.tensor import Index, Tensor, filled, scalar
from opera.extensions.stablehlo.types import TensorType


def start_index(indices: Tensor, batch_index: Index, vector_dimension: int) -> list[int]:
    """`start_index`: the vector of *indices* at *batch_index*; a single number, where it has no dimension for vectors."""
    if vector_dimension == indices.rank:
        return [int(indices.get(batch_index).number)]
    before, behind = batch_index[:vector_dimension], batch_index[vector_dimension:]
    return [int(indices.get((*before, index, *behind)).number) for index in range(indices.shape[vector_dimension])]


def _batching_index(
    rank: int, operand_dimensions: Sequence[int], index_dimensions: Sequence[int], batch_index: Index, vector: int
) -> list[int]:
    """`full_batching_index`: the place in the batch, at the operand's dimensions for batches."""
    found = [0] * rank
    for dimension, start in zip(operand_dimensions, index_dimensions, strict=True):
        found[dimension] = batch_index[start - (0 if start < vector else 1)]
    return found


def _spread(rank: int, given: Index, without: Sequence[int]) -> list[int]:
    """*given* with zeros at the dimensions *without*."""
    places = iter(given)
    return [0 if dimension in without else next(places) for dimension in range(rank)]


def _sum(*indices: Sequence[int]) -> Index:
    return tuple(map(sum, zip(*indices, strict=True)))


@evaluates("gather", "dynamic_gather")
def gather(it: Invocation) -> Tensor:
    """`gather`: `result[i] = operand[start + batch + offset]`, with starts moved so that each slice lies within the operand.

    `dynamic_gather`: the same, with the sizes of the slices as an operand.
    """
    operand, indices, *given = it.tensors
    numbers = it.operation.dimensions("dimension_numbers")
    sizes = given[0].integers() if given else it.operation.integers("slice_sizes")
    offset_dims, start_index_map, vector = (
        numbers.several("offset_dims"),
        numbers.several("start_index_map"),
        numbers.one("index_vector_dim"),
    )
    batching = numbers.several("operand_batching_dims")
    removed = (*numbers.several("collapsed_slice_dims"), *batching)

    def source(index: Index) -> Index:
        batch_index = tuple(place for d, place in enumerate(index) if d not in offset_dims)
        start = [0] * operand.rank
        for dimension, place in zip(start_index_map, start_index(indices, batch_index, vector), strict=True):
            start[dimension] = min(max(place, 0), operand.shape[dimension] - sizes[dimension])
        batch = _batching_index(operand.rank, batching, numbers.several("start_indices_batching_dims"), batch_index, vector)
        offset = _spread(operand.rank, tuple(index[d] for d in offset_dims), removed)
        return _sum(start, batch, offset)

    batch_sizes = iter([size for d, size in enumerate(indices.shape) if d != vector])
    offset_sizes = iter([size for d, size in enumerate(sizes) if d not in removed])
    rank = len(offset_dims) + indices.rank - (vector < indices.rank)
    shape = [next(offset_sizes if d in offset_dims else batch_sizes) for d in range(rank)]
    return filled(it.shaped(shape), lambda index: operand.get(source(index)))


@evaluates("scatter")
def scatter(it: Invocation) -> Results:
    """`scatter`: the inputs, with each update put at `start + batch + window` by the body; places outside are left out."""
    count = (len(it.operands) - 1) // 2
    inputs, indices, updates = it.tensors[:count], it.tensors[count], it.tensors[count + 1 :]
    numbers = it.operation.dimensions("scatter_dimension_numbers")
    window_dims, operand_dims = numbers.several("update_window_dims"), numbers.several("scatter_dims_to_operand_dims")
    vector, batching, rank = numbers.one("index_vector_dim"), numbers.several("input_batching_dims"), inputs[0].rank
    inserted = (*numbers.several("inserted_window_dims"), *batching)

    def target(index: Index) -> Index:
        scatter_index = tuple(place for d, place in enumerate(index) if d not in window_dims)
        start = [0] * rank
        for dimension, place in zip(operand_dims, start_index(indices, scatter_index, vector), strict=True):
            start[dimension] = place
        batch = _batching_index(rank, batching, numbers.several("scatter_indices_batching_dims"), scatter_index, vector)
        return _sum(start, batch, _spread(rank, tuple(index[d] for d in window_dims), inserted))

    results = [copied(each, it.types[place]) for place, each in enumerate(inputs)]
    for index in updates[0].index_space():
        place = target(index)
        if in_bounds(place, results[0].shape):
            old, new = ([scalar(each.get(at)) for each in group] for group, at in ((results, place), (updates, index)))
            for result, value in zip(results, it.body(*old, *new), strict=True):
                result.set(place, value.get())
    return results


def copied(operand: Tensor, type: TensorType) -> Tensor:
    """A copy of *operand*, with elements of the type that the results have."""
    return filled(TensorType(operand.shape, type.element), lambda index: converted(operand.get(index), type.element))
