"""What merging knows of one finding: what its failure shows, what triggers the failure, and where it was raised.

A message loses more here than in a fingerprint, which never changes: calls, objects and dumps that it quotes go too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, cast

import ml_dtypes

from opera.arrays import numpy_dtype
from opera.compilers.registry import noise_of
from opera.instance.values import DTYPE_BITS
from opera.oracles.fingerprint import ELEMENTS, NO_NOISE, Noise, Symptom, template
from opera.oracles.verdict import Verdict
from opera.store import StoredResult
from opera.store.reductions import StoredReduction
from opera.triage.reduction.properties import parts_of
from opera.triage.reduction.trigger import Trigger, trigger_of

_CALL = re.compile(r"\b\w+(?:\.\w+)+\((?:[^()]|\([^()]*\))*\)")
"""A qualified call, with at most one pair of parentheses inside: the inner call is replaced first."""
_OBJECT = re.compile(r"\b[A-Z]\w*\(\w+=(?:[^()]|\([^()]*\))*\)")
"""An object as Python prints it: a class, and fields by name."""
_OBJECTS = re.compile(r"OBJECT(?:, OBJECT)+")
_DUMP = re.compile(r"(LLVM ERROR: .*?) (?:Type properties: |Please report issues to |Stack dump: ).*")
"""What LLVM prints of a type, of itself and of its stack after its message."""
_LOCATION = re.compile(r"<(?:stdin|unknown)>:N(?::N)?: ")
_OPERAND = re.compile(r"failed to legalize operation 'torch\.(?:DTYPE|constant\.\w+|vtensor\.literal|prim\.ListConstruct)'")
"""MLIR names an operand, and chance decides which, if it cannot legalise the operation that uses the operand."""
_VAGUE = "failed to legalize OPERAND"
_SYMBOL = re.compile(r"\berror: undefined symbol: (\w+)")
_MATHEMATICS = re.compile(
    r"(?:a?(?:cos|sin|tan)h?|atan2|cbrt|ceil|erfc?|exp(?:2|10|m1)?|fabs|floor|fma|fmod|hypot|ldexp|l?gamma|log(?:2|10|1p|b)?|pow|remainder|rint"
    r"|round(?:even)?|sincos|sqrt|trunc)[fl]?"
)
"""Functions of the C library that a compiler calls instead of computing them itself."""
WHOLE = "program"
"""The converter of a program, whose failure names no part of the compiler."""
UNLINKED = "undefined symbols: functions of the C library's mathematics"
_TELLING = 20
"""Characters of a message that identifies a failure without a place."""
_NOWHERE = ("<unknown>", "")


_ORDINARY = ("float16", "bfloat16", "float32", "float64")
"""Dtypes that hold ordinary numbers; conversions to narrower ones may saturate."""
_SPECIAL = frozenset(["inf", "nan"])
"""Elements that are not ordinary numbers, without their signs."""


@dataclass(frozen=True)
class Limit:
    """What went wrong at the end of a dtype's range: conversions between dtypes share code, so it tells more than the operator does.

    Attributes:
        kind: In general.
        dtypes: In detail; the same for all operators that share the conversion.
        converts: Whether one dtype is converted to another one. A kernel that knows no infinity shares nothing with all operators.
    """

    kind: str
    dtypes: str
    converts: bool = True

    def __str__(self) -> str:
        return f"{self.kind}, {self.dtypes}"


@cache
def _largest(dtype: str) -> str:
    """The largest finite number of a floating-point dtype, as it is written; empty for another dtype."""
    if not dtype.startswith(("float", "bfloat")):
        return ""
    finfo: Any = ml_dtypes.finfo
    return repr(float(finfo(numpy_dtype(dtype)).max))


def limit_of(difference: Mapping[str, Any], dtypes: Iterable[str]) -> Limit | None:
    """The limit at which *difference* lies; None for other wrong elements.

    Args:
        difference: The expected and the actual element, and the dtype of the result.
        dtypes: Dtypes that the failure needs: an infinity may come from any of them.
    """
    wanted, found = (str(difference.get(name)).lstrip("-") for name in ("expected", "actual"))
    dtype = str(difference.get("dtype"))
    if dtype not in _ORDINARY:
        saturates = found in _SPECIAL and dtype in DTYPE_BITS and wanted == _largest(dtype) != ""
        return Limit("no saturation", "narrow dtypes") if saturates else None
    if wanted != "inf":
        return None
    if found == _largest(dtype):  # the infinity was one of a wider dtype, or never was one
        wider = (each for each in dtypes if each in _ORDINARY and float(_largest(each)) > float(found))
        pair = next(wider, dtype), dtype
    else:
        pair = next(((dtype, each) for each in _ORDINARY if found == _largest(each)), None)
    return None if pair is None else Limit("infinities cut off", f"{pair[0]} to {pair[1]}", converts=pair[0] != pair[1])


@dataclass(frozen=True)
class Origin:
    """Where a failure was raised.

    Attributes:
        message: The normalised message.
        raised: File and line of the innermost known frame; empty if no frame is known.
        entry: The innermost function of the compiler's importer above that frame; empty if none is known.
        callers: The importer's functions that led to *entry*, the outermost first.
        by_entry: Whether *entry* itself raised.
    """

    message: str
    raised: str
    entry: str
    callers: tuple[str, ...] = field(default=(), compare=False)
    by_entry: bool = field(default=False, compare=False)

    @property
    def vague(self) -> bool:
        """Whether the message names an operand instead of the operation that failed."""
        return _VAGUE in self.message

    @property
    def tells(self) -> bool:
        """Whether another failure with the same origin is likely to be the same."""
        return bool(self.raised and self.entry) or len(self.message) >= _TELLING


@dataclass(frozen=True)
class Candidate:
    """A finding that may have the root cause of another.

    Attributes:
        finding: Its identity.
        fingerprint: Fingerprint of its failing tests.
        representative: One of these tests.
        reduction: The result of reducing it.
        project: Prefixes of modules and parts of paths that belong to the compiler.
        recorded: For each failing test with a wrong result, the names of the library's tests that called its instance.
    """

    finding: str
    fingerprint: str
    representative: StoredResult
    reduction: StoredReduction | None
    project: Sequence[str] = ()
    recorded: Sequence[frozenset[str]] = ()

    @cached_property
    def operators(self) -> tuple[str, ...]:
        """The operators that the trigger of a program needs, without dtypes; empty for other instances."""
        parts = () if self.trigger is None else parts_of(self.trigger.properties)
        return tuple(sorted({each.partition("(")[0] for each in parts}))

    @cached_property
    def symptom(self) -> Symptom:
        """What its failure shows. The operators that a program needs stand in for a converter that the compiler does not name."""
        symptom = self.representative.symptom
        return replace(symptom, converter=", ".join(self.operators)) if self.operators and symptom.converter == WHOLE else symptom

    @cached_property
    def trigger(self) -> Trigger | None:
        """Its trigger; None if it is not known."""
        return None if self.reduction is None or self.reduction.trigger is None else trigger_of(self.reduction.trigger)

    @cached_property
    def core(self) -> str:
        """The core of its trigger, tensors by place; empty if the trigger is unknown or has no core."""
        return "" if self.trigger is None else self.trigger.anonymous()

    @property
    def wrong_element(self) -> Mapping[str, Any]:
        """The difference between the results; empty for other failures."""
        return cast("Mapping[str, Any]", self.representative.detail.get("difference", {}))

    @cached_property
    def difference(self) -> str:
        """The kind of difference in words; wrong elements are one kind, except at the end of a dtype's range."""
        if self.symptom.kind not in ELEMENTS:
            return self.symptom.kind
        return "wrong elements" if self.limit is None else self.limit.kind

    @cached_property
    def limit(self) -> Limit | None:
        """What happened at the end of a dtype's range; None for other failures."""
        properties = () if self.trigger is None else self.trigger.properties
        return limit_of(
            self.wrong_element, (str(each.value) for each in properties if each.kind in ("dtype", "type") and each.comparison == "=")
        )

    @cached_property
    def origin(self) -> Origin | None:
        """Where its exception was raised; None for other failures."""
        result = self.representative
        if result.verdict is not Verdict.CRASH or "failure" not in result.detail:
            return None
        failure = cast("Mapping[str, Any]", result.detail["failure"])
        return origin_of(failure, self.project if result.exporter is None else (), noise_of(result.compiler))


