"""When a result of integers of 8 bits counts as the float model's."""

from __future__ import annotations

import numpy as np
import pytest

from opera.extensions.litert_int8.adapter import judged

PLAIN = np.array([0.1, 0.2], "float32")


@pytest.mark.parametrize(("steps", "counts"), [(0, True), (2, True), (-2, True), (3, False)])
def test_two_steps_are_rounding_and_three_are_not(steps: int, counts: bool) -> None:
    simulated = np.array([0.5, 1.0], "float32")
    found = simulated + np.float32(0.25 * steps)
    assert np.array_equal(judged(found, simulated, PLAIN, 0.25), PLAIN if counts else found)


def test_integers_have_to_be_equal_and_other_shapes_stay() -> None:
    whole = np.array([3, 4])
    assert judged(whole, np.array([3, 5]), np.array([7, 8]), 0.0).tolist() == [7, 4]
    assert judged(whole, whole[:1], whole[:1], 1.0) is whole


def test_a_number_that_is_none_stays() -> None:
    found = judged(np.array([np.nan, 0.5], "float32"), np.array([0.5, 0.5], "float32"), PLAIN, 0.25)
    assert np.isnan(found[0])
    assert found[1] == PLAIN[1]
