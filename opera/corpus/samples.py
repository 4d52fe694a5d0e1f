"""The sample corpora that OPERA ships: a few hundred instances of each library, for a first campaign without the library's tests."""

from __future__ import annotations

from pathlib import Path

from opera.corpus.files import Entry, read_corpus
from opera.store import Corpus, Workspace

_FOLDER = Path(__file__).parents[1] / "corpora" / "samples"


def sample_of(library: str) -> Path | None:
    """The sample corpus of *library*; None if OPERA ships none."""
    path = _FOLDER / f"{library}.jsonl"
    return path if path.is_file() else None


def add_sample(workspace: Workspace, path: Path) -> int:
    """Adds the instances of a sample corpus; returns how many are new."""
    entries = [each for each in read_corpus(path) if isinstance(each, Entry)]
    return Corpus(workspace).add((each.instance, each.provenance[0]) for each in entries)
