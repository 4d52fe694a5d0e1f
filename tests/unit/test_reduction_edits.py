"""Single edits of the reducer, each on its own."""

from __future__ import annotations

import numpy as np
from instances import node, tensor

from opera.arrays import tensor_array
from opera.compilers.saved_model import output_places
from opera.instance import Tensor
from opera.models.sampling import draw
from opera.triage.reduction.aspects import aspects
from opera.triage.reduction.properties import View
from opera.triage.reduction.shapes import lower_ranks
from opera.triage.reduction.tensors import without_slice


def test_a_slice_goes_and_the_others_stay() -> None:
    rest = without_slice(tensor([[0, 1, 2], [3, 4, 5]], "int64"), 1, 1)
    assert tensor_array(rest).tolist() == [[0, 2], [3, 5]]
    assert without_slice(Tensor((2, 3), "float32"), 1, 1).shape == (2, 2)


def test_a_lower_rank_shortens_the_parameters_of_all_dimensions_and_of_the_spatial_ones() -> None:
    pool = node("AveragePool", 11, {"kernel_shape": [2, 3], "pads": [0, 1, 0, 1]}, X=tensor(np.zeros((1, 1, 4, 5))))
    found = [each for each in lower_ranks(pool) if len(next(each.tensors()).shape) == 3]
    settings = [{argument.name: argument.value for argument in each.arguments() if argument.name != "X"} for each in found]
    assert {"kernel_shape": [3], "pads": [1, 1]} in settings
    assert {"kernel_shape": [2], "pads": [0, 0]} in settings


def test_a_parameter_that_agrees_with_a_size_changes_with_it() -> None:
    split = node("Split", 18, {"num_outputs": 4}, input=tensor(np.arange(8.0).reshape(4, 2)))
    pairs = {
        (tuple(each.shape for each in removal.instance.tensors()), argument.value)
        for aspect in aspects(View(split, "runtime"))
        for removal in aspect.removals
        for argument in removal.instance.arguments()
        if argument.name == "num_outputs"
    }
    assert (((2, 2),), 2) in pairs


def test_outputs_of_a_saved_model_are_put_in_order_by_their_numbers_alone() -> None:
    assert output_places([["output_1"], ["x", "output_0"], ["output_10"]]) == [1, 0, 2]
    assert output_places([["output_1"], ["dense"]]) == [0, 1]


def test_drawn_truth_values_are_true_half_of_the_time() -> None:
    found = draw(Tensor((10_000,), "bool"), np.random.default_rng(0))
    assert 0.45 < found.mean() < 0.55
