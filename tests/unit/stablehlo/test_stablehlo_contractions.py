"""Contractions and reductions of the readable interpreter against numpy, with infinities and NaN beside zeros and padding."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from opera.extensions.stablehlo.interpreter import Tensor, evaluate
from opera.extensions.stablehlo.program import Attribute, Block, Function, Operation, Program
from opera.extensions.stablehlo.types import TensorType, Value, element_type

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
SPECIAL = [np.inf, -np.inf, np.nan, 0.0, -0.0]


def evaluated(
    name: str, operands: Sequence[Any], result: Sequence[int], attributes: dict[str, Attribute], body: str | None = None, type: str = "f64"
) -> Any:
    """The result of one operation."""
    element = element_type(type)
    values = [Value(TensorType(each.shape, element), each.astype(element.numpy)) for each in operands]
    places = tuple(range(len(values)))
    output = str(TensorType(tuple(result), element))
    scalar = str(TensorType((), element))
    inner = (
        Operation(f"stablehlo.{body}", (100, 101), (102,), (scalar,)),
        Operation("stablehlo.return", (102,)),
    )
    regions = () if body is None else (Block((100, 101), inner),)
    operation = Operation(f"stablehlo.{name}", places, (50,), (output,), attributes, regions)
    block = Block(places, (operation, Operation("func.return", (50,))))
    program = Program({"main": Function("main", tuple(str(each.type) for each in values), (output,), block)})
    [found] = evaluate(program, "main", [Tensor(each) for each in values])
    assert isinstance(found, Tensor)
    return found.value.array


def drawn(generator: random.Random, shape: Sequence[int]) -> Any:
    """Small whole numbers, some of which are special values in every second array."""
    count = int(np.prod(shape))
    numbers = [float(generator.randint(-3, 3)) for _ in range(count)]
    if generator.random() < 0.5:
        for index in range(count):
            if generator.random() < 0.15:
                numbers[index] = generator.choice(SPECIAL)
    return np.array(numbers).reshape(shape)


def same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other, equal_nan=True))


def padded(array: Any, low: Sequence[int], high: Sequence[int], gaps: Sequence[int], filler: float) -> Any:
    """*array* with gaps between its elements, and edges around them; negative edges cut off."""
    sizes = [(size - 1) * gap + 1 if size else 0 for size, gap in zip(array.shape, gaps, strict=True)]
    spread = np.full(sizes, filler)
    spread[tuple(slice(None, None, gap) for gap in gaps)] = array
    spread = np.pad(spread, [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)], constant_values=filler)
    return spread[tuple(slice(-a if a < 0 else 0, size + (b if b < 0 else 0)) for a, b, size in zip(low, high, spread.shape, strict=True))]


@pytest.mark.parametrize("seed", range(60))
def test_a_convolution_multiplies_padding_and_gaps_as_zeros(seed: int) -> None:
    generator = random.Random(seed)
    spatial = generator.choice((1, 1, 2))
    groups, batch, channels, features = generator.choice((1, 1, 2)), 1, 2, 2
    base = [generator.randint(2, 4) for _ in range(spatial)]
    window = [generator.randint(1, 3) for _ in range(spatial)]
    strides, gaps, steps = ([generator.choice((1, 1, 2)) for _ in range(spatial)] for _ in range(3))
    low, high = ([generator.choice((0, 1, 2, -1)) for _ in range(spatial)] for _ in range(2))
    turned = [generator.random() < 0.3 for _ in range(spatial)]
    left = drawn(generator, (batch, *base, channels))
    right = drawn(generator, (*window, channels // groups, features))
    wide = padded(left, [0, *low, 0], [0, *high, 0], [1, *gaps, 1], 0.0)
    kernel = right[tuple(slice(None, None, -1) if each else slice(None) for each in turned)]
    reach = [(length - 1) * step + 1 for length, step in zip(window, steps, strict=True)]
    sizes = [
        max(size - own, -stride) // stride + 1 if size >= own else 0
        for size, own, stride in zip(wide.shape[1:-1], reach, strides, strict=True)
    ]
    wanted = np.zeros((batch, *sizes, features))
    per_group = features // groups
    for at in itertools.product(*map(range, sizes)):
        for feature in range(features):
            group = feature // per_group
            total = np.float64(0.0)
            for inner in itertools.product(*map(range, window)):
                place = tuple(one * stride + k * step for one, stride, k, step in zip(at, strides, inner, steps, strict=True))
                for channel in range(channels // groups):
                    total += wide[(0, *place, group * (channels // groups) + channel)] * kernel[(*inner, channel, feature)]
            wanted[(0, *at, feature)] = total
    numbers: dict[str, Attribute] = {
        "input_batch": 0, "input_feature": spatial + 1, "input_spatial": list(range(1, spatial + 1)),
        "kernel_input_feature": spatial, "kernel_output_feature": spatial + 1, "kernel_spatial": list(range(spatial)),
        "output_batch": 0, "output_feature": spatial + 1, "output_spatial": list(range(1, spatial + 1)),
    }  # fmt: skip
    attributes: dict[str, Attribute] = {
        "dimension_numbers": numbers, "feature_group_count": groups, "batch_group_count": 1, "window_strides": list(strides),
        "padding": [each for pair in zip(low, high, strict=True) for each in pair], "lhs_dilation": list(gaps),
        "rhs_dilation": list(steps), "window_reversal": [int(each) for each in turned],
    }  # fmt: skip
    found = evaluated("convolution", [left, right], wanted.shape, attributes)
    assert same(found, wanted), (left, right, attributes, found, wanted)


@pytest.mark.parametrize("seed", range(30))
def test_dot_products_multiply_every_pair(seed: int) -> None:
    generator = random.Random(seed)
    left, right = drawn(generator, (2, 3, 4)), drawn(generator, (2, 4, 3))
    numbers: dict[str, Attribute] = {
        "lhs_batching_dimensions": [0], "rhs_batching_dimensions": [0],
        "lhs_contracting_dimensions": [2], "rhs_contracting_dimensions": [1],
    }  # fmt: skip
    found = evaluated("dot_general", [left, right], (2, 3, 3), {"dot_dimension_numbers": numbers})
    assert same(found, np.sum(left[:, :, :, None] * right[:, None, :, :], axis=2))


REDUCTIONS = {"add": (np.add, 0.0), "multiply": (np.multiply, 1.0), "maximum": (np.maximum, -np.inf), "minimum": (np.minimum, np.inf)}


@pytest.mark.parametrize("body", REDUCTIONS)
@pytest.mark.parametrize("seed", range(10))
def test_reductions_take_in_every_element_and_the_initial_value(seed: int, body: str) -> None:
    generator = random.Random(seed)
    function, initial = REDUCTIONS[body]
    initial = generator.choice((initial, 2.0, np.nan))
    array = drawn(generator, (3, 4))
    found = evaluated("reduce", [array, np.array(initial)], (3,), {"dimensions": [1]}, body)
    with np.errstate(all="ignore"):
        assert same(found, function(function.reduce(array, axis=1), initial))


@pytest.mark.parametrize("body", REDUCTIONS)
@pytest.mark.parametrize("seed", range(15))
def test_windows_take_in_padding_and_gaps_as_initial_values(seed: int, body: str) -> None:
    generator = random.Random(seed)
    function, initial = REDUCTIONS[body]
    initial = generator.choice((initial, 2.0))
    array = drawn(generator, (generator.randint(2, 5),))
    window, stride, gap, step = (generator.choice((1, 2, 3)) for _ in range(4))
    low, high = generator.choice((0, 1, 2)), generator.choice((0, 1, 2, -1))
    wide = padded(array, [low], [high], [gap], initial)
    reach = (window - 1) * step + 1
    count = (len(wide) - reach) // stride + 1 if len(wide) >= reach else 0
    with np.errstate(all="ignore"):
        wanted = [function(function.reduce(wide[at * stride : at * stride + reach : step]), initial) for at in range(count)]
    attributes: dict[str, Attribute] = {
        "window_dimensions": [window], "window_strides": [stride], "base_dilations": [gap], "window_dilations": [step],
        "padding": [low, high],
    }  # fmt: skip
    found = evaluated("reduce_window", [array, np.array(initial)], (count,), attributes, body)
    assert same(found, np.array(wanted)), (array, attributes, found, wanted)
