"""Plain tables on standard output: aligned columns, no colours to parse, the same in a pipe."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import click


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, elastic: int | None = None) -> None:
    """Prints *rows* under *header*; numbers are right-aligned.

    Args:
        header: One title per column.
        rows: Cells as text.
        elastic: The column that is cut to what the terminal has room for; none when None.
    """
    widths = [max(len(str(row[place])) for row in (header, *rows)) for place in range(len(header))]
    if elastic is not None:
        others = sum(widths) - widths[elastic] + 2 * (len(widths) - 1)
        widths[elastic] = max(20, min(widths[elastic], shutil.get_terminal_size((120, 24)).columns - others))
    numeric = [bool(rows) and all(_is_number(str(row[place])) for row in rows) for place in range(len(header))]
    for row in (header, ["-" * width for width in widths], *rows):
        cells = [
            _cell(str(cell), width, right=right and row is not header) for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        click.echo("  ".join(cells).rstrip())


def _cell(text: str, width: int, *, right: bool) -> str:
    cut = text if len(text) <= width else text[: width - 1] + "…"
    return cut.rjust(width) if right else cut.ljust(width)


def _is_number(text: str) -> bool:
    return bool(text) and text.replace(",", "").replace(".", "").replace("%", "").isdigit()
