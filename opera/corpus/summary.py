"""What a corpus holds, in the few figures that a header carries and a comparison begins with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opera import __version__
from opera.corpus.jsonlines import SCHEMA
from opera.corpus.selection import Chosen, Selection
from opera.instance.identity import VERSION
from opera.store import Workspace, queries


def header(workspace: Workspace, rows: list[Chosen], selection: Selection, seed: int) -> dict[str, Any]:
    """The header of a corpus file with the instances *rows*."""
    return {
        "schema": SCHEMA, "opera": __version__, "identity": VERSION, "instances": len(rows),
        "operators": len({(row.library, row.api) for row in rows}), "sources": _sources(workspace, rows),
        "selection": {**selection.document(), "seed": seed},
    }  # fmt: skip


def versions(workspace: Workspace) -> dict[tuple[str, str], str]:
    """The version of the library in the newest extraction of each library and source, where it is known."""
    return {(each.library, each.source): each.version for each in queries.extractions(workspace) if each.version}


def _sources(workspace: Workspace, rows: Iterable[Chosen]) -> list[dict[str, Any]]:
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        for source in queries.sources_of(workspace, row.id):
            counts[row.library, source] = counts.get((row.library, source), 0) + 1
    known = versions(workspace)
    return [
        {"library": library, "source": source, "version": known.get((library, source)), "instances": count}
        for (library, source), count in sorted(counts.items())
    ]
