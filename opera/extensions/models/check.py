"""Checks a model on a compiler: the whole, each operator with its true inputs, and, where they disagree, the edges between operators.

One model that holds all operators, cut from each other, isolates them by one compilation. What cannot be compiled is halved until single
operators are left. If all operators are right and the whole model is not, the check seeks the fewest edges that have to be whole for the
failure. All others are cut. These edges show what a compiler does with several operators at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from opera import bundle
from opera.arrays import as_array, is_array
from opera.config import Config
from opera.difftest.judge import headline
from opera.difftest.runner import TestCase, TestOutcome, TestRunner
from opera.difftest.settings import Settings
from opera.difftest.specs import library_spec
from opera.errors import EnvironmentBroken, UserError
from opera.extensions.models.error import MOST_NOISE, error_of
from opera.instance import Instance, decode_instance
from opera.models.forms import InputForm
from opera.oracles.verdict import Verdict
from opera.workers.process import Broken, Done, Limits, Lost
from opera.workers.session import WorkerSession

ALLOWED = 1e-4
"""Largest error of a value that is right, relative to the largest element of the true value: compilers' noise is below 3e-6."""
_ALLOWED = {"float16": 1e-2, "bfloat16": 5e-2}
"""The same for dtypes that hold less."""
MOST_COMPILATIONS = 64
"""Compilations of one model on one compiler; what is left then is untested."""
_CONFIRMED = 3
"""Own tests of an operator's nodes that confirm what the model of all operators says. Its other nodes then need no test of their own."""
_ABOVE_NOISE = 4.0
"""By how much a wrong value has to exceed what rounding alone does to it: where models round to few steps, a step is no fault."""
_NOTHING_RUNS = "the compiler builds here, and runs nothing: only the signature was compared"
_UNSTABLE = "rounding alone moves the result by its own size"
_UNSURE = "the true value is unsure: ONNX Runtime and ONNX's evaluator disagree, and the compiler agrees with the evaluator"
_NO_OPINION = ("older-operator", "library-raised")
"""Why a test has no reference: ONNX's evaluator computes an operator as a newer opset defines it, or not at all."""
_SURGEON = "opera.extensions.models.templates.surgeon:Surgeon"
_OPENING = "opera.extensions.models.templates.opened."
"""What refuses a model that cannot be opened."""
_KEY = "check"


class State(StrEnum):
    """What a compiler makes of an operator, or of the whole model."""

    RIGHT = "right"
    WRONG = "wrong"
    CRASH = "crash"
    DECLINED = "declined"
    UNTESTED = "untested"


@dataclass(frozen=True)
class Node:
    """An operator of the model.

    Attributes:
        number: Its place among the nodes.
        name: Its name in the file; may be empty.
        operator: Its API, e.g. `ai.onnx.Conv`.
        inputs, outputs: Names of the values that it reads, weights left out, and of those that it makes.
        why: Why it cannot be cut out; empty if it can.
        form: The input form of its own test that is nearest to the model.
        doubtful: Whether ONNX's evaluator computes something else than the model's own run, so that it needs a test of its own.
    """

    number: int
    name: str
    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    why: str
    form: InputForm = InputForm.RUNTIME
    doubtful: bool = False

    def __str__(self) -> str:
        return f"{self.operator.removeprefix('ai.onnx.')} {self.name or '#' + str(self.number)}"


@dataclass(frozen=True)
class Found:
    """What one compiler makes of one node, or of the whole model.

    Attributes:
        state: The answer.
        reason: The failure or the refusal in one line.
        error: Largest error of an output, relative to the largest element of the true value; None where nothing was compared.
    """

    state: State
    reason: str = ""
    error: float | None = None


Measured = tuple[Found, Sequence[Found]]
"""The worst of all outputs, and each of them."""


