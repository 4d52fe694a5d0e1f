"""Calls of operators that are known to fail on a compiler, whatever else a program is made of."""

from __future__ import annotations

from collections.abc import Collection

from opera.extensions.programs.instances import program_of
from opera.extensions.programs.program import calls
from opera.store import Campaigns, Workspace
from opera.store.reductions import Reductions, StoredReduction
from opera.triage.reduction.properties import parts_of
from opera.triage.reduction.trigger import sound, trigger_of


def known_calls(workspace: Workspace, compilers: Collection[str], language: str) -> tuple[str, ...]:
    """The calls that alone explain a failure of one of *compilers* on programs of *language*, e.g. `equal(bool, bool)`, sorted.

    A failure that needs something else as well, such as a value, a second operator, or the same one twice, names none.
    """
    results = Campaigns(workspace).results(failures=True)
    failing = {each.test for each in results if each.compiler in compilers and each.frontend == language}
    found: set[str] = set()
    for each in sound(Reductions(workspace).all()):
        trigger = None if each.trigger is None or each.test not in failing else trigger_of(each.trigger)
        if trigger is not None and len(trigger.core()) == 1 and _is_one_call(each):
            parts = parts_of(trigger.properties)
            found |= parts if len(parts) == 1 else frozenset()
    return tuple(sorted(each for each in found if each.endswith(")")))


def _is_one_call(reduction: StoredReduction) -> bool:
    """Whether the reduced program calls one operator, once."""
    return reduction.document is not None and sum(1 for _ in calls(program_of(reduction.instance()))) == 1
