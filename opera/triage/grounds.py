"""What two findings must share to have one root cause."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opera.oracles.fingerprint import ELEMENTS
from opera.oracles.verdict import Stage, Verdict
from opera.triage.candidate import Candidate
from opera.triage.extremes import SPECIAL, instead_of_nan, overflows
from opera.triage.outline import DTYPE, anonymous_settings, families, has_parameters, input_forms, is_particular, outline, settings
from opera.triage.reduction.trigger import ALWAYS, Trigger
from opera.triage.similarity import Origin

_QUOTED = 90
_MOST_MESSAGES = 3
"""Messages with which one place may raise and still tell something."""
_DTYPE = "dtype"
LATER = frozenset({Stage.OPTIMIZE, Stage.CODEGEN, Stage.RUN})
"""Stages past the converters."""
_NOTHING = "x0 is empty"
"""The anonymous trigger of what an operator makes of nothing."""
_FUNCTION = re.compile(r"(\w+)\([^()+]*\)")
"""A conversion function that serves several operators, and which of them it was."""
_ORIGIN, _PLACE = "origin", "place"
BETWEEN = frozenset({_ORIGIN, _PLACE})
"""What findings of one fingerprint share anyway, so that it puts none of them together again."""


@dataclass(frozen=True)
class Scene:
    """What all failures together say of the places where they were raised.

    Attributes:
        dispatchers: Functions of importers that call converters.
        common: Places that raise with many messages: a way into the compiler, where nothing of it is known.
    """

    dispatchers: Container[str]
    common: Container[str]


def scene_of(origins: Sequence[Origin | None]) -> Scene:
    """What failures with those *origins* say."""
    raising: dict[str, set[str]] = defaultdict(set)
    dispatchers: set[str] = set()
    for origin in origins:
        if origin is not None:
            dispatchers.update(origin.callers)
            raising[origin.raised].add(origin.gist)
    common = {place for place, gists in raising.items() if not place or len(gists) > _MOST_MESSAGES}
    return Scene(dispatchers, common)


Ground = tuple[tuple[object, ...], str]
"""What two findings must share to be one, and the reason that is then given."""


def grounds(candidate: Candidate, origin: Origin | None, scene: Scene) -> Iterator[Ground]:
    """What *candidate*, raised at *origin*, may share with other findings."""
    if candidate.cause is not None:
        yield from _by_trigger(candidate, candidate.cause)
        if candidate.symptom.verdict is Verdict.CRASH:
            yield from _of_one_exception(candidate, candidate.cause)
        elif candidate.symptom.verdict is Verdict.INCONSISTENT:
            yield from _of_wrong_results(candidate, candidate.cause)
    if origin is not None:
        yield from _by_origin(candidate, origin, scene)
        if candidate.cause is not None:
            yield from _of_later_stages(candidate, candidate.cause, origin, scene)


def _by_trigger(candidate: Candidate, cause: Trigger) -> Iterator[Ground]:
    symptom = candidate.symptom
    what = "an exception" if symptom.verdict is Verdict.CRASH else candidate.difference
    key = (symptom.subject, symptom.verdict, symptom.stage, symptom.converter)
    alike = (candidate.fingerprint, what)
    if candidate.trigger:
        yield ("trigger", *key, what, candidate.trigger), f"same converter {symptom.converter}, {what}, same trigger ({candidate.trigger})"
    shared = outline(cause)
    if not shared:
        yield ("seen", *alike), "same fingerprint, and nothing but that it can be seen"
    elif symptom.verdict is Verdict.CRASH and DTYPE in shared:
        yield ("outline", *alike, shared), f"same fingerprint, triggers that differ only in a value ({candidate.trigger})"
    else:
        what = symptom.kind if symptom.verdict is Verdict.CRASH else what
        reason = f"same converter {symptom.converter}, {what}, triggers that differ only in a value ({candidate.trigger})"
        yield ("outline", *key, what, shared), reason
    which = settings(cause)
    matter = f"the same settings matter ({', '.join(which)})" if which else "no setting matters"
    yield ("settings", *alike, which), f"same fingerprint, {matter}"
    for word, said in families(cause):
        yield ("family", *alike, word, said), f"same fingerprint, parameters called {word} matter in the same way"


def _of_one_exception(candidate: Candidate, cause: Trigger) -> Iterator[Ground]:
    """One exception with one message, raised at one place in one converter, is one bug of an operator, whatever leads to it."""
    yield ("exception", candidate.fingerprint, cause.api), f"same fingerprint, same operator {cause.api}"
    alike = anonymous_settings(cause)
    if alike:
        yield ("setting", candidate.fingerprint, alike), f"same fingerprint, parameters of the same value ({candidate.trigger})"


def _of_later_stages(candidate: Candidate, cause: Trigger, origin: Origin, scene: Scene) -> Iterator[Ground]:
    """Past the converters an exception is the compiler's, whosever code it was compiling."""
    symptom = candidate.symptom
    if symptom.stage in LATER and origin.tells and not origin.vague and (origin.raised not in scene.common or is_particular(cause)):
        key = ("later", symptom.subject, symptom.stage, symptom.kind, origin, candidate.trigger)
        yield key, f'same message "{_quoted(origin.gist)}" past the converters, same trigger ({candidate.trigger or ALWAYS})'


