"""Stages and verdicts, with the words that reports use for them, and what a test leaves behind."""

from __future__ import annotations

import enum
from typing import Literal, NotRequired, TypedDict

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
    def is_judgement(self) -> bool:
        """Whether a test with this verdict says if the compiler is right. A command whose tests all say nothing is no success."""
        return self is Verdict.PASS or self in _FAILURES

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
    Verdict.INVALID: "the library rejects the instance or cannot capture it",
    Verdict.UNDEFINED: "no reference, or an excused difference",
    Verdict.FLAKY: "not reproduced in a fresh process",
}


Frame = tuple[str, str, int | None, str]
"""Module, file, line and function."""
Number = float | str | None
"""A number; one that is not finite is text, and None stands for what cannot be computed."""


class Cause(TypedDict):
    """The exception behind another one."""

    type: str
    message: str
    frames: NotRequired[list[Frame]]


class Failure(Cause):
    """An exception, with the classes that it inherits from, and its cause."""

    bases: NotRequired[list[str]]
    cause: NotRequired[Cause | None]


ACCEPTED = "accepted"
"""The kind of difference of a compiler that accepts what it has to reject."""


class DifferenceFacts(TypedDict):
    """What differs between two outputs, as `opera.oracles.compare.Difference` writes it."""

    kind: str
    output: int
    expected: str
    actual: str
    distance: NotRequired[Number]
    allowed: NotRequired[Number]
    share: NotRequired[Number]
    explained: NotRequired[str | None]
    dtype: NotRequired[str | None]
    stated: NotRequired[bool]


class KeptFacts(TypedDict):
    """Names in the cache of the outputs of a test, which a campaign keeps whatever the verdict is.

    Attributes:
        outputs: The compiler's outputs; None if a bundle cannot hold them.
        reference: The inputs, and the library's outputs.
    """

    outputs: str | None
    reference: str


class LostFacts(TypedDict):
    """How a process was lost, as `opera.workers.process.Lost` has it."""

    cause: str
    detail: str


VerdictName = Literal["pass", "crash", "abort", "hang", "oom", "inconsistent", "unsupported", "invalid", "undefined", "flaky"]
"""The value of a `Verdict`, as JSON has it."""


class LevelFacts(TypedDict):
    """What the lowest optimisation level gave."""

    name: str
    verdict: VerdictName
    vanishes: bool


class Detail(TypedDict, total=False):
    """What a test left behind, as JSON. The store reads it as this type, and leaves out a row that does not fit.

    Attributes:
        failure: The exception that it ended with.
        difference: What differs from the library's outputs.
        lost: How its process was lost.
        log: The end of what that process printed.
        excuse: Why the failure does not count.
        lowest_level: What the lowest optimisation level gave.
        kept: The outputs, where the campaign keeps all of them.
        outputs: Name in the cache of the compiler's outputs, with a difference.
    """

    failure: Failure
    difference: DifferenceFacts
    lost: LostFacts
    log: str
    excuse: str | None
    lowest_level: LevelFacts
    kept: KeptFacts
    outputs: str
