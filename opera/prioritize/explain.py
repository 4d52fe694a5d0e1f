"""Why a test stands where it stands in a ranking of the default strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opera.errors import UserError
from opera.prioritize.feature_coverage import OperaSession, Ranker, Reasons
from opera.prioritize.strategy import Candidate, Context, Observation, StrategyName


@dataclass(frozen=True)
class Explanation:
    """The place of one instance, from 1, its score, and why."""

    id: str
    place: int
    score: float
    reasons: Reasons


def explain(strategy: str, candidates: Sequence[Candidate], context: Context, prefix: str) -> Explanation:
    """The explanation for the only candidate whose id begins with *prefix*.

    Raises:
        UserError: there is none, or several; or another strategy than the default ranks.
    """
    if strategy != StrategyName.OPERA.value:
        raise UserError(f"only rankings of {StrategyName.OPERA.value} can be explained, not those of {strategy}")
    found = sorted({each.id for each in candidates if each.id.startswith(prefix)})
    if len(found) != 1:
        raise UserError(f"{len(found) or 'no'} ranked instances begin with {prefix!r}; give more digits, or see `opera ls`")
    session = OperaSession(Ranker(candidates), context)
    place = 0
    while (ranked := session.next()) is not None:
        place += 1
        if ranked.id == found[0]:
            return Explanation(ranked.id, place, ranked.score, session.reasons())
        session.observe(ranked.id, Observation.NOTHING)
    raise AssertionError("a candidate got no place")
