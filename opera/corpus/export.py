"""Instances of a workspace as a corpus file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opera.corpus.entry import Entry
from opera.corpus.jsonlines import write_corpus
from opera.corpus.selection import Chosen, Selection, choose, instance_of
from opera.corpus.summary import header
from opera.store import Corpus, Workspace


def export(workspace: Workspace, selection: Selection, seed: int, path: str) -> dict[str, Any]:
    """Writes the selected instances to *path*, tensors included; `-` is standard output. Returns the header of the file.

    Raises:
        UserError: there is no such library or source, the keyword is no expression, or an instance cannot be read.
        NothingSelected: no instance is selected.
    """
    rows = choose(workspace, selection, seed)
    first = header(workspace, rows, selection, seed)
    write_corpus(path, first, _entries(workspace, rows))
    return first


def _entries(workspace: Workspace, rows: list[Chosen]) -> Iterator[Entry]:
    corpus = Corpus(workspace)
    for row in rows:
        yield Entry(instance_of(corpus, row.id), tuple(corpus.provenance(row.id)))
