"""Which failures are looked at a second time beside the library, because they may be nobody's fault."""

from __future__ import annotations

from opera.campaign.judge import Judgement
from opera.oracles.filters import may_fail
from opera.oracles.verdict import Stage, Verdict

_ALWAYS = {
    Verdict.INCONSISTENT: (Stage.COMPARE,),
    Verdict.CRASH: (Stage.RUN,),
    Verdict.ABORT: (Stage.OPTIMIZE, Stage.CODEGEN, Stage.RUN),
}
_COMPILING = (Stage.LOAD, Stage.OPTIMIZE, Stage.CODEGEN)
_MAY_RAISE = (Verdict.CRASH, Verdict.ABORT)


def is_worth_a_look(judgement: Judgement, api: str) -> bool:
    """Whether the values that a test of *api* was given may be the reason of its failure.

    What fails while it is compiled fails whatever they are, but for operators of which a constant operand may be one that no specification
    allows: a compiler that computes with it is free to refuse it.
    """
    if judgement.stage in _ALWAYS.get(judgement.verdict, ()):
        return True
    return judgement.verdict in _MAY_RAISE and judgement.stage in _COMPILING and may_fail(api.rsplit(".", 1)[-1])
