"""Asks other compilers about a reduced instance: who is wrong, and whether a smaller instance is still valid."""

from __future__ import annotations

import enum
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, cast

from opera.compilers.adapter import Route
from opera.compilers.registry import choose_route, known_adapter, plugin, plugins
from opera.config import Config
from opera.difftest.judge import Judgement
from opera.difftest.runner import TestCase, TestRunner
from opera.difftest.settings import Settings
from opera.errors import OperaError
from opera.instance import Instance
from opera.instance.libraries import facts_of
from opera.oracles.verdict import Detail, DifferenceFacts, Verdict
from opera.store import StoredResult
from opera.store.reductions import StoredReduction
from opera.triage.reduction.reduce import Accepts, everything
from opera.triage.reduction.trigger import trigger_of

_STAGE_SECONDS = 15.0
MOST_ARBITERS = 2
"""Compilers that are asked about one finding."""
_BACKEND = "KERAS_BACKEND"


@dataclass(frozen=True)
class Arbiters:
    """The compilers that give opinions on a library's operators.

    Attributes:
        subjects: `compiler/frontend`, in the order in which they are asked.
        guard: Whether one of them has to run a reduced instance as well: the library itself checks little of what makes one valid.
        most: How many are asked about one finding.
    """

    subjects: Sequence[str] = ()
    guard: bool = False
    most: int = MOST_ARBITERS


def arbiters_of(scope: str, compiler: str = "") -> Arbiters:
    """The arbiters for a failure of *compiler*, without this compiler itself; without a name, all of them.

    Args:
        scope: A library, or what `scope_of` says of one whose results depend on its backend.
        compiler: The compiler.
    """
    known = _facts().get(scope, Arbiters())
    return replace(known, subjects=[each for each in known.subjects if each.split("/")[0] != compiler])


def scope_of(library: str, result: StoredResult) -> str:
    """The row of arbiters for *result*: that of the library on its backend, e.g. `keras-on-jax`, where there is one, else the library's.

    Keras on JAX takes its reference from XLA, so XLA is no arbiter there.
    """
    route = next((each for each in _routes(result.compiler, result.frontend) if each.name == result.route), None)
    on_backend = f"{library}-on-{'' if route is None else dict(route.environment).get(_BACKEND, '')}"
    return on_backend if on_backend in _facts() else library


def _routes(compiler: str, frontend: str) -> list[Route]:
    adapter = known_adapter(compiler)
    return [] if adapter is None else [each for each in adapter.routes if each.frontend == frontend]


@cache
def _facts() -> Mapping[str, Arbiters]:
    text = resources.files("opera").joinpath("facts", "arbiters.toml").read_text(encoding="utf-8")
    return {
        scope: Arbiters(cast("list[str]", row["subjects"]), bool(row.get("guard", False)), int(row.get("most", MOST_ARBITERS)))
        for scope, row in tomllib.loads(text).items()
    }


def prober_of(subject: str, config: Config, scratch: Path) -> TestRunner | None:
    """Workers of *subject* on its usual route; None where it does not work here."""
    compiler, _, frontend = subject.partition("/")
    if compiler not in plugins():
        return None
    try:
        route = choose_route(plugin(compiler).load(), frontend, None)
        return TestRunner(Settings(compiler, frontend, route.name, timeout=_STAGE_SECONDS), config, scratch)
    except OperaError:
        return None


LIBRARY, COMPILER, NEITHER = "library", "compiler", "neither"
"""The sides that an arbiter can take."""
_WORDS = {
    LIBRARY: "gives the library's result",
    COMPILER: "gives the same wrong result",
    NEITHER: "gives a third result",
}


@dataclass(frozen=True)
class Opinion:
    """The opinion of another compiler on a reduced instance.

    Attributes:
        subject: `compiler/frontend`.
        side: `library`, `compiler` or `neither`; empty where it gives no result.
    """

    subject: str
    side: str

    def __str__(self) -> str:
        return f"{self.subject} {_WORDS.get(self.side, 'gives no result')}"


def opinions_of(reduction: StoredReduction | None) -> tuple[Opinion, ...]:
    """The stored opinions about *reduction*."""
    rows = [] if reduction is None else reduction.detail.get("arbiters", [])
    return tuple(Opinion(str(subject), str(side)) for subject, side in rows)


