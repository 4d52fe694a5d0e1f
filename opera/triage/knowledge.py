"""What a workspace knows that grouping failures needs."""

from __future__ import annotations

import functools
from collections.abc import Callable

from opera.instance import Instance
from opera.store import Corpus, Workspace, queries
from opera.store.reductions import Reductions
from opera.triage.causes import Causes
from opera.triage.findings import Knowledge

_CACHED = 4096
"""Instances that are kept in memory: tests of one instance differ in form and seed."""


def causes_of(workspace: Workspace) -> Causes:
    """What triage has found out so far."""
    stored = Reductions(workspace)
    return Causes(stored.all(), stored.assignments(), stored.merges())


def knowledge_of(workspace: Workspace, api_of: Callable[[str], str] | None = None) -> Knowledge:
    """Everything about the workspace; *api_of* where somebody has read the APIs of all instances already."""
    corpus = Corpus(workspace)

    @functools.lru_cache(_CACHED)
    def instance_of(key: str) -> Instance | None:
        try:
            return corpus.get(key)
        except (KeyError, ValueError):
            return None

    return Knowledge(api_of or (lambda key: queries.api_of(workspace, key)), corpus.sizes, instance_of, causes_of(workspace))
