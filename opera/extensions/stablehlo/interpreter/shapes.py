"""Operations that move elements without computing with them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from opera.extensions.stablehlo.interpreter.element import element
from opera.extensions.stablehlo.interpreter.machine import Invocation, Stopped, evaluates
from opera.extensions.stablehlo.interpreter.tensor import Index, Tensor, empty, filled, number_tensor
from opera.extensions.stablehlo.types import TensorType, Value, element_type, value_of


@evaluates("constant")
def constant(it: Invocation) -> Tensor:
    """`constant`: the value that the text has."""
    return Tensor(it.operation.value("value"))


def _iota(type: TensorType, dimension: int) -> Tensor:
    return filled(type, lambda index: element(type.element, index[dimension]))


@evaluates("iota", "dynamic_iota")
def iota(it: Invocation) -> Tensor:
    """`iota`: at each index, its place in one dimension. `dynamic_iota`: the same, with a shape that is an operand."""
    shape = it.tensors[0].integers() if it.operands else it.type.shape
    return _iota(it.shaped(shape), it.operation.integer("iota_dimension"))


def reshaped(operand: Tensor, type: TensorType) -> Tensor:
    """The same elements, in the same order, in another shape."""
    if operand.type.size != type.size:
        raise Stopped(f"{operand.type} does not fill {type}")
    return Tensor(Value(type, operand.value.array.reshape(type.shape)))


@evaluates("reshape", "dynamic_reshape")
def reshape(it: Invocation) -> Tensor:
    """`reshape`: another shape. `dynamic_reshape`: the same, with a shape that is an operand."""
    operand, *shape = it.tensors
    return reshaped(operand, it.shaped(shape[0].integers()) if shape else it.type)


@evaluates("transpose")
def transpose(it: Invocation) -> Tensor:
    """`transpose`: `result[i] = operand[j]` with `i[d] = j[permutation[d]]`."""
    (operand,) = it.tensors
    return transposed(operand, it.operation.integers("permutation"))


def transposed(operand: Tensor, permutation: Sequence[int]) -> Tensor:
    """The tensor whose dimension `d` is the dimension `permutation[d]` of *operand*."""
    type = TensorType(tuple(operand.shape[each] for each in permutation), operand.type.element)
    places = [permutation.index(each) for each in range(operand.rank)]
    return filled(type, lambda index: operand.get(tuple(index[each] for each in places)))


@evaluates("reverse")
def reverse(it: Invocation) -> Tensor:
    """`reverse`: the order of the elements turned round along some dimensions."""
    (operand,) = it.tensors
    turned = it.operation.integers("dimensions")

    def source(index: Index) -> Index:
        return tuple(operand.shape[d] - 1 - place if d in turned else place for d, place in enumerate(index))

    return filled(operand.type, lambda index: operand.get(source(index)))


@evaluates("broadcast_in_dim", "dynamic_broadcast_in_dim")
def broadcast_in_dim(it: Invocation) -> Tensor:
    """`broadcast_in_dim`: dimensions of size 1 repeated, and new ones. `dynamic_broadcast_in_dim`: with a shape that is an operand."""
    operand, *shape = it.tensors
    type = it.shaped(shape[0].integers()) if shape else it.type
    return broadcast(operand, it.operation.integers("broadcast_dimensions"), type)


def broadcast(operand: Tensor, dimensions: Sequence[int], type: TensorType) -> Tensor:
    """The tensor of *type* whose dimension `dimensions[d]` is the dimension `d` of *operand*, or repeats it."""

    def source(index: Index) -> Index:
        return tuple(0 if operand.shape[d] == 1 else index[place] for d, place in enumerate(dimensions))

    if any(operand.shape[d] not in (1, type.shape[place]) for d, place in enumerate(dimensions)):
        raise Stopped(f"{operand.type} does not broadcast to {type}")
    return filled(type, lambda index: operand.get(source(index)))


@evaluates("concatenate")
def concatenate(it: Invocation) -> Tensor:
    """`concatenate`: the operands one behind the other along a dimension."""
    return concatenated(it.tensors, it.operation.integer("dimension"))


def concatenated(operands: Sequence[Tensor], dimension: int) -> Tensor:
    """Tensors one behind the other along *dimension*."""
    sizes = [each.shape[dimension] for each in operands]
    first = operands[0]
    shape = (*first.shape[:dimension], sum(sizes), *first.shape[dimension + 1 :])
    result = empty(TensorType(shape, first.type.element))
    for operand, start in zip(operands, itertools.accumulate([0, *sizes]), strict=False):
        for index in operand.index_space():
            result.set((*index[:dimension], start + index[dimension], *index[dimension + 1 :]), operand.get(index))
    return result


def padded(operand: Tensor, value: Tensor, low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> Tensor:
    """*operand* with *value* before, behind and between its elements; negative edges cut elements off."""
    shape = tuple(
        before + max(size + (size - 1) * gap, 0) + behind
        for size, before, behind, gap in zip(operand.shape, low, high, interior, strict=True)
    )
    if any(size < 0 for size in shape):
        raise Stopped(f"padding gives {list(shape)}")
    type = TensorType(shape, operand.type.element)
    result = filled(type, lambda _: value.get())
    for index in operand.index_space():
        place = tuple(before + at * (gap + 1) for at, before, gap in zip(index, low, interior, strict=True))
        if in_bounds(place, shape):
            result.set(place, operand.get(index))
    return result


def in_bounds(index: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether a tensor of *shape* has an element at *index*."""
    return all(0 <= place < size for place, size in zip(index, shape, strict=True))


