"""History for a ranking: from the workspace, and from recorded campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opera.compilers.adapter import Route
from opera.errors import UserError
from opera.plugins import loaded
from opera.prioritize import History
from opera.prioritize.ranking import workspace_history
from opera.store import Workspace

GROUP = "opera.histories"
"""Entry points of functions that read recorded campaigns: paths to a `History`."""
WORKSPACE = "workspace"
"""The name of the workspace's own campaigns among the sources of a history."""


def gathered(sources: Sequence[str], space: Workspace, compiler: str, route: Route) -> History | None:
    """What *sources* showed: files of recorded campaigns, or `workspace`; None without a source.

    Raises:
        UserError: a file does not exist, or is not a recorded campaign.
    """
    if not sources:
        return None
    files = [Path(source) for source in dict.fromkeys(sources) if source != WORKSPACE]
    readers = list(loaded(GROUP).values())
    if files and not readers:
        raise UserError(f"nothing that is installed reads {files[0]}; `opera doctor` lists the extensions")
    records = tuple(record for read in readers for record in read(files).records)
    if WORKSPACE in sources:
        records += workspace_history(space, compiler, route).records
    return History(records)
