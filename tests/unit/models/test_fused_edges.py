"""How a check finds the edges that are wrong together, and how many models it compiles for that."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from opera.extensions.models.check import MOST_COMPILATIONS, Found, Measured, ModelCheck, Node, Piece, State, compared
from opera.instance import Argument, Instance, Kind
from opera.models.forms import InputForm

CHAIN = [((each - 1,) if each else ()) for each in range(500)]
"""By node, the nodes that it reads."""


class Model:
    """A graph whose pieces say which of its edges are whole."""

    def __init__(self, read: Sequence[Sequence[int]], stuck: Mapping[int, str]) -> None:
        self.nodes = [
            Node(each, "", "ai.onnx.Relu", tuple(f"v{one}" for one in inputs), (f"v{each}",), stuck.get(each, ""))
            for each, inputs in enumerate(read)
        ]

    def piece(self, nodes: Sequence[int], cut: Sequence[str] | None) -> Piece:
        chosen = [self.nodes[each] for each in nodes]
        made = {name for each in chosen for name in each.outputs}
        whole = {name for each in chosen for name in each.inputs if name in made and cut is not None and name not in cut}
        return Piece(
            Instance("onnx", "piece", Kind.GRAPH, call=(Argument("whole", " ".join(sorted(whole))), Argument("nodes", len(nodes))))
        )

    def round(self) -> None:
        pass

    def node(self, number: int) -> Instance:
        raise AssertionError("each operator is right alone")


class Faulty:
    """A compiler that is wrong if all *guilty* edges are whole."""

    compiler = "faulty"

    def __init__(self, guilty: Sequence[str]) -> None:
        self.guilty = set(guilty)
        self.sizes: list[int] = []

    def measured(self, piece: Piece) -> Measured:
        whole, size = (str(each.value) for each in piece.instance.call)
        self.sizes.append(int(size))
        found = Found(State.WRONG if self.guilty <= {*whole.split()} else State.RIGHT, "", 1.0)
        return found, [replace(found, state=State.RIGHT)] * int(size)

    def judged(self, instance: Instance, form: InputForm) -> tuple[Found, Found]:
        raise AssertionError("each operator is right alone")


def check(read: Sequence[Sequence[int]], guilty: Sequence[str], stuck: Mapping[int, str] | None = None) -> tuple[list[str], int]:
    report = ModelCheck(Model(read, stuck or {}), Faulty(guilty)).run()
    return report.edges, report.compilations


@pytest.mark.parametrize("at", [0, 1, 77, 250, 497, 498])
def test_one_edge_of_five_hundred_takes_thirteen_compilations(at: int) -> None:
    edges, compilations = check(CHAIN, [f"v{at}"])
    assert edges == [f"v{at}"]
    assert compilations <= 13


@pytest.mark.parametrize("at", [0, 100, 496])
def test_neighbours_take_few_more(at: int) -> None:
    edges, compilations = check(CHAIN, [f"v{at}", f"v{at + 1}", f"v{at + 2}"])
    assert edges == [f"v{at}", f"v{at + 1}", f"v{at + 2}"]
    assert compilations <= 17


def test_edges_far_apart_and_in_branches_are_found_too() -> None:
    draw = random.Random(0)
    for _ in range(50):
        read = [sorted({draw.randrange(each) for _ in range(draw.randint(1, 3))}) if each else [] for each in range(60)]
        edges = sorted({f"v{one}" for inputs in read for one in inputs})
        guilty = draw.sample(edges, draw.randint(1, 3))
        found, _ = check(read, guilty)
        assert sorted(found) == sorted(guilty)


def test_a_constant_between_them_stays_with_the_nodes_that_read_it() -> None:
    model = Model([(), (), (0, 1), (2,), (3,)], {1: "it is a constant"})
    faulty = Faulty(["v2"])
    assert ModelCheck(model, faulty).run().edges == ["v2"]
    assert faulty.sizes[-1] == 3, "two nodes and the constant"


def test_a_model_that_is_wrong_as_a_whole_only_ends_in_time() -> None:
    edges, compilations = check(CHAIN[:200], [f"v{each}" for each in range(199)])
    assert edges == []
    assert compilations <= MOST_COMPILATIONS


def test_a_whole_model_is_not_accused_where_the_true_value_is_unsure() -> None:
    """The evaluator says that the compiler is right in a node, and the model's own run says that it is wrong."""

    class Right(Faulty):
        def measured(self, piece: Piece) -> Measured:
            found, outputs = super().measured(piece)
            return replace(found, state=State.WRONG), [replace(each, state=State.WRONG) for each in outputs]

        def judged(self, instance: Instance, form: InputForm) -> tuple[Found, Found]:
            return Found(State.RIGHT), Found(State.RIGHT)

    class Doubted(Model):
        def node(self, number: int) -> Instance:
            return Instance("onnx", "node", Kind.NODE)

    model = Doubted([(), (0,)], {})
    model.nodes[1] = replace(model.nodes[1], doubtful=True)
    report = ModelCheck(model, Right([])).run()
    assert report.whole.state is State.UNTESTED
    assert report.whole.reason.startswith("Relu #1: the true value is unsure")
    assert report.nodes[1].state is State.UNTESTED


class OfOperators(Model):
    """Nodes of these operators, in a chain."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__([((each - 1,) if each else ()) for each in range(len(names))], {})
        self.nodes = [replace(each, operator=name) for each, name in zip(self.nodes, names, strict=True)]
        self.asked: list[int] = []

    def piece(self, nodes: Sequence[int], cut: Sequence[str] | None) -> Piece:
        self.asked = list(nodes)
        return super().piece(nodes, cut)

    def node(self, number: int) -> Instance:
        return Instance("onnx", self.nodes[number].operator, Kind.NODE)


class Crashing:
    """A compiler that cannot compile any model with one of some nodes."""

    compiler = "crashing"

    def __init__(self, model: OfOperators, bad: str) -> None:
        self.bad = {each.number for each in model.nodes if each.operator == bad}
        self.name = bad
        self.model = model

    def measured(self, piece: Piece) -> Measured:
        if self.bad.isdisjoint(self.model.asked):
            return Found(State.RIGHT), [Found(State.RIGHT)] * len(self.model.asked)
        return Found(State.CRASH, "it raises"), ()

    def judged(self, instance: Instance, form: InputForm) -> tuple[Found, Found]:
        state = State.CRASH if instance.api == self.name else State.RIGHT
        return Found(state), Found(state)


def test_nodes_of_one_operator_that_cannot_be_compiled_are_kept_apart_from_the_rest() -> None:
    names = ["ai.onnx.Relu"] * 200
    for each in (7, 60, 61, 133, 190):
        names[each] = "ai.onnx.IsNaN"
    model = OfOperators(names)
    report = ModelCheck(model, Crashing(model, "ai.onnx.IsNaN")).run()
    assert {number for number, found in report.nodes.items() if found.state is State.CRASH} == {7, 60, 61, 133, 190}
    assert report.compilations <= 35, "fifty if each were sought in all nodes"


def test_a_value_that_rounding_moves_by_its_own_size_is_not_judged() -> None:
    true, other = np.full(4, 0.001, np.float32), np.array([1, 0, 0, 0], np.float32)
    assert compared(true, other, 1.0).state is State.UNTESTED
    assert compared(true, other, 0.5).state is State.WRONG
    assert compared(true, true, 1.0).state is State.RIGHT
