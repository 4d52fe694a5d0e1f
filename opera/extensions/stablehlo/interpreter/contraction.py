"""Sums of products: dot products, convolutions, and what is solved or transformed with them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence

import numpy as np

from opera.extensions.stablehlo.interpreter.element import Complex, Element, converted, element
from opera.extensions.stablehlo.interpreter.machine import Invocation, evaluates
from opera.extensions.stablehlo.interpreter.shapes import concatenated, in_bounds, sliced
from opera.extensions.stablehlo.interpreter.tensor import Index, Tensor, empty, filled, index_space
from opera.extensions.stablehlo.types import ElementType, TensorType, Value


def _sum_of_products(pairs: Iterable[tuple[Element, Element]], type: ElementType) -> Element:
    """The sum of the products, each computed as a number of *type*, from zero on in the order of *pairs*."""
    found = element(type, 0)
    for one, other in pairs:
        found = found + converted(one, type) * converted(other, type)
    return found


@evaluates("dot_general")
def dot_general(it: Invocation) -> Tensor:
    """`dot_general`: dot products of slices along the contracting dimensions, for each place in the batch."""
    left, right = it.tensors
    numbers = it.operation.dimensions("dot_dimension_numbers")
    batching, contracting = (
        [numbers.several(f"{side}_{role}_dimensions") for side in ("lhs", "rhs")] for role in ("batching", "contracting")
    )
    own = [[d for d in range(each.rank) if d not in (*batching[side], *contracting[side])] for side, each in enumerate((left, right))]
    sizes = [left.shape[d] for d in contracting[0]]
    shape = [left.shape[d] for d in (*batching[0], *own[0])] + [right.shape[d] for d in own[1]]
    type = it.shaped(shape)
    it.spend(type.size * math.prod(sizes))
    batches, lefts = len(batching[0]), len(own[0])

    def place(side: int, index: Index, inner: Index) -> Index:
        given = index[batches : batches + lefts] if side == 0 else index[batches + lefts :]
        by_dimension = dict(zip((*batching[side], *own[side], *contracting[side]), (*index[:batches], *given, *inner), strict=True))
        return tuple(by_dimension[d] for d in range(len(by_dimension)))

    def product(index: Index) -> Element:
        pairs = ((left.get(place(0, index, inner)), right.get(place(1, index, inner))) for inner in index_space(sizes))
        return _sum_of_products(pairs, type.element)

    return filled(type, product)


@evaluates("convolution", "dynamic_conv")
def convolution(it: Invocation) -> Tensor:
    """`convolution`: dot products of windows of `lhs` with `rhs`, by groups of features or of the batch.

    `dynamic_conv`: the same, with the padding as an operand.
    """
    left, right, *padding = it.tensors
    numbers = it.operation.dimensions("dimension_numbers")
    features, batches = it.operation.integer("feature_group_count"), it.operation.integer("batch_group_count")
    edges = padding[0].integers() if padding else it.operation.integers("padding", (0, 0) * (left.rank - 2))
    lefts = split(left, features, numbers.one("input_feature")) if features > 1 else split(left, batches, numbers.one("input_batch"))
    rights = split(right, max(features, batches), numbers.one("kernel_output_feature"))
    parts = [_convolved(it, one, other, edges) for one, other in zip(lefts, rights, strict=True)]
    result = concatenated(parts, numbers.one("output_feature"))
    it.shaped(result.shape)
    return result


def split(operand: Tensor, count: int, dimension: int) -> list[Tensor]:
    """*operand* in *count* equal parts along *dimension*."""
    size = operand.shape[dimension] // count
    found: list[Tensor] = []
    for part in range(count):
        start, limit = [0] * operand.rank, list(operand.shape)
        start[dimension], limit[dimension] = part * size, (part + 1) * size
        found.append(sliced(operand, start, limit, [1] * operand.rank))
    return found


def _convolved(it: Invocation, left: Tensor, right: Tensor, edges: Sequence[int]) -> Tensor:
    """A convolution of one group."""
    numbers = it.operation.dimensions("dimension_numbers")
    inputs, kernels, outputs = (numbers.several(f"{which}_spatial") for which in ("input", "kernel", "output"))
    ones = (1,) * len(inputs)
    strides, gaps, steps = (it.operation.integers(name, ones) for name in ("window_strides", "lhs_dilation", "rhs_dilation"))
    turned = it.operation.integers("window_reversal", (0,) * len(inputs))
    low, high = edges[0::2], edges[1::2]
    window, base = [right.shape[d] for d in kernels], [left.shape[d] for d in inputs]
    spatial = [
        _windows(size, before + behind, length, stride, gap, step)
        for size, before, behind, length, stride, gap, step in zip(base, low, high, window, strides, gaps, steps, strict=True)
    ]
    rank = left.rank
    roles = {
        "input": (numbers.one("input_batch"), *inputs, numbers.one("input_feature")),
        "kernel": (numbers.one("kernel_input_feature"), *kernels, numbers.one("kernel_output_feature")),
        "output": (numbers.one("output_batch"), *outputs, numbers.one("output_feature")),
    }

    def placed(role: str, values: Sequence[int]) -> Index:
        by_dimension = dict(zip(roles[role], values, strict=True))
        return tuple(by_dimension[d] for d in range(rank))

    type = TensorType(placed("output", (left.shape[roles["input"][0]], *spatial, right.shape[roles["kernel"][-1]])), it.element)
    channels = right.shape[roles["kernel"][0]]
    it.spend(type.size * math.prod(window) * channels)
    zero = element(left.type.element, 0)  # padding is multiplied like any element: zero by NaN is NaN

    def product(index: Index) -> Element:
        batch, *at, feature = (index[d] for d in roles["output"])
        pairs: list[tuple[Element, Element]] = []
        for inner in index_space(window):
            seen = [length - 1 - place if turn else place for place, length, turn in zip(inner, window, turned, strict=True)]
            where = [
                divmod(one * stride + place * step - before, gap)
                for one, stride, place, step, before, gap in zip(at, strides, seen, steps, low, gaps, strict=True)
            ]
            is_padding = any(rest for _, rest in where) or not in_bounds([place for place, _ in where], base)
            for channel in range(channels):
                one = zero if is_padding else left.get(placed("input", (batch, *(place for place, _ in where), channel)))
                pairs.append((one, right.get(placed("kernel", (channel, *inner, feature)))))
        return _sum_of_products(pairs, type.element)

    return filled(type, product)


def _windows(size: int, padding: int, length: int, stride: int, gap: int, step: int) -> int:
    """How many windows of *length* elements, *step* apart, fit into *size* elements, *gap* apart, and *padding*."""
    padded = ((size - 1) * gap + 1 if size else 0) + padding
    dilated = (length - 1) * step + 1
    return (padded - dilated) // stride + 1 if padded >= dilated else 0


@evaluates("triangular_solve")
def triangular_solve(it: Invocation) -> Tensor:
    """`triangular_solve`: `x` with `op(a) x = b`, or `x op(a) = b`, from the known rows on to the others."""
    a, b = it.tensors
    left, lower, unit = (it.operation.flag(name) for name in ("left_side", "lower", "unit_diagonal"))
    mode = it.operation.word("transpose_a", "NO_TRANSPOSE")
    type, size = b.type.element, a.shape[-1]
    result = empty(b.type)

    def coefficient(batch: Index, row: int, column: int) -> Element:
        if mode == "NO_TRANSPOSE":
            return a.get((*batch, row, column))
        found = a.get((*batch, column, row))
        return found.like(found.number.conjugate()) if mode == "ADJOINT" and isinstance(found, Complex) else found

    is_lower = lower == (mode == "NO_TRANSPOSE")
    forward = is_lower == left
    for batch in index_space(b.shape[:-2]):
        for other in range(b.shape[-1] if left else b.shape[-2]):
            done: list[int] = []
            for row in range(size) if forward else reversed(range(size)):

                def at(place: int, batch: Index = batch, other: int = other) -> Index:
                    return (*batch, place, other) if left else (*batch, other, place)

                factors = (
                    (coefficient(batch, row, each) if left else coefficient(batch, each, row), result.get(at(each))) for each in done
                )
                found = b.get(at(row)) - _sum_of_products(factors, type)
                result.set(at(row), found if unit else found / coefficient(batch, row, row))
                done.append(row)
    return result


@evaluates("cholesky")
def cholesky(it: Invocation) -> Tensor:
    """`cholesky`: the triangular matrix whose product with its conjugate transpose is the operand; zeros in the other triangle."""
    (a,) = it.tensors
    lower, size, type = it.operation.flag("lower"), a.shape[-1], a.type.element
    result = empty(a.type)

    def conjugate(value: Element) -> Element:
        return value.like(value.number.conjugate()) if isinstance(value, Complex) else value

    for batch in index_space(a.shape[:-2]):
        found: dict[tuple[int, int], Element] = {}
        for row in range(size):
            for column in range(row + 1):
                pairs = [(found[row, each], conjugate(found[column, each])) for each in range(column)]
                given = a.get((*batch, row, column)) if lower else conjugate(a.get((*batch, column, row)))
                rest = given - _sum_of_products(pairs, type)
                found[row, column] = rest.applied(np.sqrt) if row == column else rest / found[column, column]
        for (row, column), value in found.items():
            result.set((*batch, row, column) if lower else (*batch, column, row), value if lower else conjugate(value))
    return result


@evaluates("fft")
def fft(it: Invocation) -> Tensor:
    """`fft`: the discrete Fourier transform along the last dimensions, in double precision, rounded once for each dimension."""
    (operand,) = it.tensors
    kind, lengths = it.operation.word("fft_type"), it.operation.integers("fft_length")
    axes = range(operand.rank - len(lengths), operand.rank)
    array = operand.value.array.astype(np.complex128 if operand.type.element.is_complex else np.float64)
    if kind == "RFFT":
        found = functools.reduce(lambda each, axis: np.fft.fft(each, axis=axis), reversed(axes[:-1]), np.fft.rfft(array, axis=axes[-1]))
    elif kind == "FFT":
        found = functools.reduce(lambda each, axis: np.fft.fft(each, axis=axis), reversed(axes), array)
    else:
        inner = axes[:-1] if kind == "IRFFT" else axes
        found = functools.reduce(lambda each, axis: np.fft.ifft(each, axis=axis), inner, array)
        if kind == "IRFFT":
            found = np.fft.irfft(found, lengths[-1], axis=axes[-1])
    type = it.shaped(found.shape)
    return Tensor(Value(type, found.astype(type.element.numpy)))
