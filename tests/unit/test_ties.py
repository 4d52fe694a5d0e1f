"""An index output is right when it selects what the library's selects; a filter that must not eat wrong indices."""

import numpy as np
import pytest

from opera.arrays import Array
from opera.oracles.compare import Policy, compare

DATA = np.array([[3.0, 1.0, 3.0, 2.0], [5.0, 5.0, 5.0, 0.0]], np.float32)


def verdict(expected: list[object], actual: list[object], data: Array = DATA) -> str:
    one, other = (np.array(indices, np.int64) for indices in (expected, actual))
    difference = compare([one], None, [other], Policy({}), [data])
    return "same" if difference is None else difference.explained or "different"


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ([0, 0], [2, 1]),  # argmax along the last axis, axis left out
        ([[0], [0]], [[2], [2]]),  # argmax with the axis kept
        ([[0, 2], [0, 1]], [[2, 0], [1, 2]]),  # the two largest
        ([[1, 3, 0, 2], [3, 0, 1, 2]], [[1, 3, 2, 0], [3, 2, 1, 0]]),  # a sorting
        ([0, 0], [-2, 1]),  # counted from the end
    ],
)
def test_other_indices_of_equal_elements_are_a_tie(expected: list[object], actual: list[object]) -> None:
    assert verdict(expected, actual) == "tie"


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ([0, 0], [1, 0]),  # another value
        ([[0, 2], [0, 1]], [[0, 0], [0, 0]]),  # one element named twice
        ([0, 0], [9, 0]),  # out of range
        ([0, 0, 0, 0], [1, 1, 0, 0]),  # along the other axis: [3, 1, 3, 2] against [5, 5, 5, 0]
    ],
)
def test_indices_of_other_elements_differ(expected: list[object], actual: list[object]) -> None:
    assert verdict(expected, actual) == "different"


def test_integer_results_that_are_no_indices_differ() -> None:
    counts = np.array([7, 8], np.int64)
    difference = compare([counts], None, [counts + 1], Policy({}), [counts])
    assert difference is not None
    assert difference.explained is None


def test_a_tie_is_no_excuse_where_the_library_says_which_of_equals_it_names() -> None:
    one, other = np.array([0, 0], np.int64), np.array([2, 1], np.int64)
    difference = compare([one], None, [other], Policy({}), [DATA], ordered=True)
    assert difference is not None
    assert difference.explained is None
