"""Whose a wrong result is: the model's, which was made before the compiler saw it, or the compiler's.

Each case with a wrong model is next to a case with a wrong compiler.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from opera.oracles.blame import Undefined, blames
from opera.oracles.compare import Policy

RIGHT = [1.0, 2.0, 3.0]


def blamed(model: Any, actual: Any, *, expected: Any = RIGHT, exported: bool = True, computes_as: dict[str, str] | None = None) -> bool:
    arrays = [
        None if each is None else [np.asarray(each) if isinstance(each, np.ndarray) else np.float32(each)] for each in (model, actual)
    ]
    right = np.asarray(expected) if isinstance(expected, np.ndarray) else np.float32(expected)
    return blames(arrays[0], [right], None, arrays[1], Policy(computes_as or {}), exported=exported)


@pytest.mark.parametrize("exported", [True, False])
def test_the_same_wrong_result_without_the_compiler_is_the_models(exported: bool) -> None:
    assert blamed([1, 5, 3], [1, 5, 3], exported=exported)
    assert not blamed(RIGHT, [1, 5, 3], exported=exported)
    assert not blamed([1, 5, 3], [1, 5, 4], exported=exported), "the model has the last element right"
    assert not blamed([1, 2, 4], [1, 5, 3], exported=exported), "they are wrong at different places"


def test_another_wrong_result_at_the_same_place_is_the_exporters_but_not_a_captures() -> None:
    """Several updates of one element: an exporter that adds nothing up leaves it to the compiler which of them stays."""
    assert blamed([1, 5, 3], [1, 7, 3])
    assert not blamed([1, 5, 3], [1, 7, 3], exported=False)
    assert blamed([1, np.nan, 3], [1, 7, 3])
    assert not blamed([4, 4, 4], [-1e30, 9, 0]), "a model that has nothing right excuses nothing but its own result"
    assert not blamed([1, np.nan, 3], [np.nan, 7, 3])


def test_a_wrong_type_or_shape_of_the_model_is_not_the_compilers() -> None:
    half, single = np.array(RIGHT, "float16"), np.array(RIGHT, "float32")
    assert blamed(single, single, expected=half)
    assert not blamed(half, single, expected=half)
    assert not blamed(single, np.array(RIGHT), expected=half), "the compiler gives a third type"
    assert blamed(single[None], single[None] + 1, expected=single)
    assert not blamed(single, single[None], expected=single)


def test_a_model_without_a_result_is_the_exporters() -> None:
    assert blamed(None, None)
    assert not blamed(None, [1, 5, 3]), "the evaluator may be at its limits, and the compiler has a result"
    assert not blamed(None, None, exported=False)
    assert not blamed(RIGHT, None), "the evaluator runs it: the compiler should too"
    assert not blamed([1, 5, 3], None), "a wrong result is no reason to raise"


def test_what_the_compiler_declares_to_compute_as_is_no_difference_from_the_model() -> None:
    wrong = np.array([1.0, 1 / 3, 3.0])
    rounded = wrong.astype("float32").astype("float64")
    right = np.array(RIGHT)
    assert blamed(wrong, rounded, expected=right, computes_as={"float64": "float32"})
    assert not blamed(right, rounded, expected=right, computes_as={"float64": "float32"})


@pytest.mark.parametrize("actual", [None, [np.float32(1)]])
def test_a_model_that_its_format_leaves_open_is_the_exporters_whatever_the_compiler_does(actual: list[Any] | None) -> None:
    right = [np.float32([1, 2, 3])]
    assert blames(Undefined("the mean of no numbers"), right, None, actual, Policy({}), exported=True)
    assert not blames(Undefined("the mean of no numbers"), right, None, actual, Policy({}), exported=False)


def test_the_shape_of_values_that_the_format_leaves_open_is_the_compilers() -> None:
    open_values, right = Undefined("the mean of no numbers", only_values=True), [np.float32([np.nan, np.nan])]
    assert blames(open_values, right, None, [np.float32([0, 0])], Policy({}), exported=True)
    assert blames(open_values, right, None, None, Policy({}), exported=True)
    assert not blames(open_values, right, None, [np.zeros((2, 0), "float32")], Policy({}), exported=True)
    assert not blames(open_values, right, None, [np.zeros(2)], Policy({}), exported=True), "another dtype"
