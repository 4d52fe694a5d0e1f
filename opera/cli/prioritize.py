"""`python -m opera.prioritize`: orders a library's instances for a compiler, those likely to reveal different bugs first."""

from __future__ import annotations

from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import COMPILER, FRONTEND, STRATEGY
from opera.cli.options import Count, common, history_option
from opera.compilers.registry import choose_route, plugin
from opera.console import echo, plural, print_json, print_table
from opera.errors import Exit
from opera.prioritize import Context, History, equipped_counts, get_strategy, strategy_names
from opera.prioritize.earlier import gathered
from opera.prioritize.ranking import DEFAULT_STRATEGY, Explanation, candidates, explain, rank
from opera.store import Corpus
from opera.store.database import open_workspace

SCHEMA = "prioritize/1"
EXPLAIN_SCHEMA = "explain/1"
_PAIRS_SHOWN = 12


@click.command("prioritize", cls=HeadedCommand)
@click.option("--compiler", type=COMPILER, metavar="NAME", required=True, help="Compiler to test, e.g. tvm; `opera doctor` lists them.")
@click.option("--frontend", type=FRONTEND, metavar="NAME", required=True, help="Model format to load, e.g. onnx, pytorch, keras.")
@click.option(
    "--strategy",
    type=STRATEGY,
    metavar="NAME",
    default=DEFAULT_STRATEGY,
    show_default=True,
    help="How to order: " + ", ".join(strategy_names()) + ".",
)
@click.option("--show", type=Count(0), metavar="N", default=10, show_default=True, help="Print the first N instances.")
@history_option()
@click.option("--explain", "explained", metavar="ID", help="Explain the rank of this instance, and store no ranking.")
@common
def command(
    compiler: str,
    frontend: str,
    strategy: str,
    show: int,
    history: tuple[str, ...],
    explained: str | None,
    workspace: Path,
    seed: int,
    as_json: bool,
) -> int:
    """Order the extracted instances, those likely to reveal different bugs first.

    Instances that raised in their own test get no rank.
    """
    route = choose_route(plugin(compiler).load(), frontend, None)
    get_strategy(strategy)
    with open_workspace(workspace, write=explained is None, make=False) as space:
        corpus = Corpus(space)
        known = gathered(history, space, compiler, route)
        if explained is not None:
            context = Context(equipped_counts(compiler, route.frontend), seed, known or History())
            _explain(explain(strategy, candidates(corpus, route), context, explained), corpus, as_json)
            return Exit.CLEAN
        ranking = rank(corpus, compiler, route, strategy, seed, known)
        order = corpus.ranked(ranking.id)
        first = list(corpus.readable(order[:show]))
    document = {
        "schema": SCHEMA,
        "ranked": len(order),
        "seconds": round(ranking.seconds, 3),
        "strategy": strategy,
        "seed": seed,
        "compiler": compiler,
        "frontend": frontend,
        "first": [{"instance": key[:12], "api": instance.api} for key, instance in first],
    }
    if as_json:
        print_json(document)
    else:
        print_table(
            ["rank", "instance", "operator"], [[str(index), key[:12], instance.api] for index, (key, instance) in enumerate(first, 1)]
        )
        echo(f"{len(order):,} instances ranked by {strategy} (seed {seed}) in {ranking.seconds:.2f} s")
    return Exit.CLEAN


def _explain(found: Explanation, corpus: Corpus, as_json: bool) -> None:
    why = found.reasons
    api = corpus.get(found.id).api
    if as_json:
        print_json(
            {
                "schema": EXPLAIN_SCHEMA,
                "instance": found.id,
                "api": api,
                "place": found.place,
                "score": found.score,
                "aspects": why.aspects,
                "size": why.size,
                "recency": why.recency,
                "gain": why.gain,
                "turns": why.turns,
                "family": list(why.family),
                "history": why.history,
                "promise": why.promise,
                "new": [list(feature) for feature in why.news],
                "new_pairs": [[list(a), list(b)] for a, b in why.pairs],
            }
        )
        return
    echo(f"{api} {found.id[:12]}: place {found.place:,}, score {found.score:.4g}")
    alike = f"{plural(len(why.family), 'operator')}: {', '.join(why.family[:6])}{' ...' if len(why.family) > 6 else ''}"
    weight = f"sqrt({plural(why.aspects, 'aspect')} x {plural(why.size, 'declared part')})"
    promise = f"promise {why.promise:.4g} x " if why.promise > 1 else ""
    echo(f"score = {weight} x {promise}gain {why.gain:.4g} / (1 + {why.turns} tests that its family had before; {alike})")
    if why.recency > 1:
        echo(f"the version of its newest part multiplies its gain by {why.recency:.2f}")
    if why.history:
        echo(f"it failed on {plural(why.history, 'subject')} before: its gain counts double")
    if not why.gain:
        echo("it adds no feature and no pair that earlier tests of its operator did not cover")
    for key, value in why.news:
        echo(f"  new: {key} = {value}" if key else "  new: the operator itself")
    for one, other in why.pairs[:_PAIRS_SHOWN]:
        echo(f"  new together: {one[0]} = {one[1]} with {other[0]} = {other[1]}")
    if len(why.pairs) > _PAIRS_SHOWN:
        echo(f"  ... {len(why.pairs) - _PAIRS_SHOWN:,} more new pairs; --json lists them")
