"""Stages and verdicts, with the words that reports use for them."""

from __future__ import annotations

import enum

SHAPE_VARIES = "shape-varies"
"""Why outputs are no reference of which the library itself gives now one shape, now another."""


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
    """What the oracles say of one test."""

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
    Verdict.CRASH: "the compiler raised where the library did not",
    Verdict.ABORT: "the compiler killed its process",
    Verdict.HANG: "past the deadline while the library was not",
    Verdict.OOM: "past the memory cap",
    Verdict.INCONSISTENT: "values, shape, dtype or structure differ",
    Verdict.UNSUPPORTED: "the compiler says so",
    Verdict.INVALID: "the library itself rejects it, or cannot capture it",
    Verdict.UNDEFINED: "no reference to compare with",
    Verdict.FLAKY: "not reproduced in a fresh process",
}
