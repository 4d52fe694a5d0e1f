"""The merge rules: what two findings share if they have one root cause, and why.

Each rule is a row of `RULES`. A rule compares findings of one workspace and depends neither on the other rules nor on their order.
A rule stays in the table as long as labelled findings need it; `benchmarks/bench_merge_rules.py` counts that.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from opera.oracles.verdict import Stage, Verdict
from opera.triage.candidate import Candidate
from opera.triage.reduction.properties import Property
from opera.triage.reduction.trigger import Trigger

_ARGUMENTS = re.compile(r"\([^()]*\)")
"""The dtypes behind the operators of a program."""
_MOST_MESSAGES = 3
"""Messages of one place that still identifies a bug."""
_SHORT = 2
"""Characters of a word that is too short to compare."""
_QUOTED = 90
_SOME_DTYPE = "some dtype"
"""Stands for a property about a dtype, whatever the dtype and the tensor or parameter."""
_JOINT = "+"
"""Between the converters of an operator that became several."""
_DTYPES = frozenset({"dtype", "dtype-class", "dtype-class-not", "dtype-not", "type", "type-class"})
_SAME_KIND = {
    "rank-differs": "shape-differs", "item-above-one": "above-one", "item-positive": "positive", "item-negative": "negative",
}  # fmt: skip
"""Kinds that count as others: a different rank is a different shape; a number may stand for a list of it."""


@dataclass(frozen=True)
class MergeContext:
    """What all findings together say about the places that raise exceptions.

    Attributes:
        dispatchers: Functions of importers that call converters.
        common: Places that raise with many messages, e.g. the entry of a compiler: they identify no bug.
    """

    dispatchers: frozenset[str]
    common: frozenset[str]


def context_of(candidates: Sequence[Candidate]) -> MergeContext:
    """The context of *candidates*."""
    origins = [each.origin for each in candidates if each.origin is not None]
    messages: dict[str, set[str]] = defaultdict(set)
    for origin in origins:
        messages[origin.raised].add(origin.message)
    return MergeContext(
        dispatchers=frozenset(caller for origin in origins for caller in origin.callers),
        common=frozenset(place for place, said in messages.items() if not place or len(said) > _MOST_MESSAGES),
    )


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What findings have in common by a rule; None where the rule does not compare them.

    Attributes:
        subject: Compiler or exporter, and frontend.
        fingerprint: Of the failing tests.
        stage: Where the tests stopped.
        converter: The conversion function.
        failure: The type of an exception, or the kind of difference.
        message: The normalised message of an exception.
        raised: File and line that raised it.
        entry: The innermost function of the importer above that line.
        trigger: What the rule reads of the trigger.
    """

    subject: str | None = None
    fingerprint: str | None = None
    stage: Stage | None = None
    converter: str | None = None
    failure: str | None = None
    message: str | None = None
    raised: str | None = None
    entry: str | None = None
    trigger: tuple[str, ...] | None = None

    def text(self) -> str:
        """In words, for reports."""
        said: dict[str, str | None] = {
            "fingerprint": self.fingerprint,
            "stage": None if self.stage is None else self.stage.value,
            "converter": self.converter,
            "failure": self.failure,
            "message": self.message,
            "raised at": self.raised,
            "in": self.entry,
            "trigger": None if self.trigger is None else ", ".join(self.trigger),
        }
        return ", ".join(f"{name} {_shortened(value)}" for name, value in said.items() if value)


def _shortened(text: str) -> str:
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"


@dataclass(frozen=True)
class Join:
    """Two findings with one root cause, and what they share."""

    one: Candidate
    other: Candidate
    shared: Shared


Keys = Callable[[Candidate, MergeContext], Iterable[Shared]]
Joins = Callable[[Sequence[Candidate], MergeContext], Iterable[Join]]


@dataclass(frozen=True)
class Rule:
    """One merge rule.

    Attributes:
        name: Its name in reports and tables.
        shares: What two findings must share.
        why: Why that means one root cause.
        joins: Finds the pairs.
    """

    name: str
    shares: str
    why: str
    joins: Joins

    def reason(self, join: Join) -> str:
        """What reports say of a pair."""
        return f"{self.name}: both have {join.shared.text()}"


