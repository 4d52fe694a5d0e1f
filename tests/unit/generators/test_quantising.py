"""Numbers that survive quantisation, and the kind of instances that are calls inside larger graphs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from opera.extensions.generators.embedded.kind import EMBEDDING, EmbeddedKind, alone, embedding
from opera.extensions.generators.quantising import ZERO_POINTS, channel_axes, clear_scale, clearance, is_quantisable, on_grid, on_grids
from opera.instance import Argument, Instance, Kind, Tensor, decode_instance, digest, encode_instance

NUMBERS = np.random.default_rng(0).normal(size=(4, 5)).astype("float32")


@pytest.mark.parametrize(("dtype", "zero"), ZERO_POINTS)
def test_inputs_are_whole_steps_and_stay_so(dtype: str, zero: int) -> None:
    exact, scale = on_grid(NUMBERS, zero)
    steps = exact / scale + zero
    assert np.log2(scale) == int(np.log2(scale))
    assert np.array_equal(steps, np.rint(steps))
    assert np.iinfo(dtype).min <= steps.min() <= steps.max() <= np.iinfo(dtype).max
    assert np.array_equal(on_grid(exact, zero)[0], exact)


@pytest.mark.parametrize("axis", channel_axes(NUMBERS))
def test_neighbours_along_an_axis_have_other_scales_and_whole_steps(axis: int) -> None:
    exact, scales = on_grids(NUMBERS, axis)
    assert len(scales) == NUMBERS.shape[axis]
    assert all(one != other for one, other in pairwise(scales))
    steps = np.moveaxis(exact, axis, -1) / scales
    assert np.array_equal(steps, np.rint(steps))
    assert 30 < np.abs(steps).max() <= 127
    whole = np.arange(20, dtype="float32").reshape(4, 5)
    assert np.array_equal(on_grids(whole, axis)[0], np.rint(on_grids(whole, axis)[0]))


def test_each_kind_of_axis_is_taken_once() -> None:
    assert [channel_axes(np.zeros((2,) * rank)) for rank in range(5)] == [(), (), (0, -1), (0, 1, -1), (0, 1, -1)]


@pytest.mark.parametrize(("dtype", "zero"), ZERO_POINTS[:2])
def test_results_lie_in_range_and_near_no_middle(dtype: str, zero: int) -> None:
    scale = clear_scale(NUMBERS)
    steps = np.rint(NUMBERS / scale) + zero
    assert clearance(NUMBERS, scale) > 0.01
    assert np.iinfo(dtype).min <= steps.min() <= steps.max() <= np.iinfo(dtype).max


def test_a_number_in_the_middle_of_two_steps_is_not_clear() -> None:
    assert clearance(np.array([1.5, 1.0], "float32"), 1.0) == 0
    assert clearance(np.array([1.0], "float32"), 1.0) == 0.5


def test_only_finite_float32_that_are_not_all_zero_can_be_quantised() -> None:
    assert is_quantisable(NUMBERS)
    for value in (None, NUMBERS.astype("float64"), NUMBERS[:0], NUMBERS * 0, NUMBERS * np.float32("inf"), NUMBERS * np.float32("nan")):
        assert not is_quantisable(value)


def _instance(*fact: str | int) -> Instance:
    context = ((EMBEDDING, list(fact)),) if fact else ()
    call = (Argument("input", Tensor((2, 3), "float32")),)
    return Instance("pytorch", "torch.sigmoid", Kind("embedded"), call=call, context=(*context, ("training", False)))


def test_the_graph_around_a_call_is_part_of_its_identity_and_survives_the_codec() -> None:
    made = [_instance("quantised", "int8", 0), _instance("quantised", "uint8", 3), _instance("branch"), _instance("loop")]
    assert len({digest(each) for each in (*made, alone(made[0]))}) == 5
    for each in made:
        again = decode_instance(encode_instance(each))
        assert (digest(again), embedding(again)) == (digest(each), embedding(each))


def test_a_reduction_first_tries_the_call_alone() -> None:
    kind = EmbeddedKind()
    made = _instance("loop")
    (found,) = kind.steps(made)[0](made)
    assert (found.kind, found.context) == (Kind.FUNCTION, (("training", False),))
    assert found.call == made.call
    assert list(kind.steps(found)[0](found)) == []
    assert kind.lines(made) == ("inside: loop",)


def test_only_pytorch_has_such_models() -> None:
    assert EmbeddedKind().model("tensorflow", _instance("loop"), "key", 0) is None
