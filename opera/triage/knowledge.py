"""What a workspace knows that grouping failures needs."""

from __future__ import annotations

from collections.abc import Callable

from opera.instance import Instance
from opera.store import Corpus, Workspace
from opera.store.reductions import Reductions
from opera.triage.causes import Causes
from opera.triage.findings import Knowledge


def causes_of(workspace: Workspace) -> Causes:
    """What triage has found out so far."""
    stored = Reductions(workspace)
    return Causes(stored.all(), stored.assignments(), stored.merges())


def knowledge_of(workspace: Workspace, api_of: Callable[[str], str] | None = None) -> Knowledge:
    """Everything about the workspace; *api_of* where somebody has read the APIs of all instances already."""
    corpus = Corpus(workspace)

    def instance_of(key: str) -> Instance | None:
        try:
            return corpus.get(key)
        except (KeyError, ValueError):
            return None

    def read_api(key: str) -> str:
        found = instance_of(key)
        return "" if found is None else found.api

    return Knowledge(api_of or read_api, corpus.sizes, instance_of, causes_of(workspace))
