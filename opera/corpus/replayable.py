"""The recorded calls that the source `deeprel` makes again, where the user names no file of such."""

from __future__ import annotations

from pathlib import Path

from opera.console import option
from opera.corpus.files import export
from opera.corpus.selection import Selection
from opera.errors import NothingSelected, UserError
from opera.instance import Outcome
from opera.store import Corpus, Workspace

PER_OPERATOR = 25
MAX_SIZE = 1 << 20
"""Bytes of an instance's document: larger ones take long to replay and show no more."""


def write_replayable(workspace: Workspace, library: str, source: str, seed: int, path: Path) -> int:
    """Writes the calls of *library* that returned to *path*, at most `PER_OPERATOR` of each API; returns how many.

    What only *source* itself has given is left out, so that running it again gives the same calls again.

    Raises:
        UserError: the workspace has none; the message says how to get some.
    """
    selection = Selection(library, outcome=Outcome.RETURNED.value, cap=PER_OPERATOR, max_size=MAX_SIZE, besides=source)
    try:
        if library not in Corpus(workspace).libraries():
            raise NothingSelected("none at all")
        return export(workspace, selection, seed, str(path))["instances"]
    except NothingSelected as error:
        raise UserError(
            f"the source {source} makes recorded calls of {library} again, and the workspace has none; record some first with"
            f" `opera extract --lib {library}{option(workspace.folder)}`, or name a file of them with --option instances=FILE"
        ) from error