def _of_wrong_results(candidate: Candidate, cause: Trigger) -> Iterator[Ground]:
    symptom = candidate.symptom
    if symptom.kind == _DTYPE:
        key = (_DTYPE, symptom.subject, symptom.converter, settings(cause))
        yield key, f"same converter {symptom.converter}, a wrong dtype whatever the dtypes"
    difference = candidate.wrong_element
    cut = candidate.cut_off
    if cut is not None:
        yield ("cut-off", symptom.subject, cut), f"infinities of {cut[0]} become the largest {cut[1]}, whatever the operator"
    if overflows(difference):
        yield ("overflow", symptom.subject), "a conversion beyond the range of a narrow type does not saturate, whatever the operator"
    stray = instead_of_nan(difference)
    if stray is not None:
        yield ("no-nan", symptom.subject, *stray), f"a NaN of {stray[0]} becomes {stray[1]}, whatever the operator"
    if symptom.kind not in ELEMENTS:
        yield ("result", candidate.fingerprint, input_forms(cause)), f"same fingerprint, the {symptom.kind} of results"
    if symptom.kind in ELEMENTS:
        yield from _of_wrong_elements(candidate, cause, difference)
    if not cause.properties:
        key = ("always", symptom.subject, symptom.converter, cause.api)
        yield key, f"same converter {symptom.converter}, a wrong result of any call of {cause.api}"


def _of_wrong_elements(candidate: Candidate, cause: Trigger, difference: Mapping[str, Any]) -> Iterator[Ground]:
    symptom = candidate.symptom
    wanted, found = (str(difference.get(name)).lstrip("-") for name in ("expected", "actual"))
    if candidate.trigger == _NOTHING and {wanted, found} & SPECIAL:
        key = ("of-nothing", symptom.subject, str(difference.get("dtype")), wanted, found)
        yield key, f"{found} for nothing where {wanted} is right, whatever the operator"
    function = _FUNCTION.fullmatch(symptom.converter)
    if function is not None and has_parameters(cause):
        key = ("function", symptom.subject, function[1], candidate.difference, candidate.trigger)
        yield key, f"same conversion function {function[1]}, {candidate.difference}, same trigger ({candidate.trigger})"


def _by_origin(candidate: Candidate, origin: Origin, scene: Scene) -> Iterator[Ground]:
    symptom = candidate.symptom
    key = (symptom.subject, symptom.verdict, symptom.stage, symptom.kind)
    if origin.tells:
        anybody = origin.by_entry or (origin.entry and origin.entry not in scene.dispatchers)
        raised, entry = (f" {word} {part}" if part else "" for word, part in (("at", origin.raised), ("in", origin.entry)))
        which = candidate.trigger if origin.vague else None
        reason = f'same message "{_quoted(origin.gist)}"{raised}{entry}'
        yield (_ORIGIN, *key, origin, None if anybody else symptom.converter, which), reason
    if origin.raised not in scene.common:
        reason = f"same converter {symptom.converter}, same {symptom.kind} at {origin.raised}"
        yield (_PLACE, *key, symptom.converter, origin.raised), reason


def _quoted(gist: str) -> str:
    return gist if len(gist) <= _QUOTED else gist[: _QUOTED - 1] + "…"
