"""`opera fuzz assess`: what the models of campaigns reach in a language and in a compiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import CAMPAIGN
from opera.cli.options import Count, common
from opera.config import load_config
from opera.console import doing, one_line, plural, print_json, print_table, say
from opera.errors import Exit, NothingSelected
from opera.extensions.programs.reach import MEASURES, Reached, reach
from opera.store import Campaigns
from opera.store.database import open_workspace
from opera.store.queries import campaigns_in, place_of
from opera.untrusted import JsonObject

SCHEMA = "fuzz-assess/1"
_COUNTED = frozenset({"statements"})
"""Measures of which JSON has the number alone: names are many, and say little."""


@click.command("assess", cls=HeadedCommand)
@click.argument("campaigns", nargs=-1, type=CAMPAIGN, metavar="[CAMPAIGN]...")
@click.option("--limit", type=Count(), metavar="N", help="Visit at most N models of each campaign, drawn at random; by default all.")
@common
def command(campaigns: tuple[str, ...], limit: int | None, workspace: Path, seed: int, as_json: bool) -> int:
    """Print what the models of campaigns reach in compilers.

    That is operators, pairs of them, attributes, converters, passes and statements. Each model is compiled once more. CAMPAIGN is an id,
    the folder of another workspace, or WORKSPACE:ID; by default OPERA takes all campaigns of the workspace. A cell is the number of
    distinct things, and how many of them no other of these campaigns of the same compiler reaches. Passes are those that change a model,
    if the compiler tells; statements are those of its Python side.
    """
    sample = None if limit is None else (limit, seed)
    found: list[_Assessed] = []
    for text in campaigns or [str(workspace)]:
        folder, scope = place_of(text)
        with open_workspace(folder or workspace, write=False, foreign=folder is not None) as space:
            for each in campaigns_in(Campaigns(space), scope):
                name = f"{each.id} ({each.compiler}/{each.frontend})"
                reached = reach(space, load_config(), each, sample, lambda done, name=name: doing(f"{name}: {done:,} models"))
                found.append(_Assessed(each.id, f"{each.compiler}/{each.frontend}", each.compiler, reached))
                if reached.silent:
                    why = one_line(reached.silent[0], 200)
                    say(f"{plural(len(reached.silent), 'model')} of {each.id} gave no answer; the first: {why}")
    if not found:
        raise NothingSelected("the workspace has no campaign; run `opera fuzz run` first")
    if as_json:
        print_json({"schema": SCHEMA, "campaigns": [_document(each, found) for each in found]})
        return Exit.CLEAN
    headings = ["", *(each.id for each in found)]
    rows = [[measure, *(_cell(each.reached.names[measure], each.alone(measure, found)) for each in found)] for measure in MEASURES]
    head = [["subject", *(each.subject for each in found)], ["models", *(f"{each.reached.visited:,}" for each in found)]]
    print_table(headings, [*head, *rows])
    return Exit.CLEAN


@dataclass(frozen=True)
class _Assessed:
    """A campaign, and what its models reach."""

    id: str
    subject: str
    compiler: str
    reached: Reached

    def alone(self, measure: str, all_of_them: Sequence[_Assessed]) -> int | None:
        """How many things no other campaign of the same compiler reaches; None if there is no other."""
        others = [each.reached.names[measure] for each in all_of_them if each is not self and each.compiler == self.compiler]
        return len(self.reached.names[measure].difference(*others)) if others else None


def _cell(names: set[str], alone: int | None) -> str:
    if not names:
        return "-"
    return f"{len(names):,}" if alone is None else f"{len(names):,} ({alone:,} alone)"


def _document(each: _Assessed, found: Sequence[_Assessed]) -> JsonObject:
    measures: JsonObject = {}
    for measure, names in each.reached.names.items():
        listed: JsonObject = {} if measure in _COUNTED else {"names": sorted(names)}
        measures[measure] = {"count": len(names), "alone": each.alone(measure, found), **listed}
    return {
        "campaign": each.id,
        "subject": each.subject,
        "models": each.reached.visited,
        "silent": len(each.reached.silent),
        "reached": measures,
    }