class Alone(enum.Enum):
    """Who gives a result that nobody else gives."""

    LIBRARY = "library"
    LOWERING = "lowering"
    """The step from the library to the text that compiler and interpreter get: both agree on what the text means."""
    COMPILER = "compiler"
    INTERPRETER = "interpreter"


def judge_of(opinions: Sequence[Opinion]) -> str:
    """The side that the interpreters of a specification take; empty where they disagree, gave no result, or were not asked."""
    sides = {each.side for each in opinions if each.side and _is_judge(each)}
    return sides.pop() if len(sides) == 1 else ""


def _interprets(compiler: str) -> bool:
    """Whether it interprets a specification: such ones count for more than a compiler where they agree."""
    adapter = known_adapter(compiler)
    return adapter is not None and adapter.is_interpreter


def _is_judge(opinion: Opinion) -> bool:
    return _interprets(opinion.subject.partition("/")[0])


def stands_alone(compiler: str, opinions: Sequence[Opinion]) -> Alone | None:
    """Who stands alone in a wrong result of *compiler*; None where the opinions do not say it.

    The interpreter of a specification decides if it gives the library's result, or the compiler's and no arbiter contradicts. Without
    it, the arbiters have to be unanimous, and at least two against the library.
    """
    own = Alone.INTERPRETER if _interprets(compiler) else Alone.COMPILER
    judge = judge_of(opinions)
    if judge == LIBRARY:
        return own
    sides = [each.side for each in opinions if each.side and not _is_judge(each)]
    independent = [each.side for each in opinions if each.side and not _is_of_text(each.subject)]
    if judge == COMPILER:
        if LIBRARY not in sides:
            return Alone.LIBRARY
        return Alone.LOWERING if LIBRARY in independent and sides.count(LIBRARY) == independent.count(LIBRARY) else None
    if sides and set(sides) == {LIBRARY}:
        return own
    return Alone.LIBRARY if len(sides) >= MOST_ARBITERS and set(sides) == {COMPILER} else None


def _is_of_text(subject: str) -> bool:
    """Whether *subject* starts from the text of a lowering, on its usual route."""
    usual = _routes(*subject.split("/", 1))[:1]
    return any(facts_of(each.artefact).lowering for each in usual)


def blames_library(reduction: StoredReduction | None) -> bool:
    """Whether all arbiters, at least two, give the compiler's result.

    All arbiters also agree if all of them ignore a new or rare parameter: then only the library is right. The interpreter of a
    specification knows every parameter: its word is enough, unless another arbiter gives the library's result.
    """
    opinions = opinions_of(reduction)
    if judge_of(opinions) == COMPILER and stands_alone("", opinions) is Alone.LIBRARY:
        return True
    if reduction is None or reduction.document is None or reduction.trigger is None or trigger_of(reduction.trigger).has_parameters():
        return False
    sides = [each.side for each in opinions if each.side]
    return len(sides) >= MOST_ARBITERS and set(sides) == {COMPILER}


@dataclass(frozen=True)
class Question:
    """A wrong result to ask about.

    Attributes:
        compiler: Its compiler.
        reduction: Reduction of the failing test.
        trial: The reduced instance, or the failing test if it was not reduced.
        difference: How the compiler differed from the library there.
    """

    compiler: str
    reduction: StoredReduction
    trial: TestCase
    difference: DifferenceFacts | None


def question_of(result: StoredResult, reduction: StoredReduction, original: Instance | None) -> Question | None:
    """The question about *result*; None where neither a reduced instance nor the *original* one is there."""
    detail = result.detail if reduction.document is None else reduction.detail.get("evidence", Detail())
    if reduction.document is not None:
        trial = TestCase(reduction.instance(), str(reduction.detail.get("form")), "reduced", 0)
    elif original is not None:
        trial = TestCase(original, result.form, result.instance, result.seed)
    else:
        return None
    return Question(result.compiler, reduction, trial, detail.get("difference"))


def is_other_side(subject: str, question: Question) -> bool:
    """Whether *subject* is the interpreter that the other interpreter contradicts in *question*, so that its opinion says nothing.

    An instance that declares no results has those of the interpreter that its library computes with.
    """
    trial = question.trial
    compiler, _, frontend = subject.partition("/")
    adapter = known_adapter(compiler)
    gives = adapter is not None and adapter.gives_references and frontend == trial.instance.library
    return gives and _interprets(question.compiler) and trial.instance.expected is None


