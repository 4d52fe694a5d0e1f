"""The words for what a failure looks like: `wrong shape`, `crash`."""

from __future__ import annotations

from opera.console import one_line
from opera.oracles.verdict import Detail, Verdict

SEVERITY = {
    Verdict.INCONSISTENT: ("silent wrong result", "silent wrong results"),
    Verdict.ABORT: ("abort", "aborts"),
    Verdict.HANG: ("hang", "hangs"),
    Verdict.OOM: ("out of memory", "out of memory"),
    Verdict.CRASH: ("crash", "crashes"),
}
"""The verdicts of findings, the worst first, with the words for one and for several: nothing warns a user of a wrong result."""
_WRONG = {
    "values": "wrong result",
    "nan": "wrong NaN",
    "inf": "wrong infinity",
    "count": "wrong number of outputs",
    "structure": "wrong structure of outputs",
    "accepted": "accepted",
}


def symptom_of(verdict: Verdict, detail: Detail) -> str:
    """`wrong shape`, `crash`."""
    if verdict is not Verdict.INCONSISTENT:
        return SEVERITY.get(verdict, (verdict.value,))[0]
    kind = str(detail.get("difference", {}).get("kind"))
    return _WRONG.get(kind, f"wrong {one_line(kind, 40)}")
