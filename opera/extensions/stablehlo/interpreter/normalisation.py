"""Batch normalisation, as the specification writes it with other operations."""

from __future__ import annotations

import math

import numpy as np

from opera.extensions.stablehlo.interpreter.element import Element
from opera.extensions.stablehlo.interpreter.elementwise import Meaning, add, divide, multiply, subtract
from opera.extensions.stablehlo.interpreter.machine import Invocation, Results, evaluates
from opera.extensions.stablehlo.interpreter.tensor import Index, Tensor, empty, filled, number_tensor
from opera.extensions.stablehlo.types import TensorType


def square_root(value: Element) -> Element:
    """The square root, rounded once."""
    return value.applied(np.sqrt)


class Features:
    """Tensors with one dimension that numbers features."""

    def __init__(self, operand: Tensor, feature: int) -> None:
        self.type = operand.type
        self.feature = feature
        self.count = operand.shape[feature]

    def each(self, function: Meaning, *tensors: Tensor) -> Tensor:
        """The function of the elements at each index; other tensors have one element a feature, or one for all."""

        def at(tensor: Tensor, index: Index) -> Element:
            if tensor.shape == self.type.shape:
                return tensor.get(index)
            return tensor.get((index[self.feature],) if tensor.rank else ())

        return filled(self.type, lambda index: function(*(at(each, index) for each in tensors)))

    def sums(self, tensor: Tensor) -> Tensor:
        """`compute_sum`: over all dimensions but that of features."""
        result = empty(TensorType((self.count,), self.type.element))
        for index in tensor.index_space():
            place = (index[self.feature],)
            result.set(place, result.get(place) + tensor.get(index))
        return result

    def means(self, tensor: Tensor) -> Tensor:
        """`compute_mean`: the sums over how many there are."""
        sums, count = self.sums(tensor), self.elements_per_feature()
        return filled(sums.type, lambda index: sums.get(index) / count.get())

    def elements_per_feature(self) -> Tensor:
        """How many elements a feature has."""
        return self.constant(math.prod(size for d, size in enumerate(self.type.shape) if d != self.feature))

    def constant(self, number: float) -> Tensor:
        """A number for all elements."""
        return number_tensor(self.type.element, number)


def _normalised(it: Invocation, operand: Tensor, scale: Tensor, offset: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
    features = Features(operand, it.operation.integer("feature_index"))
    epsilon = features.constant(it.operation.number("epsilon"))
    centered = features.each(subtract, operand, mean)
    deviation = features.each(square_root, features.each(add, variance, epsilon))
    normalised = features.each(divide, centered, deviation)
    return features.each(add, features.each(multiply, scale, normalised), offset)


@evaluates("batch_norm_inference")
def batch_norm_inference(it: Invocation) -> Tensor:
    """`batch_norm_inference`: `scale * (operand - mean) / sqrt(variance + epsilon) + offset`."""
    return _normalised(it, *it.tensors)


@evaluates("batch_norm_training")
def batch_norm_training(it: Invocation) -> Results:
    """`batch_norm_training`: the same, with the mean and the variance of the operand, which are results as well."""
    operand, scale, offset = it.tensors
    features = Features(operand, it.operation.integer("feature_index"))
    mean = features.means(operand)
    centered = features.each(subtract, operand, mean)
    variance = features.means(features.each(multiply, centered, centered))
    return [_normalised(it, operand, scale, offset, mean, variance), mean, variance]


@evaluates("batch_norm_grad")
def batch_norm_grad(it: Invocation) -> Results:
    """`batch_norm_grad`: the gradients of `batch_norm_training`; the names are those of the specification."""
    operand, scale, mean, variance, grad_output = it.tensors
    features = Features(operand, it.operation.integer("feature_index"))
    epsilon, count = features.constant(it.operation.number("epsilon")), features.elements_per_feature()
    centered = features.each(subtract, operand, mean)
    shifted = features.each(add, variance, epsilon)
    stddev = features.each(square_root, shifted)
    normalised = features.each(divide, centered, stddev)
    i1 = features.each(multiply, grad_output, count)
    i2 = features.sums(grad_output)
    i3 = features.sums(features.each(multiply, grad_output, centered))
    i4 = features.each(multiply, i3, centered)
    i5 = features.each(divide, i4, shifted)
    i6 = features.each(subtract, features.each(subtract, i1, i2), i5)
    factor = features.each(divide, features.each(divide, scale, stddev), count)
    grad_operand = features.each(multiply, factor, i6)
    grad_scale = features.sums(features.each(multiply, grad_output, normalised))
    return [grad_operand, grad_scale, i2]
