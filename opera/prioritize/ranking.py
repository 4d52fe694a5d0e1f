"""Ranks the instances of a workspace, stores the ranking there, and explains a rank."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from opera.compilers.adapter import Route
from opera.console import plural
from opera.errors import NothingSelected, UserError
from opera.prioritize import equipped_counts, get_strategy
from opera.prioritize.feature_coverage import OperaSession, Ranker, Reasons
from opera.prioritize.history import History, record
from opera.prioritize.strategy import Candidate, Context, Observation
from opera.store import Campaigns, Corpus, Workspace
from opera.store.corpus import Ranking

DEFAULT_STRATEGY = "opera"
"""Strategy of a ranking that is made before its campaign."""
CAMPAIGN_STRATEGY = "opera-adaptive"
"""Strategy of a campaign whose subject has no ranking yet."""


def workspace_history(space: Workspace, compiler: str, route: Route) -> History:
    """What the workspace's campaigns with the library of *route* showed, one record for each subject.

    Of the subject itself, only complete campaigns count: the campaign that is about to run, or to continue, is not its own history.
    """
    campaigns, operators = Campaigns(space), Corpus(space).runnable(route.library)
    subjects: dict[tuple[str, str], list[str]] = {}
    for each in campaigns.all():
        subject = each.compiler, each.frontend
        if each.library == route.library and (each.complete or subject != (compiler, route.frontend)):
            subjects.setdefault(subject, []).append(each.id)
    records = (
        record(
            (step.instance, (route.library, operators[step.instance]), () if step.fingerprint is None else (step.fingerprint,))
            for key in keys
            for step in campaigns.course(key)
            if step.instance in operators
        )
        for keys in subjects.values()
    )
    return History(tuple(records))


def candidates(corpus: Corpus, route: Route) -> list[Candidate]:
    """Lists the instances that can be ranked for *route*; raises NothingSelected if the workspace has none."""
    found = [Candidate(key, instance) for key, instance in corpus.readable(corpus.runnable(route.library))]
    if not found:
        raise _nothing(corpus, route.library)
    return found


def _nothing(corpus: Corpus, library: str) -> NothingSelected:
    """Says why there is nothing to rank: no instance at all, or none that the library accepts."""
    recorded, _ = corpus.counts(library)
    if corpus.refused:
        return NothingSelected(f"the workspace has no call that {library} refuses; record some, e.g. `opera extract --lib {library}`")
    if not recorded:
        return NothingSelected(f"the workspace has no {library} instances; first run `opera extract --lib {library}`")
    what = f"{plural(recorded, 'instance')} of {library}, and the library refused each of them in its own test"
    return NothingSelected(f"the workspace has {what}; record calls that it accepts, e.g. `opera extract --lib {library}`")


def rank(corpus: Corpus, compiler: str, route: Route, strategy: str, seed: int, history: History | None = None) -> Ranking:
    """Ranks all instances of *route*'s library that did not raise in their own test, and keeps the ranking.

    Raises:
        UserError: unknown strategy, or one that needs what is not known here.
        NothingSelected: the workspace has none.
    """
    chosen = get_strategy(strategy)
    started = time.perf_counter()
    context = Context(equipped_counts(compiler, route.frontend), seed, history or History())
    order = [(each.id, each.score) for each in chosen.rank(candidates(corpus, route), context)]
    seconds = time.perf_counter() - started
    number = corpus.add_ranking(route.frontend, compiler, strategy, seed, seconds, order)
    return Ranking(number, route.frontend, compiler, strategy, seed, seconds)


def campaign_strategy(corpus: Corpus, compiler: str, route: Route, seed: int) -> str:
    """The strategy of a campaign for which none is named: that of the subject's newest ranking, else the default of campaigns."""
    found = corpus.newest_ranking(route.frontend, compiler, seed)
    return CAMPAIGN_STRATEGY if found is None else found.strategy


def current_order(corpus: Corpus, compiler: str, route: Route, strategy: str, seed: int, history: History | None = None) -> list[str]:
    """The instances as *strategy* ranks them: by its newest ranking, or by a new one if the corpus has changed, or with *history*.

    Args:
        corpus: Corpus of a workspace that is open for writing.
        compiler: The compiler to test.
        route: Its route.
        strategy: The name of a strategy.
        seed: Seed of the ranking.
        history: What earlier campaigns showed; None where that does not count.

    Raises:
        NothingSelected: the workspace has none.
    """
    found = corpus.newest_ranking(route.frontend, compiler, seed, strategy)
    if found is None or history is not None or not corpus.is_current(found.id, route.library):
        found = rank(corpus, compiler, route, strategy, seed, history)
    return corpus.ranked(found.id)


def unordered(corpus: Corpus, route: Route) -> list[str]:
    """The instances for *route*, for a strategy that orders them while the campaign runs; raises NothingSelected if there are none."""
    found = list(corpus.runnable(route.library))
    if not found:
        raise _nothing(corpus, route.library)
    return found


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
        UserError: no candidate, or several candidates, begin with it; or the strategy is not the default.
    """
    if strategy != "opera":
        raise UserError(f"rankings of {strategy} cannot be explained; use --strategy opera")
    found = sorted({each.id for each in candidates if each.id.startswith(prefix)})
    if len(found) != 1:
        raise UserError(f"{len(found) or 'no'} ranked instances begin with {prefix!r}; give the digits of exactly one")
    session = OperaSession(Ranker(candidates), context)
    place = 0
    while (ranked := session.next()) is not None:
        place += 1
        if ranked.id == found[0]:
            return Explanation(ranked.id, place, ranked.score, session.reasons())
        session.observe(ranked.id, Observation.NOTHING)
    raise AssertionError("a candidate got no place")
