"""Decides which confirmed failures are reviewed before they count."""

from __future__ import annotations

from opera.difftest.judge import Judgement
from opera.difftest.test import Test
from opera.models.forms import InputForm
from opera.oracles.filters import may_fail
from opera.oracles.verdict import Stage, Verdict

_ALWAYS = {
    Verdict.INCONSISTENT: (Stage.COMPARE,),
    Verdict.CRASH: (Stage.RUN,),
    Verdict.ABORT: (Stage.OPTIMIZE, Stage.CODEGEN, Stage.RUN),
}
_COMPILING = (Stage.LOAD, Stage.OPTIMIZE, Stage.CODEGEN)
_MAY_RAISE = (Verdict.CRASH, Verdict.ABORT)


def needs_review(judgement: Judgement, test: Test) -> bool:
    """Whether the values that *test* was given may be the reason of its failure.

    What fails while it is compiled fails whatever they are, unless they are constants of the model, and such that no specification allows
    them: a compiler that computes with them is free to refuse.
    """
    if judgement.stage in _ALWAYS.get(judgement.verdict, ()):
        return True
    if judgement.verdict not in _MAY_RAISE or judgement.stage not in _COMPILING or test.form is not InputForm.BAKED:
        return False
    return may_fail(test.api.rsplit(".", 1)[-1])
