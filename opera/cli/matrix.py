"""`opera matrix`: tables of operators and subjects, with the worst verdict of each pair."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import COMPILER, LIBRARY
from opera.cli.options import OutputFile, common
from opera.console import check_outputs, echo, one_line, plural, print_json, print_table, terminal_width, wrapped, write
from opera.corpus.selection import selector
from opera.errors import Exit, NothingSelected
from opera.report.matrix import Cell, Column, Matrix, Support, matrices
from opera.store.database import open_workspace
from opera.store.queries import Scope
from opera.untrusted import JsonObject

SCHEMA = "matrix/1"
_LEAST = 20
"""Columns of the terminal that the names of operators need."""


@click.command("matrix", cls=HeadedCommand)
@click.option("--lib", "library", type=LIBRARY, metavar="NAME", help="Select only operators of this library.")
@click.option("--compiler", type=COMPILER, metavar="NAME", help="Select only results of this compiler.")
@click.option("-k", "keyword", metavar="EXPR", help="Select only APIs whose name matches, e.g. -k 'conv and not transpose'.")
@click.option("--failing", is_flag=True, help="Select only operators with a crash or a wrong result on some subject.")
@click.option(
    "--csv",
    "target",
    type=OutputFile(),
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
    as_json: bool,
) -> int:
    """Print a table of operators and subjects for each library: the worst verdict, and how many instances pass.

    The tables have all operators that extraction has seen, also untested ones. If an instance was tested with several versions, the newest
    result counts. In CSV, a cell that a spreadsheet would read as a formula begins with an apostrophe.
    """
    check_outputs(as_json, target)
    with open_workspace(workspace, write=False) as space:
        tables = matrices(space, selector(keyword), Scope(compiler=compiler), library)
    if failing:
        tables = [table.only(lambda api, table=table: table.state(api).is_bad) for table in tables]
    tables = [table for table in tables if table.operators]
    if not any(table.columns for table in tables):
        raise NothingSelected("no operator with a result is selected; run a campaign first, or widen -k")
    if target is not None:
        write(target, _csv(tables))
    if as_json:
        print_json(_document(tables))
    elif target is None:
        for table in tables:
            _print(table)
        wrapped("a cell: worst outcome of the operator's instances, how many of them pass; partly: the compiler declines the others")
    return Exit.CLEAN


def _document(tables: Sequence[Matrix]) -> JsonObject:
    pairs = [(table, api, column, table.cells[api, column]) for table in tables for api in table.operators for column in table.columns]
    return {
        "schema": SCHEMA,
        "subjects": [
            {
                "compiler": column.compiler,
                "frontend": column.frontend,
                "route": column.route,
                "library": table.library,
                "operators": {kind.value: count for kind, count in table.totals(column).items()},
                "instances": {kind.value: count for kind, count in table.instances(column).counts.items() if kind.is_result},
            }
            for table in tables
            for column in table.columns
        ],
        "operators": [
            {"operator": api, "library": each.library, "state": each.state(api).value} for each in tables for api in each.operators
        ],
        "cells": [
            {
                **_place(table, api, column),
                "support": cell.support.value,
                "instances": cell.instances,
                "inconclusive": cell.inconclusive,
                "counts": {kind.value: cell.counts[kind] for kind in Support if kind.is_result and cell.counts.get(kind)},
            }
            for table, api, column, cell in pairs
            if cell.support.is_result
        ],
        "inconclusive": [
            {**_place(table, api, column), "counts": {kind.value: cell.counts[kind] for kind in Support if cell.counts.get(kind)}}
            for table, api, column, cell in pairs
            if cell.inconclusive and not cell.instances
        ],
    }


def _place(table: Matrix, api: str, column: Column) -> dict[str, str]:
    return {
        "operator": api,
        "library": table.library,
        "compiler": column.compiler,
        "frontend": column.frontend,
        "route": column.route,
    }


def _csv(tables: Sequence[Matrix]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = list(dict.fromkeys(column for table in tables for column in table.columns))
    names = [_inert(column.name) for column in columns]
    writer.writerow(["operator", "library", "state", *(title for name in names for title in (name, f"{name} passed", f"{name} tested"))])
    for table in tables:
        for api in table.operators:
            cells = [table.cells.get((api, column)) for column in columns]
            values = [value for cell in cells for value in _values(cell)]
            writer.writerow([_inert(api), _inert(table.library), table.state(api).value, *values])
    return text.getvalue()


def _values(cell: Cell | None) -> tuple[str, str, str]:
    """Outcome, passed and tested instances; empty for a subject that does not run the library."""
    return ("", "", "") if cell is None else (cell.support.value, str(cell.passed), str(cell.instances))


def _inert(text: str) -> str:
    """The cell as text that a spreadsheet does not read as a formula."""
    line = one_line(text, 400)
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line


def _print(table: Matrix) -> None:
    echo(f"{table.library}: {plural(len(table.operators), 'operator')}")
    if not table.columns:
        echo("  never tested")
        echo()
        return
    cells = {column: [_cell(table.cells[api, column]) for api in table.operators] for column in table.columns}
    shown = _fitting({column: max(map(len, [table.label(column), *texts])) for column, texts in cells.items()})
    rows = [[api, *(cells[column][index] for column in shown)] for index, api in enumerate(table.operators)]
    print_table(["operator", *(table.label(column) for column in shown)], rows, elastic=0)
    if len(shown) < len(table.columns):
        out = table.columns[len(shown) :]
        names = ", ".join(column.name for column in out)
        wrapped(f"too wide for this terminal, left out: {names}")
        echo(f"show one with --compiler {out[0].compiler}, or write all with --csv FILE")
    echo()
    for column in table.columns:
        totals = ", ".join(f"{count:,} {kind.value}" for kind, count in table.totals(column).items())
        wrapped(f"{table.label(column)}: {totals}")
        wrapped(f"  {_rates(table.instances(column))}")
    echo()


def _fitting(widths: dict[Column, int]) -> list[Column]:
    """The first columns, those that fit into the terminal next to the names of operators; at least one."""
    room = terminal_width() - _LEAST
    shown: list[Column] = []
    for column, width in widths.items():
        room -= width + 2
        if room < 0 and shown:
            break
        shown.append(column)
    return shown


def _rates(all_of: Cell) -> str:
    """How many instances pass, of those that the compiler takes, and of all."""
    shares = [f"{whole:,} ({all_of.passed / whole:.1%})" for whole in (all_of.taken, all_of.instances) if whole]
    of = " that it takes, and of all ".join(dict.fromkeys(shares)) if len(set(shares)) > 1 else "".join(shares[:1])
    return f"{all_of.passed:,} instances pass, of {of}" if shares else "no instance has a result"


def _cell(cell: Cell) -> str:
    kind = cell.support
    alone = not kind.is_result or kind is Support.UNSUPPORTED or cell.passed == cell.instances
    return kind.value if alone else f"{kind.value} {cell.passed}/{cell.instances}"
