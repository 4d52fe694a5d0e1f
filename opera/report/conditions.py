"""The words for the condition under which a finding fails, and for what shows that it is the condition."""

from __future__ import annotations

from opera.console import one_line, plural
from opera.report.text import code
from opera.triage.findings import Finding
from opera.triage.reduction.trigger import ALWAYS, trigger_of

_WIDTH = 90
"""Characters of conditions in a title."""


def when(finding: Finding) -> str:
    """` when ceil_mode>0 and rank(x)=2`; empty if unknown. What any wrong result needs is left out, unless there is nothing else."""
    condition = finding.condition
    if condition is None:
        return ""
    texts = [one_line(each.text()) for each in condition.core() or condition.properties]
    if not texts:
        return f" on {ALWAYS}"
    shown = texts[:1]
    for text in texts[1:]:
        if len(", ".join([*shown, text])) > _WIDTH:
            break
        shown.append(text)
    if len(shown) < len(texts):
        return f" when {', '.join(shown)}, …"
    return f" when {' and '.join(filter(None, (', '.join(shown[:-1]), shown[-1])))}"


def proof_lines(finding: Finding) -> tuple[str, ...]:
    """What shows the condition, and what is not shown; nothing where triage did not ask for it."""
    reduction = finding.reduction
    if reduction is None or reduction.trigger is None or "against" not in reduction.detail:
        return ()
    facts = reduction.detail
    passes, fails = facts.get("passes", {}), facts.get("fails", ())
    against, untried = facts.get("against", 0), facts.get("untried", 0)
    needed = [each.text() for each in trigger_of(reduction.trigger).properties]
    found = [f"without {one_line(name)} it passes: {one_line(call, 400)}" for name, call in passes.items()]
    found += [f"no call shows that it needs {one_line(name)}" for name in needed if name not in passes]
    with_it = f" with {'it' if needed else 'any call'}"
    if fails:
        found.append(f"{', '.join(each[:12] for each in fails)} {'fails' if len(fails) == 1 else 'fail'}{with_it}, too")
    else:
        found.append(f"no other recorded test fails{with_it}")
    if against:
        verb = "passes" if against == 1 else "pass"
        found.append(f"{plural(against, 'recorded test')} {verb}{with_it}, so a part of the condition is unknown")
    if untried:
        found.append(f"the budget ended before {plural(untried, 'part')} of the call changed")
    return tuple(found)


def sentences(finding: Finding) -> tuple[str, ...]:
    """The condition and the calls that pass without a part of it, as Markdown for the text of an issue."""
    reduction, condition = finding.reduction, finding.condition
    if reduction is None or condition is None:
        return ()
    passes = reduction.detail.get("passes", {})
    found = [f"It fails with {code(condition.text())}."]
    return (*found, *(f"Without {code(name)} it passes: {code(one_line(call, 400))}" for name, call in passes.items()))
