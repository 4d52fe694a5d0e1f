"""`opera matrix`: which operators each compiler can load, and what it makes of them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, TextIO

import click

from opera.campaign.selection import selector
from opera.errors import Exit, NothingSelected
from opera.options import common, print_json
from opera.report.matrix import Cell, Matrix, Support, matrix
from opera.report.tables import print_table
from opera.store.database import open_workspace

SCHEMA = "matrix/1"


@click.command("matrix")
@click.option("--lib", "library", help="Only operators of this library.")
@click.option("--compiler", help="Only this compiler's subjects.")
@click.option("-k", "keyword", metavar="EXPR", help="Only APIs whose name matches, e.g. -k 'conv and not transpose'.")
@click.option("--failing", is_flag=True, help="Only operators that crash or are inconsistent somewhere.")
@click.option("--csv", "target", type=click.File("w", encoding="utf-8"), help="Write the table as CSV, - for standard output.")
@common
def command(
    library: str | None, compiler: str | None, keyword: str | None, failing: bool, target: TextIO | None, workspace: Path, seed: int,
    as_json: bool,
) -> int:  # fmt: skip
    """Prints operators by subjects: the worst that any instance came to, and the share of instances that pass."""
    with open_workspace(workspace, write=False) as space:
        table = matrix(space, selector(keyword), compiler, library)
    if failing:
        bad = {api for (api, _), cell in table.cells.items() if cell.support in (Support.CRASH, Support.INCONSISTENT)}
        table = Matrix(table.columns, tuple(api for api in table.operators if api in bad), table.cells)
    if not table.operators:
        raise NothingSelected("no operator with a result is selected; run a campaign first, or widen -k")
    if as_json:
        print_json(_document(table))
    elif target is not None:
        _write_csv(table, target)
    else:
        _print(table)
    return Exit.CLEAN


def _document(table: Matrix) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "subjects": [
            {
                "compiler": column.compiler, "frontend": column.frontend, "route": column.route,
                "operators": {kind.value: count for kind, count in table.totals(column).items()},
            }
            for column in table.columns
        ],
        "cells": [
            {
                "operator": api, "compiler": column.compiler, "frontend": column.frontend, "route": column.route,
                "support": cell.support.value, "instances": cell.instances,
                "counts": {kind.value: cell.counts[kind] for kind in Support if cell.counts.get(kind)},
            }
            for api in table.operators
            for column in table.columns
            if (cell := table.cells.get((api, column))) is not None
        ],
    }  # fmt: skip


def _write_csv(table: Matrix, target: TextIO) -> None:
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["operator", *(column.name for column in table.columns)])
    for api in table.operators:
        cells = [table.cells.get((api, column)) for column in table.columns]
        writer.writerow([api, *("" if cell is None else cell.support.value for cell in cells)])


def _print(table: Matrix) -> None:
    rows = [[api, *(_cell(table.cells.get((api, column))) for column in table.columns)] for api in table.operators]
    print_table(["operator", *(column.name for column in table.columns)], rows)
    click.echo()
    kinds = list(Support)
    totals = [[column.name, *(str(table.totals(column).get(kind, 0)) for kind in kinds)] for column in table.columns]
    print_table(["operators of", *(kind.value for kind in kinds)], totals)
    click.echo("a cell is the worst that any instance of the operator came to; the share is that of the instances that pass")


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.support in (Support.PASS, Support.UNSUPPORTED) and len(cell.counts) == 1:
        return cell.support.value
    return f"{cell.support.value} {cell.share(Support.PASS):.0%}"
