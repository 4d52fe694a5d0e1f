"""Stages and verdicts, with the words that reports use for them."""

from __future__ import annotations

import enum

SHAPE_VARIES = "shape-varies"
"""Reason code: the library's own output shape varies between runs."""


class Stage(enum.Enum):
    """Where a test stopped."""

    EXPORT = "export"
    LOAD = "load"
    OPTIMIZE = "optimize"
    CODEGEN = "codegen"
    RUN = "run"
    COMPARE = "compare"
    RELEASE = "release"


class Verdict(enum.Enum):
    """The oracles' judgement of one test."""

    PASS = "pass"
    CRASH = "crash"
    ABORT = "abort"
    HANG = "hang"
    OOM = "oom"
    INCONSISTENT = "inconsistent"
    UNSUPPORTED = "unsupported"
    INVALID = "invalid"
    UNDEFINED = "undefined"
    FLAKY = "flaky"

    @property
    def is_failure(self) -> bool:
        """Whether a test with this verdict, once confirmed, belongs to a finding."""
        return self in _FAILURES

    @property
    def meaning(self) -> str:
        """One line for a person."""
        return _MEANING[self]


_FAILURES = frozenset({Verdict.CRASH, Verdict.ABORT, Verdict.HANG, Verdict.OOM, Verdict.INCONSISTENT})
_MEANING = {
    Verdict.PASS: "same result as the library",
    Verdict.CRASH: "the compiler raised, and the library did not",
    Verdict.ABORT: "the compiler killed its process",
    Verdict.HANG: "a stage passed its deadline",
    Verdict.OOM: "the worker passed its memory limit",
    Verdict.INCONSISTENT: "values, shape, dtype or structure differ",
    Verdict.UNSUPPORTED: "the compiler declines the model",
    Verdict.INVALID: "the library rejects the instance, or cannot capture it",
    Verdict.UNDEFINED: "no reference, or an excused difference",
    Verdict.FLAKY: "not reproduced in a fresh process",
}
