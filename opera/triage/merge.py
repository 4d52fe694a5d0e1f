"""The merge rules: what two findings share if they have one root cause, and why.

Each rule is a row of `RULES`. A rule compares findings of one workspace and depends neither on the other rules nor on their order.
A rule stays in the table as long as labelled findings need it; `benchmarks/bench_merge_rules.py` counts that.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

from opera.compilers.registry import known_adapter
from opera.oracles.verdict import Verdict
from opera.store import StoredResult
from opera.store.reductions import Merge
from opera.triage.candidate import UNLINKED, Candidate
from opera.triage.causes import Causes
from opera.triage.reduction.properties import Property, parts_of

_ARGUMENTS = re.compile(r"\([^()]*\)")
"""The dtypes behind the operators of a program."""
_MOST_MESSAGES = 3
"""Messages of one place that still identifies a bug."""
_QUOTED = 90
_SOME_DTYPE = "some dtype"
"""Stands for a property about a dtype, whatever the dtype and the tensor or parameter."""
_JOINT = "+"
"""Between the converters of an operator that became several."""
_NODES = "::nodes"
"""Ends the name under which the source `node-tests` records the nodes of a graph; the graph has the name without it."""

Shared = tuple[tuple[str, str], ...]
"""What findings have in common by a rule: names of facts, and the facts."""


def shared(**facts: object) -> Shared:
    """Those of *facts* that say something."""
    return tuple((name.replace("_", " "), str(fact)) for name, fact in facts.items() if fact)


@dataclass(frozen=True)
class Join:
    """Two findings with one root cause, and what they share."""

    one: Candidate
    other: Candidate
    shared: Shared


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
    joins: Callable[[Sequence[Candidate]], Iterable[Join]]

    def reason(self, join: Join) -> str:
        """What reports say of a pair."""
        facts = ((name, fact if len(fact) <= _QUOTED else f"{fact[: _QUOTED - 1]}…") for name, fact in join.shared if name != "subject")
        return f"{self.name}: both have {', '.join(f'{name} {fact}' for name, fact in facts)}"


Keys = Iterable[tuple[Candidate, Shared]]


def _by_key(keys: Keys) -> Iterator[Join]:
    """Pairs the first finding of each key with each other finding of that key."""
    first: dict[Shared, Candidate] = {}
    for each, key in keys:
        one = first.setdefault(key, each)
        if one is not each:
            yield Join(one, each, key)


# The same exception.


def _same_exception(candidates: Sequence[Candidate]) -> Iterator[Join]:
    return (join for join in _by_key(_exceptions(candidates)) if join.one.fingerprint != join.other.fingerprint or _is_unlinked(join.one))


def _is_unlinked(candidate: Candidate) -> bool:
    """Whether a linker misses functions of the C library, which is one cause whatever the trigger."""
    return candidate.origin is not None and candidate.origin.message == UNLINKED


def _exceptions(candidates: Sequence[Candidate]) -> Keys:
    """Line, message and function of each exception, whichever converter called them if they are the bug's own; line and converter."""
    messages: dict[str, set[str]] = defaultdict(set)
    dispatchers: set[str] = set()
    for each in candidates:
        if each.origin is not None:
            messages[each.origin.raised].add(each.origin.message)
            dispatchers.update(each.origin.callers)
    for each in candidates:
        symptom, origin = each.symptom, each.origin
        if origin is None:
            continue
        known = shared(subject=symptom.subject, stage=symptom.stage and symptom.stage.value, failure=symptom.kind, raised_at=origin.raised)
        identifies = bool(origin.raised) and len(messages[origin.raised]) <= _MOST_MESSAGES
        is_own = identifies and (origin.by_entry or (bool(origin.entry) and not each.operators and origin.entry not in dispatchers))
        if origin.tells:
            named = shared(converter=not is_own and symptom.converter, trigger=origin.vague and each.core)
            yield each, (*known, *shared(message=origin.message, **{"in": origin.entry}), *named)
        if identifies:
            yield each, (*known, *shared(converter=symptom.converter))


# The same condition.


def _same_condition(candidates: Sequence[Candidate]) -> Iterator[Join]:
    return chain(_by_key(_conditions(candidates)), _in_any_call(candidates))


