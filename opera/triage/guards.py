"""Keeps reduction to valid instances: another compiler that can run the original has to be able to run what is made of it.

ONNX's reference evaluator computes something for weights of a wrong shape, indices out of range, or boxes without corners; a model with
such inputs is no bug of the compiler that rejects it.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from opera.config import Config
from opera.difftest.runner import Prober, Trial
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
        self._probers: dict[str, Prober | None] = {}
        self._stack = ExitStack()
        self._cancelled = False

    def close(self) -> None:
        """Ends the workers."""
        self._stack.close()

    def cancel(self) -> None:
        """Nobody waits any more: the next question raises Cancelled."""
        self._cancelled = True
        for prober in self._probers.values():
            if prober is not None:
                prober.cancelled = True

    def of(self, original: Trial) -> Accepts:
        """What tells valid variations of *original* from others: the first arbiter that runs it; everything is valid where none does."""
        known = arbiters_of(original.instance.library, self._compiler)
        for subject in known.subjects if known.guard else ():
            prober = self._prober(subject)
            if prober is not None and self._verdict(prober, original) in _RUNS:
                return lambda trial, prober=prober: self._verdict(prober, trial) not in _FAILS
        return everything

    def _prober(self, subject: str) -> Prober | None:
        if subject not in self._probers:
            prober = prober_of(subject, self._config, self._scratch)
            if prober is not None:
                prober.cancelled = self._cancelled
                self._stack.callback(prober.close)
            self._probers[subject] = prober
        return self._probers[subject]

    @staticmethod
    def _verdict(prober: Prober, trial: Trial) -> Verdict | None:
        try:
            return prober.run(trial).judgement.verdict
        except OperaError:
            return None
