"""History for a ranking: from the workspace, and from recorded campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opera.compilers.adapter import Route
from opera.evaluation.recording import history_of, read_recorded
from opera.prioritize import History
from opera.prioritize.ranking import workspace_history
from opera.store import Workspace

WORKSPACE = "workspace"
"""The name of the workspace's own campaigns among the sources of a history."""


def gathered(sources: Sequence[str], space: Workspace, compiler: str, route: Route) -> History | None:
    """What *sources* showed: files of recorded campaigns, or `workspace`; None without a source.

    Raises:
        UserError: a file does not exist, or is not a recorded campaign.
    """
    if not sources:
        return None
    records = history_of(read_recorded(Path(source)) for source in dict.fromkeys(sources) if source != WORKSPACE).records
    if WORKSPACE in sources:
        records += workspace_history(space, compiler, route).records
    return History(records)