def _conditions(candidates: Sequence[Candidate]) -> Keys:
    """The settings that matter, of one fingerprint; the generalised condition, of one converter and kind of failure."""
    for each in candidates:
        if each.trigger is None:
            continue
        symptom, wrong = each.symptom, each.symptom.verdict is not Verdict.CRASH
        settings = ", ".join(setting.text() for setting in each.trigger.settings()) or "no setting"
        yield each, shared(fingerprint=each.fingerprint, failure=each.difference if wrong else "an exception", condition=settings)
        general = generalised(each.trigger.settings()) or generalised(each.trigger.core())
        if not wrong and _SOME_DTYPE in general:
            yield each, shared(fingerprint=each.fingerprint, condition=", ".join(general))
        elif general:
            failure, stage = each.difference if wrong else symptom.kind, symptom.stage and symptom.stage.value
            known = shared(subject=symptom.subject, stage=stage, converter=symptom.converter, failure=failure)
            yield each, (*known, *shared(condition=", ".join(general)))


def generalised(properties: Iterable[Property]) -> tuple[str, ...]:
    """*properties* without values of parameters and without dtypes: that a dtype matters, but not which and where."""
    return tuple(sorted({_generalised(each) for each in properties}))


def _generalised(part: Property) -> str:
    differs = part.comparison == "differs from"
    if part.kind in ("dtype", "type") and not differs:
        return _SOME_DTYPE
    if part.kind == "calls":
        return _ARGUMENTS.sub("", part.text())
    kind = "shape" if differs and part.kind == "rank" else "value" if part.kind == "entry" else part.accessor
    exact = (part.kind, part.comparison) == ("value", "=")
    return f"{kind} {part.name} {part.comparison} {'' if exact else json.dumps(part.value)}".rstrip()


def _in_any_call(candidates: Sequence[Candidate]) -> Iterator[Join]:
    """Pairs the finding of an output or an exception that any call shows with those of the same to which no setting matters."""
    alike: dict[Shared, list[Candidate]] = defaultdict(list)
    for each in candidates:
        symptom, trigger = each.symptom, each.trigger
        if trigger is not None and not trigger.settings():
            wrong = symptom.verdict is Verdict.INCONSISTENT
            what = (
                f"output {each.wrong_element.get('output', 0)}" if wrong else f"{symptom.kind} in {symptom.stage and symptom.stage.value}"
            )
            alike[shared(subject=symptom.subject, converter=symptom.converter, failure=f"{what} of {trigger.api} in any call")].append(each)
    for key, found in alike.items():
        always = next((each for each in found if each.trigger is not None and not each.trigger.properties), None)
        yield from (Join(always, each, key) for each in found if always is not None and each is not always)


# The same end of a range.


def _end_of_range(candidates: Sequence[Candidate]) -> Iterator[Join]:
    return _by_key(
        (each, shared(subject=each.symptom.subject, failure=each.limit, condition=not each.limit.converts and each.core))
        for each in candidates
        if each.trigger is not None and each.limit is not None
    )


# A part that fails alone.


def _part_fails_alone(candidates: Sequence[Candidate]) -> Iterator[Join]:
    return chain(_converters(candidates), _programs(candidates), _graphs(candidates))


def _converters(candidates: Sequence[Candidate]) -> Iterator[Join]:
    """Operators that became several converters, one of which gives the same wrong dtype alone."""
    wrong = [each for each in candidates if each.symptom.verdict is Verdict.INCONSISTENT and each.symptom.kind == "dtype"]
    alone = {each.symptom: each for each in reversed(wrong) if _JOINT not in each.symptom.converter}
    for each in wrong:
        parts = [replace(each.symptom, converter=part) for part in each.symptom.converter.split(_JOINT)]
        one = next((alone[part] for part in parts if part in alone), each)
        if one is not each and _JOINT in each.symptom.converter:
            failure = f"dtype {one.symptom.message}"
            yield Join(one, each, shared(subject=one.symptom.subject, converter=one.symptom.converter, failure=failure))


def _programs(candidates: Sequence[Candidate]) -> Iterator[Join]:
    """Programs that fail like one that is made of a part of the same: the smallest one."""
    alike: dict[tuple[str, str], list[tuple[Candidate, frozenset[str]]]] = defaultdict(list)
    for each in candidates:
        parts = frozenset[str]() if each.trigger is None else parts_of(each.trigger.properties)
        if parts:
            alike[each.fingerprint, each.difference].append((each, parts))
    for found in alike.values():
        for each, parts in found:
            fewer = [item for item in found if item[1] < parts and item[0].trigger is not None and len(item[0].trigger.settings()) == 1]
            if fewer:
                one, its = min(fewer, key=lambda item: len(item[1]))
                yield Join(one, each, shared(parts=", ".join(sorted(its))))


