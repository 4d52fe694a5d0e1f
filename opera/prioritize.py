"""`python -m opera.prioritize`: orders a library's instances for a compiler, those likely to reveal different bugs first."""

from __future__ import annotations

import time
from pathlib import Path

import click

from opera.compilers.adapter import Route
from opera.compilers.registry import choose_route, plugin
from opera.console import echo, print_json, print_table
from opera.errors import Exit, NothingSelected
from opera.options import Count, common, stage
from opera.prioritise import Candidate, Context, StrategyName, equipped_counts, get_strategy
from opera.prioritise.explain import Explanation, explain
from opera.prioritise.feature_coverage import OperaStrategy, Ranker
from opera.prioritise.kept_features import keep, load
from opera.report.text import plural
from opera.store import Campaigns, Corpus, Workspace
from opera.store.corpus import Ranking
from opera.store.database import open_workspace

SCHEMA = "prioritize/1"
EXPLAIN_SCHEMA = "explain/1"
_PAIRS_SHOWN = 12
DEFAULT_STRATEGY = StrategyName.OPERA.value


@click.command("prioritize")
@click.option("--compiler", required=True, help="Compiler to test, e.g. tvm; `opera doctor` lists them.")
@click.option("--frontend", required=True, help="Model format it loads, e.g. onnx, pytorch, keras.")
@click.option(
    "--strategy", default=DEFAULT_STRATEGY, show_default=True, help="How to order: " + ", ".join(s.value for s in StrategyName) + "."
)
@click.option("--show", type=Count(0), default=10, show_default=True, help="How many of the first to print.")
@click.option("--history", is_flag=True, help="What failed in earlier campaigns of this workspace, on whatever compiler, counts double.")
@click.option("--explain", "explained", metavar="ID", help="Say why the instance of this id stands where it stands; nothing is kept.")
@common
def command(
    compiler: str, frontend: str, strategy: str, show: int, history: bool, explained: str | None, workspace: Path, seed: int, as_json: bool
) -> int:
    """Orders the extracted instances, those likely to reveal different bugs first."""
    route = choose_route(plugin(compiler).load(), frontend, None)
    get_strategy(strategy)
    with open_workspace(workspace, write=explained is None) as space:
        corpus = Corpus(space)
        known = failed(space) if history else frozenset[str]()
        if explained is not None:
            context = Context(equipped_counts(compiler, route.frontend), seed, known)
            _explain(explain(strategy, _candidates(corpus, route), context, explained), corpus, as_json)
            return Exit.CLEAN
        ranking = rank(corpus, compiler, route, strategy, seed, known)
        order = corpus.ranked(ranking.id)
        first = [(key, corpus.get(key)) for key in order[:show]]
    document = {
        "schema": SCHEMA, "ranked": len(order), "seconds": round(ranking.seconds, 3), "strategy": strategy, "seed": seed,
        "compiler": compiler, "frontend": frontend,
        "first": [{"instance": key[:12], "api": instance.api} for key, instance in first],
    }  # fmt: skip
    if as_json:
        print_json(document)
    else:
        print_table(
            ["rank", "instance", "operator"], [[str(place), key[:12], instance.api] for place, (key, instance) in enumerate(first, 1)]
        )
        echo(f"{len(order):,} instances ranked by {strategy} (seed {seed}) in {ranking.seconds:.2f} s")
    return Exit.CLEAN


def _explain(found: Explanation, corpus: Corpus, as_json: bool) -> None:
    why = found.reasons
    api = corpus.get(found.id).api
    if as_json:
        print_json(
            {
                "schema": EXPLAIN_SCHEMA, "instance": found.id, "api": api, "place": found.place, "score": found.score,
                "aspects": why.aspects, "gain": why.gain, "turns": why.turns, "family": list(why.family), "history": why.history,
                "new": [list(feature) for feature in why.news], "new_pairs": [[list(a), list(b)] for a, b in why.pairs],
            }
        )  # fmt: skip
        return
    echo(f"{api} {found.id[:12]}: place {found.place:,}, score {found.score:.4g}")
    alike = f"{plural(len(why.family), 'operator')}: {', '.join(why.family[:6])}{' ...' if len(why.family) > 6 else ''}"
    echo(f"score = {why.aspects} aspects x gain {why.gain:.4g} / (1 + {why.turns} tests that its family had before; {alike})")
    if why.history:
        echo("it failed in an earlier campaign: its gain counts double")
    if not why.gain:
        echo("it adds no feature and no pair to what tests of its operator covered before")
    for key, value in why.news:
        echo(f"  new: {key} = {value}" if key else "  new: the operator itself")
    for one, other in why.pairs[:_PAIRS_SHOWN]:
        echo(f"  new together: {one[0]} = {one[1]} with {other[0]} = {other[1]}")
    if len(why.pairs) > _PAIRS_SHOWN:
        echo(f"  ... {len(why.pairs) - _PAIRS_SHOWN:,} more new pairs; --json lists them")


def failed(space: Workspace) -> frozenset[str]:
    """The instances that failed in a campaign of the workspace."""
    return frozenset(result.instance for result in Campaigns(space).results(failures=True))


def _candidates(corpus: Corpus, route: Route) -> list[Candidate]:
    found = [Candidate(key, corpus.get(key)) for key in corpus.runnable(route.library)]
    if not found:
        raise _nothing(route.library)
    return found


def _nothing(library: str) -> NothingSelected:
    return NothingSelected(f"the workspace has no {library} instances; run `opera extract --lib {library}` first")


def _rank_read(corpus: Corpus, library: str, context: Context) -> list[tuple[str, float]]:
    """Ids and scores as the default strategy ranks them. Instances that an earlier ranking has read are not read again."""
    runnable = corpus.runnable(library)
    if not runnable:
        raise _nothing(library)
    by_api: dict[str, set[str]] = {}
    for key, api in runnable.items():
        by_api.setdefault(api, set()).add(key)
    file = corpus.features_file(library)
    known = {key: read for key, read in load(file).items() if by_api.get(key[1], set()).issuperset(read.ids)}
    unread = runnable.keys() - {name for read in known.values() for name in read.ids}
    ranker = Ranker([Candidate(key, corpus.get(key)) for key in sorted(unread)], known)
    order = [(each.id, each.score) for each in ranker.rank(context)]
    if unread:
        keep(file, ranker.known)
    return order


def rank(corpus: Corpus, compiler: str, route: Route, strategy: str, seed: int, history: frozenset[str] = frozenset()) -> Ranking:
    """Ranks all instances of *route*'s library that did not raise in their own test, and keeps the ranking.

    Raises:
        UserError: unknown strategy, or one that needs what is not known here.
        NothingSelected: the workspace has none.
    """
    chosen = get_strategy(strategy)
    started = time.perf_counter()
    context = Context(equipped_counts(compiler, route.frontend), seed, history)
    if isinstance(chosen, OperaStrategy):
        order = _rank_read(corpus, route.library, context)
    else:
        order = [(each.id, each.score) for each in chosen.rank(_candidates(corpus, route), context)]
    seconds = time.perf_counter() - started
    number = corpus.add_ranking(route.frontend, compiler, strategy, seed, seconds, order)
    return Ranking(number, route.frontend, compiler, strategy, seed, seconds)


main = stage(command, "opera.prioritize")

if __name__ == "__main__":
    main()