@evaluates("pad")
def pad(it: Invocation) -> Tensor:
    """`pad`: edges and gaps of one value."""
    operand, value = it.tensors
    low, high, interior = (it.operation.integers(which) for which in ("edge_padding_low", "edge_padding_high", "interior_padding"))
    return padded(operand, value, low, high, interior)


@evaluates("dynamic_pad")
def dynamic_pad(it: Invocation) -> Tensor:
    """`dynamic_pad`: `pad` with edges and gaps that are operands."""
    operand, value, low, high, interior = it.tensors
    result = padded(operand, value, low.integers(), high.integers(), interior.integers())
    it.shaped(result.shape)
    return result


def sliced(operand: Tensor, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]) -> Tensor:
    """Every *strides*-th element from *start* to before *limit*."""
    shape = tuple(-(-(end - first) // step) for first, end, step in zip(start, limit, strides, strict=True))

    def source(index: Index) -> Index:
        return tuple(first + place * step for first, place, step in zip(start, index, strides, strict=True))

    return filled(TensorType(shape, operand.type.element), lambda index: operand.get(source(index)))


@evaluates("slice")
def slice_(it: Invocation) -> Tensor:
    """`slice`: the elements from a start to a limit, in steps."""
    (operand,) = it.tensors
    return sliced(operand, *(it.operation.integers(name) for name in ("start_indices", "limit_indices", "strides")))


@evaluates("real_dynamic_slice")
def real_dynamic_slice(it: Invocation) -> Tensor:
    """`real_dynamic_slice`: `slice` with a start, a limit and steps that are operands."""
    operand, start, limit, strides = it.tensors
    result = sliced(operand, start.integers(), limit.integers(), strides.integers())
    it.shaped(result.shape)
    return result


def _clamped_start(operand: Tensor, start: Sequence[Tensor], sizes: Sequence[int]) -> Index:
    """The start of a slice of *sizes*, moved so that it lies within *operand*."""
    places = [each.integers()[0] for each in start]
    return tuple(min(max(place, 0), size - length) for place, size, length in zip(places, operand.shape, sizes, strict=True))


@evaluates("dynamic_slice")
def dynamic_slice(it: Invocation) -> Tensor:
    """`dynamic_slice`: a slice whose start is an operand, moved so that the slice lies within the operand."""
    operand, *start = it.tensors
    sizes = it.operation.integers("slice_sizes")
    first = _clamped_start(operand, start, sizes)
    return sliced(operand, first, [place + size for place, size in zip(first, sizes, strict=True)], [1] * operand.rank)


@evaluates("dynamic_update_slice")
def dynamic_update_slice(it: Invocation) -> Tensor:
    """`dynamic_update_slice`: the operand with a slice replaced, whose start is moved so that it lies within the operand."""
    operand, update, *start = it.tensors
    first = _clamped_start(operand, start, update.shape)
    result = operand.copy()
    for index in update.index_space():
        result.set(tuple(a + b for a, b in zip(first, index, strict=True)), update.get(index))
    return result


@evaluates("get_dimension_size")
def get_dimension_size(it: Invocation) -> Tensor:
    """`get_dimension_size`: the size of a dimension, as `i32`."""
    (operand,) = it.tensors
    return number_tensor(element_type("i32"), operand.shape[it.operation.integer("dimension")])


@evaluates("bitcast_convert")
def bitcast_convert(it: Invocation) -> Tensor:
    """`bitcast_convert`: the same bits as elements of another type; the lowest bits come first."""
    (operand,) = it.tensors
    old, new = operand.type.element.bits, it.element
    shape = operand.shape
    if new.bits < old:
        shape = (*shape, old // new.bits)
    elif new.bits > old:
        shape = shape[:-1]
    type = it.shaped(shape)
    bits = joined([operand.get(index).bits() for index in operand.index_space()], old)
    return from_bits(type, [(bits >> position * new.bits) & ((1 << new.bits) - 1) for position in range(type.size)])


def joined(parts: Sequence[int], width: int) -> int:
    """Numbers of *width* bits as one number; the first has the lowest bits."""
    return sum(part << index * width for index, part in enumerate(parts))


def from_bits(type: TensorType, bits: Sequence[int]) -> Tensor:
    """The tensor whose elements have these bits, in C order."""
    size = type.element.numpy.itemsize
    return Tensor(value_of(type, b"".join(each.to_bytes(size, "little") for each in bits)))