def _graphs(candidates: Sequence[Candidate]) -> Iterator[Join]:
    """Graphs most of which hold a node that was recorded, too, and gives a wrong result alone."""
    wrong = [each for each in candidates if each.symptom.verdict is Verdict.INCONSISTENT]
    nodes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in wrong:
        for name in chain.from_iterable(each.recorded):
            if name.endswith(_NODES):
                nodes[each.symptom.subject, name.removesuffix(_NODES)].add(each.finding)
    by_finding = {each.finding: each for each in wrong}
    for each in wrong:
        inside = [set[str]().union(*(nodes[each.symptom.subject, name] for name in names)) for names in each.recorded]
        known = [found for found in inside if found]
        common = set[str].intersection(*known) if 2 * len(known) > len(inside) else set[str]()
        if len(common) == 1:
            yield Join(by_finding[common.pop()], each, shared(node="that gives a wrong result alone"))


# The same fingerprint.


def _same_fingerprint(candidates: Sequence[Candidate]) -> Iterator[Join]:
    """Pairs tests that no reduction covers with the finding of their fingerprint that was reduced first; those of programs stay alone."""
    first: dict[str, Candidate] = {}
    for each in candidates:
        if each.finding != each.fingerprint:
            first.setdefault(each.fingerprint, each)
    for each in candidates:
        reduced = first.get(each.fingerprint)
        if each.finding == each.fingerprint and reduced is not None and not reduced.operators:
            yield Join(reduced, each, shared(fingerprint=f"{each.fingerprint}, and one was not reduced"))


RULES: tuple[Rule, ...] = (
    Rule(
        "same-exception",
        "stage, type, and line that raised it, if at most three messages come from that line, and the converter; or the normalised "
        "message, and the innermost function of the importer. Then the converter counts only if that function calls converters or is "
        "unknown, or if more than three messages come from the line; of programs, the operators that they need",
        "One line that raises one message refuses one thing; of one converter, the line says what it cannot do.",
        _same_exception,
    ),
    Rule(
        "same-condition",
        "fingerprint, kind of failure, and the settings that matter, or that no setting matters; stage, converter, kind of failure, and "
        "the generalised condition (of exceptions that depend on a dtype: the fingerprint); or converter and output, or converter, stage "
        "and type of exception, if any call fails so in one of them, and no setting matters to the other",
        "Settings choose the code that runs. A reduction stops at one of several dtypes and values that reach the same code.",
        _same_condition,
    ),
    Rule(
        "end-of-range",
        "what became of an infinity or a largest number at the end of a dtype's range, and the dtypes; within one dtype, the core of the "
        "trigger; not the converter",
        "All operators share the conversions between dtypes, and similar kernels the number that they begin with.",
        _end_of_range,
    ),
    Rule(
        "part-fails-alone",
        "the failure of a part, of which the other consists: a converter of an operator that became several, with the same wrong dtype; "
        "the operators of a smaller program; a node that most graphs of a finding hold, if its result is wrong",
        "What a part does alone explains what the whole does.",
        _part_fails_alone,
    ),
    Rule(
        "same-fingerprint",
        "the fingerprint, if no reduction covers the tests of one of them, and they are no programs",
        "The fingerprint is all that is known of these tests; that of programs says nothing of the cause.",
        _same_fingerprint,
    ),
)


def merges(candidates: Sequence[Candidate], rules: Sequence[Rule] = RULES) -> list[Merge]:
    """The pairs of *candidates* that have one root cause, each with the reason.

    Args:
        candidates: In the order in which they were found; a rule pairs the first of several with each other.
        rules: The rules to apply; a pair keeps the reason of the first rule that joins it.
    """
    found: dict[tuple[str, str], Merge] = {}
    for rule in rules:
        for join in rule.joins(candidates):
            pair = join.one.finding, join.other.finding
            found.setdefault(pair, Merge(*pair, rule.reason(join)))
    return list(found.values())


def candidates_of(
    findings: Mapping[str, Sequence[StoredResult]], causes: Causes, tests_of: Callable[[str], Collection[str]] = lambda _: ()
) -> list[Candidate]:
    """What merging reads of *findings*, in the order in which they were reduced.

    Args:
        findings: Failing tests by finding.
        causes: The reductions.
        tests_of: The names of the library's tests that called an instance, by its hash.
    """

    @cache
    def project_of(compiler: str) -> Sequence[str]:
        adapter = known_adapter(compiler)
        return () if adapter is None else adapter.project

    order = {each.finding: index for index, each in enumerate(causes.reductions)}
    found: list[Candidate] = []
    for finding in sorted(findings, key=lambda each: (order.get(each, len(order)), each)):
        tests = findings[finding]
        first = min(tests, key=lambda each: each.test)
        recorded = tuple(frozenset(tests_of(each.instance)) for each in tests if each.verdict is Verdict.INCONSISTENT)
        found.append(Candidate(finding, str(first.fingerprint), first, causes.of(finding), project_of(first.compiler), recorded))
    return found
