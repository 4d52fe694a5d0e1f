"""Sizes that a model leaves open are those that the library takes one larger."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from instances import node, tensor, torch_call

from opera.arrays import Array
from opera.models.forms import InputForm, forms_of
from opera.models.sizes import free_axes, larger
from opera.models.template import Invalid

X, Y = np.zeros((2, 3)), np.zeros((3, 4))


def test_axes_of_equal_size_grow_together() -> None:
    def product(arrays: Sequence[Array]) -> bool:
        return arrays[0].shape[1] == arrays[1].shape[0]

    assert free_axes([X, Y], product) == {(0, 0): 2, (0, 1): 3, (1, 0): 3, (1, 1): 4}


def test_axes_that_do_not_belong_together_are_told_apart() -> None:
    """Of three sizes of 3 the last is fixed by something that no input shows."""

    def fixed(arrays: Sequence[Array]) -> bool:
        return arrays[1].shape == (3,)

    assert free_axes([np.zeros((3, 3)), np.zeros(3)], fixed) == {(0, 0): 3, (0, 1): 3}


def test_sizes_of_one_and_none_stay() -> None:
    with pytest.raises(Invalid, match="no-free-size"):
        free_axes([np.zeros((1, 0))], lambda _: True)
    with pytest.raises(Invalid, match="no-free-size"):
        free_axes([X], lambda _: False)


def test_the_first_slice_comes_again() -> None:
    grown = larger([np.array([[1, 2], [3, 4]])], {(0, 0), (0, 1)})
    np.testing.assert_array_equal(grown[0], [[1, 2, 1], [3, 4, 3], [1, 2, 1]])


def test_only_libraries_with_open_sizes_have_the_form() -> None:
    values = tensor([[1.0, 2.0]])
    assert forms_of(node("Relu", 14, X=values), (InputForm.SYMBOLIC,)) == (InputForm.SYMBOLIC,)
    assert forms_of(node("Relu", 14, X=tensor(1.0)), (InputForm.SYMBOLIC,)) == ()
    assert forms_of(torch_call("torch.relu", values), (InputForm.SYMBOLIC,)) == (InputForm.SYMBOLIC,)
