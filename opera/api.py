"""The public names: `import opera` gives each of them. docs/reference/python-api.md shows them at work."""

from __future__ import annotations

from opera.difftest.settings import Settings
from opera.errors import EnvironmentBroken, NothingSelected, OperaError, UserError
from opera.extract import ExtractOptions, SourceSummary
from opera.instance import Instance
from opera.models.forms import InputForm
from opera.oracles.verdict import Stage, Verdict
from opera.pipeline import Pipeline
from opera.prioritize import Candidate, Context, get_strategy
from opera.run.campaign import Summary
from opera.store.queries import Scope
from opera.triage.findings import Finding
from opera.triage.runner import TriageOptions

__all__ = [
    "Candidate",
    "Context",
    "EnvironmentBroken",
    "ExtractOptions",
    "Finding",
    "InputForm",
    "Instance",
    "NothingSelected",
    "OperaError",
    "Pipeline",
    "Scope",
    "Settings",
    "SourceSummary",
    "Stage",
    "Summary",
    "TriageOptions",
    "UserError",
    "Verdict",
    "get_strategy",
]