def by_key(keys: Keys, *, across: bool = False) -> Joins:
    """Pairs the first finding of each key with each other finding of that key; *across*: only findings of different fingerprints."""

    def joins(candidates: Sequence[Candidate], context: MergeContext) -> Iterator[Join]:
        first: dict[Shared, Candidate] = {}
        for each in candidates:
            for shared in keys(each, context):
                one = first.setdefault(shared, each)
                if one is not each and not (across and one.fingerprint == each.fingerprint):
                    yield Join(one, each, shared)

    return joins


def _same_exception(candidate: Candidate, context: MergeContext) -> Iterator[Shared]:
    symptom, origin = candidate.symptom, candidate.origin
    if origin is not None and origin.tells:
        is_own = origin.raised not in context.common and (
            origin.by_entry or (bool(origin.entry) and not candidate.operators and origin.entry not in context.dispatchers)
        )
        yield Shared(
            subject=symptom.subject,
            stage=symptom.stage,
            converter=None if is_own else symptom.converter,
            failure=symptom.kind,
            message=origin.message,
            raised=origin.raised,
            entry=origin.entry,
            trigger=(candidate.core,) if origin.vague else None,
        )


def _same_line(candidate: Candidate, context: MergeContext) -> Iterator[Shared]:
    symptom, origin = candidate.symptom, candidate.origin
    if origin is not None and origin.raised not in context.common:
        yield Shared(subject=symptom.subject, stage=symptom.stage, converter=symptom.converter, failure=symptom.kind, raised=origin.raised)


def _similar_trigger(candidate: Candidate, _: MergeContext) -> Iterator[Shared]:
    if candidate.trigger is None or not candidate.trigger.core():
        return
    symptom, generalised = candidate.symptom, generalised_trigger(candidate.trigger)
    if symptom.verdict is Verdict.CRASH and _SOME_DTYPE in generalised:
        yield Shared(fingerprint=candidate.fingerprint, trigger=generalised)
    else:
        failure = symptom.kind if symptom.verdict is Verdict.CRASH else candidate.difference
        yield Shared(subject=symptom.subject, stage=symptom.stage, converter=symptom.converter, failure=failure, trigger=generalised)


def generalised_trigger(trigger: Trigger) -> tuple[str, ...]:
    """The core of *trigger* without values of parameters and without dtypes: that a dtype matters, but not which and where."""
    return tuple(sorted({_generalised(each) for each in trigger.core()}))


def _generalised(part: Property) -> str:
    if part.kind in _DTYPES:
        return _SOME_DTYPE
    if part.kind == "calls":
        return _ARGUMENTS.sub("", f"calls {part.value}")
    kind = _SAME_KIND.get(part.kind, part.kind)
    return f"{kind} {part.name} {'' if kind == 'is' else json.dumps(part.value)}".rstrip()


def _same_settings(candidate: Candidate, _: MergeContext) -> Iterator[Shared]:
    if candidate.trigger is not None:
        settings = tuple(each.text() for each in candidate.trigger.settings())
        yield Shared(fingerprint=candidate.fingerprint, failure=_failure(candidate), trigger=settings or ("no setting",))


def _similar_settings(candidate: Candidate, _: MergeContext) -> Iterator[Shared]:
    if candidate.trigger is not None and candidate.symptom.verdict is Verdict.INCONSISTENT:
        settings = tuple(sorted({_generalised(each) for each in candidate.trigger.settings()}))
        if settings:
            symptom = candidate.symptom
            yield Shared(
                subject=symptom.subject, stage=symptom.stage, converter=symptom.converter, failure=candidate.difference, trigger=settings
            )


def _sibling_parameters(candidate: Candidate, _: MergeContext) -> Iterator[Shared]:
    settings = () if candidate.trigger is None else candidate.trigger.settings()
    if len(settings) == 1:
        (setting,) = settings
        for word in setting.name.split("_"):
            if len(word) > _SHORT:
                trigger = (f"{word} {setting.kind} {json.dumps(setting.value)}",)
                yield Shared(fingerprint=candidate.fingerprint, failure=_failure(candidate), trigger=trigger)


