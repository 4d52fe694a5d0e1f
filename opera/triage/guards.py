"""Keeps reduction to valid instances: another compiler that can run the original has to be able to run what is made of it.

ONNX's reference evaluator computes something for weights of a wrong shape, indices out of range, or boxes without corners; a model with
such inputs is no bug of the compiler that rejects it.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from opera.config import Config
from opera.difftest.runner import TestCase, TestRunner
from opera.errors import OperaError
from opera.oracles.verdict import Verdict
from opera.triage.arbiters import arbiters_of, prober_of
from opera.triage.reduction.reduce import Accepts, everything

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
        """Ends the workers."""
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
