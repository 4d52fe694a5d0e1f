"""ONNX models that draw random numbers and say whether these are as they should be.

What an operator draws differs from one implementation to the next; what it says of its draws does not. Each statement is an output that is
true.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from opera.extensions.generators.draws import laws
from opera.extensions.generators.draws.laws import Law, Where
from opera.extensions.generators.onnx_embedded import Embedded, Graph
from opera.extensions.generators.onnx_settings import element_type

np: Any = importlib.import_module("numpy")

_DRAWS = 4000
_OPSETS = (15, 22)
"""Opsets of two generations of the operators; implementations have kernels of the first only, or of both."""


def models() -> Iterator[tuple[str, Embedded]]:
    """Name of the operator and model, for each operator that draws, its settings, dtypes and opsets."""
    for opset in _OPSETS:
        for dtype in ("float32", "float64", "float16"):
            yield from _uniform(opset, dtype)
            yield from _normal(opset, dtype)
            yield from _bernoulli(opset, dtype)
            yield from _dropout(opset, dtype)
        yield from _seeded(opset)


def _uniform(opset: int, dtype: str) -> Iterator[tuple[str, Embedded]]:
    for low, high in ((0.0, 1.0), (-1.0, 3.0), (5.0, 6.0)):
        for name, graph, draws, second in _made("RandomUniform", dtype, low=low, high=high):
            yield name, _checked(graph, draws, second, dtype, laws.uniform(low, high), opset)


def _normal(opset: int, dtype: str) -> Iterator[tuple[str, Embedded]]:
    for mean, scale in ((0.0, 1.0), (5.0, 2.0), (-1.0, 0.125), (3.0, 0.0)):
        for name, graph, draws, second in _made("RandomNormal", dtype, mean=mean, scale=scale):
            yield name, _checked(graph, draws, second, dtype, laws.normal(mean, scale), opset)


def _seeded(opset: int) -> Iterator[tuple[str, Embedded]]:
    """Two nodes with a seed each: one says nothing of the other."""
    size: dict[str, Any] = {"shape": [_DRAWS]}
    like, chances = np.zeros(_DRAWS, "float32"), np.full(_DRAWS, 0.5, "float32")
    for operator, law, given, settings in (
        ("RandomUniform", laws.uniform(0, 1), None, size),
        ("RandomUniformLike", laws.uniform(0, 1), like, {}),
        ("RandomNormal", laws.normal(0, 1), None, size),
        ("RandomNormalLike", laws.normal(0, 1), like, {}),
        ("Bernoulli", laws.discrete({0.0: 0.5, 1.0: 0.5}), chances, {}),
    ):
        graph = Graph()
        inputs = [] if given is None else [graph.given("x", given)]
        draws, second = (graph.add(operator, inputs, seed=seed, **settings)[0] for seed in (1.0, 2.0))
        yield operator, _checked(graph, draws, second, "float32", law, opset)


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
    for chance in (0.9, 0.5, 0.1, 0.0, 1.0):
        for result in (dtype, "int32", "bool"):
            graph = Graph()
            given = graph.given("p", np.full(_DRAWS, chance, dtype))
            own = {} if result == dtype else {"dtype": element_type(np.zeros(1, result))}
            draws, second = (graph.add("Bernoulli", [given], **own)[0] for _ in range(2))
            exact = float(np.array(chance, dtype))
            yield "Bernoulli", _checked(graph, draws, second, dtype, laws.discrete({0.0: 1 - exact, 1.0: exact}), opset)


def _dropout(opset: int, dtype: str) -> Iterator[tuple[str, Embedded]]:
    for ratio in (0.5, 0.9, 0.25, 0.0):
        graph = Graph()
        data = graph.given("data", np.ones(_DRAWS, dtype))
        dropped, training = graph.constant(np.array(ratio, "float32")), graph.constant(np.array(True))
        (draws, mask), (second, _) = (graph.add("Dropout", [data, dropped, training], 2) for _ in range(2))
        kept = graph.add("Greater", [_flat(graph, draws), _number(graph, 0.5)])[0]
        graph.result(_all(graph, graph.add("Equal", [kept, mask])[0]), np.array(True))
        law = laws.discrete({0.0: ratio, 1 / (1 - ratio): 1 - ratio}, whole=False)
        yield "Dropout", _checked(graph, draws, second, dtype, law, opset)


def _checked(graph: Graph, draws: str, second: str, dtype: str, law: Law, opset: int) -> Embedded:
    """The model whose outputs say that *draws* are as *law* says, and that *second*, another draw, is independent of them."""
    one, other = (_flat(graph, each) for each in (draws, second))
    slack = law.slack(dtype)
    if law.values:
        graph.result(_all(graph, _is_one_of(graph, one, law.values, slack)), np.array(True))
    else:
        above = graph.add("GreaterOrEqual", [one, _number(graph, law.low - slack)])[0]
        below = graph.add("LessOrEqual", [one, _number(graph, law.high + slack)])[0]
        graph.result(_all(graph, graph.add("And", [above, below])[0]), np.array(True))
    for where, number, share, off in law.expectations(_DRAWS):
        parts = {Where.ONE: [one], Where.BOTH: [one, other], Where.PAIRS: [_half(graph, one, place) for place in (0, 1)]}[where]
        found = [graph.add("LessOrEqual", [each, _number(graph, number)])[0] for each in parts]
        event = found[0] if len(found) == 1 else graph.add("And", found)[0]
        mean = graph.add("ReduceMean", [graph.add("Cast", [event], to=element_type(np.zeros(1, "float32")))[0]], keepdims=0)[0]
        away = graph.add("Abs", [graph.add("Sub", [mean, _number(graph, share)])[0]])[0]
        graph.result(graph.add("LessOrEqual", [away, _number(graph, off)])[0], np.array(True))
    return graph.embedded(opset)


def _half(graph: Graph, value: str, first: int) -> str:
    """Every second element of *value*."""
    return graph.add("Slice", [value, *(graph.constant(np.array([each])) for each in (first, _DRAWS, 0, 2))])[0]


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