def _failure(candidate: Candidate) -> str:
    return "an exception" if candidate.symptom.verdict is Verdict.CRASH else candidate.difference


def _any_call(candidates: Sequence[Candidate], _: MergeContext) -> Iterator[Join]:
    outputs: dict[Shared, list[Candidate]] = defaultdict(list)
    for each in candidates:
        symptom, trigger = each.symptom, each.trigger
        if symptom.verdict is Verdict.INCONSISTENT and trigger is not None and not trigger.settings():
            output = f"output {each.wrong_element.get('output', 0)} of {trigger.api} in any call"
            outputs[Shared(subject=symptom.subject, converter=symptom.converter, failure=output)].append(each)
    for shared, alike in outputs.items():
        always = next((each for each in alike if each.trigger is not None and not each.trigger.properties), None)
        yield from (Join(always, each, shared) for each in alike if always is not None and each is not always)


def _end_of_range(candidate: Candidate, _: MergeContext) -> Iterator[Shared]:
    if candidate.trigger is not None and candidate.limit is not None:
        yield Shared(subject=candidate.symptom.subject, failure=f"{candidate.limit.kind}, {candidate.limit.dtypes}")


def _wrong_dtype_of_a_part(candidates: Sequence[Candidate], _: MergeContext) -> Iterator[Join]:
    wrong = [each for each in candidates if each.symptom.verdict is Verdict.INCONSISTENT and each.symptom.kind == "dtype"]
    alone = {each.symptom: each for each in reversed(wrong) if _JOINT not in each.symptom.converter}
    for each in wrong:
        parts = [replace(each.symptom, converter=part) for part in each.symptom.converter.split(_JOINT)]
        one = next((alone[part] for part in parts if part in alone), each)
        if one is not each and _JOINT in each.symptom.converter:
            shared = Shared(subject=one.symptom.subject, converter=one.symptom.converter, failure=f"dtype {one.symptom.message}")
            yield Join(one, each, shared)


RULES: tuple[Rule, ...] = (
    Rule(
        "same-exception",
        "stage, type, normalised message, line that raised it, and innermost function of the importer; the converter too, if that "
        "function calls converters or is unknown, or if more than three messages come from that line; of programs, the operators that "
        "they need",
        "One line that raises one message refuses one thing.",
        by_key(_same_exception, across=True),
    ),
    Rule(
        "same-line",
        "stage, type, converter, and line that raised it, if at most three messages come from that line",
        "The message quotes the call; the line says what the converter cannot do.",
        by_key(_same_line, across=True),
    ),
    Rule(
        "similar-trigger",
        "stage, converter, kind of failure, and generalised trigger; for exceptions that depend on a dtype, the fingerprint",
        "A reduction stops at one of several dtypes and values that reach the same code.",
        by_key(_similar_trigger),
    ),
    Rule(
        "same-settings",
        "fingerprint, kind of failure, and the settings that matter, or that no setting matters",
        "Settings choose the code that runs; which property of a tensor makes the failure visible differs between calls.",
        by_key(_same_settings),
    ),
    Rule(
        "similar-settings",
        "of wrong results: stage, converter, kind of difference, and the settings that matter, without their values",
        "A converter that ignores a setting ignores each of its values.",
        by_key(_similar_settings),
    ),
    Rule(
        "sibling-parameters",
        "fingerprint, kind of failure, and a word in the name of the only parameter that matters, with the same condition",
        "The same code reads both parameters, e.g. `left_window_size` and `right_window_size`.",
        by_key(_sibling_parameters),
    ),
    Rule(
        "any-call",
        "operator, converter and output; any call gives a wrong result in one of them, and no setting matters to the other",
        "An output that is wrong in every call has a reason that does not depend on the call.",
        _any_call,
    ),
    Rule(
        "end-of-range",
        "what became of an infinity or a largest number at the end of a dtype's range, and the dtypes; not the converter",
        "All operators share the conversions between dtypes.",
        by_key(_end_of_range),
    ),
    Rule(
        "wrong-dtype-of-a-part",
        "the same wrong dtype, of one converter and of an operator that became several converters, that one among them",
        "Later converters keep the wrong dtype that one converter gives.",
        _wrong_dtype_of_a_part,
    ),
)