def origin_of(failure: Mapping[str, Any], project: Sequence[str], noise: Noise) -> Origin:
    """Where *failure*, as `opera.workers.failure.describe` makes it, was raised.

    Args:
        failure: An exception.
        project: Prefixes of modules and parts of paths that belong to the compiler.
        noise: What means nothing in the compiler's messages.
    """
    frames = [frame for frame in failure.get("frames") or () if len(frame) == 4 and not str(frame[0]).startswith("opera.")]
    known = [frame for frame in frames if str(frame[1]) not in _NOWHERE]
    importer = _importer(frames, project)
    functions = [str(frame[3]) for frame in importer]
    return Origin(
        message=normalised_message(str(failure.get("message", "")), noise),
        raised=f"{str(known[-1][1]).rpartition('/')[2]}:{known[-1][2]}" if known else "",
        entry=functions[-1] if functions else "",
        callers=tuple(functions[:-1]),
        by_entry=bool(known and importer and importer[-1] is known[-1]),
    )


def normalised_message(message: str, noise: Noise = NO_NOISE) -> str:
    """What *message* says, without the arguments of calls and the fields of objects that it quotes.

    A linker's message names each function that it misses. Functions of the C library's mathematics are missing for one reason, whichever.
    """
    missing = _SYMBOL.findall(message)
    if missing and all(map(_MATHEMATICS.fullmatch, missing)):
        return UNLINKED
    text = _OPERAND.sub(_VAGUE, _LOCATION.sub("", _DUMP.sub(r"\1", template(message, noise))))
    while (shorter := _OBJECT.sub("OBJECT", _CALL.sub("CALL", text))) != text:
        text = shorter
    return _OBJECTS.sub("OBJECT", text)


def _importer(frames: Sequence[Sequence[Any]], project: Sequence[str]) -> list[Sequence[Any]]:
    """The frames in the folder of the compiler's outermost frame: the importer that was called."""
    theirs = [frame for frame in frames if any(str(frame[0]).startswith(each) or each in str(frame[1]) for each in project)]
    if not theirs:
        return []
    folder = str(theirs[0][0]).rpartition(".")[0]
    return [frame for frame in theirs if str(frame[0]).rpartition(".")[0] == folder]
