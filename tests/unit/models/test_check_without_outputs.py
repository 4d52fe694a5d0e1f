"""What a check says of a compiler that gives no outputs."""

from __future__ import annotations

from collections.abc import Sequence

from opera.extensions.models.check import _NOTHING_RUNS, Found, Measured, ModelCheck, Node, Piece, State
from opera.instance import Instance, Kind
from opera.models.forms import InputForm

PIECE = Instance("onnx", "model.small", Kind.GRAPH)


class Model:
    nodes: Sequence[Node] = tuple(Node(place, "", "ai.onnx.Relu", (f"v{place}",), (f"v{place + 1}",), "") for place in range(20))

    def piece(self, nodes: Sequence[int], cut: Sequence[str] | None) -> Piece:
        return Piece(PIECE)

    def round(self) -> None:
        pass

    def node(self, number: int) -> Instance:
        return PIECE


class Builder:
    compiler = "builder"

    def measured(self, piece: Piece) -> Measured:
        return Found(State.UNTESTED, _NOTHING_RUNS), ()

    def judged(self, instance: Instance, form: InputForm) -> tuple[Found, Found]:
        raise AssertionError("nothing runs, so there is nothing to judge")


def test_a_compiler_that_only_builds_is_not_called_right_and_compiles_nothing_twice() -> None:
    report = ModelCheck(Model(), Builder()).run()
    assert report.compilations == 2
    assert not report.is_clean
    assert {each.state for each in report.nodes.values()} == {State.UNTESTED}
