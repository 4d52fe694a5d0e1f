"""Evaluates programs in workers that may die, and says how each function ended."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from opera.config import Config
from opera.console import one_line
from opera.extensions.stablehlo.conformance.files import SourceFile, Unreadable
from opera.extensions.stablehlo.conformance.run_lines import RunLines
from opera.extensions.stablehlo.conformance.worker import Info, answer_of, spec_of
from opera.extensions.stablehlo.messages import Checked, Evaluated, Interpret, Interpreted, RawArray, RawTensor, Refused, Which
from opera.extensions.stablehlo.scanner import Program, first_function
from opera.workers.cores import usable_cores
from opera.workers.messages import checked
from opera.workers.pool import WorkerPool
from opera.workers.pool_protocol import Role, WorkerConfig
from opera.workers.process import Done, Limits, Lost, Raised

_RECYCLE = 2_000
_STAGE = re.compile(r"(\d+)/(\d+)")
_QUANTISED = "!quant."
_RENDEZVOUS = "rendezvous timed out"
_ALONE = re.compile(r"\b(\w+) is only supported when run via interpreter\.run_parallel")
_UNSUPPORTED = re.compile(
    r"Unsupported (?:op|custom call): .*?\b((?:stablehlo|chlo|interpreter)\.\w+)|Operation (stablehlo\.\w+) is unsupported"
    r"|failed to legalize operation '((?:stablehlo|chlo)\.\w+)'"
)


class State(enum.Enum):
    """How a function ended."""

    PASSED = "passed"
    """All of its checks hold."""
    FAILED = "failed"
    """A check does not hold."""
    UNSUPPORTED = "unsupported"
    """The interpreter, or this machine, cannot evaluate it."""
    ABORTED = "aborted"
    """The interpreter ended its own process, or raised."""
    HANG = "hang"
    """It did not end in time."""
    OOM = "oom"
    """It needed more memory than allowed."""
    INVALID = "invalid"
    """Its program is no StableHLO, or breaks a rule."""
    NO_CHECK = "no-check"
    """It has no check, or the program came by none."""
    NO_INPUT = "no-input"
    """It takes inputs that were not given."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one function.

    Attributes:
        file: As the user named it.
        line: Line of the file, on which the function begins; of an invalid program, the line that is wrong.
        function: Its name; empty where the program could not be read.
        state: How it ended.
        program: The place of its program in the file, counted from 1.
        reason: Why it did not pass; empty where a check says so.
        checks: Its checks; their lines are those of the file.
        results: Its results, where they were wanted.
        printed: What it printed: name and value.
    """

    file: str
    line: int
    function: str
    state: State
    program: int = 1
    reason: str = ""
    checks: tuple[Checked, ...] = ()
    results: tuple[RawTensor, ...] = ()
    printed: tuple[tuple[str, RawTensor], ...] = ()

    @property
    def ran(self) -> bool:
        """Whether the interpreter evaluated it to its end."""
        return self.state in (State.PASSED, State.FAILED, State.NO_CHECK)


@dataclass(frozen=True)
class _Job:
    """A program that waits for an answer; *lost* are the functions that ended a process, by place."""

    file: str
    number: int
    program: Program
    request: Interpret
    lost: tuple[tuple[int, State, str], ...] = ()


class Conformance:
    """Evaluates the programs of files, several at a time.

    Args:
        config: Says which interpreter to use.
        scratch: A folder for working files.
        jobs: Most programs that are evaluated at a time.
        limits: Limits of each worker; the time is that of one function.
        interpreter: Which one evaluates.
    """

    def __init__(self, config: Config, scratch: Path, jobs: int, limits: Limits, interpreter: Which = "reference") -> None:
        self._config = config
        self._interpreter: Which = interpreter
        self._scratch = scratch
        self._jobs = jobs
        self._limits = limits
        self.names: dict[str, list[str]] = {}
        """The functions of each file that was read."""
        self.versions: dict[str, str] = {}
        """The versions of jaxlib and StableHLO, once something was evaluated."""

    def run(
        self,
        files: Sequence[SourceFile],
        *,
        function: str | None = None,
        arguments: str | None = None,
        arrays: tuple[RawArray, ...] | None = None,
        with_results: bool = False,
        follow_run_lines: bool = False,
    ) -> Iterator[list[Outcome]]:
        """The outcomes of each program, in the order in which they end.

        Args:
            files: What to evaluate.
            function: The only function to evaluate; None for all that no other function of their program uses.
            arguments: Inputs as an array attribute of MLIR.
            arrays: Inputs from a file.
            with_results: Whether results are wanted.
            follow_run_lines: Whether programs go through the passes of their RUN lines first. Files that ask for what OPERA does not do
                are unsupported then.

        Raises:
            EnvironmentBroken: the interpreter does not start here.
        """
        waiting: list[_Job] = []
        for file in files:
            asked = file.run_lines if follow_run_lines else RunLines()
            for number, program in enumerate(file.programs, 1):
                if isinstance(program, Unreadable):
                    yield [Outcome(file.name, program.line, program.function, State.INVALID, number, program.message)]
                elif asked.refusal:
                    name = first_function(program.text)
                    yield [Outcome(file.name, program.line, name, State.UNSUPPORTED, number, one_line(asked.refusal))]
                else:
                    request = Interpret(program.text, function, (), arguments, arrays, with_results, self._interpreter, asked.passes)
                    waiting.append(_Job(file.name, number, program, request))
        if waiting:
            yield from self._in_workers(waiting)

    def _in_workers(self, waiting: list[_Job]) -> Iterator[list[Outcome]]:
        kind = Role.LIBRARY
        configs = {kind: WorkerConfig(spec_of(self._config, self._scratch), forkable=False, recycle=_RECYCLE)}
        pool = WorkerPool(configs, self._limits, self._jobs, self._scratch)
        waiting.reverse()
        working = 0
        try:
            while waiting or working:
                while waiting and pool.free_slots > 0 and pool.assign(kind, waiting[-1], waiting[-1].request.to_json(), len(waiting)):
                    waiting.pop()
                    working += 1
                for _, job, event in pool.wait():
                    working -= 1
                    outcomes = self._answered(job, event)
                    if isinstance(outcomes, _Job):
                        waiting.append(outcomes)
                    else:
                        yield outcomes
            self.versions = dict(checked(pool.infos[kind], Info).versions) if kind in pool.infos else {}
        finally:
            pool.close()

    def _answered(self, job: _Job, event: Done | Raised | Lost) -> list[Outcome] | _Job:
        """The outcomes of a program, or the program again without the function that ended its process."""
        if isinstance(event, Lost):
            return self._lost(job, event)
        if isinstance(event, Raised):
            text = one_line(f"{event.failure['type']}: {event.failure['message']}")
            state = State.OOM if event.failure["type"].endswith("MemoryError") else State.ABORTED
            return [Outcome(job.file, job.program.line, first_function(job.program.text), state, job.number, text)]
        answer = answer_of(event)
        if isinstance(answer, Refused):
            return [_refused(job, answer)]
        assert isinstance(answer, Interpreted)
        self.names.setdefault(job.file, []).extend(answer.names)
        return [_outcome(job, index, each) for index, each in enumerate(answer.functions)]

    def _lost(self, job: _Job, event: Lost) -> list[Outcome] | _Job:
        state, reason = _obituary(event)
        stage = _STAGE.fullmatch(event.stage)
        if stage is None:
            return [Outcome(job.file, job.program.line, first_function(job.program.text), state, job.number, reason)]
        place, processes = int(stage[1]), int(stage[2])
        if _RENDEZVOUS in event.log and processes > usable_cores():
            state, reason = (
                State.UNSUPPORTED,
                f"too few cores: {processes} parallel programs wait for each other, on {usable_cores()} cores",
            )
        lost = (*job.lost, (place, state, reason))
        without = tuple(each for each, _, _ in lost)
        return replace(job, request=replace(job.request, without=without), lost=lost)


def _obituary(event: Lost) -> tuple[State, str]:
    if event.cause == "deadline":
        return State.HANG, f"no end within {event.detail}"
    if event.cause == "memory":
        return State.OOM, f"more than {event.detail} resident"
    last = next((line.strip() for line in reversed(event.log.splitlines()) if "LLVM ERROR" in line or "Check failed" in line), "")
    unsupported = _UNSUPPORTED.search(event.log)
    if unsupported is not None:
        return State.UNSUPPORTED, f"the interpreter does not know {next(filter(None, unsupported.groups()))}"
    alone = _ALONE.search(event.log)
    if alone is not None:
        return State.UNSUPPORTED, f"{alone[1]} needs programs that run in parallel (interpreter.run_parallel)"
    said = f": {one_line(last.removeprefix('LLVM ERROR: '))}" if last else ""
    return State.ABORTED, f"the process ended with {event.detail}{said}"


def _refused(job: _Job, answer: Refused) -> Outcome:
    line = job.program.line + answer.line - 1 if answer.line else job.program.line
    outcome = Outcome(job.file, line, first_function(job.program.text), State.UNSUPPORTED, job.number)
    if answer.unknown is not None:
        return replace(outcome, reason=f"the interpreter does not know {answer.unknown}")
    if _QUANTISED in answer.message:
        return replace(outcome, reason=f"quantised types: {one_line(answer.message)}")
    return replace(outcome, state=State.INVALID, reason=one_line(answer.message))


def _outcome(job: _Job, place: int, answer: Evaluated) -> Outcome:
    def at(line: int) -> int:
        return job.program.line + line - 1 if line else 0

    outcome = Outcome(job.file, at(answer.line), answer.name, State.PASSED, job.number)
    for lost, state, reason in job.lost:
        if lost == place:
            return replace(outcome, state=state, reason=reason)
    if answer.kind == "inputs":
        return replace(outcome, state=State.NO_INPUT, reason=answer.failure or "")
    if answer.failure is not None:
        unsupported = _UNSUPPORTED.search(answer.failure)
        named = next(filter(None, unsupported.groups())) if unsupported is not None else None
        if named is not None:
            return replace(outcome, state=State.UNSUPPORTED, reason=f"the interpreter does not know {named}")
        if answer.kind in ("type", "unknown"):
            return replace(outcome, state=State.UNSUPPORTED, reason=one_line(answer.failure))
        return replace(outcome, state=State.ABORTED, reason=one_line(answer.failure))
    checks = tuple(replace(each, line=at(each.line)) for each in answer.checks)
    printed = tuple((each.name, each.value) for each in answer.printed)
    outcome = replace(outcome, checks=checks, results=tuple(answer.results), printed=printed)
    if any(each.mismatch is not None for each in checks):
        return replace(outcome, state=State.FAILED)
    if not any(each.times for each in checks):
        return replace(outcome, state=State.NO_CHECK, reason="the program came by no check" if checks else "it has no check")
    return outcome
