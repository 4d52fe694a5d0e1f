"""`opera matrix`: a table of operators and subjects, with the worst verdict of each pair."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import COMPILER, LIBRARY
from opera.cli.options import common
from opera.console import check_outputs, echo, one_line, print_json, print_table, write
from opera.corpus.selection import selector
from opera.errors import Exit, NothingSelected
from opera.report.matrix import Cell, Matrix, Support, matrix
from opera.store.database import open_workspace
from opera.untrusted import JsonObject

SCHEMA = "matrix/1"


@click.command("matrix", cls=HeadedCommand)
@click.option("--lib", "library", type=LIBRARY, metavar="NAME", help="Select only operators of this library.")
@click.option("--compiler", type=COMPILER, metavar="NAME", help="Select only results of this compiler.")
@click.option("-k", "keyword", metavar="EXPR", help="Select only APIs whose name matches, e.g. -k 'conv and not transpose'.")
@click.option("--failing", is_flag=True, help="Select only operators with a crash or a wrong result on some subject.")
@click.option(
    "--csv",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the table as CSV to this file; - is standard output.",
)
@common
def command(
    library: str | None,
    compiler: str | None,
    keyword: str | None,
    failing: bool,
    target: Path | None,
    workspace: Path,
    seed: int,
    as_json: bool,
) -> int:
    """Print a table of operators and subjects: the worst verdict and the share of instances that pass.

    If an instance was tested with several versions, the newest result counts. In CSV, a cell that a spreadsheet would read as a formula
    begins with an apostrophe.
    """
    check_outputs(as_json, target)
    with open_workspace(workspace, write=False) as space:
        table = matrix(space, selector(keyword), compiler, library)
    if failing:
        bad = {api for (api, _), cell in table.cells.items() if cell.support in (Support.CRASH, Support.INCONSISTENT)}
        table = Matrix(table.columns, tuple(api for api in table.operators if api in bad), table.cells)
    if not table.operators:
        raise NothingSelected("no operator with a result is selected; run a campaign first, or widen -k")
    if target is not None:
        write(target, _csv(table))
    if as_json:
        print_json(_document(table))
    elif target is None:
        _print(table)
    return Exit.CLEAN


def _document(table: Matrix) -> JsonObject:
    return {
        "schema": SCHEMA,
        "subjects": [
            {
                "compiler": column.compiler,
                "frontend": column.frontend,
                "route": column.route,
                "operators": {kind.value: count for kind, count in table.totals(column).items()},
            }
            for column in table.columns
        ],
        "cells": [
            {
                "operator": api,
                "compiler": column.compiler,
                "frontend": column.frontend,
                "route": column.route,
                "support": cell.support.value,
                "instances": cell.instances,
                "counts": {kind.value: cell.counts[kind] for kind in Support if cell.counts.get(kind)},
            }
            for api in table.operators
            for column in table.columns
            if (cell := table.cells.get((api, column))) is not None
        ],
    }


def _csv(table: Matrix) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["operator", *(_inert(column.name) for column in table.columns)])
    for api in table.operators:
        cells = [table.cells.get((api, column)) for column in table.columns]
        writer.writerow([_inert(api), *("" if cell is None else cell.support.value for cell in cells)])
    return text.getvalue()


def _inert(text: str) -> str:
    """The cell as text that a spreadsheet does not read as a formula."""
    line = one_line(text, 400)
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line


def _print(table: Matrix) -> None:
    rows = [[api, *(_cell(table.cells.get((api, column))) for column in table.columns)] for api in table.operators]
    print_table(["operator", *(column.name for column in table.columns)], rows)
    echo()
    kinds = list(Support)
    totals = [[column.name, *(str(table.totals(column).get(kind, 0)) for kind in kinds)] for column in table.columns]
    print_table(["operators of", *(kind.value for kind in kinds)], totals)
    echo("a cell has the worst outcome of the operator's instances, and the share of instances that pass")


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.support in (Support.PASS, Support.UNSUPPORTED) and len(cell.counts) == 1:
        return cell.support.value
    return f"{cell.support.value} {cell.share(Support.PASS):.0%}"
