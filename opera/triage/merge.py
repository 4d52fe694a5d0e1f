"""Applies the merge rules: which findings have one root cause, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache

from opera.compilers.registry import known_adapter
from opera.oracles.verdict import Verdict
from opera.store import StoredResult
from opera.store.reductions import Merge
from opera.triage.candidate import Candidate
from opera.triage.causes import Causes
from opera.triage.merge_rules import RULES, Rule, context_of
from opera.triage.reduction.properties import parts_of

_NODES = "::nodes"
"""Ends the name under which the source `node-tests` records the nodes of a graph; the graph has the name without it."""


def merges(candidates: Sequence[Candidate], rules: Sequence[Rule] = RULES) -> list[Merge]:
    """The pairs of *candidates* that have one root cause, each with the reason.

    Args:
        candidates: In the order in which they were found; a rule pairs the first of several with each other.
        rules: The rules to apply; a pair keeps the reason of the first rule that joins it.
    """
    context = context_of(candidates)
    found: dict[tuple[str, str], Merge] = {}
    for rule in rules:
        for join in rule.joins(candidates, context):
            pair = join.one.finding, join.other.finding
            found.setdefault(pair, Merge(*pair, rule.reason(join)))
    for merge in (*explained(candidates), *unreduced(candidates)):
        found.setdefault((merge.finding, merge.other), merge)
    return list(found.values())


def unreduced(candidates: Sequence[Candidate]) -> Iterator[Merge]:
    """Keeps tests that no reduction covers with the finding of their fingerprint that was reduced first.

    This is no rule: their fingerprint is all that is known of these tests. That of programs says nothing of the cause, because all wrong
    results of programs share one: such tests are a finding of their own.
    """
    first: dict[str, Candidate] = {}
    for each in candidates:
        if each.finding != each.fingerprint:
            first.setdefault(each.fingerprint, each)
    for each in candidates:
        reduced = first.get(each.fingerprint)
        if each.finding == each.fingerprint and reduced is not None and not reduced.operators:
            yield Merge(reduced.finding, each.finding, "same fingerprint, and not reduced by itself")


def explained(candidates: Sequence[Candidate]) -> Iterator[Merge]:
    """Joins a program that fails in the same way as one that is made of a part of it: the smaller one explains the failure.

    This is no rule: it compares the smallest programs, which reductions have taken apart.
    """
    alike: dict[tuple[str, str], list[tuple[Candidate, frozenset[str]]]] = defaultdict(list)
    for each in candidates:
        parts = frozenset[str]() if each.trigger is None else parts_of(each.trigger.properties)
        if parts:
            alike[each.fingerprint, each.difference].append((each, parts))
    for found in alike.values():
        for each, parts in found:
            fewer = [(len(its), place, one) for place, (one, its) in enumerate(found) if its < parts and _needs_only_parts(one)]
            if fewer:
                _, place, one = min(fewer, key=lambda item: item[:2])
                yield Merge(one.finding, each.finding, f"explained: both fail with {', '.join(sorted(found[place][1]))}")


def by_a_node(findings: Mapping[str, Sequence[StoredResult]], tests_of: Callable[[str], Collection[str]]) -> Iterator[Merge]:
    """Joins graphs that give wrong results with the finding of a node that gives one alone, if most of these graphs have such a node.

    This is no rule: it compares no triggers, but tests that were recorded together.

    Args:
        findings: Failing tests by finding.
        tests_of: The names of the library's tests that called an instance, by its hash.
    """
    wrong = {each: tests for each, tests in findings.items() if all(test.verdict is Verdict.INCONSISTENT for test in tests)}
    nodes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for finding, tests in wrong.items():
        for test in tests:
            for name in tests_of(test.instance):
                if name.endswith(_NODES):
                    nodes[test.symptom.subject, name.removesuffix(_NODES)].add(finding)
    for finding, tests in wrong.items():
        inside = [{node for name in tests_of(test.instance) for node in nodes[test.symptom.subject, name]} for test in tests]
        known = [each for each in inside if each]
        common = set[str].intersection(*known) if 2 * len(known) > len(tests) else set[str]()
        if len(common) == 1:
            yield Merge(common.pop(), finding, "by a node: most of these graphs have a node that gives a wrong result alone")


def _needs_only_parts(candidate: Candidate) -> bool:
    return candidate.trigger is not None and len(candidate.trigger.settings()) == 1


def candidates_of(findings: Mapping[str, Sequence[StoredResult]], causes: Causes) -> list[Candidate]:
    """What merging reads of *findings*, failing tests by finding, in the order in which they were reduced."""

    @cache
    def project_of(compiler: str) -> Sequence[str]:
        adapter = known_adapter(compiler)
        return () if adapter is None else adapter.project

    order = {each.finding: place for place, each in enumerate(causes.reductions)}
    found: list[Candidate] = []
    for finding in sorted(findings, key=lambda each: (order.get(each, len(order)), each)):
        first = min(findings[finding], key=lambda each: each.test)
        found.append(Candidate(finding, str(first.fingerprint), first, causes.of(finding), project_of(first.compiler)))
    return found
