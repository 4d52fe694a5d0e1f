"""What the models of a campaign reach in a language and in a compiler, to compare generators of models.

Every model is loaded and compiled once more, in a worker of the compiler, under coverage.py, while the compiler says which passes change
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from opera.compilers import onnx_format
from opera.compilers.adapter import Subject
from opera.compilers.registry import plugin
from opera.config import Config
from opera.extensions.programs.batch import pairs_in
from opera.extensions.programs.instances import PROGRAM, program_of
from opera.extensions.programs.program import Call, bindings
from opera.extensions.programs.types import tensors_in
from opera.extensions.research.frontend import Recorder
from opera.extensions.research.visits import VisitingWorker, visits
from opera.store import Campaign, Workspace
from opera.workers.child import Stages
from opera.workers.protocol import Message

MEASURES = ("operators", "dtypes", "attributes", "pairs", "converters", "passes", "statements")
"""What is counted. Operators come alone, with a dtype of an argument, with a kind of value of an attribute, and with an operator that
takes the result. Of the compiler come conversion functions, passes that change a model, and statements in Python."""


@dataclass
class Reached:
    """What the models of a campaign reach.

    Attributes:
        visited: Number of models.
        silent: Why models gave no answer, one entry for each.
        names: By measure, the distinct things.
    """

    visited: int = 0
    silent: list[str] = field(default_factory=list[str])
    names: Mapping[str, set[str]] = field(default_factory=lambda: {measure: set() for measure in MEASURES})


class ReachWorker(VisitingWorker):
    """Answers `{measure: [name, ...]}`."""

    def ready(self) -> Message:
        versions = super().ready()
        packages = self._options["packages"]
        self._recorder = Recorder(packages) if packages else None
        return versions

    def visit(self, subject: Subject, stages: Stages) -> Message:
        found: dict[str, set[str]] = {name: set() for name in MEASURES}
        for measure, name in _in_model(subject):
            found[measure].add(name)
        with suppress(Exception):  # a model that the compiler declines has no converters
            found["converters"].update(self.adapter.converters(subject))
        lines: Mapping[str, Sequence[int]] = {}
        with self.adapter.watched(Path(self._options["scratch"])) as passes:
            if self._recorder is not None:
                lines = self._recorder.lines(lambda: self._compile(subject, stages))
            else:
                with suppress(Exception):  # what ran until then counts
                    self._compile(subject, stages)
        found["passes"] = set(passes)
        found["statements"] = {f"{file}:{line}" for file, numbers in lines.items() for line in numbers}
        return {name: sorted(those) for name, those in found.items()}

    def _compile(self, subject: Subject, stages: Stages) -> None:
        stages.enter("load")
        loaded = self.adapter.load(subject, stages.enter)
        self.adapter.compile(loaded, subject, stages.enter)


def reach(
    workspace: Workspace, config: Config, campaign: Campaign, sample: tuple[int, int] | None, progress: Callable[[int], None]
) -> Reached:
    """Visits the models of a campaign.

    Args:
        workspace: Holds the campaign.
        config: Says which Python each compiler has.
        campaign: Its models are visited.
        sample: The most models that are visited, and the seed by which they are drawn; None visits all.
        progress: Told how many models were visited.

    Raises:
        UserError: the campaign's models are gone from the cache.
        EnvironmentBroken: the compiler does not work here.
    """
    packages = sorted({name.partition(".")[0] for name in plugin(campaign.compiler).load().python_frontend})
    found = Reached()
    for _, answer in visits(
        workspace, config, campaign, "opera.extensions.programs.reach:ReachWorker", {"packages": packages}, sample=sample
    ):
        found.visited += 1
        if isinstance(answer, str):
            found.silent.append(answer)
        else:
            for measure, those in answer.items():
                found.names[measure].update(those)
        progress(found.visited)
    return found


def _in_model(subject: Subject) -> Iterator[tuple[str, str]]:
    """What a model is made of, as pairs of a measure and a name."""
    if subject.route.artefact == "onnx":
        yield from _in_graph(onnx_format.with_types(onnx_format.parse(subject.data)).graph, {})
    elif subject.instance.kind is PROGRAM:
        yield from _in_program(subject)
    else:
        yield "operators", subject.instance.operator


def _in_graph(graph: Any, outside: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The pairs in an onnx.GraphProto; *outside* has the operators of the values that it sees."""
    makers = dict(outside)
    for node in graph.node:
        name = str(node.op_type)
        yield "operators", name
        yield from (("pairs", f"{makers[each]} {name}") for each in node.input if each in makers)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _in_graph(attribute.g, makers)
            else:
                yield from (("attributes", f"{name}.{attribute.name}={each}") for each in _kinds(onnx_format.value_of(attribute)))
        makers.update(dict.fromkeys(node.output, name))
    types = onnx_format.dtypes_in(graph)
    yield from (("dtypes", f"{node.op_type}({types[each]})") for node in graph.node for each in node.input if each in types)


def _in_program(subject: Subject) -> Iterator[tuple[str, str]]:
    program = program_of(subject.instance)
    types = {each.name: each.type for function in program.functions for each in function.parameters}
    types.update((each.name, each.type) for each in bindings(program))
    yield from (("pairs", f"{first} {second}") for first, second in pairs_in(program))
    for binding in bindings(program):
        if isinstance(call := binding.value, Call):
            yield "operators", call.operator
            dtypes = {each.dtype for name in call.arguments for each in tensors_in(types[name])}
            yield from (("dtypes", f"{call.operator}({each})") for each in dtypes)
            yield from (
                ("attributes", f"{call.operator}.{name}={each}") for name, value in call.attributes.items() for each in _kinds(value)
            )


def _kinds(value: object) -> set[str]:
    """Kinds of the values of an attribute: a text or a truth value is its own kind, numbers are told apart by sign, 0 and 1."""
    if isinstance(value, (list, tuple)):
        values = cast("Sequence[object]", value)
        return {kind for each in values for kind in _kinds(each)} | {f"{len(values)} values"}
    if isinstance(value, bool | str | bytes | None):
        return {str(value)[:40]}
    if isinstance(value, int | float):
        return {str(int(value)) if value in (0, 1) else "negative" if value < 0 else "other"}
    return {type(value).__name__}