@dataclass
class Report:
    """What one compiler makes of the model.

    Attributes:
        compiler: Its name.
        whole: Of the whole model.
        nodes: Of each node, by number.
        edges: If only operators together are wrong: the values between them that must stay uncut.
        together: Numbers of the nodes at these edges, with those between them that cannot be cut out.
        piece: These nodes as one instance; None if there are none.
        compilations: How many models were compiled.
    """

    compiler: str
    whole: Found
    nodes: dict[int, Found] = field(default_factory=dict[int, Found])
    edges: list[str] = field(default_factory=list[str])
    together: list[int] = field(default_factory=list[int])
    piece: Instance | None = None
    compilations: int = 0

    @property
    def fails(self) -> bool:
        """Whether a node is wrong or crashes, or several do together."""
        return bool(self.together) or any(each.state in (State.WRONG, State.CRASH) for each in self.nodes.values())

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong or crashes, and the whole model compiles."""
        return self.whole.state is State.RIGHT and all(each.state in (State.RIGHT, State.UNTESTED) for each in self.nodes.values())


@dataclass(frozen=True)
class Piece:
    """A part of the model.

    Attributes:
        instance: It, with its inputs and true outputs.
        noise: By output, the error by which rounding alone moves the true value; empty if each operator reads true values.
    """

    instance: Instance
    noise: Sequence[float] = ()


class Cutter(Protocol):
    """Gives pieces of the model as instances."""

    @property
    def nodes(self) -> Sequence[Node]:
        """The nodes of the model, in its order."""
        ...

    def piece(self, nodes: Sequence[int], cut: Sequence[str] | None) -> Piece:
        """The piece of these *nodes*; *cut* None cuts each edge."""
        ...

    def node(self, number: int) -> Instance:
        """One node alone, for a test like any other: the evaluator says what is right."""
        ...

    def round(self) -> None:
        """From now on the noise of pieces is what the rounding of every value does, and not of the inputs alone."""
        ...


class OpenModel:
    """A model in the worker that cuts it. To be used as a context manager.

    Args:
        path: The model.
        inputs: A file of numpy with values of inputs by name; the others are drawn.
        sizes: Sizes of symbolic dimensions by name.
        seed: Seed of the inputs that are drawn.
        config: Says which interpreter has ONNX.
        scratch: A folder for working files.
        limits: Limits of the worker.
        outputs: A file of numpy with what the library computes that exported the model; None if nothing is known.

    Raises:
        UserError: the model cannot be checked; the message says what helps.
        EnvironmentBroken: ONNX is not there.
    """

    def __init__(
        self,
        path: Path,
        inputs: Path | None,
        sizes: Mapping[str, int],
        seed: int,
        config: Config,
        scratch: Path,
        limits: Limits,
        outputs: Path | None = None,
    ) -> None:
        own = library_spec(config, "onnx", scratch)
        options: dict[str, Any] = {
            "path": str(path.resolve()), "inputs": None if inputs is None else str(inputs.resolve()), "sizes": dict(sizes), "seed": seed,
            "outputs": None if outputs is None else str(outputs), "blobs": str(scratch / "blobs"), "fast": True,
        }  # fmt: skip
        self._rounds = False
        self._get = partial(bundle.fetch, scratch / "blobs")
        spec = replace(own, setup=_SURGEON, options=options)
        self._session = WorkerSession(spec, limits, scratch)
        event = self._session.start()
        if isinstance(event, Lost) and event.cause == "signal":  # ONNX Runtime itself dies of the model
            self._session.close()
            self._session = WorkerSession(replace(spec, options={**options, "fast": False}), limits, scratch)
            event = self._session.start()
        if isinstance(event, Broken | Lost):
            self._session.close()
            raise refused(path.name, event, "onnxruntime")
        self.nodes = [
            Node(
                number, str(each["name"]), str(each["operator"]), tuple(each["inputs"]), tuple(each["outputs"]), str(each["why"]),
                InputForm(each["form"]), bool(each["doubtful"]),
            )
            for number, each in enumerate(event.info["nodes"])
        ]  # fmt: skip

        self.exported = None if event.info["exported"] is None else _of_export(event.info["exported"])
        """What the exporter of the model made of it; None if nothing is known."""

    def __enter__(self) -> OpenModel:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def piece(self, nodes: Sequence[int], cut: Sequence[str] | None) -> Piece:
        """The piece of these *nodes*; *cut* None cuts each edge."""
        answer = self._asked({"nodes": list(nodes), "cut": None if cut is None else list(cut)})
        return Piece(decode_instance(answer["document"], self._get), tuple(map(float, answer["noise"])))

    def node(self, number: int) -> Instance:
        """One node alone, for a test like any other."""
        return decode_instance(self._asked({"node": number})["document"], self._get)

    def round(self) -> None:
        """From now on the noise of pieces is what the rounding of every value does, and not of the inputs alone."""
        if not self._rounds:
            self._asked({"round": True})
        self._rounds = True

    def _asked(self, task: dict[str, Any]) -> dict[str, Any]:
        event = self._session.ask(task)
        if not isinstance(event, Done):
            why = event.detail if isinstance(event, Lost) else event.failure["message"]
            raise UserError(f"the model cannot be cut: {why}; raise --memory or --timeout, or check a part of it")
        return event.result


def _of_export(errors: Sequence[Sequence[str]]) -> Found:
    """What an exporter makes of a model whose outputs have these dtypes and errors."""
    if not errors:
        return Found(State.WRONG, "another number of outputs")
    worst = max(float(error) for _, error in errors)
    right = all(float(error) <= _ALLOWED.get(dtype, ALLOWED) for dtype, error in errors)
    return Found(State.RIGHT if right else State.WRONG, "" if right else "the exported model computes something else", worst)


def refused(name: str, event: Broken | Lost, compiler: str) -> UserError | EnvironmentBroken:
    """Why the model *name* cannot be opened, as the worker that ended with *event* says it."""
    if isinstance(event, Lost):
        return UserError(f"{name} cannot be opened: its worker ended ({event.cause} {event.detail}); raise --memory or --timeout")
    if event.failure["type"].startswith(_OPENING):
        return UserError(event.failure["message"])
    return EnvironmentBroken(f"{name} cannot be opened: {event.failure['message'][:300]}; run `opera doctor --compiler {compiler}`")


class ModelCheck:
    """The check of one model on one compiler.

    Args:
        model: Cuts the model.
        runner: Runs pieces on the compiler; it keeps all outputs.
        tell: Takes lines that say how it goes.
    """

    def __init__(self, model: Cutter, runner: Runner, tell: Callable[[str], None] = lambda _: None) -> None:
        self._model = model
        self._runner = runner
        self._tell = tell
        self._count = 0
        self._asked = dict[frozenset[str], bool]()

    def run(self) -> Report:
        """Checks the whole model, then each operator, then, if needed, the edges."""
        nodes = self._model.nodes
        self._tell("the whole model")
        whole = self._measured(range(len(nodes)), ())[0]
        report = Report(self._runner.compiler, whole)
        report.nodes = {each.number: Found(State.UNTESTED, each.why) for each in nodes if each.why}
        self._tell("its operators, cut from each other")
        self._apart([each.number for each in nodes if not each.why], report.nodes)
        unsure: list[Node] = []
        confirmed: dict[tuple[str, State], list[State]] = {}
        for number, found in report.nodes.items():
            suspect = found.state not in (State.RIGHT, State.UNTESTED)
            alike = confirmed.setdefault((nodes[number].operator, found.state), [])
            if alike == [found.state] * _CONFIRMED:
                continue
            if (suspect or (nodes[number].doubtful and found.state is State.RIGHT)) and self._has_time():
                report.nodes[number] = self._alone(number, found)
                if len(alike) < _CONFIRMED:
                    alike.append(report.nodes[number].state)
                if nodes[number].doubtful and suspect and report.nodes[number].state is State.RIGHT:
                    report.nodes[number] = replace(found, state=State.UNTESTED, reason=_UNSURE)
                    unsure.append(nodes[number])
        guilty = any(each.state in (State.WRONG, State.CRASH) for each in report.nodes.values())
        if whole.state is State.WRONG and not guilty and unsure:
            whole = replace(whole, state=State.UNTESTED, reason=f"{', '.join(map(str, unsure[:3]))}: {_UNSURE}")
        elif whole.state is State.WRONG and not guilty:
            self._tell("what rounding does to it")
            self._model.round()
            whole = self._measured(range(len(nodes)), ())[0]
        report.whole = whole
        if whole.state in (State.WRONG, State.CRASH) and not guilty:
            self._tell("the edges between operators")
            report.edges = self._fused(whole.state)
            if report.edges:
                report.together = self._touching(report.edges)
                report.piece = self._model.piece(report.together, self._others(report.edges)).instance
        report.compilations = self._count
        return report

    def _has_time(self) -> bool:
        return self._count < MOST_COMPILATIONS

    def _measured(self, nodes: Sequence[int], cut: Sequence[str] | None) -> Measured:
        """What the compiler makes of a piece, and of each of its outputs."""
        self._count += 1
        return self._runner.measured(self._model.piece(nodes, cut))

    def _apart(self, numbers: Sequence[int], found: dict[int, Found]) -> None:
        """Fills *found* for the nodes *numbers*, each cut from all others; halves them where they cannot be compiled together.

        Once a node is known that cannot be compiled, the others of its operator are kept apart from the rest.
        """
        pending = [list(numbers)] if numbers else []
        while pending:
            part = pending.pop(0)
            if not self._has_time():
                found.update({each: Found(State.UNTESTED, f"after {MOST_COMPILATIONS} compilations") for each in part})
                continue
            whole, outputs = self._measured(part, None)
            if outputs:
                found.update(self._by_node(part, outputs))
            elif len(part) == 1 or whole.reason == _NOTHING_RUNS:
                found.update(dict.fromkeys(part, whole))
                rest = [each for others in pending for each in others]
                alike = [each for each in rest if self._model.nodes[each].operator == self._model.nodes[part[0]].operator]
                pending = [others for others in ([each for each in rest if each not in alike], alike) if others]
            else:
                half = len(part) // 2
                pending[:0] = [part[:half], part[half:]]

    def _by_node(self, part: Sequence[int], outputs: Sequence[Found]) -> dict[int, Found]:
        """The worst of each node's outputs."""
        owners = [number for number in part for _ in self._model.nodes[number].outputs]
        found: dict[int, Found] = {}
        for number, output in zip(owners, outputs, strict=True):
            if number not in found or (output.error or 0.0) > (found[number].error or 0.0):
                found[number] = output
        return found

    def _alone(self, number: int, found: Found) -> Found:
        """What a node comes to as a test like any other, whose reference is the evaluator's, and not what the model's own run gave."""
        self._count += 1
        judged, measured = self._runner.judged(self._model.node(number), self._model.nodes[number].form)
        if found.state is State.RIGHT:
            return judged if judged.state in (State.WRONG, State.CRASH) else found
        if judged.reason in _NO_OPINION or (judged.state is State.DECLINED and found.state is State.WRONG):
            return found
        if judged.state is State.RIGHT and measured.state is State.WRONG:
            return replace(measured, reason="each element is within the tolerance of its dtype, but not of the largest element")
        return replace(judged, error=measured.error)

    def _fused(self, bad: State) -> list[str]:
        """The edges that have to be whole for the model to be *bad*, as the whole model is; none if only the whole model is.

        The others are cut, and what touches no whole edge is left out. First the end of the guilty edges is sought, then their start, from
        the end on, since compilers join neighbours.
        """
        edges = self._edges()
        end = _least(min(1, len(edges)), len(edges), lambda size: self._is(bad, edges[:size]))
        width = 1
        while width < end and not self._is(bad, edges[end - width : end]):
            width = min(2 * width, end)
        start = end - _least(width // 2 + 1, width, lambda size: self._is(bad, edges[end - size : end]))
        ends = list(dict.fromkeys([*edges[start : start + 1], *edges[end - 1 : end]]))
        needed = {*ends, *self._needed(bad, edges[start + 1 : end - 1], ends)}
        found = [edge for edge in edges if edge in needed]
        return found if self._is(bad, found) else []

    def _edges(self) -> list[str]:
        """The values between two nodes that can be cut out, in the order in which they are read."""
        made = {name for each in self._model.nodes for name in each.outputs if not each.why}
        return list(dict.fromkeys(name for each in self._model.nodes if not each.why for name in each.inputs if name in made))

    def _needed(self, bad: State, among: Sequence[str], kept: Sequence[str]) -> list[str]:
        """The edges *among* these that have to be whole beside those that are *kept*, by halving."""
        if not among or self._is(bad, kept):
            return []
        if len(among) == 1:
            return list(among)
        half = len(among) // 2
        right = self._needed(bad, among[half:], [*kept, *among[:half]])
        return [*self._needed(bad, among[:half], [*kept, *right]), *right]

    def _is(self, bad: State, whole: Sequence[str]) -> bool:
        """Whether the model is *bad* if these edges are whole, and the others are cut."""
        key = frozenset(whole)
        if key not in self._asked:
            nodes = self._touching(key)
            self._asked[key] = bool(nodes) and self._has_time() and self._measured(nodes, self._others(key))[0].state is bad
        return self._asked[key]

    def _others(self, edges: Collection[str]) -> list[str]:
        """The edges that are cut where only these are whole."""
        return [edge for edge in self._edges() if edge not in edges]

    def _touching(self, edges: Collection[str]) -> list[int]:
        """The nodes at *edges*, with all that are between them and cannot be cut out, such as constants."""
        chosen = {each.number for each in self._model.nodes if not each.why and not {*each.inputs, *each.outputs}.isdisjoint(edges)}
        stuck = [each for each in self._model.nodes if each.why]
        size = -1
        while size != len(chosen):
            size = len(chosen)
            values = {name for each in self._model.nodes if each.number in chosen for name in (*each.inputs, *each.outputs)}
            chosen |= {each.number for each in stuck if not values.isdisjoint((*each.inputs, *each.outputs))}
        return sorted(chosen)


def _least(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The least number from *low* to *high* that *holds*, if it holds for all above; *high* is not asked."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


class Runner(Protocol):
    """A compiler that runs pieces."""

    compiler: str

    def measured(self, piece: Piece) -> Measured:
        """What the compiler makes of a piece, and of each of its outputs; no outputs if it gives none."""
        ...

    def judged(self, instance: Instance, form: InputForm) -> tuple[Found, Found]:
        """What the compiler makes of a test like any other: by its verdict, and by the errors of its outputs."""
        ...


class OnCompiler:
    """A compiler in workers of its own. To be used as a context manager; raises EnvironmentBroken where it does not work."""

    def __init__(self, compiler: str, config: Config, scratch: Path, *, timeout: float, memory: int) -> None:
        self.compiler = compiler
        settings = Settings(compiler, "onnx", timeout=timeout, memory=memory, suite=_KEY)
        self._runner = TestRunner(settings, config, scratch)

    def __enter__(self) -> OnCompiler:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()

    def measured(self, piece: Piece) -> Measured:
        """What the compiler makes of a piece, and of each of its outputs; no outputs if it gives none."""
        return self._measured(self._run(piece.instance), piece.noise)

    def judged(self, instance: Instance, form: InputForm) -> tuple[Found, Found]:
        """What the compiler makes of a test like any other: by its verdict, and by the errors of its outputs."""
        outcome = self._run(instance, form)
        return self._found(outcome), self._measured(outcome)[0]

    def _measured(self, outcome: TestOutcome, noise: Sequence[float] = ()) -> Measured:
        kept = outcome.judgement.detail.get("kept")
        if outcome.judgement.verdict is Verdict.PASS and kept is None:
            return Found(State.UNTESTED, _NOTHING_RUNS), ()
        if outcome.judgement.verdict not in (Verdict.PASS, Verdict.INCONSISTENT, Verdict.UNDEFINED) or kept is None:
            return self._found(outcome), ()
        expected, actual = self._runner.kept(kept)
        if actual is None or len(actual) != len(expected):
            return Found(State.WRONG, f"{len(actual)} outputs, not {len(expected)}") if actual else Found(
                State.UNTESTED, "no bundle holds it"
            ), ()
        noises = noise or [0.0] * len(expected)
        outputs = [compared(*three) for three in zip(expected, actual, noises, strict=True)]
        return max(outputs, key=lambda each: (_WORST.index(each.state), each.error or 0.0), default=Found(State.RIGHT)), outputs

    def _run(self, instance: Instance, form: InputForm = InputForm.RUNTIME) -> TestOutcome:
        case = TestCase(instance, form.value, _KEY, 0)
        outcome = self._runner.run(case)
        failed = outcome.judgement.verdict
        return self._runner.run(case, roles=self._runner.roles_for(failed)) if failed in (Verdict.ABORT, Verdict.HANG) else outcome

    def _found(self, outcome: TestOutcome) -> Found:
        judgement = outcome.judgement
        reason = judgement.reason or ""
        if judgement.verdict.is_failure:
            reason = headline(judgement.verdict, judgement.detail, self.compiler)
        return Found(_STATES.get(judgement.verdict, State.UNTESTED), reason)


_WORST = (State.RIGHT, State.UNTESTED, State.WRONG)
_STATES = {
    Verdict.PASS: State.RIGHT, Verdict.INCONSISTENT: State.WRONG, Verdict.UNSUPPORTED: State.DECLINED, Verdict.CRASH: State.CRASH,
    Verdict.ABORT: State.CRASH, Verdict.HANG: State.CRASH, Verdict.OOM: State.CRASH,
}  # fmt: skip


def compared(expected: Any, actual: Any, noise: float = 0.0) -> Found:
    """Whether a value is right, with its error; *noise* is the error by which rounding alone moves the true value.

    Integers and truth values are equal, unless rounding moves them. A value that rounding moves by its own size is not judged.
    """
    error = error_of(expected, actual)
    if noise >= MOST_NOISE and error > ALLOWED:
        return Found(State.UNTESTED, _UNSTABLE, error)
    kind = as_array(expected).dtype if is_array(expected) else None
    allowed = 0.0 if kind is not None and kind.kind in "iub" else _ALLOWED.get(str(kind), ALLOWED)
    return Found(State.WRONG if error > max(allowed, _ABOVE_NOISE * noise) else State.RIGHT, "", error)