def asked(scope: str, questions: Sequence[Question], config: Config, scratch: Path) -> Iterator[StoredReduction]:
    """The reductions of *questions*, wrong results, with what other compilers say of them.

    Args:
        scope: As `scope_of` gives it, the same for all.
        questions: The wrong results, reduced ones where there are.
        config: Says which interpreters to use.
        scratch: A folder for working files.
    """
    left = [each for each in questions if "arbiters" not in each.reduction.detail]
    opinions: dict[str, list[Opinion]] = {each.reduction.test: [] for each in left}
    arbiters = arbiters_of(scope)
    for subject in arbiters.subjects if left else ():
        wanted = [
            each
            for each in left
            if subject in arbiters_of(scope, each.compiler).subjects
            and not is_other_side(subject, each)
            and sum(bool(opinion.side) for opinion in opinions[each.reduction.test]) < arbiters.most
        ]
        runner = prober_of(subject, config, scratch) if wanted else None
        if runner is not None:
            with runner, suppress(OperaError):
                for each in wanted:
                    side = _side(each.difference, runner.run(each.trial).judgement)
                    opinions[each.reduction.test].append(Opinion(subject, side))
    for each in left:
        rows = [(opinion.subject, opinion.side) for opinion in opinions[each.reduction.test]]
        yield replace(each.reduction, detail={**each.reduction.detail, "arbiters": rows})


def _side(ours: DifferenceFacts | None, judgement: Judgement) -> str:
    if judgement.verdict is Verdict.PASS:
        return LIBRARY
    theirs = judgement.detail.get("difference")
    if judgement.verdict is not Verdict.INCONSISTENT or ours is None or theirs is None:
        return ""
    return COMPILER if _same(ours, theirs) else NEITHER


def _same(ours: DifferenceFacts, theirs: DifferenceFacts) -> bool:
    """Whether two compilers differ from the library in the same way, rounding apart."""
    return all(ours.get(name) == theirs.get(name) for name in ("kind", "output")) and all(
        _close(ours.get(name), theirs.get(name)) for name in ("expected", "actual", "share")
    )


def _close(one: Any, other: Any) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-3) or str(one) == str(other)
    except (TypeError, ValueError):
        return one == other


_RUNS = frozenset({Verdict.PASS, Verdict.INCONSISTENT})
_FAILS = frozenset({Verdict.CRASH, Verdict.ABORT, Verdict.INVALID})


class Guards:
    """The guards of one thread of reduction; their workers start when they are first needed.

    Args:
        compiler: Whose failures are reduced.
        config: Says which interpreters to use.
        scratch: A folder for working files.
    """

    def __init__(self, compiler: str, config: Config, scratch: Path) -> None:
        self._compiler = compiler
        self._config = config
        self._scratch = scratch
        self._probers: dict[str, TestRunner | None] = {}
        self._stack = ExitStack()
        self._cancelled = False

    def close(self) -> None:
        """Ends the workers of the guards."""
        self._stack.close()

    def cancel(self) -> None:
        """Nobody waits any more: the next question raises Cancelled."""
        self._cancelled = True
        for runner in self._probers.values():
            if runner is not None:
                runner.cancelled = True

    def of(self, original: TestCase) -> Accepts:
        """What tells valid variations of *original* from others: the first arbiter that runs it; everything is valid where none does."""
        known = arbiters_of(original.instance.library, self._compiler)
        for subject in known.subjects if known.guard else ():
            runner = self._runner(subject)
            if runner is not None and self._verdict(runner, original) in _RUNS:
                return lambda trial, runner=runner: self._verdict(runner, trial) not in _FAILS
        return everything

    def _runner(self, subject: str) -> TestRunner | None:
        if subject not in self._probers:
            runner = prober_of(subject, self._config, self._scratch)
            if runner is not None:
                runner.cancelled = self._cancelled
                self._stack.callback(runner.close)
            self._probers[subject] = runner
        return self._probers[subject]

    @staticmethod
    def _verdict(runner: TestRunner, trial: TestCase) -> Verdict | None:
        try:
            return runner.run(trial).judgement.verdict
        except OperaError:
            return None
