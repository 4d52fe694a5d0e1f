"""`python -m opera.prioritize`: orders a library's instances for a compiler, those likely to reveal different bugs first."""

from __future__ import annotations

import time
from pathlib import Path

import click

from opera.compilers.adapter import Route
from opera.compilers.registry import choose_route, plugin
from opera.errors import Exit, NothingSelected
from opera.instance import Instance, Outcome
from opera.options import common, print_json, stage
from opera.prioritise import Candidate, Context, StrategyName, equipped_counts, get_strategy
from opera.report.tables import print_table
from opera.store import Corpus
from opera.store.corpus import Ranking
from opera.store.database import open_workspace

SCHEMA = "prioritize/1"
DEFAULT_STRATEGY = StrategyName.OPERA.value


@click.command("prioritize")
@click.option("--compiler", required=True, help="Compiler to test, e.g. tvm; `opera doctor` lists them.")
@click.option("--frontend", required=True, help="Model format it loads, e.g. onnx, pytorch, keras.")
@click.option(
    "--strategy", default=DEFAULT_STRATEGY, show_default=True, help="How to order: " + ", ".join(s.value for s in StrategyName) + "."
)
@click.option("--show", type=int, default=10, show_default=True, help="How many of the first to print.")
@common
def command(compiler: str, frontend: str, strategy: str, show: int, workspace: Path, seed: int, as_json: bool) -> int:
    """Orders the extracted instances, those likely to reveal different bugs first."""
    route = choose_route(plugin(compiler).load(), frontend, None)
    get_strategy(strategy)
    with open_workspace(workspace, write=True) as space:
        corpus = Corpus(space)
        ranking = rank(corpus, compiler, route, strategy, seed)
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
        click.echo(f"{len(order):,} instances ranked by {strategy} (seed {seed}) in {ranking.seconds:.2f} s")
    return Exit.CLEAN


def rank(corpus: Corpus, compiler: str, route: Route, strategy: str, seed: int) -> Ranking:
    """Ranks all instances of *route*'s library that did not raise in their own test, and keeps the ranking.

    Raises:
        UserError: unknown strategy.
        NothingSelected: the workspace has none.
    """
    chosen = get_strategy(strategy)
    instances = [(key, instance) for key, instance in corpus.instances(route.library) if runnable(instance)]
    if not instances:
        raise NothingSelected(f"the workspace has no {route.library} instances; run `opera extract --lib {route.library}` first")
    started = time.perf_counter()
    context = Context(equipped_counts(compiler, route.frontend), seed)
    order = [(each.id, each.score) for each in chosen.rank([Candidate(key, instance) for key, instance in instances], context)]
    seconds = time.perf_counter() - started
    number = corpus.add_ranking(route.frontend, compiler, strategy, seed, seconds, order)
    return Ranking(number, route.frontend, compiler, strategy, seed, seconds)


def runnable(instance: Instance) -> bool:
    """Whether a test of *instance* makes sense: a call that the library rejected in its own test gives no reference."""
    return instance.outcome is not Outcome.RAISED


main = stage(command, "opera.prioritize")

if __name__ == "__main__":
    main()
