"""ONNX models that draw random numbers and say whether these have the right support, moments and independence.

What an operator draws differs from one implementation to the next; what it says of its draws does not. Each statement is an output that is
true. A moment of 4,000 draws may be six standard errors off, which a right implementation exceeds once in 500 million tests.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from opera.extensions.generators.onnx_embedded import Embedded, Graph
from opera.extensions.generators.onnx_settings import element_type

np: Any = importlib.import_module("numpy")

_DRAWS = 4000
_ERRORS = 6.0
_OF_CUBES = 9.0
"""The same for cubes, whose mean has longer tails."""
_ROUNDING = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-5}
"""Share of the largest number by which rounding may move a draw or a mean; checks compute in float32."""
_OPSETS = (15, 22)
"""Opsets of two generations of the operators; implementations have kernels of the first only, or of both."""


@dataclass(frozen=True)
class _Expected:
    """What is known of each draw; arrays have one element for each, or one for all.

    Attributes:
        mean: The mean.
        variance: The variance.
        third: The third central moment.
        fourth: The fourth one.
        sixth: The sixth one.
        low: The lowest possible number.
        high: The highest one.
        values: All possible numbers, where they are few.
    """

    mean: Any
    variance: Any
    third: Any
    fourth: Any
    sixth: Any
    low: float
    high: float
    values: tuple[float, ...] = ()


def models() -> Iterator[tuple[str, Embedded]]:
    """Name of the operator and model, for each operator that draws, its settings, dtypes and opsets."""
    for opset in _OPSETS:
        for dtype in ("float32", "float64", "float16"):
            yield from _uniform(opset, dtype)
            yield from _normal(opset, dtype)
            yield from _bernoulli(opset, dtype)
            yield from _dropout(opset, dtype)


def _uniform(opset: int, dtype: str) -> Iterator[tuple[str, Embedded]]:
    for low, high in ((0.0, 1.0), (-1.0, 3.0), (5.0, 6.0)):
        width = high - low
        known = _Expected((low + high) / 2, width**2 / 12, 0.0, width**4 / 80, width**6 / 448, low, high)
        for name, graph, draws, second in _made("RandomUniform", dtype, low=low, high=high):
            yield name, _checked(graph, draws, second, dtype, known, opset)


def _normal(opset: int, dtype: str) -> Iterator[tuple[str, Embedded]]:
    for mean, scale in ((0.0, 1.0), (5.0, 2.0), (-1.0, 0.125), (3.0, 0.0)):
        known = _Expected(mean, scale**2, 0.0, 3 * scale**4, 15 * scale**6, mean - 7 * scale, mean + 7 * scale)
        for name, graph, draws, second in _made("RandomNormal", dtype, mean=mean, scale=scale):
            yield name, _checked(graph, draws, second, dtype, known, opset)


def _made(operator: str, dtype: str, **settings: Any) -> Iterator[tuple[str, Graph, str, str]]:
    """Name, graph and two draws of an operator that takes a shape, and of the one that takes a tensor of that shape."""
    number = element_type(np.zeros(1, dtype))
    graph = Graph()
    draws, second = (graph.add(operator, [], dtype=number, shape=[_DRAWS], **settings)[0] for _ in range(2))
    yield operator, graph, draws, second
    for like in (dtype, "int32"):
        graph = Graph()
        given = graph.given("like", np.zeros((40, _DRAWS // 40), like))
        own = {} if like == dtype else {"dtype": number}
        draws, second = (graph.add(f"{operator}Like", [given], **own, **settings)[0] for _ in range(2))
        yield f"{operator}Like", graph, draws, second


def _bernoulli(opset: int, dtype: str) -> Iterator[tuple[str, Embedded]]:
    for shares in ((0.9,), (0.5,), (0.1, 0.8), (0.0,), (1.0,)):
        p = np.resize(np.array(shares, dtype), _DRAWS)
        for result in (dtype, "int32", "bool"):
            graph = Graph()
            given = graph.given("p", p)
            own = {} if result == dtype else {"dtype": element_type(np.zeros(1, result))}
            draws, second = (graph.add("Bernoulli", [given], **own)[0] for _ in range(2))
            exact = p.astype("float64")
            yield "Bernoulli", _checked(graph, draws, second, dtype, _two_values(0.0, 1.0, exact), opset)


def _dropout(opset: int, dtype: str) -> Iterator[tuple[str, Embedded]]:
    for ratio in (0.5, 0.9, 0.25, 0.0):
        graph = Graph()
        data = graph.given("data", np.ones(_DRAWS, dtype))
        dropped, training = graph.constant(np.array(ratio, "float32")), graph.constant(np.array(True))
        (draws, mask), (second, _) = (graph.add("Dropout", [data, dropped, training], 2) for _ in range(2))
        kept = graph.add("Greater", [_flat(graph, draws), _number(graph, 0.5)])[0]
        graph.result(_all(graph, graph.add("Equal", [kept, mask])[0]), np.array(True))
        top = 1 / (1 - ratio)
        yield "Dropout", _checked(graph, draws, second, dtype, _two_values(0.0, top, np.array(1 - ratio)), opset)


def _two_values(low: float, high: float, share: Any) -> _Expected:
    """What is known of draws that are *high* with the probability *share*, else *low*."""
    width = high - low
    second, third, fourth, sixth = ((1 - share) * (-share * width) ** k + share * ((1 - share) * width) ** k for k in (2, 3, 4, 6))
    return _Expected(low + share * width, second, third, fourth, sixth, low, high, (low, high))


def _checked(graph: Graph, draws: str, second: str, dtype: str, known: _Expected, opset: int) -> Embedded:
    """The model whose outputs say that *draws* are as *known*, and that *second*, another draw, is independent of them."""
    one, other = (_flat(graph, each) for each in (draws, second))
    slack = _ROUNDING[dtype] * max(1.0, abs(known.low), abs(known.high))
    spread = float(np.mean(known.variance))
    if known.values:
        graph.result(_all(graph, _is_one_of(graph, one, known.values, slack)), np.array(True))
    else:
        above = graph.add("GreaterOrEqual", [one, _number(graph, known.low - slack)])[0]
        below = graph.add("LessOrEqual", [one, _number(graph, known.high + slack)])[0]
        graph.result(_all(graph, graph.add("And", [above, below])[0]), np.array(True))
    left, right = (graph.add("Sub", [each, _number(graph, known.mean)])[0] for each in (one, other))
    error = _ERRORS / math.sqrt(_DRAWS)
    _near_zero(graph, left, error * math.sqrt(spread) + slack)
    square = graph.add("Sub", [graph.add("Mul", [left, left])[0], _number(graph, known.variance)])[0]
    deviation = math.sqrt(max(0.0, float(np.mean(known.fourth - known.variance**2))))
    _near_zero(graph, square, error * deviation + slack * (1 + 2 * math.sqrt(spread)))
    cube = graph.add("Sub", [graph.add("Mul", [graph.add("Mul", [left, left])[0], left])[0], _number(graph, known.third)])[0]
    deviation = math.sqrt(max(0.0, float(np.mean(known.sixth - known.third**2))))
    _near_zero(graph, cube, _OF_CUBES * deviation / math.sqrt(_DRAWS) + slack * (1 + 3 * spread))
    bound = error * math.sqrt(float(np.mean(known.variance**2))) + slack
    _near_zero(graph, graph.add("Mul", [left, right])[0], bound)
    ends = [[graph.constant(np.array([each])) for each in pair] for pair in ((0, _DRAWS - 1), (1, _DRAWS))]
    former, latter = (graph.add("Slice", [left, *pair])[0] for pair in ends)
    _near_zero(graph, graph.add("Mul", [former, latter])[0], bound)
    if np.ndim(known.mean):
        varied = _number(graph, known.mean - np.mean(known.mean))
        _near_zero(graph, graph.add("Mul", [left, varied])[0], error * math.sqrt(spread) * float(np.abs(known.mean).max()) + slack)
    return graph.embedded(opset)


def _near_zero(graph: Graph, value: str, bound: float) -> None:
    """An output that says whether the mean of *value* is at most *bound* away from 0."""
    mean = graph.add("ReduceMean", [value], keepdims=0)[0]
    graph.result(graph.add("LessOrEqual", [graph.add("Abs", [mean])[0], _number(graph, bound)])[0], np.array(True))


def _is_one_of(graph: Graph, value: str, allowed: tuple[float, ...], slack: float) -> str:
    found = ""
    for each in allowed:
        distance = graph.add("Abs", [graph.add("Sub", [value, _number(graph, each)])[0]])[0]
        near = graph.add("LessOrEqual", [distance, _number(graph, slack)])[0]
        found = graph.add("Or", [found, near])[0] if found else near
    return found


def _all(graph: Graph, truth: str) -> str:
    least = graph.add("ReduceMin", [graph.add("Cast", [truth], to=element_type(np.zeros(1, "float32")))[0]], keepdims=0)[0]
    return graph.add("Cast", [least], to=element_type(np.zeros(1, "bool")))[0]


def _flat(graph: Graph, draws: str) -> str:
    whole = graph.add("Cast", [draws], to=element_type(np.zeros(1, "float32")))[0]
    return graph.add("Reshape", [whole, graph.constant(np.array([-1]))])[0]


def _number(graph: Graph, value: Any) -> str:
    return graph.constant(np.asarray(value, "float32"))
